# tests/env/run.sh tests the user environment, the loader, backtraces and the command line.
CHECK_BACKTRACE := $(BUILD)/tests/debug/check_backtrace

$(CHECK_BACKTRACE): tests/debug/check_backtrace.c $(CROFT_LIB) | $(BUILD)/setup-test.stamp
	@mkdir -p $(@D)
	$(CC) $(EMU_CFLAGS) $< $(CROFT_LIB) $(EMU_LIBS) -lcmocka -o $@

.PHONY: test-env
test-env: $(CHECK_BACKTRACE) all | $(BUILD)/setup-test.stamp ## system calls, sandbox, faults, malformed programs, usage
	CROFT=$(BUILD)/bin/croft OUT=$(BUILD)/tests/env CC=$(CC) CHECK_BACKTRACE=$(CHECK_BACKTRACE) tests/env/run.sh

CHECK_RANGES := $(BUILD)/tests/env/check_ranges

$(CHECK_RANGES): tests/env/check_ranges.c $(CROFT_LIB)
	@mkdir -p $(@D)
	$(CC) $(EMU_CFLAGS) $< $(CROFT_LIB) $(EMU_LIBS) -o $@

.PHONY: test-linux
test-linux: all | $(BUILD)/setup-test.stamp ## programs of Linux against qemu-riscv64
	CROFT=$(BUILD)/bin/croft OUT=$(BUILD)/tests/linux tests/env/linux.sh

# Fetches packages, which make keeps in $(BUILD)/debian; without a network it is skipped.
.PHONY: test-debian
test-debian: all | $(BUILD)/setup-test.stamp ## Debian's programs for riscv64 against qemu-riscv64
	CROFT=$(BUILD)/bin/croft OUT=$(BUILD)/tests/debian DEBIAN=$(BUILD)/debian tests/env/linux/debian.sh

# Needs a Debian that examples/linux/debian.sh has made in IMAGE; without one it is skipped.
.PHONY: test-offload
IMAGE ?= $(BUILD)/debian-image
test-offload: all | $(BUILD)/setup-test.stamp ## processes of Debian that offload, in the folder IMAGE
	CROFT=$(BUILD)/bin/croft OUT=$(BUILD)/tests/offload IMAGE=$(IMAGE) tests/env/offload/offload.sh

soak: test-debian test-offload

.PHONY: test-kernel test-kernel-programs test-driver test-hosts test-launch-hosts
test-kernel: $(CHECK_RANGES) all | $(BUILD)/setup-test.stamp ## user programs beneath the kernel
	CROFT=$(BUILD)/bin/croft OUT=$(BUILD)/tests/kernel-env CHECK_RANGES=$(CHECK_RANGES) SHARE=$(SHARE) tests/env/kernel.sh

test-driver: all | $(BUILD)/setup-test.stamp ## the kernel's conventional driver against qemu-riscv64
	CROFT=$(BUILD)/bin/croft OUT=$(BUILD)/tests/driver tests/env/driver.sh

test-hosts: all | $(BUILD)/setup-test.stamp ## threads on several hosts beneath the kernel against qemu-riscv64
	CROFT=$(BUILD)/bin/croft OUT=$(BUILD)/tests/hosts tests/env/hosts.sh

test-launch-hosts: all | $(BUILD)/setup-test.stamp ## threads on several hosts that launch kernels against qemu-riscv64
	CROFT=$(BUILD)/bin/croft OUT=$(BUILD)/tests/launch-hosts tests/env/threads/launch.sh

test-kernel-programs: all $(PROGRAM_FILES) | $(BUILD)/setup-test.stamp ## whole programs beneath the kernel against qemu-riscv64
	CROFT_OPTIONS="--env kernel" tests/programs/run.sh $(BUILD)/bin/croft $(PROGRAM_DIR)/kernel $(PROGRAM_FILES)
