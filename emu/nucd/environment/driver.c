#include "emu/nucd/environment/driver.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>

#include "emu/nucd/description.h"
#include "isa/include/croft/task_unit.h"
#include "linker/map.h"

static_assert(CROFT_HARTS_MAX <= KERNEL_DRIVER_ACCELERATORS, "the driver's table holds all accelerators");

void nucd_driver_boot(const struct tree *tree, const char *firmware, uint64_t tick, struct kernel_boot *boot)
{
    const struct nucd_config *config = nucd_described(tree);
    unsigned count = nucd_count(tree, firmware);
    boot->accelerators = count;
    boot->unit_count = config && config->mode != NUCD_MODE_NONE ? count : 0;
    boot->unit_base = config ? config->base + TASK_UNIT_PAGE : 0;
    boot->unit_size = TASK_UNIT_SIZE;
    boot->driver = (struct kernel_driver){0};
    if (config && config->mode == NUCD_MODE_DRIVER)
        boot->driver = (struct kernel_driver){.units = count,
                                              .base = boot->unit_base,
                                              .size = boot->unit_size,
                                              .lines = config->queue_lines,
                                              .capabilities = config->capabilities,
                                              .os_clocks = config->os_clocks,
                                              .timeout = config->timeout / tick};
}

void nucd_driver_timeout(const struct tree *tree, const struct kernel_frame *frame, const char *place,
                         char text[NUCD_DRIVER_TEXT])
{
    char time[QUANTITY_TEXT];
    quantity_format(QUANTITY_TIME, nucd_described(tree)->timeout, time);
    (void)snprintf(text, NUCD_DRIVER_TEXT,
                   "the task of the nucd at 0x%" PRIx64 ", %s, on accelerator %" PRIu64
                   " has not ended within %s (nucd.timeout)",
                   frame->pc, place, frame->value, time);
}

static void publish_host(const struct kernel_driver_counters *c, struct scope nucd, struct stats *stats)
{
    const struct stats_row rows[] = {
        {"driver_calls", &c->calls, "calls", "calls for tasks that the driver has served"},
        {"driver_tasks", &c->tasks, "tasks", "tasks that the driver gave to accelerators"},
        {"driver_maps", &c->maps, "pages", "devices mapped into the program"},
        {"driver_waits", &c->waits, "tasks", "tasks that waited for ranges of older tasks, or for room"},
        {"driver_faults", &c->faults, "faults", "faults of tasks that the driver answered"},
        {"driver_cycles", &c->clocks, "cycles", "host cycles in the driver"},
        {"driver_wait_cycles", &c->wait_clocks, "cycles", "of driver_cycles, waiting for accelerators"},
        {"driver_turn_cycles", &c->turn_clocks, "cycles",
         "of driver_cycles, waiting for accelerators that have other hosts' tasks"},
        {"driver_os_cycles", &c->os_clocks, "cycles",
         "of driver_cycles, added for a full operating system (nucd.os_clocks)"},
        {"driver_clean_cycles", &c->clean_clocks, "cycles",
         "of driver_cycles, cleaning and invalidating cache blocks"},
    };
    stats_counters(stats, nucd, rows, sizeof rows / sizeof *rows);
}

void nucd_driver_publish(const struct kernel_boot *boot, struct nucd_causes *causes, struct stats *stats)
{
    char name[32] = "nucd";
    if (boot->driver.units == 0)
        return;
    for (unsigned host = 0; host < boot->hosts; host++) {
        if (host > 0)
            (void)snprintf(name, sizeof name, "nucd.%u", host);
        publish_host(&boot->driver.counters[host], scope_enter(NULL, name), stats);
    }
    nucd_causes_publish(causes, stats, scope_enter(NULL, "nucd"));
}
