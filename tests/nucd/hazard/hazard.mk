# Random offloading programs (tests/nucd/hazard/hazard.h). HAZARD_SEED, HAZARD_BODIES, HAZARD_FAULTS and HAZARD_SHARED
# select others.
HAZARD_SEED   ?= 1
HAZARD_BODIES ?= 512
HAZARD_FAULTS ?= 32
HAZARD_SHARED ?= 256
HAZARDS       := $(BUILD)/tests/nucd/hazards
HAZARD        := $(BUILD)/tests/nucd/hazard
HAZARD_SRC    := $(addprefix tests/nucd/hazard/,hazard.c host.c task.c region.c)
HAZARD_FRAME  := tests/nucd/hazard/run.c tests/nucd/hazard/entry.S
HAZARD_HEADS  := tests/nucd/hazard/hazard.h tests/nucd/hazard/run.h
HAZARD_NAME   := $(HAZARD_SEED)-$(HAZARD_BODIES)

$(HAZARD): $(HAZARD_SRC) tests/nucd/hazard/hazard.h tests/nucd/hazard/task.h | $(BUILD)/setup-build.stamp
	@mkdir -p $(@D)
	$(CC) -std=c17 -D_GNU_SOURCE -O1 -g $(WARNINGS) $(SANITIZE) -I. $(HAZARD_SRC) -o $@

$(HAZARDS)/random-$(HAZARD_SEED)-%.S: $(HAZARD)
	@mkdir -p $(@D)
	$< $(HAZARD_SEED) $* > $@

$(HAZARDS)/faults-$(HAZARD_SEED)-$(HAZARD_FAULTS).S: $(HAZARD)
	@mkdir -p $(@D)
	$< $(HAZARD_SEED) $$((2 * $(HAZARD_FAULTS))) --faults > $@

HAZARD_FILES := $(HAZARDS)/random-$(HAZARD_NAME) $(HAZARDS)/faults-$(HAZARD_SEED)-$(HAZARD_FAULTS)
$(HAZARD_FILES): %: %.S tests/nucd/hazard/main.c $(HAZARD_FRAME) $(HAZARD_HEADS) $(SHARE_FILES) | $(BUILD)/bin/croft
	$(BUILD)/bin/croft cc -std=gnu17 -O2 -g $(WARNINGS) -I. tests/nucd/hazard/main.c $(HAZARD_FRAME) $< -o $@

# The first HAZARD_SHARED random bodies on several hosts.
HAZARD_HOSTS := $(HAZARDS)/hosts-$(HAZARD_SEED)-$(HAZARD_SHARED)
$(HAZARD_HOSTS): $(HAZARDS)/random-$(HAZARD_SEED)-$(HAZARD_SHARED).S tests/nucd/hazard/harts.c $(HAZARD_FRAME) $(HAZARD_HEADS) $(SHARE_FILES) \
    | $(BUILD)/bin/croft
	$(BUILD)/bin/croft cc --bare -std=gnu17 -O2 -g $(WARNINGS) -I. tests/nucd/hazard/harts.c $(HAZARD_FRAME) $< -o $@

# The same in threads beneath the kernel.
HAZARD_THREADS := $(HAZARDS)/threads-$(HAZARD_SEED)-$(HAZARD_SHARED)
$(HAZARD_THREADS): $(HAZARDS)/random-$(HAZARD_SEED)-$(HAZARD_SHARED).S tests/nucd/hazard/threads.c $(HAZARD_FRAME) $(HAZARD_HEADS) $(SHARE_FILES) \
    | $(BUILD)/bin/croft
	$(BUILD)/bin/croft cc -std=gnu17 -O2 -g $(WARNINGS) -I. tests/nucd/hazard/threads.c $(HAZARD_FRAME) $< -o $@

.PHONY: test-hazards
test-hazards: $(HAZARD_FILES) $(HAZARD_HOSTS) $(HAZARD_THREADS) all | $(BUILD)/setup-test.stamp ## random offloading programs against qemu-riscv64; ALL=1: every size of host
	CROFT=$(BUILD)/bin/croft OUT=$(HAZARDS)/runs tests/nucd/hazard/hazard.sh $(HAZARD_FILES) $(HAZARD_HOSTS) $(HAZARD_THREADS)
