# Whole programs: compiled here; tests/programs/run.sh runs them on croft and on qemu-riscv64.
PROGRAM_DIR    := $(BUILD)/tests/programs
PROGRAM_NAMES  := $(basename $(notdir $(wildcard tests/programs/*.c)))
PROGRAM_CFLAGS := -std=c17 -D_GNU_SOURCE -g -Wall -Wextra -Wshadow -Wstrict-prototypes -Wvla -Wconversion
# The programs that gain most from instructions for address generation, bit manipulation and single bits.
PROGRAM_ZB     := atomics bignum bits compress digests dispatch life misaligned print_integer sort strings structs \
                  sudoku vm wide_integer
PROGRAM_FILES  := $(PROGRAM_NAMES:%=$(PROGRAM_DIR)/%-O0) $(PROGRAM_NAMES:%=$(PROGRAM_DIR)/%-O2) \
                  $(PROGRAM_ZB:%=$(PROGRAM_DIR)/%-O3-zb)
include tests/nucd/programs.mk

# Prerequisites of a program besides its own source. A new emulator alone requires no new programs.
PROGRAM_INPUTS := $(SHARE_FILES) emu/cmd/cc.c tests/programs.mk

$(PROGRAM_DIR)/%-O0: tests/programs/%.c $(PROGRAM_INPUTS) | $(BUILD)/bin/croft
	@mkdir -p $(@D)
	$(BUILD)/bin/croft cc $(PROGRAM_CFLAGS) -O0 $< -lm -o $@

$(PROGRAM_DIR)/%-O2: tests/programs/%.c $(PROGRAM_INPUTS) | $(BUILD)/bin/croft
	@mkdir -p $(@D)
	$(BUILD)/bin/croft cc $(PROGRAM_CFLAGS) -O2 $< -lm -o $@

$(PROGRAM_DIR)/%-O3-zb: tests/programs/%.c $(PROGRAM_INPUTS) | $(BUILD)/bin/croft
	@mkdir -p $(@D)
	$(BUILD)/bin/croft cc $(PROGRAM_CFLAGS) -O3 -march=rv64gc_zba_zbb_zbs $< -lm -o $@

$(filter $(PROGRAM_DIR)/simt_%,$(PROGRAM_FILES)): tests/programs/simt_check.h tests/programs/run_check.h

.PHONY: test-programs
test-programs: $(PROGRAM_FILES) $(BUILD)/bin/croft | $(BUILD)/setup-test.stamp ## whole programs against qemu-riscv64
	tests/programs/run.sh $(BUILD)/bin/croft $(PROGRAM_DIR)/work $(PROGRAM_FILES)
