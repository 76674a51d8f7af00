/* Maps and copies without a stash or a DMA engine: a block's threads copy the tile into local memory when they map it, and write
 * the words that have changed back when the map changes or the last of the threads ends. The copy of what was brought is in
 * global memory, so that a launch takes as much local memory as with a stash. */
#include <croft/simt.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host/stash/stash.h"

/* Fails if the block's map overlaps an entry other than `index`. */
static void check_overlap(const struct stash_block *block, const struct stash_request *request,
                          uint64_t index)
{
    for (uint32_t i = 0; i < block->count; i++)
        if (i != index && croft_stash_overlap(&block->map, &block->entry[i].map))
            stash_fail(request, CROFT_STASH_ERROR_OVERLAP, block->map.stash_base);
}

/* Returns whether an entry's tile has another place, locally or globally, than the block's map. */
static bool has_moved(const struct stash_block *block, const struct stash_entry *entry)
{
    struct croft_stash_map map = entry->map;
    map.coherent = block->map.coherent;
    return croft_stash_difference(&map, &block->map) < CROFT_STASH_PARAMETERS;
}

static void lead_add(struct stash_block *block, const struct stash_request *request)
{
    if (block->count == CROFT_STASH_ENTRIES)
        stash_fail(request, CROFT_STASH_ERROR_ENTRIES, block->count + UINT64_C(1));
    check_overlap(block, request, block->count);
    block->index = block->count++;
    block->entry[block->index] =
        (struct stash_entry){block->map, stash_allocate(request, croft_stash_length(&block->map))};
}

static void add(struct stash_block *block, const struct stash_request *request, struct croft_stash_call *call)
{
    stash_follow(block, request);
    const struct stash_entry *entry = &block->entry[block->index];
    call->index = block->index;
    stash_gather(&entry->map, entry->copy, &block->next[0]);
}

static void lead_change(struct stash_block *block, const struct stash_request *request, uint64_t index)
{
    if (index >= block->count)
        stash_fail(request, CROFT_STASH_ERROR_INDEX, index);
    check_overlap(block, request, index);
    block->index = index;
    block->old = block->entry[index];
    if (has_moved(block, &block->old))
        block->entry[index].copy = stash_allocate(request, croft_stash_length(&block->map));
    block->entry[index].map = block->map;
}

/* Words that were stored while a map was not coherent differ from the copy. */
static void change(struct stash_block *block, const struct stash_request *request, uint64_t index)
{
    stash_follow(block, request);
    if (index != block->index)
        stash_fail(request, CROFT_STASH_ERROR_INDEX, index);
    const struct stash_entry *entry = &block->entry[index];
    if (block->old.map.coherent)
        stash_scatter(&block->old.map, block->old.copy, &block->next[0]);
    if (entry->copy == block->old.copy)
        return;
    simt_barrier();
    stash_gather(&entry->map, entry->copy, &block->next[1]);
}

void stash_operate(struct croft_stash_call *call)
{
    const struct stash_request request = {call->change ? "stash.chgmap" : "stash.addmap", call->site,
                                          call->map};
    bool first;
    stash_check(&request);
    if (call->change && !simt_thread_hook())
        stash_fail(&request, CROFT_STASH_ERROR_INDEX, call->index);
    struct stash_block *block = stash_lead(&request, &first);
    if (first && call->change)
        lead_change(block, &request, call->index);
    else if (first)
        lead_add(block, &request);
    if (call->change)
        change(block, &request, call->index);
    else
        add(block, &request, call);
    simt_barrier();
    if (!first)
        return;
    if (call->change && block->entry[block->index].copy != block->old.copy)
        stash_free(block->old.copy);
    atomic_store(&block->led, 0);
}

void stash_copy(const struct croft_dma_call *call)
{
    const struct stash_request request = {call->store ? "dma.store" : "dma.load", call->site, call->map};
    bool first;
    stash_check(&request);
    struct stash_block *block = stash_lead(&request, &first);
    stash_follow(block, &request);
    if (call->store)
        stash_scatter(&block->map, NULL, &block->next[0]);
    else
        stash_gather(&block->map, NULL, &block->next[0]);
    simt_barrier();
    if (first)
        atomic_store(&block->led, 0);
}
