# The writers of random programs and machines (tests/machine/stress/stress.sh).
STRESS_WRITERS := $(addprefix $(BUILD)/tests/machine/stress/,program machine)

$(STRESS_WRITERS): $(BUILD)/tests/machine/stress/%: tests/machine/stress/%.c tests/machine/stress/parts.h emu/sim/mix.h \
    | $(BUILD)/setup-build.stamp
	@mkdir -p $(@D)
	$(CC) -std=c17 -D_GNU_SOURCE -O1 -g $(WARNINGS) $(SANITIZE) -I. $< -o $@

.PHONY: stress-writers
stress-writers: $(STRESS_WRITERS)
