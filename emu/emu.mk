# The emulator: every .c file of isa/ and emu/ linked into $(BUILD)/bin/croft.
CC        ?= gcc
ifeq ($(origin CC),default)
CC        := gcc
endif
WARNINGS  := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wvla -Wconversion
OPTIMIZE  ?= -O2 -g
SANITIZE  ?=
LIBRARIES := yaml-0.1 libelf libdw jansson
# The bodies of instruction rows mix widths and signs on purpose, as the specification does.
ROWS_SRC  := $(wildcard emu/hart/exec_*.c emu/simt/warp_rows*.c) emu/simt/warp_fp.c

EMU_SRC   := $(wildcard isa/*.c emu/*/*.c emu/*/*/*.c)
EMU_OBJ   := $(EMU_SRC:%.c=$(BUILD)/obj/%.o)
LIB_OBJ   := $(filter-out $(BUILD)/obj/emu/cmd/main.o,$(EMU_OBJ))

# Expanded when a recipe runs, because the set-up may just have installed the libraries.
EMU_CFLAGS = -std=c17 -D_GNU_SOURCE $(OPTIMIZE) $(WARNINGS) $(SANITIZE) -ffp-contract=off -I. -MMD -MP \
             $(shell pkg-config --cflags $(LIBRARIES)) $(CFLAGS)
EMU_LIBS   = $(shell pkg-config --libs $(LIBRARIES)) -lfdt -lm

# Handlers must not share their tails: each needs an indirect jump of its own for the host to predict.
ROWS_FLAGS := -Wno-conversion -Wno-sign-conversion $(if $(findstring clang,$(CC)),,-foptimize-sibling-calls -fno-partial-inlining -fno-ipa-icf)
$(ROWS_SRC:%.c=$(BUILD)/obj/%.o): EMU_CFLAGS += $(ROWS_FLAGS)
$(patsubst %.c,$(BUILD)/obj/%.o,$(wildcard emu/hart/*_v3*.c)): EMU_CFLAGS += -march=x86-64-v3
# Loops over the lanes of a warp become host vectors at -O3 alone, and unless the NaNs of unbox() get paths of their own.
WARP_FLAGS := $(if $(findstring -O2,$(OPTIMIZE)),-O3) $(if $(findstring clang,$(CC)),,-fno-thread-jumps)
$(patsubst %.c,$(BUILD)/obj/%.o,$(wildcard emu/simt/warp_rows*.c)): EMU_CFLAGS += $(WARP_FLAGS)

$(BUILD)/obj/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(EMU_CFLAGS) -c $< -o $@

$(BUILD)/bin/croft: $(EMU_OBJ)
	@mkdir -p $(@D)
	$(CC) $(SANITIZE) $(LDFLAGS) $^ $(EMU_LIBS) -o $@

-include $(EMU_OBJ:.o=.d)
