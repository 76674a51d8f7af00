/* Reads and writes at the last level, once their line is not busy: they apply the rows of the protocol. */
#include <assert.h>

#include "emu/mem/llc/state.h"

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
           request->mask == UINT64_MAX && !request->atomic && entry->client != LLC_NOBODY;
}

/* Maps a read or write to the request of the protocol. */
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

/* Counts the request once, as one of its kind and as a hit or a miss. */
static void count(struct llc_entry *entry, uint64_t *kind, uint32_t index)
{
    struct llc_counters *counters = &entry->llc->counters;
    if (entry->counted)
        return;
    entry->counted = true;
    (*kind)++;
    if (!is_put(entry))
        *(index == TAGS_NONE ? &counters->misses : &counters->hits) += 1;
}

/* Answers a speculative read without a line. */
static void drop(struct llc_entry *entry, uint64_t now)
{
    entry->llc->counters.speculative_dropped++;
    entry->request->dropped = true;
    entry->request->level = MEM_LEVEL_L2;
    answer_later(entry, 0, now);
}

/* Records the words that a write adds to a line. before: the set of words held so far; 0: none. */
static void hold(struct llc *llc, const struct llc_entry *entry, uint32_t index, uint64_t before)
{
    uint64_t all = UINT64_MAX >> (64 - llc->config.line / 4), held = before | llc_words_of(entry);
    llc->words_held[index] = held == all ? 0 : held;
}

/* The line is in this cache, and not busy. */
static void hit(struct llc_entry *entry, uint32_t index, uint64_t now)
{
    struct llc *llc = entry->llc;
    llc_first_use(llc, index);
    entry->request->level = MEM_LEVEL_L2;
    tags_touch(&llc->tags, index);
    llc_frame_changed(llc, index);
    lock(entry, index);
    if (llc->words_held[index])
        hold(llc, entry, index, llc->words_held[index]);
    uint64_t start = llc_transfer_waited(llc, entry->line, now);
    answer_later(entry, llc_probe(llc, index, entry->client, kind_of(entry), now), start);
}

static bool writes_back(const struct llc *llc)
{
    return llc->config.write_policy == LLC_WRITE_BACK;
}

/* Returns whether the words of a store or an atomic that misses go to memory, too. */
static bool goes_through(const struct llc_entry *entry)
{
    const struct mem_request *request = entry->request;
    return request->op == MEM_WRITE && !request->stack && !writes_back(entry->llc);
}

/* The line is not in this cache. `fetch`: it must be read from memory. Returns false if the request stalls. */
static bool miss(struct llc_entry *entry, bool fetch, uint64_t now)
{
    struct llc *llc = entry->llc;
    entry->missed = true;
    uint32_t index = TAGS_NONE;
    const bool prefetch = entry->request->prefetch;
    enum llc_lack lack;
    if (fetch && !(prefetch ? llc_may_prefetch(llc) : llc->free_mshrs != NULL))
        lack = LLC_NO_MSHR;
    else if (llc_writing(llc, entry->line))
        lack = LLC_LINE_LEAVING;
    else
        index = llc_make_room(llc, entry->line, true, now, &lack);
    if (index == TAGS_NONE && prefetch) {
        drop(entry, now);
        return false;
    }
    if (index == TAGS_NONE) {
        llc_stall(entry, lack);
        return false;
    }
    if (goes_through(entry) && !llc_can_store(llc, entry->line)) {
        /* The victim has taken the last entry of the write buffer; its way stays free. */
        llc_frame_changed(llc, index);
        llc_stall(entry, LLC_NO_STORE_ROOM);
        return false;
    }
    tags_fill(&llc->tags, index, llc_key(llc, entry->line), LLC_CLEAN);
    llc_line_changed(llc, entry->line);
    llc_frame_changed(llc, index);
    lock(entry, index);
    if (fetch) {
        llc_read_memory(llc, entry, now);
    } else {
        hold(llc, entry, index, 0);
        entry->request->level = MEM_LEVEL_L2;
        answer_later(entry, 0, llc_transfer_waited(llc, entry->line, now));
    }
    return true;
}

/* Reads the rest of a line that is held in part. Returns false if the request stalls. */
static bool complete(struct llc_entry *entry, uint32_t index, uint64_t now)
{
    struct llc *llc = entry->llc;
    const bool prefetch = entry->request->prefetch;
    const bool mshr = prefetch ? llc_may_prefetch(llc) : llc->free_mshrs != NULL;
    entry->missed = true;
    if (!mshr || llc_writing(llc, entry->line)) {
        if (prefetch)
            drop(entry, now);
        else
            llc_stall(entry, mshr ? LLC_LINE_LEAVING : LLC_NO_MSHR);
        return false;
    }
    tags_touch(&llc->tags, index);
    llc->words_held[index] = 0;
    llc_frame_changed(llc, index);
    lock(entry, index);
    llc_read_memory(llc, entry, now);
    return true;
}

/* Returns whether a read or an atomic needs words of the line that are not held. */
static bool lacks(const struct llc_entry *entry, uint32_t index)
{
    const struct mem_request *request = entry->request;
    const uint64_t held = index == TAGS_NONE ? 0 : entry->llc->words_held[index];
    return held && (request->atomic || !request->stack || (llc_words_of(entry) & ~held));
}

void llc_read(struct llc_entry *entry, uint32_t index, uint64_t now)
{
    struct llc *llc = entry->llc;
    const struct mem_request *request = entry->request;
    const bool part = lacks(entry, index);
    count(entry, &llc->counters.reads, part ? TAGS_NONE : index);
    if (request->speculative &&
        keep_out_has(llc->keep_out, entry->line, entry->line + llc->config.line - 1)) {
        drop(entry, now);
        return;
    }
    if (index == TAGS_NONE) {
        if (!entry->missed)
            llc->counters.lost_upgrades += request->upgrade;
        (void)miss(entry, true, now);
        return;
    }
    if (part) {
        (void)complete(entry, index, now);
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
    llc->words_held[index] = 0;
    lock(entry, index);
    (void)llc_settle(llc, index, entry->client, kind_of(entry), now);
    answer_later(entry, 0, start);
}

/* Returns whether a store that misses brings its line in. */
static bool allocates(const struct llc *llc)
{
    return llc->config.write_allocate && llc->config.write_policy != LLC_WRITE_EVICT;
}

/* A store whose words go to memory at once. */
static void store_through(struct llc_entry *entry, uint32_t index, bool whole, uint64_t now)
{
    struct llc *llc = entry->llc;
    if ((index == TAGS_NONE || llc->words_held[index]) && llc_line_awaited(llc, entry->line)) {
        llc_stall(entry, LLC_LINE_LEAVING);
        return;
    }
    if (!llc_can_store(llc, entry->line)) {
        llc_stall(entry, LLC_NO_STORE_ROOM);
        return;
    }
    if (index == TAGS_NONE && allocates(llc)) {
        if (!miss(entry, !whole, now))
            return;
    } else if (index != TAGS_NONE && llc_keeps(llc, index)) {
        hit(entry, index, now);
    } else {
        entry->request->level = MEM_LEVEL_L2;
        if (index != TAGS_NONE) {
            llc->counters.store_evictions++;
            llc_forget(llc, index, now);
            llc_frame_changed(llc, index);
        }
        answer_later(entry, 0, now);
    }
    llc_store_words(entry, now);
}

/* An atomic. It needs the line, whatever the policy. */
static void operate(struct llc_entry *entry, uint32_t index, uint64_t now)
{
    struct llc *llc = entry->llc;
    if (!writes_back(llc) && !llc_can_store(llc, entry->line)) {
        llc_stall(entry, LLC_NO_STORE_ROOM);
        return;
    }
    if (index == TAGS_NONE) {
        if (!miss(entry, true, now))
            return;
    } else if (lacks(entry, index)) {
        if (!complete(entry, index, now))
            return;
    } else {
        llc_atomic(entry, index, now);
    }
    if (!writes_back(llc))
        llc_store_words(entry, now);
}

void llc_write(struct llc_entry *entry, uint32_t index, uint64_t now)
{
    struct llc *llc = entry->llc;
    const struct mem_request *request = entry->request;
    bool whole = request->size == llc->config.line && request->mask == UINT64_MAX;
    llc->counters.atomics += request->atomic && !entry->counted;
    const bool part = request->atomic && lacks(entry, index);
    count(entry, &llc->counters.writes, part ? TAGS_NONE : index);
    if (request->atomic)
        operate(entry, index, now);
    else if (is_put(entry))
        bring_back(entry, index, now);
    else if (!request->stack && (!writes_back(llc) || (index == TAGS_NONE && !allocates(llc))))
        store_through(entry, index, whole, now);
    else if (index == TAGS_NONE)
        (void)miss(entry, !whole && !request->stack, now);
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
    if (request->stack && request->op == MEM_READ)
        request->mask = llc->words_held[index] ? llc->words_held[index] : UINT64_MAX;
    if (request->op == MEM_READ)
        request->exclusive = reply == PROTOCOL_REPLY_OWNED;
    else if (writes_back(llc) || request->stack)
        tags_set_state(&llc->tags, index, LLC_DIRTY);
}
