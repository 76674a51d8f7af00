# Tests of the devices, the board and the device tree.
DEV_TESTS := $(patsubst tests/dev/%.c,$(BUILD)/tests/dev/%,$(wildcard tests/dev/test_*.c))

$(BUILD)/tests/dev/%: tests/dev/%.c $(LIB_OBJ) | $(BUILD)/setup-test.stamp
	@mkdir -p $(@D)
	$(CC) $(EMU_CFLAGS) $< $(LIB_OBJ) $(EMU_LIBS) -lcmocka -o $@

.PHONY: test-dev
test-dev: $(DEV_TESTS) ## devices against their data sheets, console, device tree
	tests/dev/run.sh $(DEV_TESTS)

-include $(DEV_TESTS:=.d)
