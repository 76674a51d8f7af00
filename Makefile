# Undercroft. `make help` lists what there is; every product goes beneath $(BUILD).
BUILD  ?= build
PREFIX ?= /usr/local

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
MAKEFLAGS += --no-builtin-rules

include emu/emu.mk
include emu/machine/machine.mk
-include host/host.mk
include emu/api/api.mk
-include firmware/firmware.mk
-include examples/examples.mk
-include tests/tests.mk

.PHONY: all clean help
all: $(BUILD)/bin/croft ## build the emulator

clean: ## remove all products
	rm -rf $(BUILD)

help: ## this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## */\t/' | sort | expand -t 12
