# libundercroft: the models for other simulators, shared and static, with one header.
API_SONAME  := libundercroft.so.1
API_LIBRARY := $(BUILD)/lib/$(API_SONAME)
API_STATIC  := $(BUILD)/lib/libundercroft.a
API_HEADER  := $(BUILD)/lib/include/undercroft.h

API_PYTHON  := $(SHARE)/python/undercroft.py
API_PC      := $(BUILD)/lib/pkgconfig/undercroft.pc

# Objects are made for programs that move as a whole, and so can a library, whose symbols are its own. The file that uses a
# variable of the C library, and those with variables of threads, are compiled for libraries.
$(BUILD)/obj/emu/sim/text/say.o $(BUILD)/obj/emu/hart/mmu/mirror.o: EMU_CFLAGS += -fPIC

api: $(API_LIBRARY) $(API_STATIC) $(API_HEADER) $(API_PYTHON) $(API_PC) ## libundercroft, the models for other simulators, in $(BUILD)/lib
.PHONY: api
# Not with sanitizers, whose code in ordinary objects does not fit into a shared library.
ifeq ($(SANITIZE),)
all: api
endif

$(API_LIBRARY): $(API_OBJ) $(CROFT_LIB) emu/api/undercroft.map
	@mkdir -p $(@D)
	$(CC) -shared $(SANITIZE) $(LDFLAGS) -Wl,-soname,$(API_SONAME) -Wl,--version-script=emu/api/undercroft.map -Wl,-z,now \
	    $(if $(SANITIZE),,-Wl,--no-undefined) -Wl,--as-needed $(API_OBJ) $(CROFT_LIB) $(EMU_LIBS) -o $@
	ln -sf $(API_SONAME) $(BUILD)/lib/libundercroft.so

# One object, of which only the names of the header are left.
$(API_STATIC): $(API_OBJ) $(CROFT_LIB)
	@mkdir -p $(@D)
	ld -r $(API_OBJ) $(CROFT_LIB) -o $(BUILD)/lib/undercroft.o
	objcopy --wildcard --keep-global-symbol='undercroft_*' $(BUILD)/lib/undercroft.o
	rm -f $@
	ar rcsD $@ $(BUILD)/lib/undercroft.o
	rm -f $(BUILD)/lib/undercroft.o

$(API_HEADER): emu/api/undercroft.h
	@mkdir -p $(@D)
	cp $< $@

$(API_PYTHON): emu/api/undercroft.py
	@mkdir -p $(@D)
	cp $< $@

# Says where the library is in the build folder, from where the file itself lies, so that a copied folder has its own; `make install` writes PREFIX there.
$(API_PC): emu/api/undercroft.pc.in emu/cmd/version.h emu/api/api.mk
	@mkdir -p $(@D)
	sed 's|@prefix@|$${pcfiledir}/../..|; s|@include@|lib/include|; s|@version@|'"$$(sed -n 's/.define CROFT_VERSION "\(.*\)"/\1/p' emu/cmd/version.h)"'|; s|@libraries@|$(LIBRARIES)|' $< >$@

.PHONY: install-api
install-api: api
	umask 022; mkdir -p $(addprefix $(DESTDIR)$(PREFIX)/,lib/pkgconfig include)
	cp $(API_HEADER) $(DESTDIR)$(PREFIX)/include/undercroft.h
	cp $(API_LIBRARY) $(API_STATIC) $(DESTDIR)$(PREFIX)/lib/
	ln -sf $(API_SONAME) $(DESTDIR)$(PREFIX)/lib/libundercroft.so
	sed 's|^prefix=.*|prefix=$(PREFIX)|; s|lib/include|include|' $(API_PC) >$(DESTDIR)$(PREFIX)/lib/pkgconfig/undercroft.pc
	chmod -R u+rwX,go+rX $(addprefix $(DESTDIR)$(PREFIX)/,include/undercroft.h lib/$(API_SONAME) lib/libundercroft.a lib/pkgconfig/undercroft.pc)
