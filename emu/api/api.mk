# libundercroft: the models for other simulators, shared and static, with one header.
API_SONAME  := libundercroft.so.1
API_LIBRARY := $(BUILD)/lib/$(API_SONAME)
API_STATIC  := $(BUILD)/lib/libundercroft.a
API_HEADER  := $(BUILD)/lib/include/undercroft.h

api: $(API_LIBRARY) $(API_STATIC) $(API_HEADER) ## libundercroft, the models for other simulators, in $(BUILD)/lib
.PHONY: api
all: api

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
