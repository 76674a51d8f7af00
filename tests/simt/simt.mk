# Kernels and programs with diverging threads on multiprocessors, compared with the same threads as coroutines
# on qemu-riscv64.
SIMT_PROGRAMS  := $(filter simt_%,$(PROGRAM_NAMES))
SIMT_TEST_FILES = $(SIMT_EXAMPLES) $(SIMT_PROGRAMS:%=$(PROGRAM_DIR)/%-O2) $(SIMT_PROGRAMS:%=$(PROGRAM_DIR)/%-O0)

.PHONY: simt-programs test-simt
simt-programs: $(SIMT_TEST_FILES)
test-simt: $(SIMT_TEST_FILES) $(BUILD)/bin/croft | $(BUILD)/setup-test.stamp ## kernels on multiprocessors
	tests/simt/ends.sh $(BUILD)/bin/croft
	tests/simt/traffic.sh $(BUILD)/bin/croft $(EXAMPLES)/simt
	tests/simt/pages.sh $(BUILD)/bin/croft
	tests/simt/views.sh $(BUILD)/bin/croft
	tests/simt/energy.sh $(BUILD)/bin/croft
	tests/simt/placement.sh $(BUILD)/bin/croft tests/machine/stacks.yaml
	tests/simt/run.sh $(BUILD)/bin/croft $(BUILD)/tests/simt/work $(SIMT_TEST_FILES)
