# The shipped machine descriptions go where croft looks for its data.
MACHINES := $(patsubst emu/machine/shipped/%,$(BUILD)/share/croft/machines/%,$(wildcard emu/machine/shipped/*.yaml))

$(BUILD)/share/croft/machines/%.yaml: emu/machine/shipped/%.yaml
	@mkdir -p $(@D)
	install -m 644 $< $@

.PHONY: machines
machines: $(MACHINES)
all: machines

# What croft report puts into its pages.
REPORT_PARTS := $(patsubst emu/experiment/page/%,$(BUILD)/share/croft/report/%,$(filter-out %.md %.c %.h,$(wildcard emu/experiment/page/*)))

$(BUILD)/share/croft/report/%: emu/experiment/page/%
	@mkdir -p $(@D)
	install -m 644 $< $@

all: $(REPORT_PARTS)
