/* A set of routers or nodes that have work. Its members are visited in ascending order, and so is the host's memory. Those
 * without work cost almost nothing: a visit looks at one word of the summary for 64 * 64 of them. */
#ifndef EMU_NET_WORKSET_H
#define EMU_NET_WORKSET_H

#include <stdbool.h>
#include <stdlib.h>

#include "emu/net/bits.h"
#include "emu/sim/alloc.h"

struct workset {
    uint64_t *words, *summary; /* bit of the summary: a word is not 0 */
    uint32_t size;             /* words of the summary */
    bool any;
};

/* Makes an empty set of members below a number; aborts when out of memory. Release it with workset_free(). */
static inline struct workset workset_new(uint32_t members)
{
    uint32_t size = members / 4096 + 1;
    return (struct workset){.words = alloc((size_t)size * 64, sizeof(uint64_t)),
                            .summary = alloc(size, sizeof(uint64_t)),
                            .size = size};
}

static inline void workset_free(struct workset *set)
{
    free(set->words);
    free(set->summary);
}

static inline void workset_add(struct workset *set, uint32_t member)
{
    set->words[member / 64] |= BIT(member % 64);
    set->summary[member / 4096] |= BIT(member / 64 % 64);
    set->any = true;
}

/* Makes the members of `active` those of the empty set `busy`, and `active` empty. */
static inline void workset_begin(struct workset *active, struct workset *busy)
{
    struct workset empty = *busy;
    *busy = *active;
    *active = empty;
    busy->any = false;
}

/* Takes a word with members out of a set, in ascending order from *group on. Returns the number of its first bit, or
 * UINT32_MAX if the set is empty. */
static inline uint32_t workset_take(struct workset *set, uint32_t *group, uint64_t *word)
{
    for (; *group < set->size; ++*group) {
        if (!set->summary[*group])
            continue;
        uint32_t index = *group * 64 + take_bit(&set->summary[*group]);
        *word = set->words[index];
        set->words[index] = 0;
        return index * 64;
    }
    return UINT32_MAX;
}

#endif
