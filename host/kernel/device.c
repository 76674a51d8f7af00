#include "host/kernel/device.h"

#include "host/kernel/table.h"

bool device_map(unsigned number, uint64_t physical)
{
    table_entry *slot = table_slot(DEVICES_AT + number * (uint64_t)PAGE, true);
    if (!slot)
        return false;
    *slot = table_entry_of(physical, CROFT_RANGE_READ | CROFT_RANGE_WRITE);
    table_synchronize();
    return true;
}

void device_unmap(uint64_t set)
{
    if (!set)
        return;
    for (unsigned number = 0; number < DEVICES && set >> number; number++)
        if (set >> number & 1)
            *table_slot(DEVICES_AT + number * (uint64_t)PAGE, false) = 0;
    table_synchronize();
}

void device_send(unsigned number, const uint64_t *words, unsigned count)
{
    enum { WORDS = 8 };
    volatile struct task_unit_host *device = device_at(number);
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
