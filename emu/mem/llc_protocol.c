/* What reads and writes do at the coherent level once their line is theirs (MESI). */
#include <assert.h>

#include "emu/mem/llc_state.h"

/* The response comes when the data array, and the probes if any, are done. */
static void answer_later(struct llc_entry *entry, unsigned probes, uint64_t now)
{
    const struct llc_config *config = &entry->llc->config;
    uint32_t clocks = config->hit_clocks - config->tag_clocks + (probes ? config->probe_clocks : 0);
    event_schedule(entry->llc->queue, &entry->event, llc_after(entry->llc, now, clocks));
}

static void lock(struct llc_entry *entry, uint32_t index)
{
    struct llc_frame *frame = &entry->llc->frames[index];
    assert(!frame->busy);
    frame->busy = true;
    entry->frame = index;
}

/* What others may keep: nothing beside a writer. */
static enum cache_state left_to_others(const struct mem_request *request)
{
    bool writes = request->op == MEM_WRITE || request->exclusive;
    return writes ? CACHE_INVALID : CACHE_SHARED;
}

/* The line is here, and the entry's. */
static void hit(struct llc_entry *entry, uint32_t index, uint64_t now)
{
    struct llc *llc = entry->llc;
    if (!entry->missed)
        llc->counters.hits++;
    entry->request->level = MEM_LEVEL_L2;
    tags_touch(&llc->tags, index);
    lock(entry, index);
    llc->transfers++;
    answer_later(entry, llc_take(llc, index, entry->client, left_to_others(entry->request), now), now);
}

/* The line is not here. `fetch`: it has to come from memory. */
static void miss(struct llc_entry *entry, bool fetch, uint64_t now)
{
    struct llc *llc = entry->llc;
    if (!entry->missed)
        llc->counters.misses++;
    entry->missed = true;
    uint32_t index = TAGS_NONE;
    if ((!fetch || llc->free_mshrs) && !llc_writing(llc, entry->line))
        index = llc_make_room(llc, entry->line, true, now);
    if (index == TAGS_NONE) {
        llc_stall(entry);
        return;
    }
    tags_fill(&llc->tags, index, entry->line, LLC_CLEAN);
    lock(entry, index);
    if (fetch) {
        llc_read_memory(llc, entry, now);
    } else {
        llc->transfers++;
        entry->request->level = MEM_LEVEL_L2;
        answer_later(entry, 0, now);
    }
}

void llc_read(struct llc_entry *entry, uint32_t index, uint64_t now)
{
    struct llc *llc = entry->llc;
    const struct mem_request *request = entry->request;
    if (!entry->waited && !entry->stalled)
        llc->counters.reads++;
    if (index == TAGS_NONE) {
        if (!entry->missed)
            llc->counters.lost_upgrades += request->upgrade;
        miss(entry, true, now);
        return;
    }
    if (request->upgrade && llc_holds(&llc->frames[index], entry->client))
        llc->counters.upgrades++;
    else
        llc->counters.lost_upgrades += request->upgrade;
    hit(entry, index, now);
}

/* A cache gives its dirty line back, unless it has been taken already. */
static void bring_back(struct llc_entry *entry, uint32_t index, uint64_t now)
{
    struct llc *llc = entry->llc;
    struct llc_frame *frame = index == TAGS_NONE ? NULL : &llc->frames[index];
    entry->request->level = MEM_LEVEL_L2;
    if (!frame || frame->owner != entry->client) {
        llc->counters.late_writes++;
        answer_later(entry, 0, now);
        return;
    }
    llc->counters.hits++;
    llc->transfers++;
    tags_set_state(&llc->tags, index, LLC_DIRTY);
    tags_touch(&llc->tags, index);
    lock(entry, index);
    frame->owner = LLC_NOBODY;
    if (!entry->request->exclusive)
        frame->holders[entry->client / 64] &= ~(UINT64_C(1) << (entry->client % 64));
    answer_later(entry, 0, now);
}

void llc_write(struct llc_entry *entry, uint32_t index, uint64_t now)
{
    struct llc *llc = entry->llc;
    const struct mem_request *request = entry->request;
    bool whole = request->size == llc->config.line && request->mask == UINT64_MAX;
    if (!entry->waited && !entry->stalled)
        llc->counters.writes++;
    if (whole && entry->client != LLC_NOBODY)
        bring_back(entry, index, now);
    else if (index == TAGS_NONE)
        miss(entry, !whole, now);
    else
        hit(entry, index, now);
}

/* Others may have got the line since the look at the tags, by warming: so all is made sure of here. */
void llc_conclude(struct llc_entry *entry, uint64_t now)
{
    struct llc *llc = entry->llc;
    struct mem_request *request = entry->request;
    uint32_t index = entry->frame;
    if (index == TAGS_NONE)
        return;
    if (request->op == MEM_READ) {
        (void)llc_take(llc, index, entry->client, left_to_others(request), now);
        bool alone = llc_alone(&llc->frames[index], entry->client);
        request->exclusive = alone && (request->exclusive || request->kind != MEM_FETCH);
        llc_grant(llc, index, entry->client, request->exclusive);
    } else if (!(request->size == llc->config.line && request->mask == UINT64_MAX) ||
               entry->client == LLC_NOBODY) {
        (void)llc_take(llc, index, entry->client, CACHE_INVALID, now);
        tags_set_state(&llc->tags, index, LLC_DIRTY);
    }
}
