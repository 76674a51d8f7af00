# Speed compared with qemu-riscv64, start-up time and memory, then firmware: make bench [ROUNDS=n]
# [BENCH_NAMES="mix triad"].
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

# The same programs for Linux.
BENCH_LINUX := $(BENCH_NAMES:%=$(BENCH_DIR)/linux/%)
$(BENCH_LINUX): $(BENCH_DIR)/linux/%: tests/bench/%.c
	@mkdir -p $(@D)
	riscv64-linux-gnu-gcc -std=c17 -D_GNU_SOURCE $(WARNINGS) -O2 -static $< -lm -o $@

# The compute loop in machine mode, and in supervisor mode with address translation.
BENCH_LOOPS := $(BENCH_DIR)/firmware/loop-machine $(BENCH_DIR)/firmware/loop-sv39
$(BENCH_DIR)/firmware/loop-machine: BENCH_MODE := -DSUPERVISOR=0
$(BENCH_DIR)/firmware/loop-sv39: BENCH_MODE := -DSUPERVISOR=1
$(BENCH_LOOPS): tests/bench/firmware/paged.c $(SHARE_FILES) emu/cmd/cc.c | $(BUILD)/bin/croft
	@mkdir -p $(@D)
	$(BUILD)/bin/croft cc --bare -std=gnu17 $(WARNINGS) -O2 $(BENCH_MODE) $< -o $@

# Firmware that sleeps for 1 and for 3601 simulated seconds.
BENCH_IDLE := $(BENCH_DIR)/firmware/idle-1 $(BENCH_DIR)/firmware/idle-3601
$(BENCH_IDLE): $(BENCH_DIR)/firmware/idle-%: tests/bench/firmware/idle.c $(SHARE_FILES) emu/cmd/cc.c | $(BUILD)/bin/croft
	@mkdir -p $(@D)
	$(BUILD)/bin/croft cc --bare -std=gnu17 $(WARNINGS) -O2 -DSECONDS=$* $< -o $@

.PHONY: bench bench-firmware bench-timed
bench: $(BENCH_FILES) $(BENCH_LINUX) $(BENCH_DIR)/trivial $(BENCH_LOOPS) $(BENCH_DIR)/measure $(BUILD)/bin/croft | $(BUILD)/setup-build.stamp $(BUILD)/setup-test.stamp ## speed beside qemu: programs, firmware, machines with a clock
	@ROUNDS="$(ROUNDS)" CC="$(CC)" tests/bench/run.sh $(BUILD)/bin/croft $(BENCH_DIR)/measure $(BENCH_DIR) \
	    $(BENCH_DIR)/trivial $(BENCH_FILES)
	@echo
	@$(MAKE) --no-print-directory bench-firmware
	@echo
	@$(MAKE) --no-print-directory bench-timed
	@echo
	@$(MAKE) --no-print-directory bench-accuracy

bench-firmware: $(BENCH_LOOPS) $(BENCH_DIR)/measure $(BUILD)/bin/croft | $(BUILD)/setup-build.stamp $(BUILD)/setup-test.stamp ## speed of firmware beside qemu-system-riscv64
	@ROUNDS="$(ROUNDS)" CC="$(CC)" tests/bench/firmware.sh $(BUILD)/bin/croft $(BENCH_DIR)/measure $(BENCH_DIR)/firmware \
	    $(BENCH_LOOPS)

# Programs whose compiled code does not last, or does not pay.
BENCH_HOSTILE := $(addprefix $(BENCH_DIR)/hostile/,leave recursion rewrite single targets)
$(BENCH_HOSTILE): $(BENCH_DIR)/%: tests/bench/%.c $(SHARE_FILES) emu/cmd/cc.c | $(BUILD)/bin/croft
	@mkdir -p $(@D)
	$(BUILD)/bin/croft cc -std=c17 -D_GNU_SOURCE $(WARNINGS) -O2 $< -o $@

.PHONY: bench-jit
bench-jit: $(BENCH_HOSTILE) $(BENCH_DIR)/measure $(BUILD)/bin/croft ## CPU time of hostile programs compiled beside interpreted
	@ROUNDS="$(ROUNDS)" tests/bench/jit.sh $(BUILD)/bin/croft $(BENCH_DIR)/measure $(BENCH_DIR)/jit $(BENCH_HOSTILE)

.PHONY: bench-linux-programs
bench-linux-programs: $(BENCH_FILES) $(BENCH_LINUX) $(BENCH_DIR)/measure $(BUILD)/bin/croft | $(BUILD)/setup-test.stamp ## programs of Linux beside the same of newlib, compiled and interpreted
	@ROUNDS="$(ROUNDS)" tests/bench/linux_programs.sh $(BUILD)/bin/croft $(BENCH_DIR)/measure $(BENCH_DIR) $(BENCH_FILES)

# IMAGE and INITRD: a kernel and its initial file system, as README.md builds them.
.PHONY: bench-linux
bench-linux: $(BENCH_DIR)/measure $(BUILD)/bin/croft | $(BUILD)/setup-build.stamp $(BUILD)/setup-test.stamp ## wall time of a boot of Linux beside qemu-system-riscv64: IMAGE=FILE INITRD=FILE
	@ROUNDS="$(ROUNDS)" CC="$(CC)" tests/bench/linux.sh $(BUILD)/bin/croft $(BENCH_DIR)/measure $(BENCH_DIR)/linux "$(IMAGE)" "$(INITRD)"

# The event queue and the DRAM engine alone.
BENCH_PARTS := $(addprefix $(BENCH_DIR)/,event_bench dram_bench stream_bench sharing)
$(BENCH_DIR)/dram_bench: tests/dram/rate.h
$(BENCH_PARTS): $(BENCH_DIR)/%: tests/bench/%.c $(CROFT_LIB) | $(BUILD)/setup-build.stamp
	@mkdir -p $(@D)
	$(CC) $(EMU_CFLAGS) $< $(CROFT_LIB) $(EMU_LIBS) -o $@

MIX_ROUNDS ?= 1500
bench-timed: $(BENCH_DIR)/mix $(BENCH_IDLE) $(BENCH_DIR)/event_bench $(BENCH_DIR)/dram_bench $(BENCH_DIR)/measure $(BUILD)/bin/croft | $(BUILD)/setup-build.stamp $(BUILD)/setup-test.stamp ## speed of machines with a clock, and of their parts
	@ROUNDS="$(ROUNDS)" MIX_ROUNDS="$(MIX_ROUNDS)" CC="$(CC)" tests/bench/timed.sh $(BUILD)/bin/croft $(BENCH_DIR)/measure \
	    $(BENCH_DIR)/timed $(BENCH_DIR)/mix $(BENCH_IDLE) $(BENCH_DIR)/event_bench $(BENCH_DIR)/dram_bench

.PHONY: bench-accuracy
BENCH_ACCURACY := $(addprefix $(BUILD)/tests/,machine/timed/test_accuracy dram/test_latency dram/test_traffic)
bench-accuracy: $(BENCH_ACCURACY) ## what machines with a clock measure, beside what their parts add up to
	@tests/bench/accuracy.sh $(BENCH_ACCURACY)

.PHONY: bench-dram
bench-dram: $(BENCH_DIR)/event_bench $(BENCH_DIR)/dram_bench ## events and DRAM requests a second
	@$(BENCH_DIR)/event_bench
	@$(BENCH_DIR)/dram_bench

# Against the shared library, whose names the linker finds first.
$(BENCH_DIR)/api_bench: tests/api/api_bench.c tests/dram/rate.h $(CROFT_LIB) $(API_LIBRARY) | $(BUILD)/setup-build.stamp
	@mkdir -p $(@D)
	$(CC) $(EMU_CFLAGS) $< $(API_LIBRARY) -Wl,-rpath,$(abspath $(dir $(API_LIBRARY))) $(CROFT_LIB) $(EMU_LIBS) -o $@

.PHONY: bench-api
bench-api: $(BENCH_DIR)/api_bench ## requests a second through libundercroft, beside bench-dram's
	@$(BENCH_DIR)/api_bench

.PHONY: bench-experiment
bench-experiment: $(BENCH_DIR)/measure $(BUILD)/bin/croft $(SHARE_FILES) | $(BUILD)/setup-test.stamp ## runs a second of croft experiment: 1000 of a program of 10 ms
	@tests/bench/experiment.sh $(BUILD)/bin/croft $(BENCH_DIR)/measure $(BENCH_DIR)/experiment

.PHONY: bench-report
bench-report: $(BUILD)/bin/croft $(SHARE_FILES) | $(BUILD)/setup-test.stamp ## time to open a page of 100000 rows in a browser
	@tests/bench/report.sh $(BUILD)/bin/croft $(BENCH_DIR)/report

.PHONY: bench-net
BOOKSIM ?=
bench-net: $(BUILD)/bin/croft ## networks beside BookSim 2's figures, and beside BOOKSIM=binary of it; flit-hops a second
	@tests/bench/net.sh $(BUILD)/bin/croft $(BENCH_DIR)/net $(BOOKSIM)

# The papers' figures and tables: PAPER=nucd, stash, tom, nupim or axram (all), SIZE=small, medium or full (small).
PAPERS := $(patsubst examples/papers/%/pages,%,$(wildcard examples/papers/*/pages))
.PHONY: papers
papers: $(BUILD)/bin/croft $(SHARE_FILES) sysroot ## the papers' figures and tables beside ours, in BENCH_DIR/papers; PAPER chooses one, SIZE=small, medium or full
	@for paper in $(or $(PAPER),$(PAPERS)); do \
	    examples/papers/page.sh $(BUILD)/bin/croft $$paper $(BENCH_DIR)/papers/$$paper $(or $(SIZE),small) || exit 1; done

.PHONY: bench-stream
bench-stream: $(BENCH_DIR)/stream_bench $(BENCH_FILES) ## instructions a second that a streamed hart hands to a timing core
	@for program in $(BENCH_FILES); do printf '%-14s' "$${program##*/}"; $(BENCH_DIR)/stream_bench $$program | tail -n 1; done

# Timed multiprocessors: thread instructions per second on machine gpu with one multiprocessor; the host is
# nearly idle.
SIMT_BENCH ?= "compute 2" "poly 2" "stream 1" "sum 1"
.PHONY: bench-simt-timed
bench-simt-timed: $(BENCH_DIR)/simt $(BUILD)/bin/croft ## speed of timed multiprocessors
	@for kernel in $(SIMT_BENCH); do \
	    $(BUILD)/bin/croft run -m gpu --set simt.count=1 --stats $(BENCH_DIR)/simt.json $< $$kernel > /dev/null && \
	    awk -v kernel="$$kernel" '/"total"/ { total = 1 } /"regions"/ { total = 0 } \
	        total && /"simt.thread_instructions"/ { gsub(/[^0-9]/, "", $$2); insns = $$2 } \
	        /"seconds"/ { gsub(/[^0-9.]/, "", $$2); seconds = $$2 } \
	        END { printf "%-12s %6.1f million thread-instructions/s\n", kernel, insns / seconds / 1e6 }' $(BENCH_DIR)/simt.json; \
	done

# Timed multiprocessors: machine gpu with 64 of them on 64 memory channels.
.PHONY: bench-simt-wide
bench-simt-wide: $(BENCH_DIR)/wide $(BENCH_DIR)/measure $(BUILD)/bin/croft | $(BUILD)/setup-build.stamp $(BUILD)/setup-test.stamp ## speed of 64 timed multiprocessors on 64 memory channels
	@ROUNDS="$(ROUNDS)" tests/bench/simt_wide.sh $(BUILD)/bin/croft $(BENCH_DIR)/measure $(BENCH_DIR)/wides $(BENCH_DIR)/wide

# Kernels on functional multiprocessors.
.PHONY: bench-simt
$(BENCH_DIR)/rate $(BENCH_DIR)/wide: $(BENCH_DIR)/%: tests/bench/simt/%.c $(SHARE_FILES) emu/cmd/cc.c | $(BUILD)/bin/croft
	@mkdir -p $(@D)
	$(BUILD)/bin/croft cc -std=c17 -D_GNU_SOURCE $(WARNINGS) -O2 $< -o $@

bench-simt: bench-simt-timed bench-simt-wide $(BENCH_DIR)/rate $(BENCH_DIR)/measure $(BUILD)/bin/croft | $(BUILD)/setup-build.stamp $(BUILD)/setup-test.stamp ## speed of threads on multiprocessors
	@ROUNDS="$(ROUNDS)" tests/bench/simt.sh $(BUILD)/bin/croft $(BENCH_DIR)/measure $(BENCH_DIR)/rates $(BENCH_DIR)/rate

# Kernels of the examples on one of them.
.PHONY: bench-simt-kernels
bench-simt-kernels: $(SIMT_EXAMPLES) $(WORKLOAD_FILES) $(BENCH_DIR)/measure $(BUILD)/bin/croft ## speed of the examples' kernels on a multiprocessor without a clock
	@ROUNDS="$(ROUNDS)" tests/bench/simt_kernels.sh $(BUILD)/bin/croft $(BENCH_DIR)/measure $(BENCH_DIR)/kernels $(EXAMPLES)

# Warps that invoke again and again, without what the program does before.
.PHONY: bench-axram-rate
bench-axram-rate: $(BUILD)/bin/croft sysroot ## invocations of AxRAM's chips and thread-instructions a second of croft's processor time
	@tests/bench/axram_rate.sh $(BUILD)/bin/croft $(BENCH_DIR)/axram-rate

.PHONY: bench-axram-together
bench-axram-together: $(BUILD)/bin/croft sysroot ## clocks and time of invocations by several of AxRAM's chips together
	@tests/bench/axram_together.sh $(BUILD)/bin/croft $(BENCH_DIR)/axram-together
