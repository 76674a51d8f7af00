#include "emu/mem/cache/tags.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "emu/sim/alloc.h"

const char *const tags_replacement_names[] = {[TAGS_LRU] = "lru", [TAGS_TREE_PLRU] = "tree_plru", NULL};

static uint32_t log2_of(uint32_t power)
{
    return (uint32_t)__builtin_ctz(power);
}

static void forget_recent(struct tags *tags)
{
    for (uint32_t set = 0; set <= tags->set_mask; set++)
        tags->recent[set] = set * tags->ways;
}

void tags_init(struct tags *tags, uint32_t sets, uint32_t ways, uint32_t shift,
               enum tags_replacement replacement)
{
    assert(sets > 0 && (sets & (sets - 1)) == 0 && ways > 0 && ways <= TAGS_WAYS);
    assert(shift >= TAGS_STATE_BITS && shift < 64);
    assert(replacement == TAGS_LRU || (ways & (ways - 1)) == 0);
    *tags = (struct tags){.shift = shift,
                          .set_mask = sets - 1,
                          .ways = ways,
                          .levels = replacement == TAGS_TREE_PLRU ? log2_of(ways) : 0,
                          .replacement = replacement};
    tags->entries = alloc((size_t)sets * ways, sizeof *tags->entries);
    tags->recent = alloc(sets, sizeof *tags->recent);
    tags->use = alloc(replacement == TAGS_LRU ? (size_t)sets * ways : sets, sizeof *tags->use);
    forget_recent(tags);
}

void tags_free(struct tags *tags)
{
    free(tags->entries);
    free(tags->recent);
    free(tags->use);
    *tags = (struct tags){0};
}

void tags_clear(struct tags *tags)
{
    size_t sets = tags->set_mask + (size_t)1, entries = sets * tags->ways;
    memset(tags->entries, 0, entries * sizeof *tags->entries);
    forget_recent(tags);
    memset(tags->use, 0, (tags->replacement == TAGS_LRU ? entries : sets) * sizeof *tags->use);
    tags->age = 0;
}

/* Makes all nodes on the path to the way's leaf point to the other child. */
static uint64_t tree_away(uint64_t bits, uint32_t way, uint32_t levels)
{
    uint32_t node = 1;
    for (uint32_t level = levels; level-- > 0;) {
        uint32_t right = way >> level & 1;
        bits = right ? bits & ~(UINT64_C(1) << node) : bits | UINT64_C(1) << node;
        node = 2 * node + right;
    }
    return bits;
}

static uint32_t tree_victim(uint64_t bits, uint32_t levels)
{
    uint32_t node = 1;
    for (uint32_t level = 0; level < levels; level++)
        node = 2 * node + (uint32_t)(bits >> node & 1);
    return node - (UINT32_C(1) << levels);
}

void tags_touch_other(struct tags *tags, uint32_t set, uint32_t index)
{
    tags->recent[set] = index;
    if (tags->replacement == TAGS_LRU)
        tags->use[index] = ++tags->age;
    else
        tags->use[set] = tree_away(tags->use[set], index - set * tags->ways, tags->levels);
}

/* Returns an invalid entry of the set that begins at `first`, or the one that was used least recently. */
static uint32_t oldest(const struct tags *tags, uint32_t first, uint64_t locked)
{
    uint32_t victim = TAGS_NONE;
    uint64_t least = UINT64_MAX;
    for (uint32_t index = first; index < first + tags->ways; index++, locked >>= 1) {
        if (locked & 1)
            continue;
        if (tags->entries[index] == 0)
            return index;
        victim = tags->use[index] < least ? index : victim;
        least = tags->use[index] < least ? tags->use[index] : least;
    }
    return victim;
}

uint32_t tags_victim(const struct tags *tags, uint64_t key, uint64_t locked)
{
    uint32_t set = tags_set(tags, key), first = set * tags->ways;
    if (tags->replacement == TAGS_LRU)
        return oldest(tags, first, locked);
    for (uint32_t way = 0; way < tags->ways; way++)
        if (tags->entries[first + way] == 0 && !(locked >> way & 1))
            return first + way;
    uint32_t chosen = tree_victim(tags->use[set], tags->levels);
    for (uint32_t i = 0; i < tags->ways; i++) {
        uint32_t way = (chosen + i) & (tags->ways - 1);
        if (!(locked >> way & 1))
            return first + way;
    }
    return TAGS_NONE;
}

void tags_fill(struct tags *tags, uint32_t index, uint64_t key, unsigned state)
{
    assert(index / tags->ways == tags_set(tags, key) && state > 0 && state < TAGS_STATES);
    tags->entries[index] = key | state;
    tags_touch_other(tags, index / tags->ways, index);
}
