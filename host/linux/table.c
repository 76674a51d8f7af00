#include "host/linux/table.h"

#include <string.h>

enum { LINE = 64 };

uint64_t table_from(const struct croft_range_table *table, uint64_t address)
{
    uint64_t low = 0, high = table->count;
    while (low < high) {
        uint64_t middle = (low + high) / 2;
        if (table->entries[middle].base + table->entries[middle].size > address)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static void begin_change(struct croft_range_table *table)
{
    table->changes++;
    table_flush(table, LINE);
}

static void end_change(struct croft_range_table *table, uint64_t from)
{
    if (from < table->count)
        table_flush(&table->entries[from], (table->count - from) * sizeof table->entries[0]);
    table_flush(table, LINE); /* the count */
    table->changes++;
    table_flush(table, LINE);
}

/* Moves the entries from `from` on. */
static void move(struct croft_range_table *table, uint64_t from, int64_t by)
{
    struct croft_range *at = &table->entries[from];
    memmove(at + by, at, (table->count - from) * sizeof *at);
    table->count += (uint64_t)by;
}

static int continues(const struct croft_range *low, const struct croft_range *high)
{
    return low->base + low->size == high->base && low->physical + low->size == high->physical &&
           low->permissions == high->permissions;
}

int table_put(struct croft_range_table *table, const struct croft_range *entry)
{
    uint64_t at = table_from(table, entry->base), from = at ? at - 1 : 0;
    if (table->count == CROFT_RANGES_MAX)
        return 0;
    begin_change(table);
    move(table, at, 1);
    table->entries[at] = *entry;
    if (at + 1 < table->count && continues(&table->entries[at], &table->entries[at + 1])) {
        table->entries[at].size += table->entries[at + 1].size;
        move(table, at + 2, -1);
    }
    if (at > 0 && continues(&table->entries[at - 1], &table->entries[at])) {
        table->entries[at - 1].size += table->entries[at].size;
        move(table, at + 1, -1);
    }
    end_change(table, from);
    return 1;
}

void table_cut(struct croft_range_table *table, uint64_t first, uint64_t end)
{
    uint64_t at = table_from(table, first), from = at;
    begin_change(table);
    while (at < table->count && table->entries[at].base < end) {
        struct croft_range *entry = &table->entries[at], high = *entry;
        if (entry->base + entry->size > end) {
            high.size = entry->base + entry->size - end;
            high.base = end;
            high.physical += end - entry->base;
            if (entry->base >= first) {
                *entry = high;
                break;
            }
            entry->size = first - entry->base;
            if (table->count < CROFT_RANGES_MAX) {
                move(table, at + 1, 1);
                table->entries[at + 1] = high;
            }
            break;
        }
        if (entry->base < first) {
            entry->size = first - entry->base;
            at++;
        } else {
            move(table, at + 1, -1);
        }
    }
    end_change(table, from);
}

int table_covers(const struct croft_range_table *table, uint64_t first, uint64_t end, uint32_t permissions)
{
    uint64_t i;
    for (i = table_from(table, first); first < end; i++) {
        const struct croft_range *entry = &table->entries[i];
        if (i == table->count || entry->base > first || (permissions & ~entry->permissions))
            return 0;
        first = entry->base + entry->size;
    }
    return 1;
}
