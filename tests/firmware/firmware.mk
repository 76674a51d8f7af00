# Machine-mode programs, on croft and on qemu-system-riscv64.
.PHONY: test-firmware
test-firmware: all | $(BUILD)/setup-test.stamp ## privileged architecture, firmware library, semihosting, against QEMU
	CROFT=$(BUILD)/bin/croft OUT=$(BUILD)/tests/firmware tests/firmware/run.sh
