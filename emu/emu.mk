# The emulator: every .c file of isa/decoder/ and emu/ linked into $(BUILD)/bin/croft.
CC        ?= gcc
ifeq ($(origin CC),default)
CC        := gcc
endif
WARNINGS  := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wvla -Wconversion
OPTIMIZE  ?= -O2 -g
SANITIZE  ?=
# Its headers and archives; the library is opened while a program runs (emu/jit/llvm.h).
LLVM      ?= /usr/lib/llvm-14
LIBRARIES := yaml-0.1 libelf libdw jansson sqlite3 libmd libzstd fann

# emu/jit/rows.c becomes bitcode.
JIT_ROWS  := emu/jit/rows.c
EMU_SRC   := $(filter-out $(JIT_ROWS),$(sort $(shell find isa/decoder emu -name '*.c')))
# It includes them.
JIT_NATIVE := emu/jit/quick/native.c
# Files in which instruction rows expand. tests/flags.sh checks that each is there and gets its flags.
HART_ROWS := emu/hart/defer.c emu/hart/step.c \
             $(foreach host,base v3,$(foreach kind,_tlb _tlb_traced _traced,emu/hart/exec/$(host)$(kind).c) emu/hart/exec/$(host).c) \
             emu/hart/exec/v3_direct.c
WARP_ROWS := emu/simt/warp/rows_base.c emu/simt/warp/rows_v3.c emu/simt/warp/rows_v4.c
ROWS_SRC  := $(HART_ROWS) $(WARP_ROWS) emu/simt/warp/fp.c
EMU_OBJ   := $(EMU_SRC:%.c=$(BUILD)/obj/%.o)
LIB_OBJ   := $(filter-out $(BUILD)/obj/emu/cmd/main.o,$(EMU_OBJ))
# The library for other simulators (emu/api/api.mk), which croft itself does not need.
API_OBJ   := $(patsubst %.c,$(BUILD)/obj/%.o,$(sort $(wildcard emu/api/*.c)))
# For programs that need parts of the emulator: each links what it uses.
CROFT_LIB := $(BUILD)/obj/libcroft.a

INCLUDES  := -I. -I$(BUILD)/gen -I$(BUILD)/include

# The memory map that the emulator shares with guests; firmware.mk makes it.
MAP_HEADER := $(BUILD)/include/linker/map.h

# Asked when the first recipe runs, because the set-up may just have installed the libraries; not again for each object.
LIBRARY_CFLAGS = $(eval LIBRARY_CFLAGS := $(shell pkg-config --cflags $(LIBRARIES)) -isystem $(LLVM)/include)$(LIBRARY_CFLAGS)
EMU_CFLAGS = -std=c17 -D_GNU_SOURCE $(OPTIMIZE) $(WARNINGS) $(SANITIZE) -ffp-contract=off $(INCLUDES) -MMD -MP \
             $(LIBRARY_CFLAGS) $(CFLAGS)
EMU_LIBS   = $(shell pkg-config --libs $(LIBRARIES)) -lfdt -lm

# The bodies of rows mix widths and signs on purpose, as the specification does. Handlers must not share their tails: each
# needs an indirect jump of its own for the host to predict. One that begins with a cache line takes no more of them than it
# needs, wherever the linker puts it.
ROWS_FLAGS := -falign-functions=64 -Wno-conversion -Wno-sign-conversion $(if $(findstring clang,$(CC)),,-foptimize-sibling-calls -fno-partial-inlining -fno-ipa-icf)
$(patsubst %.c,$(BUILD)/obj/%.o,$(ROWS_SRC) $(JIT_NATIVE)): EMU_CFLAGS += $(ROWS_FLAGS)
$(JIT_NATIVE:%.c=$(BUILD)/obj/%.o): EMU_CFLAGS += -march=x86-64-v3
$(patsubst %.c,$(BUILD)/obj/%.o,$(foreach file,$(HART_ROWS) $(WARP_ROWS),$(if $(findstring v3,$(notdir $(file))),$(file)))): EMU_CFLAGS += -march=x86-64-v3
$(BUILD)/obj/emu/simt/warp/rows_v4.o: EMU_CFLAGS += -march=x86-64-v4 -mprefer-vector-width=512
# Loops over the lanes of a warp become host vectors at -O3 alone, and unless the NaNs of unbox() get paths of their own.
WARP_FLAGS := $(if $(findstring -O2,$(OPTIMIZE)),-O3) $(if $(findstring clang,$(CC)),,-fno-thread-jumps)
$(WARP_ROWS:%.c=$(BUILD)/obj/%.o): EMU_CFLAGS += $(WARP_FLAGS)
# The cores' loops over instructions have more values than the host has registers: a pointer for each array that an index
# could serve is one too many. Two counters that are stored side by side are not worth a vector.
CORE_LOOPS := emu/core/inorder/issue.c $(addprefix emu/core/ooo/,complete.c dispatch.c execute.c fetch.c load.c overlap.c retire.c store.c)
CORE_FLAGS := $(if $(findstring -O2,$(OPTIMIZE)),-O3) $(if $(findstring clang,$(CC)),,-fno-ivopts) -fno-tree-slp-vectorize
$(CORE_LOOPS:%.c=$(BUILD)/obj/%.o): EMU_CFLAGS += $(CORE_FLAGS)

# The instructions of mechanisms: each room's rows.def (isa/custom.def), and files that a test names. The list is written
# while the makefile is read, because a file that has gone has no date to compare.
EXTRA_ROWS     ?=
MECHANISM_ROWS := $(sort $(wildcard emu/*/rows.def)) $(EXTRA_ROWS)
MECHANISMS     := $(BUILD)/gen/isa/mechanisms.def
HASH           := \#
LIST_ROWS      := for file in $(MECHANISM_ROWS); do echo "$(HASH)include \"$$file\""; done
$(shell mkdir -p $(dir $(MECHANISMS)); ($(LIST_ROWS)) | cmp -s - $(MECHANISMS) || ($(LIST_ROWS)) > $(MECHANISMS))

# The identities of instructions. The stamp is as new as the rows, the header as the last change of an identity: an object
# that includes the header alone is not compiled again when a row's meaning changes. The + lets make -n look at the
# header's own date too.
INSN_ID  := $(BUILD)/gen/isa/insn_id
ifeq ($(wildcard $(INSN_ID).h),)
.PHONY: $(INSN_ID).stamp
endif
$(INSN_ID).stamp: isa/tools/insn_id.h
	@$(CC) -std=c17 -E -P $(INCLUDES) -MMD -MP -MF $(INSN_ID).d -MT $@ $< -o $(INSN_ID).new
	@cmp -s $(INSN_ID).new $(INSN_ID).h || cp $(INSN_ID).new $(INSN_ID).h
	@touch $@
$(INSN_ID).h: $(INSN_ID).stamp
	+@:

# The rows as bitcode for the compiler: for the hosts of the v3 handlers, in the guest's floating-point environment. Without
# Clang, croft holds none and does not compile.
JIT_BITCODE := $(BUILD)/gen/jit/rows.bc
JIT_FLAGS   := -O2 -march=x86-64-v3 -ffp-contract=off -frounding-math -ffp-exception-behavior=strict -fno-vectorize -fno-slp-vectorize
$(JIT_BITCODE): $(JIT_ROWS) emu/emu.mk | $(INSN_ID).h
	@mkdir -p $(@D)
	if command -v clang-14 >/dev/null; then \
	    clang-14 -std=c17 -D_GNU_SOURCE $(JIT_FLAGS) $(INCLUDES) -emit-llvm -c $< -o $@ -MMD -MP -MF $@.d -MT $@; \
	else : > $@; fi
-include $(JIT_BITCODE).d

# The rows as micro-operations and functions for the quick compiler: of LLVM's text of the bitcode.
JIT_MICROS := $(BUILD)/gen/emu/jit/quick/micro.inc
$(JIT_MICROS): $(JIT_BITCODE) emu/jit/quick/micro.awk
	@mkdir -p $(@D)
	if [ -s $< ]; then clang-14 -O0 -Xclang -disable-llvm-passes -S -emit-llvm -x ir $< -o - | awk -f emu/jit/quick/micro.awk > $@; else : > $@; fi
$(BUILD)/obj/emu/jit/quick/micro.o: $(JIT_MICROS)

$(BUILD)/obj/emu/jit/row_table.o: $(JIT_BITCODE)
$(BUILD)/obj/emu/jit/row_table.o: EMU_CFLAGS += -Wa,-I$(BUILD)/gen/jit

# LLVM as far as the compiler needs it: croft looks for it beside its own files.
LLVM_PART := $(BUILD)/share/croft/lib/libcroft-llvm.so
$(LLVM_PART): emu/jit/llvm.sh emu/jit/llvm.h | $(BUILD)/setup-build.stamp
	@mkdir -p $(@D)
	emu/jit/llvm.sh gcc $(LLVM) emu/jit/llvm.h $@

$(CROFT_LIB): $(LIB_OBJ)
	rm -f $@
	ar rcsT $@ $^

$(BUILD)/obj/%.o: %.c | $(INSN_ID).h
	@mkdir -p $(@D)
	$(CC) $(EMU_CFLAGS) -c $< -o $@

# croft experiment forks thousands of runs: they find all symbols bound. Runs are known by the build ID of their croft, too.
$(BUILD)/bin/croft: $(filter-out $(API_OBJ),$(EMU_OBJ)) | $(LLVM_PART)
	@mkdir -p $(@D)
	$(CC) $(SANITIZE) $(LDFLAGS) -Wl,-z,now -Wl,--build-id=sha1 -Wl,-rpath,'$$ORIGIN/../share/croft/lib' $^ $(EMU_LIBS) -o $@

-include $(EMU_OBJ:.o=.d) $(INSN_ID).d
