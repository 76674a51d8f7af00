/* Meetings of a block's threads, and the copies that they make together. */
#include <croft/simt.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "host/stash/stash.h"

/* The threads have nothing in common but local memory, so they use its first word while nobody else does, and restore
 * it. */
static _Atomic uint32_t *meeting_word(void)
{
    return simt_shared();
}

enum { SHARE_SHIFT = 4 }; /* malloc() aligns to 16 bytes */

struct stash_meeting stash_meet(void)
{
    _Atomic uint32_t *word = meeting_word();
    struct stash_meeting meeting;
    simt_barrier();
    const uint32_t before = atomic_load_explicit(word, memory_order_relaxed);
    simt_barrier();
    meeting.number = atomic_fetch_add_explicit(word, 1, memory_order_relaxed) - before;
    simt_barrier();
    meeting.count = atomic_load_explicit(word, memory_order_relaxed) - before;
    simt_barrier();
    if (meeting.number == 0)
        atomic_store_explicit(word, before, memory_order_relaxed);
    simt_barrier();
    return meeting;
}

void *stash_share(const struct stash_meeting *meeting, void *pointer)
{
    _Atomic uint32_t *word = meeting_word();
    uint32_t before = 0, shared;
    if (meeting->number == 0) {
        before = atomic_load_explicit(word, memory_order_relaxed);
        atomic_store_explicit(word, (uint32_t)((uintptr_t)pointer >> SHARE_SHIFT), memory_order_relaxed);
    }
    simt_barrier();
    shared = atomic_load_explicit(word, memory_order_relaxed);
    simt_barrier();
    if (meeting->number == 0)
        atomic_store_explicit(word, before, memory_order_relaxed);
    simt_barrier();
    return (void *)((uintptr_t)shared << SHARE_SHIFT);
}

static uint32_t *local_words(const struct croft_stash_map *map)
{
    return (uint32_t *)((char *)simt_shared() + map->stash_base);
}

static uint32_t *global_word(const struct croft_stash_map *map, uint64_t word)
{
    return (uint32_t *)(uintptr_t)croft_stash_global(map, word * CROFT_STASH_WORD);
}

/* Copies to local memory; copy, if not NULL, holds the words as they were in global memory. */
void stash_gather(const struct stash_meeting *meeting, const struct croft_stash_map *map, uint32_t *copy)
{
    const uint64_t words = croft_stash_length(map) / CROFT_STASH_WORD;
    uint32_t *local = local_words(map);
    for (uint64_t i = meeting->number; i < words; i += meeting->count) {
        local[i] = *global_word(map, i);
        if (copy)
            copy[i] = local[i];
    }
}

/* Copies to global memory: if copy is not NULL, only words that differ from it, and then to the copy, too. */
void stash_scatter(const struct stash_meeting *meeting, const struct croft_stash_map *map, uint32_t *copy)
{
    const uint64_t words = croft_stash_length(map) / CROFT_STASH_WORD;
    const uint32_t *local = local_words(map);
    for (uint64_t i = meeting->number; i < words; i += meeting->count) {
        if (copy && copy[i] == local[i])
            continue;
        *global_word(map, i) = local[i];
        if (copy)
            copy[i] = local[i];
    }
}

void stash_copy(const struct croft_dma_call *call)
{
    stash_check(call->store ? "dma.store" : "dma.load", call->site, call->map);
    const struct stash_meeting meeting = stash_meet();
    if (call->store)
        stash_scatter(&meeting, call->map, NULL);
    else
        stash_gather(&meeting, call->map, NULL);
    simt_barrier();
}
