# Scripted sessions of gdb-multiarch with the gdb server.
.PHONY: test-gdb
test-gdb: all | $(BUILD)/setup-test.stamp ## sessions of gdb itself
	CROFT=$(BUILD)/bin/croft OUT=$(BUILD)/tests/debug/gdb tests/debug/gdb.sh
