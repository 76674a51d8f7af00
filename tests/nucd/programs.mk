# The kernels of examples/nucd as whole programs, and the intrinsics under every set of compiler options.
NUCD_OPTIONS    := O0 O1 O2 O3 Os O2-lto O3-lto-zb O2-norelax Os-restore
NUCD_INTRINSICS := $(NUCD_OPTIONS:%=$(PROGRAM_DIR)/nucd_intrinsics-%)
NUCD_PROGRAMS   := $(foreach option,O0 O2 O3-zb,$(NUCD_KERNELS:%=$(PROGRAM_DIR)/nucd_%-$(option)))
PROGRAM_FILES   += $(NUCD_PROGRAMS) $(NUCD_INTRINSICS)

# The compiler options follow the first dash in the program's name.
NUCD_FLAGS = $(foreach word,$(wordlist 2,9,$(subst -, ,$(@F))),$(NUCD_FLAG_$(word)))
NUCD_FLAG_O0      := -O0
NUCD_FLAG_O1      := -O1
NUCD_FLAG_O2      := -O2
NUCD_FLAG_O3      := -O3
NUCD_FLAG_Os      := -Os
NUCD_FLAG_lto     := -flto
NUCD_FLAG_zb      := -march=rv64gc_zba_zbb_zbs
NUCD_FLAG_norelax := -Wl,--no-relax
NUCD_FLAG_restore := -msave-restore

define NUCD_COMPILE
@mkdir -p $(@D)
$(BUILD)/bin/croft cc $(subst -std=c17,-std=gnu17,$(PROGRAM_CFLAGS)) $(NUCD_FLAGS) $< -lm -o $@
endef

$(NUCD_KERNELS:%=$(PROGRAM_DIR)/nucd_%-O0): $(PROGRAM_DIR)/nucd_%-O0: examples/nucd/%.c
	$(NUCD_COMPILE)
$(NUCD_KERNELS:%=$(PROGRAM_DIR)/nucd_%-O2): $(PROGRAM_DIR)/nucd_%-O2: examples/nucd/%.c
	$(NUCD_COMPILE)
$(NUCD_KERNELS:%=$(PROGRAM_DIR)/nucd_%-O3-zb): $(PROGRAM_DIR)/nucd_%-O3-zb: examples/nucd/%.c
	$(NUCD_COMPILE)
$(NUCD_INTRINSICS): tests/nucd/programs/intrinsics.c
	$(NUCD_COMPILE)

$(NUCD_PROGRAMS): examples/nucd/kernel.h
$(NUCD_PROGRAMS) $(NUCD_INTRINSICS): $(SHARE_FILES) emu/cmd/cc.c tests/nucd/programs.mk | $(BUILD)/bin/croft
