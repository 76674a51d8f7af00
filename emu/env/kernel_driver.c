#include "emu/env/kernel_driver.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>

#include "emu/env/workers.h"
#include "emu/machine/system.h"
#include "emu/sim/unit.h"

struct kernel_driver kernel_driver_of(const struct machine_config *machine, const char *firmware)
{
    const uint64_t tick = SYSTEM_TICK_NS * UINT64_C(1000000); /* fs */
    if (!machine->nucd || machine->nucd->mode != NUCD_MODE_DRIVER)
        return (struct kernel_driver){0};
    assert(workers_count(machine, firmware) <= KERNEL_DRIVER_UNITS);
    return (struct kernel_driver){.units = workers_count(machine, firmware),
                                  .base = machine->nucd->base + TASK_UNIT_PAGE,
                                  .size = TASK_UNIT_SIZE,
                                  .lines = machine->nucd->queue_lines,
                                  .capabilities = machine->nucd->capabilities,
                                  .os_clocks = machine->nucd->os_clocks,
                                  .timeout = machine->nucd->timeout / tick};
}

void kernel_driver_malformed(const struct user *user, struct nucd_causes *causes,
                             const struct kernel_frame *frame)
{
    char text[SYMBOLS_TEXT];
    struct error warning;
    assert(frame->value < NUCD_CAUSE_COUNT);
    if (nucd_causes_note(causes, (enum nucd_cause)frame->value, frame->pc, &warning))
        guest_warn(user, "%s: %s", symbols_describe(user->symbols, frame->pc, text, sizeof text),
                   warning.text);
}

int kernel_driver_timeout(const struct user *user, const struct machine_config *machine,
                          const struct kernel_frame *frame)
{
    char text[SYMBOLS_TEXT], time[UNIT_TEXT];
    unit_format(UNIT_TIME, machine->nucd->timeout, time);
    fprintf(stderr,
            "croft: %s: the task of the nucd at 0x%" PRIx64 ", %s, on accelerator %" PRIu64
            " has not ended within %s (nucd.timeout)\n",
            user->options->program, frame->pc, symbols_describe(user->symbols, frame->pc, text, sizeof text),
            frame->value, time);
    return USER_STATUS_LIMIT;
}

void kernel_driver_publish(const struct kernel_driver *driver, struct nucd_causes *causes,
                           struct stats *stats)
{
    const struct scope nucd = scope_enter(NULL, "nucd");
    const struct kernel_driver_counters *c = &driver->counters;
    if (driver->units == 0 || !stats)
        return;
    stats_counter(stats, nucd, "driver_calls", &c->calls, "calls",
                  "calls of tasks that the driver has served");
    stats_counter(stats, nucd, "driver_tasks", &c->tasks, "tasks",
                  "tasks that the driver gave to accelerators");
    stats_counter(stats, nucd, "driver_maps", &c->maps, "pages", "devices mapped into the program");
    stats_counter(stats, nucd, "driver_waits", &c->waits, "tasks",
                  "tasks that waited for an older one's ranges, or for room");
    stats_counter(stats, nucd, "driver_faults", &c->faults, "faults",
                  "faults of tasks that the driver answered");
    stats_counter(stats, nucd, "driver_cycles", &c->clocks, "cycles", "host cycles in the driver");
    stats_counter(stats, nucd, "driver_wait_cycles", &c->wait_clocks, "cycles",
                  "of these, waiting for accelerators");
    stats_counter(stats, nucd, "driver_os_cycles", &c->os_clocks, "cycles",
                  "of these, in the stead of a full operating system (nucd.os_clocks)");
    stats_counter(stats, nucd, "driver_clean_cycles", &c->clean_clocks, "cycles",
                  "of these, cleaning and invalidating cache blocks");
    nucd_causes_publish(causes, stats, nucd);
}
