#include "emu/mem/llc_state.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "emu/mem/cache_track.h"
#include "emu/sim/alloc.h"

void llc_list_add(struct llc_list *list, struct llc_entry *entry)
{
    entry->next = NULL;
    if (list->first)
        list->last->next = entry;
    else
        list->first = entry;
    list->last = entry;
}

struct llc_entry *llc_list_take(struct llc_list *list)
{
    struct llc_entry *entry = list->first;
    if (entry)
        list->first = entry->next;
    return entry;
}

static void look(void *owner, uint64_t now)
{
    llc_look(owner, now);
}

static void answer(void *owner, uint64_t now)
{
    llc_answer(owner, now);
}

/* Counts the prefetch of a line as late, because a request waits for it. */
static void note_late(struct llc *llc, struct llc_frame *frame)
{
    llc->counters.prefetches_late += frame->prefetching;
    frame->prefetching = false;
}

static void look_up(struct llc_entry *entry, uint32_t index, uint64_t now)
{
    struct llc *llc = entry->llc;
    struct llc_frame *frame = index == TAGS_NONE ? NULL : &llc->frames[index];
    if (frame && frame->busy && (frame->waiting.first || !llc_joins(frame, entry))) {
        note_late(llc, frame);
        llc->counters.line_waits += !entry->waited;
        entry->waited = true;
        llc_list_add(&frame->waiting, entry);
    } else if (entry->request->op == MEM_READ) {
        llc_read(entry, index, now);
    } else {
        llc_write(entry, index, now);
    }
}

/* Looks up the line, and tells the prefetcher of the first lookup of a read. */
static void look_and_train(struct llc_entry *entry, uint32_t index, uint64_t now)
{
    struct llc *llc = entry->llc;
    const struct mem_request *request = entry->request;
    bool here = index != TAGS_NONE;
    bool fresh = !here || llc->frames[index].prefetching || llc->frames[index].prefetched;
    bool trains = request->op == MEM_READ && request->kind != MEM_WALK && !entry->trained;
    entry->trained = true;
    look_up(entry, index, now);
    if (trains)
        llc_prefetch_train(llc, request, fresh, now);
}

void llc_look(struct llc_entry *entry, uint64_t now)
{
    struct llc *llc = entry->llc;
    if (entry->request->op != MEM_READ && entry->request->op != MEM_WRITE) {
        llc_maintain(entry, now);
        return;
    }
    event_init(&entry->event, llc->component, answer, entry);
    uint32_t index = llc_find(llc, entry->line);
    if (llc->prefetches)
        look_and_train(entry, index, now);
    else
        look_up(entry, index, now);
}

/* Appends the rest of a list. */
static void list_join(struct llc_list *list, const struct llc_list *rest)
{
    if (list->first)
        list->last->next = rest->first;
    else
        list->first = rest->first;
    list->last = rest->last;
}

/* Makes the entries that have waited for the line look up the tags again, in order, until the line is busy. */
static void look_all(struct llc *llc, uint64_t line, struct llc_list *waiting, uint64_t now)
{
    while (waiting->first) {
        const uint32_t found = llc_find(llc, line);
        struct llc_frame *frame = found == TAGS_NONE ? NULL : &llc->frames[found];
        if (frame && frame->busy && !llc_joins(frame, waiting->first)) {
            list_join(&frame->waiting, waiting);
            return;
        }
        llc_look(llc_list_take(waiting), now);
    }
}

void llc_admit(struct llc *llc, uint32_t index, uint64_t now)
{
    struct llc_frame *frame = &llc->frames[index];
    struct llc_list waiting = frame->waiting;
    frame->waiting.first = NULL;
    look_all(llc, llc_line_at(llc, index), &waiting, now);
}

/* Makes a frame no longer busy. `evict`: its line leaves the array. */
static void unlock(struct llc *llc, uint32_t index, bool evict, uint64_t now)
{
    struct llc_frame *frame = &llc->frames[index];
    const uint64_t line = llc_line_at(llc, index);
    struct llc_list waiting = frame->waiting;
    frame->waiting.first = NULL;
    frame->busy = false;
    llc->counters.store_evictions += evict;
    /* A line that has been written meanwhile is newer than what expired. */
    if (evict || (frame->expired && tags_state(&llc->tags, index) != LLC_DIRTY))
        llc_forget(llc, index, now);
    frame->expired = false;
    llc_frame_changed(llc, index);
    look_all(llc, line, &waiting, now);
    llc_retry(llc, now);
}

void llc_expire(struct llc *llc, uint64_t line, uint64_t now)
{
    uint32_t index = llc_find(llc, line);
    if (index == TAGS_NONE)
        return;
    llc->frames[index].expired = llc->frames[index].busy;
    if (llc->frames[index].busy)
        return;
    llc_forget(llc, index, now);
    llc_frame_changed(llc, index);
}

void llc_unlock(struct llc *llc, uint32_t index, uint64_t now)
{
    unlock(llc, index, false, now);
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

/* Returns whether the client has accepted the response. */
static bool answered(struct llc_entry *entry, uint64_t now)
{
    struct llc *llc = entry->llc;
    uint32_t frame = entry->frame;
    const bool atomic = entry->request->atomic;
    llc_conclude(entry, now);
    if (!mem_request_respond(entry->request, now))
        return false;
    if (frame != TAGS_NONE && !(atomic && --llc->frames[frame].atomics))
        unlock(llc, frame, atomic && !llc_keeps(llc, frame), now);
    llc_release(entry, now);
    return true;
}

static void add_refused(struct llc *llc, struct llc_entry *entry)
{
    const struct mem_link *link = mem_request_link(entry->request);
    llc->refuser = !llc->refused_count || llc->refuser == link ? link : NULL;
    llc->refused_count++;
    llc_list_add(&llc->refused, entry);
}

/* Returns whether the link would refuse `count` responses; then it has counted their refusals. */
static bool refuses(const struct mem_link *link, uint32_t count)
{
    return link && link->refuses && link->refuses(link->client, count);
}

/* A response is not offered in vain. But if caches are attached, an offer completes the request's row first, and the records
 * of holders may change by it. */
void llc_answer(struct llc_entry *entry, uint64_t now)
{
    struct llc *llc = entry->llc;
    if ((!llc->client_count && refuses(mem_request_link(entry->request), 1)) || !answered(entry, now))
        add_refused(llc, entry);
}

/* Offers the refused responses again, in order. If all have come on one link, and it refuses one, it would refuse the
 * others, too. */
static void answer_refused(struct llc *llc, uint64_t now)
{
    const struct mem_link *only = llc->refuser;
    struct llc_list rest = llc->refused;
    uint32_t count = llc->refused_count;
    llc->refused.first = NULL;
    llc->refused_count = 0;
    while (rest.first && !((!llc->client_count || llc->refused_count == 1) && refuses(only, count))) {
        struct llc_entry *entry = llc_list_take(&rest);
        if (!answered(entry, now))
            add_refused(llc, entry);
        count--;
    }
    if (!rest.first)
        return;
    llc->refused_count += count;
    list_join(&llc->refused, &rest);
}

static void response_room(void *port, struct mem_link *link, uint64_t now)
{
    struct llc *llc = port;
    (void)link;
    answer_refused(llc, now);
    if (llc->response_refused) {
        llc->response_refused = false;
        mem_link_response_room(&llc->lower[LLC_PASSED], now);
    }
}

static bool request_offered(void *port, struct mem_link *link, struct mem_request *request, uint64_t now)
{
    struct llc *llc = port;
    if (request->kind == MEM_UNCACHED || request->op == MEM_COMMAND) {
        bool passed = llc_pass(llc, link, request, now);
        llc->counters.uncached += passed;
        return passed;
    }
    struct llc_entry *entry = llc->free_entries;
    if (!entry) {
        llc->counters.refusals++;
        mem_waiters_add(&llc->full, link);
        return false;
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
                                .client = llc_client_of(llc, link)};
    uint64_t start = clock_edge(&llc->clock, now);
    struct llc_bank *bank = llc_bank(llc, line);
    if (start < bank->start) {
        start = bank->start;
        llc->counters.bank_waits++;
    }
    bank->start = llc_after(llc, start, llc->config.accept_clocks);
    event_init(&entry->event, llc->component, look, entry);
    event_schedule(llc->queue, &entry->event, llc_after(llc, start, llc->config.tag_clocks));
    return true;
}

/* If all ways of the set are busy, the line is not recorded: the client then has a copy that the directory
 * does not know, until the client evicts it. */
static bool warm(void *port, struct mem_link *link, uint64_t address, bool exclusive)
{
    struct llc *llc = port;
    struct mem_link *lower = &llc->lower[LLC_READS];
    uint64_t line = address & ~(uint64_t)(llc->config.line - 1), now = llc->queue->now;
    int client = llc_client_of(llc, link);
    uint32_t index = llc_find(llc, line);
    if (index == TAGS_NONE) {
        index = llc_make_room(llc, line, false, now, NULL);
        if (index == TAGS_NONE)
            return false;
        tags_fill(&llc->tags, index, llc_key(llc, line), LLC_CLEAN);
        llc_line_changed(llc, line);
        (void)mem_link_warm(lower, line, false);
        llc_tell_fill(llc, line, now, now, MEM_LEVEL_MEMORY);
    }
    tags_touch(&llc->tags, index);
    llc_frame_changed(llc, index);
    llc_first_use(llc, index);
    enum protocol_reply reply =
        llc_settle(llc, index, client, exclusive ? PROTOCOL_GET_OWNED : PROTOCOL_GET_READ, now);
    if (exclusive && llc->config.write_policy == LLC_WRITE_BACK)
        /* the client's dirty copy may later be dropped without a write-back */
        tags_set_state(&llc->tags, index, LLC_DIRTY);
    return reply == PROTOCOL_REPLY_OWNED;
}

const struct mem_port_ops llc_ops = {request_offered, response_room, warm, llc_warm_maintain, NULL};

void llc_set_slice(struct llc *llc, uint32_t number)
{
    llc->slice = number;
    llc->stride = llc->config.slices;
}

void llc_set_partition(struct llc *llc, uint32_t number, const struct home_map *homes, uint32_t channels)
{
    llc->slice = number;
    llc->stride = 1;
    llc->partition = homes;
    llc->partition_channels = channels;
}

void llc_keep_out(struct llc *llc, const struct keep_out *list)
{
    llc->keep_out = list;
}

void llc_set_homes(struct llc *llc, struct home_map *homes)
{
    for (enum llc_way way = 0; way < LLC_WAYS; way++)
        llc->lower[way].homes = homes;
}

static void make_pools(struct llc *llc)
{
    const struct llc_config *config = &llc->config;
    llc->banks = alloc(config->banks, sizeof *llc->banks);
    llc->entries = alloc(config->queue, sizeof *llc->entries);
    llc->mshrs = alloc(config->mshrs, sizeof *llc->mshrs);
    llc->writes = alloc(config->write_buffer, sizeof *llc->writes);
    for (uint32_t i = config->queue; i-- > 0;) {
        llc->entries[i].next = llc->free_entries;
        llc->free_entries = &llc->entries[i];
    }
    for (uint32_t i = config->mshrs; i-- > 0;) {
        llc->mshrs[i].next = llc->free_mshrs;
        llc->free_mshrs = &llc->mshrs[i];
    }
    for (uint32_t i = config->write_buffer; i-- > 0;) {
        llc->writes[i].next = llc->free_writes;
        llc->free_writes = &llc->writes[i];
    }
}

struct llc *llc_new(const char *name, const struct llc_config *config, struct event_queue *queue,
                    const struct clock *clock, uint32_t component, uint16_t requester,
                    const struct mem_port_ops *lower_ops, void *lower)
{
    struct llc *llc = alloc(1, sizeof *llc);
    uint32_t sets = (uint32_t)(config->size / config->line / config->ways);
    llc->config = *config;
    llc->config.protocol = llc_protocol(config);
    protocol_compile(llc->config.protocol, &llc->rules);
    llc->queue = queue;
    llc->clock = *clock;
    llc->component = component;
    llc->requester = requester;
    llc->name = alloc(strlen(name) + 1, 1);
    strcpy(llc->name, name);
    uint32_t block = config->slice_bytes ? config->slice_bytes : config->line;
    const bool by_line = config->interleave == LLC_BY_LINE;
    uint32_t chooses = by_line ? (uint32_t)__builtin_ctz(config->slices ? config->slices : 1) : 0;
    llc->block_shift = (uint32_t)__builtin_ctz(block);
    llc->stride = 1;
    llc->moved = block > config->line ? chooses : 0;
    llc->mapped = llc->moved || !by_line;
    tags_init(&llc->tags, sets, config->ways,
              (uint32_t)__builtin_ctz(config->line) + (llc->moved ? 0 : chooses), config->replacement);
    llc->frames = alloc(tags_size(&llc->tags), sizeof *llc->frames);
    llc->words_held = alloc(tags_size(&llc->tags), sizeof *llc->words_held);
    for (uint32_t i = 0; i < tags_size(&llc->tags); i++)
        llc->frames[i].owner = LLC_NOBODY;
    llc->words = 1;
    llc->holders = alloc(tags_size(&llc->tags), sizeof *llc->holders);
    for (enum llc_way way = 0; way < LLC_WAYS; way++)
        llc->lower[way] = (struct mem_link){lower_ops, lower, &llc_lower_ops, llc, NULL, false, NULL, NULL};
    make_pools(llc);
    llc_stalls_init(llc);
    llc_prefetch_init(llc);
    return llc;
}

void llc_connect(struct llc *llc, const struct mem_port_ops *ops, void *port)
{
    for (enum llc_way way = 0; way < LLC_WAYS; way++) {
        llc->lower[way].port_ops = ops;
        llc->lower[way].port = port;
    }
}

void llc_free(struct llc *llc)
{
    for (uint32_t i = 0; i < llc->config.queue; i++)
        event_cancel(llc->queue, &llc->entries[i].event);
    /* The levels below own sent requests, and may have scheduled their events. */
    for (uint32_t i = 0; i < llc->config.mshrs; i++)
        event_cancel(llc->queue, &llc->mshrs[i].request.event);
    for (uint32_t i = 0; i < llc->config.write_buffer; i++)
        event_cancel(llc->queue, &llc->writes[i].request.event);
    llc_stalls_free(llc);
    llc_prefetch_free(llc);
    tags_free(&llc->tags);
    free(llc->frames);
    free(llc->words_held);
    free(llc->holders);
    free(llc->clients);
    free(llc->client_slot);
    free(llc->banks);
    free(llc->entries);
    free(llc->mshrs);
    free(llc->writes);
    cache_track_free(llc->track);
    free(llc->name);
    free(llc);
}

void llc_observe(struct llc *llc, struct cache_observer *observer)
{
    observer_add(&llc->observers, &observer->link);
}

void llc_track(struct llc *llc, struct track_sink *sink)
{
    if (!track_takes(sink, TRACK_TIMELINE))
        return;
    llc->track = cache_track_level(sink, llc->name);
    llc_observe(llc, cache_track_observer(llc->track));
}

unsigned llc_pending(const struct llc *llc)
{
    unsigned pending = llc->held + llc->prefetches_used;
    for (uint32_t i = 0; i < llc->config.write_buffer; i++)
        pending += llc->writes[i].used;
    return pending;
}
