/* Reads and writes at the last level, once their line is not busy: they apply the rows of the protocol. */
#include <assert.h>

#include "emu/mem/llc_state.h"

/* Schedules the response. The access to the data array begins at `start`; probes add probe_clocks. */
static void answer_later(struct llc_entry *entry, unsigned probes, uint64_t start)
{
    const struct llc_config *config = &entry->llc->config;
    uint32_t clocks = config->hit_clocks - config->tag_clocks + (probes ? config->probe_clocks : 0);
    event_schedule(entry->llc->queue, &entry->event, llc_after(entry->llc, start, clocks));
}

static void lock(struct llc_entry *entry, uint32_t index)
{
    struct llc_frame *frame = &entry->llc->frames[index];
    assert(!frame->busy);
    frame->busy = true;
    entry->frame = index;
}

/* Returns whether the request is the write-back of a whole line by an attached cache. */
static bool is_put(const struct llc_entry *entry)
{
    const struct mem_request *request = entry->request;
    return request->op == MEM_WRITE && request->size == entry->llc->config.line &&
           request->mask == UINT64_MAX && entry->client != LLC_NOBODY;
}

/* Returns the protocol's name of the request. */
static enum protocol_request kind_of(const struct llc_entry *entry)
{
    const struct mem_request *request = entry->request;
    if (is_put(entry))
        return request->exclusive ? PROTOCOL_PUT_KEEP : PROTOCOL_PUT_LINE;
    if (request->op == MEM_WRITE)
        return PROTOCOL_PUT_STORE;
    if (request->exclusive)
        return PROTOCOL_GET_OWNED;
    return request->kind == MEM_FETCH ? PROTOCOL_GET_FETCH : PROTOCOL_GET_READ;
}

/* The line is in this cache, and not busy. */
static void hit(struct llc_entry *entry, uint32_t index, uint64_t now)
{
    struct llc *llc = entry->llc;
    if (!entry->missed)
        llc->counters.hits++;
    entry->request->level = MEM_LEVEL_L2;
    tags_touch(&llc->tags, index);
    llc_frame_changed(llc, index);
    lock(entry, index);
    uint64_t start = llc_transfer_waited(llc, entry->line, now);
    answer_later(entry, llc_probe(llc, index, entry->client, kind_of(entry), now), start);
}

/* The line is not in this cache. `fetch`: it must be read from memory. */
static void miss(struct llc_entry *entry, bool fetch, uint64_t now)
{
    struct llc *llc = entry->llc;
    if (!entry->missed)
        llc->counters.misses++;
    entry->missed = true;
    uint32_t index = TAGS_NONE;
    enum llc_lack lack;
    if (fetch && !llc->free_mshrs)
        lack = LLC_NO_MSHR;
    else if (llc_writing(llc, entry->line))
        lack = LLC_LINE_LEAVING;
    else
        index = llc_make_room(llc, entry->line, true, now, &lack);
    if (index == TAGS_NONE) {
        llc_stall(entry, lack);
        return;
    }
    tags_fill(&llc->tags, index, llc_key(llc, entry->line), LLC_CLEAN);
    llc_line_changed(llc, entry->line);
    llc_frame_changed(llc, index);
    lock(entry, index);
    if (fetch) {
        llc_read_memory(llc, entry, now);
    } else {
        entry->request->level = MEM_LEVEL_L2;
        answer_later(entry, 0, llc_transfer_waited(llc, entry->line, now));
    }
}

void llc_read(struct llc_entry *entry, uint32_t index, uint64_t now)
{
    struct llc *llc = entry->llc;
    const struct mem_request *request = entry->request;
    llc->counters.reads += !entry->counted;
    entry->counted = true;
    if (index == TAGS_NONE) {
        if (!entry->missed)
            llc->counters.lost_upgrades += request->upgrade;
        miss(entry, true, now);
        return;
    }
    if (request->upgrade && llc_holds(llc, index, entry->client))
        llc->counters.upgrades++;
    else
        llc->counters.lost_upgrades += request->upgrade;
    hit(entry, index, now);
}

/* A cache writes back a dirty line, unless the line was taken from it before. */
static void bring_back(struct llc_entry *entry, uint32_t index, uint64_t now)
{
    struct llc *llc = entry->llc;
    enum protocol_standing standing =
        index == TAGS_NONE ? PROTOCOL_NOBODY : llc_standing(llc, index, entry->client);
    entry->request->level = MEM_LEVEL_L2;
    if (protocol_turn(&llc->rules, kind_of(entry), standing).reply == PROTOCOL_REPLY_STALE) {
        llc->counters.late_writes++;
        answer_later(entry, 0, now);
        return;
    }
    llc->counters.hits++;
    uint64_t start = llc_transfer_waited(llc, entry->line, now);
    tags_set_state(&llc->tags, index, LLC_DIRTY);
    tags_touch(&llc->tags, index);
    llc_frame_changed(llc, index);
    lock(entry, index);
    (void)llc_settle(llc, index, entry->client, kind_of(entry), now);
    answer_later(entry, 0, start);
}

void llc_write(struct llc_entry *entry, uint32_t index, uint64_t now)
{
    struct llc *llc = entry->llc;
    const struct mem_request *request = entry->request;
    bool whole = request->size == llc->config.line && request->mask == UINT64_MAX;
    llc->counters.writes += !entry->counted;
    entry->counted = true;
    if (is_put(entry))
        bring_back(entry, index, now);
    else if (index == TAGS_NONE)
        miss(entry, !whole, now);
    else
        hit(entry, index, now);
}

/* Other clients may have got the line since the tags were looked up, by warming; so the row is applied
 * again. */
void llc_conclude(struct llc_entry *entry, uint64_t now)
{
    struct llc *llc = entry->llc;
    struct mem_request *request = entry->request;
    uint32_t index = entry->frame;
    if (index == TAGS_NONE)
        return;
    if (is_put(entry))
        return;
    enum protocol_reply reply = llc_settle(llc, index, entry->client, kind_of(entry), now);
    if (request->op == MEM_READ)
        request->exclusive = reply == PROTOCOL_REPLY_OWNED;
    else
        tags_set_state(&llc->tags, index, LLC_DIRTY);
}
