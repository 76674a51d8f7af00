# How many instructions the regions of examples/nucd execute, beside the NUCD paper's Table II.
.PHONY: bench-nucd-insns
bench-nucd-insns: $(NUCD_KERNELS:%=$(EXAMPLES)/nucd/%) $(BUILD)/bin/croft ## instructions of the NUCD kernels' regions beside the paper's
	@tests/bench/nucd_insns.sh $(BUILD)/bin/croft $(EXAMPLES)/nucd $(BENCH_DIR)/nucd_insns
