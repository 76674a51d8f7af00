# Fuzzers: each tests/fuzz/NAME.c is one; its corpus is tests/fuzz/corpus/NAME. They need a second build of
# everything, by clang with its sanitizers. New inputs go to $(FUZZ_BUILD)/corpus; `make fuzz-keep` moves the
# useful ones to the repository.
FUZZ_TIME   ?= 60
FUZZ_BUILD  := $(BUILD)/fuzz
FUZZ_NAMES  ?= $(basename $(notdir $(wildcard tests/fuzz/*.c)))
FUZZ_CHECKS := address,undefined
FUZZ_MAKE   := $(MAKE) --no-print-directory BUILD=$(FUZZ_BUILD) SETUP=no CC=clang OPTIMIZE='-O1 -g1' \
               SANITIZE='-fsanitize=fuzzer-no-link,$(FUZZ_CHECKS) -fno-sanitize-recover=undefined'

.PHONY: fuzz fuzz-keys fuzz-programs fuzz-build fuzz-keep
fuzz: fuzz-programs ## run each fuzzer for FUZZ_TIME seconds (60)
	FUZZ_TIME=$(FUZZ_TIME) tests/fuzz/run.sh $(FUZZ_BUILD) $(FUZZ_NAMES)

# Machines with two of their keys at limits.
KEY_RUNS ?= 20000
fuzz-keys: all ## run shipped machines with pairs of keys at their limits, KEY_RUNS times (20000)
	tests/fuzz/keys.sh $(BUILD)/bin/croft $(BUILD)/tests/fuzz/keys $(KEY_RUNS)

fuzz-programs: | $(BUILD)/setup-test.stamp
	+$(FUZZ_MAKE) fuzz-build FUZZ_NAMES='$(FUZZ_NAMES)'

# Rules of the second build.
fuzz-build: $(FUZZ_NAMES:%=$(BUILD)/bin/fuzz-%)

$(BUILD)/bin/fuzz-%: tests/fuzz/%.c $(CROFT_LIB)
	@mkdir -p $(@D)
	$(CC) $(EMU_CFLAGS) -fsanitize=fuzzer,$(FUZZ_CHECKS) $(filter %.c,$^) $(CROFT_LIB) $(EMU_LIBS) -o $@
$(BUILD)/bin/fuzz-jit: tests/hart/fixture.c tests/isa/encode.c

fuzz-keep: ## add what fuzzing has found to the corpora
	for name in $(FUZZ_NAMES); do \
	    $(FUZZ_BUILD)/bin/fuzz-$$name -merge=1 tests/fuzz/corpus/$$name $(FUZZ_BUILD)/corpus/$$name; \
	done
