#include "host/kernel/units.h"

#include <croft/firmware/map.h>

#include "host/kernel/memory/blocks.h"
#include "host/kernel/memory/ranges.h"
#include "host/kernel/memory/table.h"

static struct {
    uint64_t at, count,
        size; /* address of the first page of registers, number of units, distance between pages in bytes */
    bool hardware; /* the hardware sends tasks, not the driver */
    bool threads;  /* multiprocessors run beside the hart */
    uint64_t told; /* ranges_taken at the last update */
} units;

void units_init(const struct kernel_boot *boot)
{
    units.count = boot->unit_count;
    units.size = boot->unit_size;
    units.hardware = boot->unit_count && !boot->driver.units;
    units.threads = boot->multiprocessors;
    if (units.count)
        units.at = table_map_devices(boot->unit_base);
}

volatile struct task_unit_host *units_registers(uint64_t number)
{
    return (volatile struct task_unit_host *)(units.at + number * units.size);
}

bool units_are_idle(void)
{
    for (uint64_t i = 0; i < units.count; i++) {
        uint64_t status = units_registers(i)->status;
        if ((status & TASK_UNIT_STATE_MASK) != TASK_UNIT_IDLE || (status & TASK_UNIT_WAITS))
            return false;
    }
    return true;
}

void units_show_ranges(void)
{
    if (units.hardware)
        blocks_clean_ranges();
}

void units_forget_ranges(void)
{
    if (units.told == ranges_taken)
        return;
    units.told = ranges_taken;
    if (units.threads)
        (void)door(DOOR_FORGET, 0);
    if (units.count)
        blocks_clean_ranges();
    blocks_order();
    for (uint64_t i = 0; i < units.count; i++)
        units_registers(i)->ranges = (uint64_t)&ranges - CROFT_KERNEL_BASE + CROFT_DRAM_BASE;
    blocks_order();
}
