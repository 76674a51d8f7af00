# Speed beside qemu-riscv64, start-up time and memory: make bench [ROUNDS=n] [BENCH_NAMES="mix triad"].
BENCH_DIR   := $(BUILD)/bench
BENCH_NAMES ?= mix records matmul triad chase spmv sha256 queens sieve quicksort interpreter fibonacci
BENCH_FILES := $(BENCH_NAMES:%=$(BENCH_DIR)/%)
ROUNDS      ?= 3

$(BENCH_DIR)/measure: tests/bench/measure.c
	@mkdir -p $(@D)
	$(CC) -std=c17 -D_GNU_SOURCE -O2 $(WARNINGS) $< -o $@

$(BENCH_DIR)/%: tests/bench/%.c $(SHARE_FILES) emu/cmd/cc.c | $(BUILD)/bin/croft
	@mkdir -p $(@D)
	$(BUILD)/bin/croft cc -std=c17 -D_GNU_SOURCE $(WARNINGS) -O2 $< -lm -o $@

.PHONY: bench
bench: $(BENCH_FILES) $(BENCH_DIR)/trivial $(BENCH_DIR)/measure $(BUILD)/bin/croft | $(BUILD)/setup-build.stamp ## speed beside qemu-riscv64
	@ROUNDS="$(ROUNDS)" CC="$(CC)" tests/bench/run.sh $(BUILD)/bin/croft $(BENCH_DIR)/measure $(BENCH_DIR) \
	    $(BENCH_DIR)/trivial $(BENCH_FILES)
