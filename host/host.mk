# Set-up of the build machine, and everything needed to cross-compile programs. $(BUILD)/share/croft holds
# newlib, start-up code, calls, linker scripts and headers.
CROSS       := riscv64-unknown-elf-
SHARE       := $(BUILD)/share/croft
SYSROOT     := $(SHARE)/sysroot
# SETUP=no skips the installation of packages.
SETUP       ?= yes

HOST_CFLAGS := -std=c17 -O2 -g -march=rv64gc -mabi=lp64d -mcmodel=medany -ffunction-sections -fdata-sections \
               -ffile-prefix-map=$(CURDIR)/= $(WARNINGS) -I. -isystem $(SYSROOT)/include -MMD -MP \
               -D_POSIX_TIMERS=1 -D_POSIX_MONOTONIC_CLOCK=200112L -D_POSIX_CPUTIME=200112L
HOST_OBJ    := $(patsubst %.c,$(BUILD)/cross/%.o,$(wildcard host/calls/*.c host/simt/*.c host/nucd/*.c host/threads/*.c host/axram/*.c host/stash/*.c)) \
               $(BUILD)/cross/host/simt/entry.o $(BUILD)/cross/host/stash/entry.o $(BUILD)/cross/host/threads/entry.o
NEWLIB      := $(BUILD)/newlib.stamp

SYSTEM_HEADERS := $(patsubst host/include/%,$(SYSROOT)/include/%,$(wildcard host/include/sys/*.h))

# Contents of the sysroot besides newlib.
SHARE_FILES := $(patsubst isa/include/%,$(SHARE)/include/%,$(wildcard isa/include/croft/*.h isa/include/croft/*/*.h isa/include/croft/*.def)) \
               $(SYSTEM_HEADERS) \
               $(patsubst linker/%,$(SYSROOT)/lib/%,$(wildcard linker/*.ld)) \
               $(SYSROOT)/lib/croft.specs $(SYSROOT)/lib/crt0.o $(SYSROOT)/lib/libcroft.a $(SHARE)/linux/libcroft.a

# What a user reads, in the tree's places, so that links between pages hold; below share/doc, as Debian's policy has it (12.5, 12.6).
# Pages name the command as it is after an installation.
DOC         := $(BUILD)/share/doc/croft
DOC_PAGES   := README.md isa/MANUAL.md tests/README.md $(sort $(shell find emu examples host -name '*.md'))
# What the module for Linux is made of: it is built where its user has Linux.
DOC_MODULE  := $(filter-out %.md,$(shell find host/linux -type f)) host/kernel/kernel.h host/kernel/driver/operands.c host/kernel/driver/operands.h host/kernel/memory/ranges.h
DOC_COPIES  := $(filter-out %.md %/ examples/examples.mk examples/demo.sh,$(sort $(shell find examples -type f) $(shell host/linked.sh $(DOC_PAGES)) \
               $(wildcard tests/machine/toy/toy.*) tests/machine/toy/rows.def $(DOC_MODULE)))
DOC_FILES   := $(DOC_PAGES:%=$(DOC)/%) $(DOC_COPIES:%=$(DOC)/%) $(DOC)/copyright $(DOC)/isa/include

include host/kernel.mk

.PHONY: setup newlib sysroot install
setup: $(BUILD)/setup-build.stamp $(BUILD)/setup-test.stamp $(BUILD)/setup-lint.stamp ## install missing packages
newlib: $(NEWLIB) ## build the C library of emulated programs
sysroot: $(SHARE_FILES) ## newlib, start-up code, linker scripts and headers for croft cc
all: sysroot $(DOC_FILES)

$(DOC_PAGES:%=$(DOC)/%): $(DOC)/%: % host/host.mk
	@mkdir -p $(@D)
	sed 's|build/bin/croft|croft|g' $< > $@

$(DOC_COPIES:%=$(DOC)/%): $(DOC)/%: %
	@mkdir -p $(@D)
	cp $< $@

$(DOC)/copyright: LICENSE
	@mkdir -p $(@D)
	cp $< $@

$(DOC)/isa/include:
	@mkdir -p $(@D)
	ln -sfn ../../../croft/include $@

# Order-only prerequisites of targets that need packages: $(BUILD)/setup-build.stamp, -test, -lint, -book.
$(BUILD)/setup-%.stamp: host/packages.txt host/setup.sh
	@mkdir -p $(@D)
	@[ "$(SETUP)" = no ] || host/setup.sh $*
	@touch $@

$(EMU_OBJ) $(INSN_ID).stamp: | $(BUILD)/setup-build.stamp
$(EMU_OBJ): | $(MAP_HEADER)

$(NEWLIB): host/newlib.sh | $(BUILD)/setup-build.stamp
	@host/newlib.sh $(BUILD)/newlib $(SYSROOT)
	@touch $@

$(BUILD)/cross/host/calls/%.o: host/calls/%.c $(NEWLIB) | $(SYSTEM_HEADERS) $(SHARE)/include/croft/roi.h
	@mkdir -p $(@D)
	$(CROSS)gcc $(HOST_CFLAGS) -isystem $(SHARE)/include -c $< -o $@

# The runtime of <croft/simt.h>. In programs that launch kernels, its locks and struct _reent replace
# newlib's.
$(BUILD)/cross/host/simt/%.o: host/simt/%.c $(NEWLIB) | $(SYSTEM_HEADERS) $(SHARE)/include/croft/simt.h
	@mkdir -p $(@D)
	$(CROSS)gcc $(HOST_CFLAGS) -Ihost/simt/newlib -isystem $(SHARE)/include -c $< -o $@

# The same runtime for programs of Linux, which brings its own C library.
LINUX_OBJ := $(addprefix $(BUILD)/linux/host/simt/,launch.o scalar.o linux/platform.o linux/entry.o)
$(BUILD)/linux/host/simt/%.o: host/simt/%.c $(NEWLIB) | $(SYSTEM_HEADERS) $(SHARE)/include/croft/simt.h
	@mkdir -p $(@D)
	$(CROSS)gcc $(HOST_CFLAGS) -fPIC -fvisibility=hidden -Ihost/simt/linux -isystem $(SHARE)/include -c $< -o $@

$(BUILD)/linux/host/simt/linux/entry.o: host/simt/linux/entry.S host/simt/layout.h host/simt/leave.S host/simt/switch.S | $(BUILD)/setup-build.stamp
	@mkdir -p $(@D)
	$(CROSS)gcc -I. -march=rv64gc -mabi=lp64d -g -ffile-prefix-map=$(CURDIR)/= -c $< -o $@

$(SHARE)/linux/libcroft.a: $(LINUX_OBJ)
	@mkdir -p $(@D)
	rm -f $@
	$(CROSS)ar rcsD $@ $^

# What `croft cc -foffload-loops` calls.
$(BUILD)/cross/host/nucd/%.o: host/nucd/%.c $(NEWLIB) | $(SHARE)/include/croft/loops.h $(SHARE)/include/croft/nucd.h \
    $(SHARE)/include/croft/nucd_bits.h
	@mkdir -p $(@D)
	$(CROSS)gcc $(HOST_CFLAGS) -isystem $(SHARE)/include -c $< -o $@

$(BUILD)/cross/host/simt/%.o: host/simt/%.S host/simt/layout.h host/simt/leave.S host/simt/switch.S | $(BUILD)/setup-build.stamp
	@mkdir -p $(@D)
	$(CROSS)gcc -I. -march=rv64gc -mabi=lp64d -mcmodel=medany -g -ffile-prefix-map=$(CURDIR)/= -c $< -o $@

# The runtime of <croft/stash.h> and <croft/dma.h>.
$(BUILD)/cross/host/stash/%.o: host/stash/%.c $(NEWLIB) | $(SYSTEM_HEADERS) $(SHARE)/include/croft/simt.h \
    $(SHARE)/include/croft/stash.h $(SHARE)/include/croft/stash_check.h $(SHARE)/include/croft/stash_error.def \
    $(SHARE)/include/croft/dma.h
	@mkdir -p $(@D)
	$(CROSS)gcc $(HOST_CFLAGS) -isystem $(SHARE)/include -c $< -o $@

$(BUILD)/cross/host/stash/%.o: host/stash/%.S host/simt/layout.h host/simt/leave.S | $(BUILD)/setup-build.stamp
	@mkdir -p $(@D)
	$(CROSS)gcc -I. -march=rv64gc -mabi=lp64d -mcmodel=medany -g -ffile-prefix-map=$(CURDIR)/= -c $< -o $@

# The runtime of <croft/axram_memory.h>.
$(BUILD)/cross/host/axram/%.o: host/axram/%.c $(NEWLIB) | $(SYSTEM_HEADERS) $(SHARE)/include/croft/axram.h \
    $(SHARE)/include/croft/axram_memory.h $(SHARE)/include/croft/approx/axram.h $(SHARE)/include/croft/approx.h \
    $(SHARE)/include/croft/approx/batch.h $(SHARE)/include/croft/sigmoid_table.h $(SHARE)/include/croft/simt_call.h
	@mkdir -p $(@D)
	$(CROSS)gcc $(HOST_CFLAGS) -isystem $(SHARE)/include -c $< -o $@

# The runtime of <croft/threads.h>.
$(BUILD)/cross/host/threads/%.o: host/threads/%.c $(NEWLIB) | $(SYSTEM_HEADERS) $(SHARE)/include/croft/threads.h
	@mkdir -p $(@D)
	$(CROSS)gcc $(HOST_CFLAGS) -isystem $(SHARE)/include -c $< -o $@

$(BUILD)/cross/host/threads/%.o: host/threads/%.S | $(BUILD)/setup-build.stamp
	@mkdir -p $(@D)
	$(CROSS)gcc -I. -march=rv64gc -mabi=lp64d -mcmodel=medany -g -ffile-prefix-map=$(CURDIR)/= -c $< -o $@

$(SYSROOT)/lib/libcroft.a: $(HOST_OBJ)
	rm -f $@
	$(CROSS)ar rcsD $@ $^

$(SYSROOT)/lib/crt0.o: host/start/crt0.S host/newlib/tls.S | $(NEWLIB)
	$(CROSS)gcc -I. -march=rv64gc -mabi=lp64d -g -ffile-prefix-map=$(CURDIR)/= -c $< -o $@

$(SYSROOT)/lib/croft.specs: host/croft.specs | $(NEWLIB)
	cp $< $@

$(SYSROOT)/lib/%.ld: linker/%.ld | $(NEWLIB)
	cp $< $@

$(SYSROOT)/include/sys/%.h: host/include/sys/%.h $(NEWLIB)
	cp $< $@

$(SHARE)/include/croft/%: isa/include/croft/%
	@mkdir -p $(@D)
	cp $< $@

# Manual pages: croft.1 and one for each command, from the tables of --help.
MAN := $(BUILD)/share/man
$(MAN).stamp: $(BUILD)/bin/croft host/host.mk
	rm -rf $(MAN)
	mkdir -p $(MAN)/man1
	$< help --man >$(MAN)/man1/croft.1
	for command in $$($< complete '' | cut -f 1 | grep -vx help); do $< help --man $$command >$(MAN)/man1/croft-$$command.1; done
	touch $@

.PHONY: man
man: $(MAN).stamp ## manual pages, in $(BUILD)/share/man
all: man

# All pages as one HTML file, beside the files that they link to; `make install` copies it if it is there.
BOOK       := $(DOC)/book.html
BOOK_PAGES := README.md $(sort $(shell find examples -name '*.md')) emu/cmd/README.md emu/machine/README.md
BOOK_PAGES += $(filter-out $(BOOK_PAGES) isa/MANUAL.md tests/README.md,$(DOC_PAGES)) isa/MANUAL.md tests/README.md

.PHONY: book
book: $(BOOK) ## all pages as one HTML file, $(BUILD)/share/doc/croft/book.html
$(BOOK): $(BOOK_PAGES) $(wildcard host/book/*) $(DOC_FILES) | $(BUILD)/setup-book.stamp
	host/book/book.sh $(BOOK_PAGES) >$@.new
	mv $@.new $@

install: all install-api ## copy croft and its files to PREFIX (/usr/local); DESTDIR is respected
	umask 022; mkdir -p $(addprefix $(DESTDIR)$(PREFIX)/,bin share/doc share/man/man1 share/bash-completion/completions share/zsh/site-functions)
	for page in $(MAN)/man1/*; do sed 's|$(realpath $(BUILD))/share/doc|$(PREFIX)/share/doc|g' $$page >$(DESTDIR)$(PREFIX)/share/man/man1/$${page##*/}; done
	cp emu/cmd/help/croft.bash $(DESTDIR)$(PREFIX)/share/bash-completion/completions/croft
	cp emu/cmd/help/_croft $(DESTDIR)$(PREFIX)/share/zsh/site-functions/_croft
	cp $(BUILD)/bin/croft $(DESTDIR)$(PREFIX)/bin/croft
	rm -rf $(DESTDIR)$(PREFIX)/share/croft $(DESTDIR)$(PREFIX)/share/doc/croft
	cp -r $(SHARE) $(DESTDIR)$(PREFIX)/share/croft
	cp -r $(DOC) $(DESTDIR)$(PREFIX)/share/doc/croft
	umask 022; mkdir -p $(DESTDIR)$(PREFIX)/share/croft/cmake $(DESTDIR)$(PREFIX)/share/pkgconfig
	cp examples/linux/riscv64-linux.cmake $(DESTDIR)$(PREFIX)/share/croft/cmake
	printf 'prefix=%s\n\nName: croft\nDescription: headers and runtime of croft for programs of Linux\nVersion: %s\nCflags: -isystem $${prefix}/share/croft/include\nLibs: -L$${prefix}/share/croft/linux -lcroft\n' \
	    $(PREFIX) "$$($(BUILD)/bin/croft version | sed -n '1s/[^0-9]*\([0-9][^ ]*\).*/\1/p')" >$(DESTDIR)$(PREFIX)/share/pkgconfig/croft.pc
	chmod -R u+rwX,go+rX $(addprefix $(DESTDIR)$(PREFIX)/,bin/croft share/croft share/doc/croft share/pkgconfig/croft.pc \
	    share/man/man1 share/bash-completion/completions/croft share/zsh/site-functions/_croft)

-include $(HOST_OBJ:.o=.d) $(LINUX_OBJ:.o=.d)
