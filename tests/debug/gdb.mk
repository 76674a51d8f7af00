# Scripted sessions of gdb-multiarch with the gdb server. Its unit tests are test_gdb_*.c.
.PHONY: test-gdb
test-gdb: all | $(BUILD)/setup-test.stamp ## sessions of gdb itself
	CROFT=$(BUILD)/bin/croft OUT=$(BUILD)/tests/debug/gdb tests/debug/gdb.sh
