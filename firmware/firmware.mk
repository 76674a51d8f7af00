# Files with which croft cc --bare links machine-mode programs: start-up code, drivers, newlib's system
# functions, headers.
FIRMWARE_SRC     := $(wildcard firmware/*.c firmware/newlib/*.c)
FIRMWARE_OBJ     := $(FIRMWARE_SRC:%.c=$(BUILD)/cross/%.o) $(BUILD)/cross/firmware/start/trap_entry.o
FIRMWARE_HEADERS := $(patsubst firmware/include/%,$(SHARE)/include/%,$(wildcard firmware/include/croft/firmware/*.h)) \
                    $(SHARE)/include/croft/firmware/map.h
FIRMWARE_FILES   := $(FIRMWARE_HEADERS) $(SYSROOT)/lib/bare.specs $(SYSROOT)/lib/crtbare.o \
                    $(SYSROOT)/lib/libcroft_bare.a
FIRMWARE_ASFLAGS := -march=rv64gc -mabi=lp64d -mcmodel=medany -g -ffile-prefix-map=$(CURDIR)/= \
                    -I. -isystem $(SHARE)/include

.PHONY: firmware
firmware: $(FIRMWARE_FILES) ## start-up code, drivers and headers of machine-mode programs
sysroot: $(FIRMWARE_FILES)

$(SHARE)/include/croft/firmware/%.h: firmware/include/croft/firmware/%.h
	@mkdir -p $(@D)
	cp $< $@

# The memory map for C and assembler, generated from the linker scripts' map.
$(SHARE)/include/croft/firmware/map.h: $(MAP_HEADER)
	@mkdir -p $(@D)
	cp $< $@

$(MAP_HEADER): linker/croft_map.ld
	@mkdir -p $(@D)
	{ echo '#pragma once'; sed -E -e 's/^(PROVIDE\()?([A-Z_]+) = ([0-9a-fx]+)\)?;$$/#define \2 \3/' $<; } > $@

$(BUILD)/cross/firmware/%.o: firmware/%.c $(NEWLIB) | $(FIRMWARE_HEADERS)
	@mkdir -p $(@D)
	$(CROSS)gcc $(HOST_CFLAGS) -isystem $(SHARE)/include -c $< -o $@

$(BUILD)/cross/firmware/start/%.o: firmware/start/%.S firmware/start/trap_frame.h host/newlib/tls.S \
    | $(BUILD)/setup-build.stamp $(FIRMWARE_HEADERS)
	@mkdir -p $(@D)
	$(CROSS)gcc $(FIRMWARE_ASFLAGS) -c $< -o $@

$(SYSROOT)/lib/crtbare.o: $(BUILD)/cross/firmware/start/crtbare.o | $(NEWLIB)
	cp $< $@

$(SYSROOT)/lib/libcroft_bare.a: $(FIRMWARE_OBJ)
	rm -f $@
	$(CROSS)ar rcsD $@ $^

$(SYSROOT)/lib/bare.specs: firmware/bare.specs | $(NEWLIB)
	cp $< $@

-include $(FIRMWARE_OBJ:.o=.d)

# The accelerators' firmware; `croft run --firmware` replaces it. It has no floating-point code, because these
# registers belong to the regions. It must run at any address, so linker relaxation to absolute addresses is
# off.
NUCD_FIRMWARE := $(SHARE)/firmware/nucd.elf
NUCD_OBJ      := $(BUILD)/cross/firmware/nucd/start.o $(BUILD)/cross/firmware/nucd/setup.o
NUCD_CFLAGS   := -std=c17 -O2 -g -march=rv64imac_zicsr_zifencei -mabi=lp64 -mcmodel=medany -ffreestanding -nostdlib \
                 -ffile-prefix-map=$(CURDIR)/= $(WARNINGS) -I. -isystem $(SHARE)/include -MMD -MP

.PHONY: nucd-firmware
nucd-firmware: $(NUCD_FIRMWARE) ## the accelerators' firmware
all: $(NUCD_FIRMWARE)

$(BUILD)/cross/firmware/nucd/%.o: firmware/nucd/%.c | $(BUILD)/setup-build.stamp $(SHARE)/include/croft/firmware/map.h \
    $(SHARE)/include/croft/firmware/csr.h
	@mkdir -p $(@D)
	$(CROSS)gcc $(NUCD_CFLAGS) -c $< -o $@

$(BUILD)/cross/firmware/nucd/%.o: firmware/nucd/%.S | $(BUILD)/setup-build.stamp $(SHARE)/include/croft/firmware/map.h
	@mkdir -p $(@D)
	$(CROSS)gcc $(NUCD_CFLAGS) -c $< -o $@

$(NUCD_FIRMWARE): $(NUCD_OBJ) linker/nucd.ld linker/croft_map.ld linker/croft_debug.ld
	@mkdir -p $(@D)
	$(CROSS)gcc $(NUCD_CFLAGS) -static -Llinker -T linker/nucd.ld -Wl,--no-relax,--build-id=none $(NUCD_OBJ) -o $@

-include $(NUCD_OBJ:.o=.d)
