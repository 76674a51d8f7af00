# How many instructions the regions of examples/nucd execute, beside the NUCD paper's Table II.
.PHONY: bench-nucd-insns
bench-nucd-insns: $(NUCD_KERNELS:%=$(EXAMPLES)/nucd/%) $(BUILD)/bin/croft ## instructions of the NUCD kernels' regions beside the paper's
	@tests/bench/nucd_insns.sh $(BUILD)/bin/croft $(EXAMPLES)/nucd $(BENCH_DIR)/nucd_insns

# Whether the kernels do what their nucds say.
$(BUILD)/tests/nucd/offloads: $(BUILD)/obj/tests/nucd/offloads.o $(LIB_OBJ)
	@mkdir -p $(@D)
	$(CC) $(SANITIZE) $(LDFLAGS) $< $(LIB_OBJ) $(EMU_LIBS) -o $@

$(BUILD)/obj/tests/nucd/offloads.o: | $(BUILD)/setup-build.stamp
-include $(BUILD)/obj/tests/nucd/offloads.d

.PHONY: test-offloads
test-offloads: $(BUILD)/tests/nucd/offloads $(NUCD_KERNELS:%=$(EXAMPLES)/nucd/%) ## the NUCD kernels' accesses against their declared ranges
	tests/nucd/offloads.sh $^
