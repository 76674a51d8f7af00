#include "emu/nucd/depend/depend.h"

#include <assert.h>
#include <stddef.h>

static uint64_t bit(int slot)
{
    return UINT64_C(1) << slot;
}

/* Ranges that the task reads, or writes (out). Stores their number. */
static const struct nucd_range *ranges_of(const struct nucd_depend_entry *entry, bool out, unsigned *count)
{
    const struct nucd_ranges *ranges = out ? &entry->memory.out : &entry->memory.in;
    const struct nucd_lines *lines = !entry->access ? NULL : out ? &entry->access->out : &entry->access->in;
    *count = lines ? lines->count : ranges->count;
    return lines ? lines->range : ranges->range;
}

static void hull_add(struct nucd_range *hull, const struct nucd_depend_entry *entry, bool out)
{
    unsigned count;
    const struct nucd_range *range = ranges_of(entry, out, &count);
    for (unsigned i = 0; i < count; i++) {
        hull->first = range[i].first < hull->first ? range[i].first : hull->first;
        hull->last = range[i].last > hull->last ? range[i].last : hull->last;
    }
}

static void hulls_add(struct nucd_depend *table, const struct nucd_depend_entry *entry)
{
    hull_add(&table->out, entry, true);
    hull_add(&table->any, entry, true);
    hull_add(&table->any, entry, false);
}

static void hulls_renew(struct nucd_depend *table)
{
    table->out = table->any = (struct nucd_range){.first = UINT64_MAX, .last = 0};
    for (uint64_t set = table->used; set != 0; set &= set - 1)
        hulls_add(table, &table->entry[__builtin_ctzll(set)]);
}

void nucd_depend_init(struct nucd_depend *table, unsigned size, uint64_t granule)
{
    assert(size >= 1 && size <= NUCD_TASKS && granule >= NUCD_LINE);
    *table = (struct nucd_depend){.size = size, .granule = granule};
    hulls_renew(table);
}

static void round_out(struct nucd_ranges *ranges, uint64_t granule)
{
    for (unsigned i = 0; i < ranges->count; i++) {
        ranges->range[i].first &= ~(granule - 1);
        ranges->range[i].last |= granule - 1;
    }
}

bool nucd_depend_reads(const struct nucd_depend_entry *entry, uint64_t first, uint64_t last)
{
    return entry->access ? nucd_lines_touch(&entry->access->in, first, last)
                         : nucd_ranges_touch(&entry->memory.in, first, last);
}

bool nucd_depend_writes(const struct nucd_depend_entry *entry, uint64_t first, uint64_t last)
{
    return entry->access ? nucd_lines_touch(&entry->access->out, first, last)
                         : nucd_ranges_touch(&entry->memory.out, first, last);
}

/* nucd_footprints_conflict() for entries of the table. */
static bool conflict(const struct nucd_depend_entry *a, const struct nucd_depend_entry *b)
{
    unsigned count;
    const struct nucd_range *range = ranges_of(b, true, &count);
    for (unsigned i = 0; i < count; i++)
        if (nucd_depend_reads(a, range[i].first, range[i].last) ||
            nucd_depend_writes(a, range[i].first, range[i].last))
            return true;
    range = ranges_of(b, false, &count);
    for (unsigned i = 0; i < count; i++)
        if (nucd_depend_writes(a, range[i].first, range[i].last))
            return true;
    return false;
}

int nucd_depend_add(struct nucd_depend *table, const struct nucd_task *task,
                    const struct nucd_access_set *access)
{
    uint64_t free = ~table->used;
    if (free == 0)
        return NUCD_NO_TASK;
    int slot = __builtin_ctzll(free);
    if (slot >= (int)table->size)
        return NUCD_NO_TASK;
    struct nucd_depend_entry *entry = &table->entry[slot];
    *entry = (struct nucd_depend_entry){.memory = task->memory, .access = access, .age = table->next_age++};
    round_out(&entry->memory.in, table->granule);
    round_out(&entry->memory.out, table->granule);
    for (uint64_t set = table->used; set != 0; set &= set - 1) {
        int other = __builtin_ctzll(set);
        if (conflict(&table->entry[other], entry))
            entry->waits_for |= bit(other);
    }
    table->used |= bit(slot);
    hulls_add(table, entry);
    return slot;
}

uint64_t nucd_depend_complete(struct nucd_depend *table, int slot)
{
    assert(table->used & bit(slot) && !nucd_depend_blocked(table, slot));
    uint64_t freed = 0;
    table->used &= ~bit(slot);
    for (uint64_t set = table->used; set != 0; set &= set - 1) {
        int other = __builtin_ctzll(set);
        uint64_t before = table->entry[other].waits_for;
        table->entry[other].waits_for = before & ~bit(slot);
        if (before == bit(slot))
            freed |= bit(other);
    }
    hulls_renew(table);
    return freed;
}

uint64_t nucd_depend_squash(struct nucd_depend *table, int slot)
{
    assert(table->used & bit(slot));
    uint64_t squashed = 0, age = table->entry[slot].age;
    for (uint64_t set = table->used; set != 0; set &= set - 1)
        if (table->entry[__builtin_ctzll(set)].age >= age)
            squashed |= bit(__builtin_ctzll(set));
    table->used &= ~squashed; /* only younger tasks can wait for these */
    hulls_renew(table);
    return squashed;
}

int nucd_depend_oldest(const struct nucd_depend *table, uint64_t *set)
{
    assert(*set != 0);
    int oldest = __builtin_ctzll(*set);
    for (uint64_t rest = *set & (*set - 1); rest != 0; rest &= rest - 1)
        if (table->entry[__builtin_ctzll(rest)].age < table->entry[oldest].age)
            oldest = __builtin_ctzll(rest);
    *set &= ~bit(oldest);
    return oldest;
}

static int younger_of(const struct nucd_depend *table, int a, int b)
{
    return a == NUCD_NO_TASK || table->entry[b].age > table->entry[a].age ? b : a;
}

int nucd_depend_find_load(const struct nucd_depend *table, uint64_t first, uint64_t last, uint64_t age)
{
    int found = NUCD_NO_TASK;
    for (uint64_t set = table->used; set != 0; set &= set - 1) {
        int slot = __builtin_ctzll(set);
        const struct nucd_depend_entry *entry = &table->entry[slot];
        if (entry->age < age && nucd_depend_writes(entry, first, last))
            found = younger_of(table, found, slot);
    }
    return found;
}

int nucd_depend_find_store(const struct nucd_depend *table, uint64_t first, uint64_t last, uint64_t age)
{
    int found = NUCD_NO_TASK;
    for (uint64_t set = table->used; set != 0; set &= set - 1) {
        int slot = __builtin_ctzll(set);
        const struct nucd_depend_entry *entry = &table->entry[slot];
        if (entry->age < age &&
            (nucd_depend_writes(entry, first, last) || nucd_depend_reads(entry, first, last)))
            found = younger_of(table, found, slot);
    }
    return found;
}
