# Instructions that the regions of examples/nucd execute, compared with the NUCD paper's Table II.
.PHONY: bench-nucd-insns
bench-nucd-insns: $(NUCD_KERNELS:%=$(EXAMPLES)/nucd/%) $(BUILD)/bin/croft ## instructions of the NUCD kernels' regions beside the paper's
	@tests/bench/nucd_insns.sh $(BUILD)/bin/croft $(EXAMPLES)/nucd $(BENCH_DIR)/nucd_insns

# Checks that the kernels access only what their nucds name.
$(BUILD)/tests/nucd/offloads: $(BUILD)/obj/tests/nucd/offloads.o $(CROFT_LIB)
	@mkdir -p $(@D)
	$(CC) $(SANITIZE) $(LDFLAGS) $< $(CROFT_LIB) $(EMU_LIBS) -o $@

$(BUILD)/obj/tests/nucd/offloads.o: | $(BUILD)/setup-build.stamp
-include $(BUILD)/obj/tests/nucd/offloads.d

.PHONY: test-offloads
test-offloads: $(BUILD)/tests/nucd/offloads $(NUCD_KERNELS:%=$(EXAMPLES)/nucd/%) ## the NUCD kernels' accesses against their declared ranges
	tests/nucd/offloads.sh $^

# Cost of an offload in three states: lines and firmware cold; warm and clean; lines dirty in the second-level
# cache.
.PHONY: bench-nucd-offload
bench-nucd-offload: $(BENCH_DIR)/nucd_offload $(NUCD_FIRMWARE) $(BUILD)/bin/croft | $(BUILD)/setup-test.stamp ## cycles of an offload on machine nucd, part by part
	@tests/bench/nucd_offload.sh $(BUILD)/bin/croft $< $(BENCH_DIR)/nucd_offload.out

# Speed with sixteen busy accelerators, without and with range-based translation.
NUCD_BUSY_KERNELS := compute add gather filter follow short
NUCD_BUSY := $(foreach kernel,$(NUCD_BUSY_KERNELS),$(BENCH_DIR)/nucd_speed/$(kernel) $(BENCH_DIR)/nucd_speed/$(kernel)-ranges)
$(NUCD_BUSY): $(BENCH_DIR)/nucd_speed/%: tests/bench/firmware/busy.c $(SHARE_FILES) emu/cmd/cc.c | $(BUILD)/bin/croft
	@mkdir -p $(@D)
	$(BUILD)/bin/croft cc --bare -std=gnu17 $(WARNINGS) -O2 -DBUSY_KERNEL=KERNEL_$(firstword $(subst -, ,$*)) \
	    -DBUSY_RANGES=$(if $(findstring -ranges,$*),1,0) $< -o $@

.PHONY: bench-nucd-speed
bench-nucd-speed: $(NUCD_BUSY) $(NUCD_FIRMWARE) $(BENCH_DIR)/measure $(BUILD)/bin/croft ## instructions a second that a machine with 16 busy accelerators simulates
	@ROUNDS="$(ROUNDS)" tests/bench/nucd_speed.sh $(BUILD)/bin/croft $(BENCH_DIR)/measure $(NUCD_FIRMWARE) \
	    $(BENCH_DIR)/nucd_speed $(NUCD_BUSY)
