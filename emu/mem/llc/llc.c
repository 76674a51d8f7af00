/* The port of the last level, its events, and the responses of memory. */
#include "emu/mem/llc/state.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "emu/mem/cache/track.h"
#include "emu/mem/llc/registry.h"
#include "emu/sim/alloc.h"
#include "emu/sim/list.h"

static void answer(void *owner, uint64_t now);

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

/* Looks up the tags for an entry: at its event, and when what it has waited for is available. */
static void look(void *owner, uint64_t now)
{
    struct llc_entry *entry = owner;
    struct llc *llc = entry->llc;
    if (entry->request->op != MEM_READ && entry->request->op != MEM_WRITE) {
        llc_maintain(entry, now);
        return;
    }
    event_init(&entry->event, llc->component, answer, entry);
    if (llc->by_word) {
        llc_registry_request(entry, now);
        return;
    }
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
        look(llc_list_take(waiting), now);
    }
}

/* Makes the entries that wait for a frame's line look up the tags again while they may use the line. */
static void admit(struct llc *llc, uint32_t index, uint64_t now)
{
    struct llc_frame *frame = &llc->frames[index];
    struct llc_list waiting = frame->waiting;
    frame->waiting.first = NULL;
    look_all(llc, llc_line_at(llc, index), &waiting, now);
}

/* Makes the stalled entries that may have got what they lack look up the tags again, in the order in which they have
 * stalled and before new requests. */
static void retry(struct llc *llc, uint64_t now)
{
    struct llc_retry pass = {.turn = 0};
    for (struct llc_entry *entry; llc->stalls.count && (entry = llc_stalls_take(llc, &pass)) != NULL;) {
        look(entry, now);
        llc_stalls_looked(llc, &pass);
    }
}

/* Makes a frame no longer busy. Retries the entries that wait for its line, then the stalled ones. `evict`: its line leaves the array. */
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
    retry(llc, now);
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

/* Returns whether the line stays busy until its response has arrived at a cache that is not directly above. */
static bool goes_away(const struct llc_entry *entry)
{
    return entry->frame != TAGS_NONE && entry->client != LLC_NOBODY && entry->llc->clients[entry->client].far;
}

/* Returns whether the client has accepted the response. */
static bool answered(struct llc_entry *entry, uint64_t now)
{
    struct llc *llc = entry->llc;
    uint32_t frame = entry->frame;
    const bool atomic = entry->request->atomic, away = goes_away(entry);
    llc_conclude(entry, now);
    if (!mem_request_respond(entry->request, now))
        return false;
    if (away) {
        llc_list_add(&llc->away, entry);
        return true;
    }
    if (frame != TAGS_NONE && !(atomic && --llc->frames[frame].atomics))
        unlock(llc, frame, atomic && !llc_keeps(llc, frame), now);
    llc_release(entry, now);
    return true;
}

void llc_received(struct llc *llc, const struct mem_link *link, uint64_t line, uint64_t now)
{
    const int client = llc_client_of(llc, link);
    struct llc_list away = llc->away;
    llc->away.first = NULL;
    while (away.first) {
        struct llc_entry *entry = llc_list_take(&away);
        if (entry->line != line || entry->client != client) {
            llc_list_add(&llc->away, entry);
            continue;
        }
        if (away.first)
            list_join(&llc->away, &away);
        unlock(llc, entry->frame, false, now);
        llc_release(entry, now);
        return;
    }
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
static void answer(void *owner, uint64_t now)
{
    struct llc_entry *entry = owner;
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
    struct llc_entry *entry = llc_accept(llc, link, request, now);
    if (!entry)
        return false;
    uint64_t start = clock_edge(&llc->clock, now);
    struct llc_bank *bank = llc_bank(llc, entry->line);
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
    if (llc->by_word)
        return false;
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

static void warm_maintain(void *port, struct mem_link *link, enum mem_op op, uint64_t address, uint64_t size)
{
    (void)link;
    llc_warm_maintain(port, op, address, size);
}

const struct mem_port_ops llc_ops = {request_offered, response_room, warm, warm_maintain, NULL};

/* A line has arrived: its requester is answered fill_clocks later. */
static void line_came(struct llc *llc, struct mem_request *request, uint64_t now)
{
    if (llc->by_word) {
        llc_registry_filled(llc, CONTAINER_OF(request, struct llc_mshr, request), now);
        return;
    }
    struct llc_entry *entry = llc_line_arrived(llc, request, now);
    const uint64_t edge = clock_edge(&llc->clock, now);
    if (entry->request->atomic) {
        llc_atomic_filled(entry, edge);
        admit(llc, entry->frame, edge);
    } else {
        uint64_t start = llc_transfer_waited(llc, entry->line, edge);
        event_schedule(llc->queue, &entry->event, llc_after(llc, start, llc->config.fill_clocks));
    }
    retry(llc, now);
}

static void line_went(struct llc *llc, struct mem_request *request, uint64_t now)
{
    const struct llc_outgoing *out = llc_line_written(llc, request);
    const uint64_t number = out->number; /* a retry may begin another write in its place */
    if (llc->by_word)
        llc_registry_written(llc, now);
    llc_line_changed(llc, out->line);
    retry(llc, now);
    if (llc->pushes.first)
        mem_pushes_answered(&llc->pushes, number, now);
}

/* The line of a prefetch is in the array. */
static void prefetched(void *owner, uint64_t now)
{
    struct llc_entry *entry = owner;
    struct llc *llc = entry->llc;
    llc_prefetch_done(llc, entry);
    unlock(llc, entry->frame, false, now);
}

static bool respond(void *client, struct mem_link *link, struct mem_request *request, uint64_t now)
{
    struct llc *llc = client;
    if (link == &llc->lower[LLC_READS]) {
        line_came(llc, request, now);
    } else if (link == &llc->lower[LLC_WRITES]) {
        line_went(llc, request, now);
    } else if (!mem_request_respond(request, now)) {
        llc->response_refused = true;
        return false;
    }
    return true;
}

static void request_room(void *client, struct mem_link *link, uint64_t now)
{
    struct llc *llc = client;
    if (link == &llc->lower[LLC_READS]) {
        llc_send_reads(llc, now);
    } else if (link == &llc->lower[LLC_WRITES]) {
        llc_send_writes(llc, now);
    } else {
        llc_pass_ranges(llc, now);
        while (!link->waiting && mem_waiters_wake(&llc->passed, now))
            continue;
    }
}

static const struct mem_client_ops client_ops = {respond, request_room};

void llc_set_slice(struct llc *llc, uint32_t number)
{
    llc->slice = number;
    llc->stride = llc->config.slices;
}

void llc_serve(struct llc *llc, struct denovo_domain *domain, const struct denovo_place *place)
{
    llc_registry_serve(llc, domain, place);
}

void llc_check_words(struct llc *llc, struct word_versions *versions)
{
    llc->by_word->versions = versions;
}

void llc_set_partition(struct llc *llc)
{
    llc->slice = 0;
    llc->stride = 1;
}

void llc_set_share(struct llc *llc, const struct llc_share *share)
{
    llc->share = *share;
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
        llc->lower[way] = (struct mem_link){lower_ops, lower, &client_ops, llc, NULL, false, NULL, NULL};
    make_pools(llc);
    llc_stalls_init(llc);
    llc_prefetch_init(llc);
    for (uint32_t i = 0; llc->prefetches && i < config->mshrs; i++)
        event_init(&llc->prefetches[i].entry.event, component, prefetched, &llc->prefetches[i].entry);
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
    llc_registry_free(llc);
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
