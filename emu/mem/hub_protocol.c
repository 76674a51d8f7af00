/* What reads and writes do at the coherent level once their line is theirs (MESI). */
#include <assert.h>

#include "emu/mem/hub_state.h"

/* The response comes when the data array, and the probes if any, are done. */
static void answer_later(struct hub_entry *entry, unsigned probes, uint64_t now)
{
    const struct hub_config *config = &entry->hub->config;
    uint32_t clocks = config->hit_clocks - config->tag_clocks + (probes ? config->probe_clocks : 0);
    event_schedule(entry->hub->queue, &entry->event, hub_after(entry->hub, now, clocks));
}

static void lock(struct hub_entry *entry, uint32_t index)
{
    struct hub_frame *frame = &entry->hub->frames[index];
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
static void hit(struct hub_entry *entry, uint32_t index, uint64_t now)
{
    struct hub *hub = entry->hub;
    if (!entry->missed)
        hub->counters.hits++;
    entry->request->level = MEM_LEVEL_L2;
    tags_touch(&hub->tags, index);
    lock(entry, index);
    hub->transfers++;
    answer_later(entry, hub_take(hub, index, entry->client, left_to_others(entry->request), now), now);
}

/* The line is not here. `fetch`: it has to come from memory. */
static void miss(struct hub_entry *entry, bool fetch, uint64_t now)
{
    struct hub *hub = entry->hub;
    if (!entry->missed)
        hub->counters.misses++;
    entry->missed = true;
    uint32_t index = TAGS_NONE;
    if ((!fetch || hub->free_mshrs) && !hub_writing(hub, entry->line))
        index = hub_make_room(hub, entry->line, true, now);
    if (index == TAGS_NONE) {
        hub_stall(entry);
        return;
    }
    tags_fill(&hub->tags, index, entry->line, HUB_CLEAN);
    lock(entry, index);
    if (fetch) {
        hub_read_memory(hub, entry, now);
    } else {
        hub->transfers++;
        entry->request->level = MEM_LEVEL_L2;
        answer_later(entry, 0, now);
    }
}

void hub_read(struct hub_entry *entry, uint32_t index, uint64_t now)
{
    struct hub *hub = entry->hub;
    const struct mem_request *request = entry->request;
    if (!entry->waited && !entry->stalled)
        hub->counters.reads++;
    if (index == TAGS_NONE) {
        if (!entry->missed)
            hub->counters.lost_upgrades += request->upgrade;
        miss(entry, true, now);
        return;
    }
    if (request->upgrade && hub_holds(&hub->frames[index], entry->client))
        hub->counters.upgrades++;
    else
        hub->counters.lost_upgrades += request->upgrade;
    hit(entry, index, now);
}

/* A cache gives its dirty line back, unless it has been taken already. */
static void bring_back(struct hub_entry *entry, uint32_t index, uint64_t now)
{
    struct hub *hub = entry->hub;
    struct hub_frame *frame = index == TAGS_NONE ? NULL : &hub->frames[index];
    entry->request->level = MEM_LEVEL_L2;
    if (!frame || frame->owner != entry->client) {
        hub->counters.late_writes++;
        answer_later(entry, 0, now);
        return;
    }
    hub->counters.hits++;
    hub->transfers++;
    tags_set_state(&hub->tags, index, HUB_DIRTY);
    tags_touch(&hub->tags, index);
    lock(entry, index);
    frame->owner = HUB_NOBODY;
    if (!entry->request->exclusive)
        frame->holders[entry->client / 64] &= ~(UINT64_C(1) << (entry->client % 64));
    answer_later(entry, 0, now);
}

void hub_write(struct hub_entry *entry, uint32_t index, uint64_t now)
{
    struct hub *hub = entry->hub;
    const struct mem_request *request = entry->request;
    bool whole = request->size == hub->config.line && request->mask == UINT64_MAX;
    if (!entry->waited && !entry->stalled)
        hub->counters.writes++;
    if (whole && entry->client != HUB_NOBODY)
        bring_back(entry, index, now);
    else if (index == TAGS_NONE)
        miss(entry, !whole, now);
    else
        hit(entry, index, now);
}

/* Others may have got the line since the look at the tags, by warming: so all is made sure of here. */
void hub_conclude(struct hub_entry *entry, uint64_t now)
{
    struct hub *hub = entry->hub;
    struct mem_request *request = entry->request;
    uint32_t index = entry->frame;
    if (index == TAGS_NONE)
        return;
    if (request->op == MEM_READ) {
        (void)hub_take(hub, index, entry->client, left_to_others(request), now);
        bool alone = hub_alone(&hub->frames[index], entry->client);
        request->exclusive = alone && (request->exclusive || request->kind != MEM_FETCH);
        hub_grant(hub, index, entry->client, request->exclusive);
    } else if (!(request->size == hub->config.line && request->mask == UINT64_MAX) ||
               entry->client == HUB_NOBODY) {
        (void)hub_take(hub, index, entry->client, CACHE_INVALID, now);
        tags_set_state(&hub->tags, index, HUB_DIRTY);
    }
}
