/* Maps without a stash: a block's threads copy the tile into local memory when they map it, and write the words that have
 * changed back when the map changes or the last of the threads ends. The copy of what was brought is in global memory, so that
 * a launch takes as much local memory as with a stash. */
#include <croft/simt.h>
#include <malloc.h>
#include <reent.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

#include "host/simt/simt.h"
#include "host/stash/stash.h"

struct stash_entry {
    struct croft_stash_map map;
    uint32_t *copy; /* words as they are in global memory */
};

/* The maps of a block. Only the first thread of a meeting changes it. */
struct stash_block {
    struct simt_end end;      /* of each thread that maps */
    _Atomic uint32_t threads; /* that have not ended */
    uint32_t count;
    uint64_t index; /* of the entry to change, and its new map */
    struct croft_stash_map next;
    struct stash_entry entry[CROFT_STASH_ENTRIES];
};

/* newlib's struct _reent of a thread is large, so memory is allocated with that of the first thread. */
static void *block_allocate(const struct croft_stash_call *call, uint64_t bytes)
{
    void *memory = _malloc_r(_impure_ptr, bytes);
    if (!memory)
        stash_fail_memory(call->change ? "stash.chgmap" : "stash.addmap", call->site, bytes);
    return memory;
}

/* The calling thread's kernel has returned; the last one writes back. */
static void block_end(struct simt_end *end)
{
    static const struct stash_meeting alone = {0, 1};
    struct stash_block *block = (struct stash_block *)end;
    if (atomic_fetch_sub(&block->threads, 1) != 1)
        return;
    for (uint32_t i = 0; i < block->count; i++) {
        if (block->entry[i].map.coherent)
            stash_scatter(&alone, &block->entry[i].map, block->entry[i].copy);
        _free_r(_impure_ptr, block->entry[i].copy);
    }
    _free_r(_impure_ptr, block);
}

/* Returns the block of a meeting's threads, a new one if they have none. */
static struct stash_block *block_of(const struct stash_meeting *meeting, const struct croft_stash_call *call)
{
    struct stash_block *block = (struct stash_block *)simt_thread_hook();
    if (meeting->number == 0 && !block) {
        block = block_allocate(call, sizeof *block);
        memset(block, 0, sizeof *block);
        block->end.call = block_end;
    }
    block = stash_share(meeting, block);
    if (!simt_thread_hook()) {
        atomic_fetch_add(&block->threads, 1);
        simt_thread_at_end(&block->end);
    }
    return block;
}

static void fail(const struct croft_stash_call *call, enum croft_stash_error error, uint64_t value)
{
    stash_fail(call->change ? "stash.chgmap" : "stash.addmap", call->site,
               (struct croft_stash_fault){error, value});
}

/* Fails if the descriptor is not that of the meeting's first thread, or overlaps an entry other than `index`. */
static void block_check(const struct stash_block *block, const struct croft_stash_call *call, uint64_t index)
{
    const unsigned difference = croft_stash_difference(call->map, &block->next);
    if (index != block->index)
        fail(call, CROFT_STASH_ERROR_INDEX, index);
    if (difference < CROFT_STASH_PARAMETERS)
        fail(call, CROFT_STASH_ERROR_DIFFERENT, difference);
    for (uint32_t i = 0; i < block->count; i++)
        if (i != index && croft_stash_overlap(call->map, &block->entry[i].map))
            fail(call, CROFT_STASH_ERROR_OVERLAP, call->map->stash_base);
}

/* Makes block->next entry `index`, in place of a tile elsewhere or of none, and brings it. */
static void block_bring(struct stash_block *block, const struct stash_meeting *meeting,
                        const struct croft_stash_call *call, uint64_t index)
{
    struct stash_entry *entry = &block->entry[index];
    if (meeting->number == 0) {
        _free_r(_impure_ptr, entry->copy);
        entry->copy = block_allocate(call, croft_stash_length(&block->next));
        entry->map = block->next;
        if (index == block->count)
            block->count++;
    }
    simt_barrier();
    stash_gather(meeting, &entry->map, entry->copy);
    simt_barrier();
}

static void block_change(struct stash_block *block, const struct stash_meeting *meeting,
                         const struct croft_stash_call *call)
{
    struct stash_entry *entry = &block->entry[call->index];
    struct croft_stash_map old = entry->map;
    if (old.coherent)
        stash_scatter(meeting, &old, entry->copy);
    simt_barrier();
    old.coherent = block->next.coherent;
    if (croft_stash_difference(&old, &block->next) < CROFT_STASH_PARAMETERS)
        block_bring(block, meeting, call, call->index);
    else if (meeting->number == 0)
        entry->map = block->next;
}

/* The instructions are in step: all threads make their k-th call in the k-th meeting. */
void stash_operate(struct croft_stash_call *call)
{
    stash_check(call->change ? "stash.chgmap" : "stash.addmap", call->site, call->map);
    if (call->change && !simt_thread_hook())
        fail(call, CROFT_STASH_ERROR_INDEX, call->index);
    const struct stash_meeting meeting = stash_meet();
    struct stash_block *block = block_of(&meeting, call);
    if (!call->change)
        call->index = block->count;
    if (call->change ? call->index >= block->count : call->index == CROFT_STASH_ENTRIES)
        fail(call, call->change ? CROFT_STASH_ERROR_INDEX : CROFT_STASH_ERROR_ENTRIES,
             call->change ? call->index : call->index + 1);
    if (meeting.number == 0) {
        block->next = *call->map;
        block->index = call->index;
    }
    simt_barrier();
    block_check(block, call, call->index);
    simt_barrier();
    if (call->change)
        block_change(block, &meeting, call);
    else
        block_bring(block, &meeting, call, call->index);
}
