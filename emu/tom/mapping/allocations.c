#include "emu/tom/mapping/allocations.h"

#include <string.h>

struct tom_range *tom_allocations_find(struct tom_allocations *table, uint64_t address)
{
    for (unsigned i = 0; i < table->count; i++)
        if (address - table->ranges[i].base < table->ranges[i].bytes)
            return &table->ranges[i];
    return NULL;
}

bool tom_allocations_add(struct tom_allocations *table, uint64_t base, uint64_t bytes)
{
    if (bytes < TOM_RANGE_LEAST || tom_allocations_find(table, base))
        return true;
    if (table->count == TOM_RANGES) {
        table->left_out++;
        return false;
    }
    table->ranges[table->count++] = (struct tom_range){.base = base, .bytes = bytes};
    return true;
}

void tom_allocations_remove(struct tom_allocations *table, uint64_t base)
{
    struct tom_range *range = tom_allocations_find(table, base);
    if (!range || range->base != base)
        return;
    table->count--;
    memmove(range, range + 1, (size_t)(&table->ranges[table->count] - range) * sizeof *range);
    table->ranges[table->count] = (struct tom_range){.base = 0};
}
