# The supervisor-mode kernel of `croft run --env kernel`.
# Linked in the order of their names, whichever folder they are in: times of programs depend on addresses.
KERNEL_SRC    := $(shell find host/kernel -name "*.c" -printf "%f %p\n" | LC_ALL=C sort | cut -d" " -f2)
KERNEL_OBJ    := $(KERNEL_SRC:%.c=$(BUILD)/cross/%.o) $(BUILD)/cross/host/kernel/start.o $(BUILD)/cross/host/kernel/trap.o
KERNEL_ELF    := $(SHARE)/kernel/kernel.elf
# The kernel has no floating-point code, because the program owns those registers. The option on loop patterns
# keeps the loops in string.c from becoming calls of the functions that contain them.
KERNEL_CFLAGS := -std=c17 -O2 -g -march=rv64imac_zicsr_zifencei -mabi=lp64 -mcmodel=medany -ffreestanding -nostdlib \
                 -fno-tree-loop-distribute-patterns -ffile-prefix-map=$(CURDIR)/= $(WARNINGS) \
                 -I. -isystem $(SHARE)/include -MMD -MP

.PHONY: kernel
kernel: $(KERNEL_ELF) ## the kernel beneath user programs
all: $(KERNEL_ELF) $(SHARE)/kernel/linux.bin

$(BUILD)/cross/host/kernel/%.o: host/kernel/%.c | $(BUILD)/setup-build.stamp $(SHARE)/include/croft/firmware/map.h
	@mkdir -p $(@D)
	$(CROSS)gcc $(KERNEL_CFLAGS) -c $< -o $@

$(BUILD)/cross/host/kernel/%.o: host/kernel/%.S | $(BUILD)/setup-build.stamp $(SHARE)/include/croft/firmware/map.h
	@mkdir -p $(@D)
	$(CROSS)gcc $(KERNEL_CFLAGS) -c $< -o $@

$(KERNEL_ELF): $(KERNEL_OBJ) linker/kernel.ld linker/croft_map.ld linker/croft_debug.ld
	@mkdir -p $(@D)
	$(CROSS)gcc $(KERNEL_CFLAGS) -static -Llinker -T linker/kernel.ld -Wl,--build-id=none,--no-warn-rwx-segments \
	    $(KERNEL_OBJ) -o $@

# What of the kernel lies beneath programs of Linux.
$(SHARE)/kernel/linux.bin: host/kernel/linux/trap.S isa/include/croft/door.h | $(BUILD)/setup-build.stamp
	@mkdir -p $(@D) $(BUILD)/cross/host/kernel/linux
	$(CROSS)gcc -march=rv64gc_zicsr_zifencei -mabi=lp64d -nostdlib -static -Ttext=0 -Wl,--build-id=none,-e,0 -I. $< \
	    -o $(BUILD)/cross/host/kernel/linux/trap.elf
	$(CROSS)objcopy -O binary $(BUILD)/cross/host/kernel/linux/trap.elf $@

-include $(KERNEL_OBJ:.o=.d)
