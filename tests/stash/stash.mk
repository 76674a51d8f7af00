# Programs that map local memory, compared with the runtime's copies on qemu-riscv64.
STASH_DIR      := $(BUILD)/tests/stash/programs
STASH_PROGRAMS := $(basename $(notdir $(wildcard tests/stash/programs/*.c)))
STASH_FILES    := $(STASH_PROGRAMS:%=$(STASH_DIR)/%-O0) $(STASH_PROGRAMS:%=$(STASH_DIR)/%-O2)

$(STASH_DIR)/%-O0: tests/stash/programs/%.c tests/stash/programs/stash_check.h tests/programs/run_check.h $(PROGRAM_INPUTS) | $(BUILD)/bin/croft
	@mkdir -p $(@D)
	$(BUILD)/bin/croft cc $(PROGRAM_CFLAGS) -O0 $< -o $@

$(STASH_DIR)/%-O2: tests/stash/programs/%.c tests/stash/programs/stash_check.h tests/programs/run_check.h $(PROGRAM_INPUTS) | $(BUILD)/bin/croft
	@mkdir -p $(@D)
	$(BUILD)/bin/croft cc $(PROGRAM_CFLAGS) -O2 $< -o $@

.PHONY: stash-programs
stash-programs: $(STASH_FILES)
