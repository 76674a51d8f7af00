# The tests. Every tests/**/test_*.c is a cmocka program over the emulator's objects; tests/run.sh runs all there is.
include tests/programs.mk
include tests/simt/simt.mk
include tests/stash/stash.mk
include tests/bench.mk
include tests/bench/nucd.mk
include tests/nucd/hazard/hazard.mk
include tests/machine/stress/stress.mk
include tests/env/env.mk
include tests/debug/gdb.mk
include tests/firmware/firmware.mk
include tests/fuzz.mk

UNIT_SRC    := $(sort $(shell find tests -name 'test_*.c'))
UNIT_TESTS  := $(UNIT_SRC:%.c=$(BUILD)/%)
# What test programs share: linked as an archive, so that each takes what it needs.
TEST_LIB    := $(BUILD)/tests/libtest.a
TEST_SRC    := tests/core/rig.c tests/core/fake_ahead.c tests/isa/encode.c tests/sim/value.c tests/nucd/engine/engine_rig.c \
               tests/neural/reference.c $(sort $(wildcard tests/mem/denovo/model/*.c)) \
               tests/hart/fixture.c tests/hart/oracle/known.c tests/hart/pair.c tests/jit/twins.c \
               $(addprefix tests/hart/oracle/,directed.c generate.c qemu.c subject.c unicorn.c values.c)
TEST_OBJ    := $(TEST_SRC:%.c=$(BUILD)/obj/%.o)
TEST_LIBS   := -lcmocka -lunicorn

.PHONY: check coverage mutate test soak unit-tests programs manual manual-check lint format
test: ## the whole test suite; SUITES="unit isa streams env kernel programs simt machines hazards firmware boot gdb demo pages papers clang sanitize networks kills fuzz" chooses parts
	+@MAKE="$(MAKE)" BUILD="$(BUILD)" SETUP="$(SETUP)" tests/run.sh

# For each edit: what it may have broken, in less than a minute on two processors.
BASE ?= HEAD
check: ## tests of the rooms that changed since BASE (HEAD), of those that use the changed files, and a sample
	+@MAKE="$(MAKE)" BUILD="$(BUILD)" SETUP="$(SETUP)" SUITES=check BASE="$(BASE)" tests/run.sh

# A build of its own, in $(BUILD)/coverage.
coverage: $(BUILD)/tests/programs/lines-O2 $(BUILD)/tests/programs/nucd_ebox-O2 | $(BUILD)/setup-coverage.stamp ## lines that unit tests and some programs execute, by room
	+@$(MAKE) --no-print-directory -s BUILD=$(BUILD)/coverage SETUP=no OPTIMIZE="-O1 -g1" SANITIZE="--coverage -DCROFT_TRAMPOLINE" all unit-tests
	@tests/coverage.sh $(BUILD)/coverage $(filter $(BUILD)/tests/programs/%,$^)

# SEED, MUTATIONS and FILES (a regular expression of tests/mutate.txt) choose.
SEED      ?= 1
MUTATIONS ?= 200
FILES     ?= .
mutate: unit-tests ## random changes of tables and rules that no unit test notices (MUTATIONS, SEED, FILES)
	@tests/mutate.sh $(BUILD) $(MUTATIONS) $(SEED) '$(FILES)'

# Everything of the suites that otherwise make a choice, longer random streams, other random programs, longer fuzzing.
SOAK_SEED ?= 2
SOAK_FUZZ ?= 120
SOAK_JIT  ?= 1000000000
soak: ## what takes too long for each change: all combinations, long streams, other seeds (SOAK_SEED, SOAK_FUZZ seconds, SOAK_JIT instructions)
	+@ALL=1 STREAMS=4 SOAK_JIT=$(SOAK_JIT) HAZARD_SEED=$(SOAK_SEED) HAZARD_BODIES=1024 FUZZ_TIME=$(SOAK_FUZZ) NETWORK_SEED=$(SOAK_SEED)000 \
	    SUITES="streams simt machines hazards pages papers clang networks kills fuzz" \
	    MAKE="$(MAKE)" BUILD="$(BUILD)" SETUP="$(SETUP)" tests/run.sh

unit-tests: $(UNIT_TESTS) ## build the unit tests
programs: $(PROGRAM_FILES)

$(TEST_OBJ) $(UNIT_SRC:%.c=$(BUILD)/obj/%.o) $(BUILD)/obj/tests/hart/streams.o $(BUILD)/obj/tests/jit/soak.o $(BUILD)/obj/tests/isa/objdump.o \
    $(BUILD)/obj/tests/neural/print_networks.o: \
    | $(BUILD)/setup-test.stamp $(MAP_HEADER)

$(TEST_LIB): $(TEST_OBJ)
	@mkdir -p $(@D)
	rm -f $@
	ar rcsT $@ $^

LINK_TEST = $(CC) $(SANITIZE) $(LDFLAGS) $< $(TEST_LIB) $(CROFT_LIB) $(TEST_LIBS) $(EMU_LIBS) -o $@

$(UNIT_TESTS) $(BUILD)/tests/hart/streams $(BUILD)/tests/jit/soak $(BUILD)/tests/isa/objdump $(BUILD)/tests/neural/print_networks: \
    $(BUILD)/tests/%: $(BUILD)/obj/tests/%.o $(TEST_LIB) $(CROFT_LIB)
	@mkdir -p $(@D)
	$(LINK_TEST)

# The program that runs blocks of instructions under qemu-riscv64, at the addresses of tests/hart/oracle/batch.h.
batch_address = $(shell sed -nE 's/^.define $(1) +UINT64_C\((0x[0-9a-f]+)\)/\1/p' tests/hart/oracle/batch.h)
$(BUILD)/tests/hart/runner: tests/hart/oracle/runner.S tests/hart/oracle/batch.h | $(BUILD)/setup-build.stamp
	@mkdir -p $(@D)
	$(CROSS)gcc -I. -march=rv64gc -mabi=lp64d -mcmodel=medany -nostdlib -static \
	    -Wl,--no-relax,--build-id=none,--no-warn-rwx-segments,-Ttext=$(call batch_address,BATCH_END) \
	    -Wl,--section-start=.codes=$(call batch_address,BATCH_CODE),--section-start=.states=$(call batch_address,BATCH_STATES) $< -o $@

$(BUILD)/tests/hart/rounding: tests/hart/rounding.c $(SHARE_FILES) | $(BUILD)/bin/croft
	@mkdir -p $(@D)
	$(BUILD)/bin/croft cc -std=c17 -O2 -g $(WARNINGS) $< -o $@

# The manual's table of instructions.
$(BUILD)/tools/manual: isa/tools/manual.c isa/decoder/insn.c isa/decoder/set.c $(wildcard isa/*.def isa/*.h) isa/include/croft/stash_error.def $(MECHANISMS) $(MECHANISM_ROWS) $(INSN_ID).h \
    | $(BUILD)/setup-build.stamp
	@mkdir -p $(@D)
	$(CC) -std=c17 -D_GNU_SOURCE -O1 $(WARNINGS) $(INCLUDES) isa/tools/manual.c isa/decoder/insn.c isa/decoder/set.c -o $@

manual: $(BUILD)/tools/manual ## bring the instruction table in isa/MANUAL.md up to date
	$< isa/MANUAL.md > $(BUILD)/MANUAL.md
	cp $(BUILD)/MANUAL.md isa/MANUAL.md

manual-check: $(BUILD)/tools/manual
	@$< isa/MANUAL.md | diff -u isa/MANUAL.md - && echo "1 passed, 0 failed" || \
	    { echo "isa/MANUAL.md is older than the rows: make manual"; echo "0 passed, 1 failed"; exit 1; }

# All C files of ours. Static analysis leaves out the files that rows expand into: there is nothing to read in them.
C_FILES     := $(sort $(shell find emu examples firmware host isa tests -name '*.[ch]' 2>/dev/null))
SHELL_FILES := .ci/run emu/cmd/help/croft.bash $(sort $(shell find examples host tests -name '*.sh'))
TIDY_FILES  := $(filter-out $(ROWS_SRC) $(JIT_NATIVE),$(EMU_SRC)) $(TEST_SRC) tests/hart/streams.c tests/jit/soak.c tests/isa/objdump.c isa/tools/manual.c
TIDY_FLAGS   = -std=c17 -D_GNU_SOURCE $(INCLUDES) $(shell pkg-config --cflags $(LIBRARIES)) -isystem $(LLVM)/include

# A file is analysed again when it, a header of its or .clang-tidy has changed: its object knows.
TIDY_STAMPS := $(TIDY_FILES:%.c=$(BUILD)/lint/%.ok)
TIDY         = clang-tidy --quiet --warnings-as-errors='*' $< -- $(TIDY_FLAGS) 2>/dev/null

$(filter-out %/tools/manual.ok,$(TIDY_STAMPS)): $(BUILD)/lint/%.ok: %.c .clang-tidy $(BUILD)/obj/%.o | $(BUILD)/setup-lint.stamp
	@mkdir -p $(@D)
	@$(TIDY)
	@touch $@

$(BUILD)/lint/isa/tools/manual.ok: isa/tools/manual.c .clang-tidy $(BUILD)/tools/manual | $(BUILD)/setup-lint.stamp
	@mkdir -p $(@D)
	@$(TIDY)
	@touch $@

lint: $(LIB_OBJ) | $(MAP_HEADER) $(INSN_ID).h $(BUILD)/setup-build.stamp $(BUILD)/setup-test.stamp $(BUILD)/setup-lint.stamp ## layout, static analysis, shell scripts, which room uses which, circles
	@clang-format --dry-run -Werror $(C_FILES)
	@echo "clang-tidy: $(words $(TIDY_FILES)) files"
	+@MAKEFLAGS= $(MAKE) --no-print-directory -s -k -j"$$(nproc)" BUILD="$(BUILD)" SETUP="$(SETUP)" $(TIDY_STAMPS)
	shellcheck $(SHELL_FILES)
	@tests/layers.sh
	@tests/circles.sh $(BUILD)/obj tests/circles.txt

format: | $(BUILD)/setup-lint.stamp ## lay all C files out
	clang-format -i $(C_FILES)

-include $(TEST_OBJ:.o=.d) $(UNIT_SRC:%.c=$(BUILD)/obj/%.d) $(BUILD)/obj/tests/hart/streams.d $(BUILD)/obj/tests/jit/soak.d \
    $(BUILD)/obj/tests/isa/objdump.d $(BUILD)/obj/tests/neural/print_networks.d

# Accelerators run the real firmware.
FIRMWARE_TESTS := $(filter nucd/units/test_accelerator%,$(UNIT_SRC:tests/%.c=%))
$(FIRMWARE_TESTS:%=$(BUILD)/obj/tests/%.o): EMU_CFLAGS += -DFIRMWARE='"$(NUCD_FIRMWARE)"'
$(FIRMWARE_TESTS:%=$(BUILD)/tests/%): | $(NUCD_FIRMWARE)
