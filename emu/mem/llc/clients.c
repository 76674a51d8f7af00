/* The clients of the last level and the entries of their requests. Finds the client of a request, and keeps
 * room for all clients in the directory. */
#include <assert.h>
#include <stdlib.h>

#include "emu/mem/llc/state.h"
#include "emu/sim/alloc.h"
#include "emu/sim/mix.h"

static uint32_t slot_of(const struct llc *llc, const struct mem_link *link)
{
    uint64_t hash = (uint64_t)(uintptr_t)link * MIX_FACTOR;
    return (uint32_t)(hash >> 32) & (llc->slots - 1);
}

int llc_client_of(const struct llc *llc, const struct mem_link *link)
{
    if (!llc->slots)
        return LLC_NOBODY;
    for (uint32_t slot = slot_of(llc, link);; slot = (slot + 1) & (llc->slots - 1)) {
        int32_t client = llc->client_slot[slot];
        if (client == LLC_NOBODY || llc->clients[client].link == link)
            return client;
    }
}

static void enter(struct llc *llc, int32_t client)
{
    uint32_t slot = slot_of(llc, llc->clients[client].link);
    while (llc->client_slot[slot] != LLC_NOBODY)
        slot = (slot + 1) & (llc->slots - 1);
    llc->client_slot[slot] = client;
}

static void grow_slots(struct llc *llc)
{
    llc->slots = llc->slots ? 2 * llc->slots : 8;
    free(llc->client_slot);
    llc->client_slot = alloc(1, llc->slots * sizeof *llc->client_slot);
    for (uint32_t slot = 0; slot < llc->slots; slot++)
        llc->client_slot[slot] = LLC_NOBODY;
    for (unsigned client = 0; client + 1 < llc->client_count; client++)
        enter(llc, (int32_t)client);
}

/* Adds a word to the holders of each line and keeps the existing ones. */
static void grow_holders(struct llc *llc)
{
    uint32_t frames = tags_size(&llc->tags);
    uint64_t *holders = alloc((size_t)frames * (llc->words + 1), sizeof *holders);
    for (size_t frame = 0; frame < frames; frame++)
        for (unsigned word = 0; word < llc->words; word++)
            holders[frame * (llc->words + 1) + word] = llc->holders[frame * llc->words + word];
    free(llc->holders);
    llc->holders = holders;
    llc->words++;
}

void llc_attach_client(struct llc *llc, const struct llc_client *client)
{
    llc->clients = alloc_resize(llc->clients, (llc->client_count + 1) * sizeof *llc->clients);
    llc->clients[llc->client_count++] = *client;
    if (llc->client_count > 64 * llc->words)
        grow_holders(llc);
    if (2 * llc->client_count > llc->slots)
        grow_slots(llc);
    enter(llc, (int32_t)llc->client_count - 1);
}

static bool probe_cache(void *context, uint64_t line, enum protocol_event event, uint64_t now)
{
    return cache_probe(context, line, event, now);
}

static void attach_cache(struct llc *llc, struct cache *cache, bool far)
{
    assert(cache_configuration(cache)->line == llc->config.line);
    assert(cache_configuration(cache)->protocol == llc->config.protocol);
    llc_attach_client(llc, &(struct llc_client){cache_link(cache), probe_cache, cache, far});
}

void llc_attach(struct llc *llc, struct cache *cache)
{
    attach_cache(llc, cache, false);
}

void llc_attach_far(struct llc *llc, struct cache *cache)
{
    attach_cache(llc, cache, true);
}

struct llc_entry *llc_accept(struct llc *llc, struct mem_link *link, struct mem_request *request,
                             uint64_t now)
{
    struct llc_entry *entry = llc->free_entries;
    if (!entry) {
        llc->counters.refusals++;
        mem_waiters_add(&llc->full, link);
        return NULL;
    }
    uint64_t line = request->address & ~(uint64_t)(llc->config.line - 1);
    assert((request->op != MEM_READ && request->op != MEM_WRITE) ||
           request->address + request->size <= line + llc->config.line);
    llc->free_entries = entry->next;
    llc->held++;
    *entry = (struct llc_entry){.llc = llc,
                                .request = request,
                                .line = line,
                                .asked = now,
                                .frame = TAGS_NONE,
                                .client = llc_client_of(llc, request->route[0])};
    return entry;
}

void llc_release(struct llc_entry *entry, uint64_t now)
{
    struct llc *llc = entry->llc;
    entry->next = llc->free_entries;
    llc->free_entries = entry;
    llc->held--;
    while (llc->free_entries && mem_waiters_wake(&llc->full, now))
        continue;
}
