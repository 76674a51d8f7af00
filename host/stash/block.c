/* Blocks: how threads that have only local memory in common find what they share, and what happens when they end. */
#include <croft/simt.h>
#include <malloc.h>
#include <reent.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "host/stash/stash.h"

/* newlib's struct _reent of a thread is large, so memory is allocated with that of the first thread of the program. */
void *stash_allocate(const struct stash_request *request, uint64_t bytes)
{
    void *memory = _malloc_r(_impure_ptr, bytes);
    if (!memory)
        stash_fail_memory(request, bytes);
    return memory;
}

void stash_free(void *memory)
{
    _free_r(_impure_ptr, memory);
}

/* The calling thread's kernel has returned; the last one writes back. */
static void block_end(struct simt_end *end)
{
    struct stash_block *block = (struct stash_block *)end;
    if (atomic_fetch_sub(&block->threads, 1) != 1)
        return;
    for (uint32_t i = 0; i < block->count; i++) {
        _Atomic uint32_t next = 0;
        if (block->entry[i].map.coherent)
            stash_scatter(&block->entry[i].map, block->entry[i].copy, &next);
        stash_free(block->entry[i].copy);
    }
    stash_free(block);
}

static struct stash_block *block_new(const struct stash_request *request)
{
    struct stash_block *block = stash_allocate(request, sizeof *block);
    memset(block, 0, sizeof *block);
    block->end.call = block_end;
    return block;
}

enum { POINTER_SHIFT = 4 }; /* malloc() aligns to 16 bytes: 36 bits of address fit into a word */

/* The first request of the threads: one of them makes the block, and its address is in the first word of local memory while
 * nobody uses that. */
static struct stash_block *block_first(const struct stash_request *request, bool *first)
{
    _Atomic uint32_t *word = simt_shared();
    uint32_t before = atomic_load(word), expected = before;
    struct stash_block *block;
    simt_barrier();
    *first = atomic_compare_exchange_strong(word, &expected, before + 1);
    simt_barrier();
    if (*first)
        atomic_store(word, (uint32_t)((uintptr_t)block_new(request) >> POINTER_SHIFT));
    simt_barrier();
    block = (struct stash_block *)((uintptr_t)atomic_load(word) << POINTER_SHIFT);
    atomic_fetch_add(&block->threads, 1);
    simt_thread_at_end(&block->end);
    simt_barrier();
    if (*first)
        atomic_store(word, before);
    return block;
}

struct stash_block *stash_lead(const struct stash_request *request, bool *first)
{
    struct stash_block *block = (struct stash_block *)simt_thread_hook();
    simt_barrier();
    if (block)
        *first = atomic_exchange(&block->led, 1) == 0;
    else
        block = block_first(request, first);
    if (*first) {
        block->map = *request->map;
        atomic_store(&block->next[0], 0);
        atomic_store(&block->next[1], 0);
    }
    return block;
}

void stash_follow(const struct stash_block *block, const struct stash_request *request)
{
    simt_barrier();
    const unsigned difference = croft_stash_difference(request->map, &block->map);
    if (difference < CROFT_STASH_PARAMETERS)
        stash_fail(request, CROFT_STASH_ERROR_DIFFERENT, difference);
}
