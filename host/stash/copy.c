/* Copies of tiles, which the threads of a block share out while they make them. */
#include <croft/simt.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "host/stash/stash.h"

enum { COPY_WORDS = 8 }; /* that a thread takes at a time */

static uint32_t *local_word(const struct croft_stash_map *map, uint64_t word)
{
    return (uint32_t *)((char *)simt_shared() + map->stash_base) + word;
}

static uint32_t *global_word(const struct croft_stash_map *map, uint64_t word)
{
    return (uint32_t *)(uintptr_t)croft_stash_global(map, word * CROFT_STASH_WORD);
}

/* Takes the next words. Returns false if there are none; else they are *from to *to - 1. */
static bool take(const struct croft_stash_map *map, _Atomic uint32_t *next, uint64_t *from, uint64_t *to)
{
    const uint64_t words = croft_stash_length(map) / CROFT_STASH_WORD;
    *from = atomic_fetch_add_explicit(next, COPY_WORDS, memory_order_relaxed);
    *to = *from + COPY_WORDS < words ? *from + COPY_WORDS : words;
    return *from < words;
}

void stash_gather(const struct croft_stash_map *map, uint32_t *copy, _Atomic uint32_t *next)
{
    for (uint64_t i, to; take(map, next, &i, &to);)
        for (; i < to; i++) {
            const uint32_t word = *global_word(map, i);
            *local_word(map, i) = word;
            if (copy)
                copy[i] = word;
        }
}

void stash_scatter(const struct croft_stash_map *map, uint32_t *copy, _Atomic uint32_t *next)
{
    for (uint64_t i, to; take(map, next, &i, &to);)
        for (; i < to; i++) {
            const uint32_t word = *local_word(map, i);
            if (copy && copy[i] == word)
                continue;
            *global_word(map, i) = word;
            if (copy)
                copy[i] = word;
        }
}
