#include "host/kernel/driver/device.h"

#include "host/kernel/hosts.h"

bool device_prepare(struct host *host)
{
    return table_slot_in(host->table, DEVICES_AT, true) != NULL; /* 64 pages: one table of the last level */
}

bool device_map(unsigned number, uint64_t physical)
{
    const uint64_t at = DEVICES_AT + number * (uint64_t)PAGE;
    table_entry *slot = table_slot_in(host_self()->table, at, true);
    if (!slot)
        return false;
    *slot = table_entry_of(physical, CROFT_RANGE_READ | CROFT_RANGE_WRITE);
    table_synchronize_page(at);
    return true;
}

void device_unmap(uint64_t set)
{
    for (unsigned number = 0; number < DEVICES && set >> number; number++) {
        const uint64_t at = DEVICES_AT + number * (uint64_t)PAGE;
        if (!(set >> number & 1))
            continue;
        *table_slot_in(host_self()->table, at, false) = 0;
        table_synchronize_page(at);
    }
}

void device_send(volatile struct task_unit_host *device, const uint64_t *words, unsigned count)
{
    enum { WORDS = 8 };
    unsigned lines = (count + WORDS - 1) / WORDS;
    for (unsigned line = 0; line < lines; line++) {
        unsigned i = 0;
        for (; i < WORDS && line * WORDS + i < count; i++)
            device->line[i] = words[line * WORDS + i];
        if (i < WORDS)
            device->line[i] = 0; /* no further packet follows */
        device->doorbell = lines;
    }
}
