#include "emu/dram/memory.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "emu/dram/observers/banks.h"
#include "emu/dram/observers/trace.h"
#include "emu/dram/observers/track.h"
#include "emu/sim/alloc.h"
#include "emu/sim/list.h"

/* Returns the number of the first clock edge at or after `now`: the quotient, rounded up. The product with the
 * reciprocal is that quotient, or one less. */
static inline uint64_t edge_at(const struct dram_memory *memory, uint64_t now)
{
    const uint64_t tCK = memory->common.config.tCK, last = now + tCK - 1;
    const uint64_t edge = (uint64_t)((unsigned __int128)last * memory->reciprocal >> 64);
    return edge + (last - edge * tCK >= tCK);
}

/* Offers a finished request to its client, after those that were refused before. */
static void respond(void *owner, uint64_t now)
{
    struct mem_request *request = owner;
    struct dram_memory *memory = mem_request_link(request)->port;
    if (request->op == MEM_READ) {
        uint64_t latency = now - request->time;
        memory->read_latency += latency;
        histogram_add(&memory->read_clocks, (uint64_t)((double)latency * memory->edges_per_fs + 0.5));
    }
    if (!memory->refused_first && mem_request_respond(request, now))
        return;
    LIST_APPEND(memory->refused_first, memory->refused_last, request, next);
}

static void response_room(void *port, struct mem_link *link, uint64_t now)
{
    struct dram_memory *memory = port;
    (void)link;
    while (memory->refused_first) {
        struct mem_request *request = memory->refused_first;
        memory->refused_first = request->next;
        if (mem_request_respond(request, now))
            continue;
        request->next = memory->refused_first;
        memory->refused_first = request;
        if (!request->next)
            memory->refused_last = request;
        break;
    }
}

/* Records that a burst of the request is done at `time`. The last one schedules the response. The request's
 * event holds the latest time so far. */
static void part_done(struct dram_memory *memory, struct mem_request *request, uint64_t time)
{
    if (request->event.time < time)
        request->event.time = time;
    if (--request->parts == 0)
        event_schedule(memory->queue, &request->event, request->event.time);
}

/* Returns the time (fs) at which a request that does not wait for a device is answered. */
static uint64_t at_once(const struct dram_config *config, uint64_t now)
{
    return now + config->tCK + config->front_latency + config->back_latency;
}

static void read_done(void *context, struct mem_request *request, uint64_t cycle)
{
    struct dram_memory *memory = context;
    const struct dram_config *config = &memory->common.config;
    part_done(memory, request, cycle * config->tCK + config->front_latency + config->back_latency);
}

/* Wakes waiters as long as there is room. A waiter that finds too little room stays at the front. */
static void wake(struct dram_slice *slice, uint64_t now)
{
    for (enum dram_direction direction = 0; direction < DRAM_DIRECTIONS; direction++) {
        struct mem_waiters *waiters = &slice->waiters[direction];
        if (!slice->channel.freed[direction])
            continue;
        slice->channel.freed[direction] = false;
        while (waiters->first && dram_queue_room(&slice->channel.queue, direction) > 0) {
            struct mem_link *link = waiters->first;
            slice->woken = link;
            (void)mem_waiters_wake(waiters, now);
            slice->woken = NULL;
            if (waiters->first == link)
                break;
        }
    }
    bool pressed = slice->waiters[DRAM_WRITES].first != NULL;
    if (pressed != slice->channel.pressed)
        dram_channel_press(&slice->channel, pressed);
}

/* Schedules the slice's event so that the channel is run before its actions become visible. */
static void arm(struct dram_slice *slice)
{
    struct dram_memory *memory = slice->memory;
    const struct dram_channel *channel = &slice->channel;
    uint64_t tCK = memory->common.config.tCK, time = CLOCK_NEVER;
    uint64_t next = dram_channel_next(channel);
    if (slice->waiters[DRAM_READS].first || slice->waiters[DRAM_WRITES].first) {
        uint64_t first = next < channel->wake ? next : channel->wake;
        time = first == CLOCK_NEVER ? CLOCK_NEVER : (first + 1) * tCK;
    } else if (channel->queue.count[DRAM_READS] && next != CLOCK_NEVER) {
        time = next * tCK + memory->lookahead;
    }
    if (channel->notice != CLOCK_NEVER && next != CLOCK_NEVER) {
        uint64_t noticed = (next + channel->notice) * tCK;
        time = time < noticed ? time : noticed;
    }
    if (time != CLOCK_NEVER && (!event_pending(&slice->event) || slice->event.time > time))
        event_schedule(memory->queue, &slice->event, time);
}

static void run(void *owner, uint64_t now)
{
    struct dram_slice *slice = owner;
    dram_channel_run(&slice->channel, edge_at(slice->memory, now));
    wake(slice, now);
    arm(slice);
}

static void refuse(struct dram_slice *slice, enum dram_direction direction, struct mem_link *link)
{
    struct mem_waiters *waiters = &slice->waiters[direction];
    if (link->waiting)
        return;
    if (slice->woken == link) {
        link->waiting = true;
        link->next_waiting = waiters->first;
        waiters->first = link;
        if (!waiters->last)
            waiters->last = link;
    } else {
        mem_waiters_add(waiters, link);
    }
    if (direction == DRAM_WRITES)
        dram_channel_press(&slice->channel, true);
    arm(slice);
}

/* Returns whether the channel cannot accept `wanted` bursts from this client now. */
static bool is_full(const struct dram_slice *slice, enum dram_direction direction,
                    const struct mem_link *link, uint32_t wanted)
{
    bool behind = slice->waiters[direction].first && slice->woken != link;
    return behind || dram_queue_room(&slice->channel.queue, direction) < wanted;
}

/* Counts the bursts for each channel. Returns a slice that has no room for its bursts, or NULL. */
static struct dram_slice *full_slice(struct dram_memory *memory, const struct mem_request *request,
                                     enum dram_direction direction, uint32_t count, uint64_t edge)
{
    struct mem_link *link = mem_request_link(request);
    struct dram_slice *full = NULL;
    for (uint32_t i = 0; i < count; i++) {
        struct dram_slice *slice = &memory->slices[memory->bursts[i].controller];
        if (slice->wanted++ == 0)
            dram_channel_run(&slice->channel, edge);
        if (!full && is_full(slice, direction, link, slice->wanted))
            full = slice;
    }
    for (uint32_t i = 0; i < count; i++)
        memory->slices[memory->bursts[i].controller].wanted = 0;
    return full;
}

/* Sets the homes of the bursts that a request touches. The first burst begins at `first`. */
static void find_bursts(struct dram_memory *memory, const struct mem_request *request, uint64_t first,
                        uint32_t count)
{
    const struct home_map *homes = mem_request_homes(request);
    memory->bursts[0] = request->home;
    for (uint32_t i = 1; i < count; i++) {
        struct home *home = &memory->bursts[i];
        home_resolve(homes ? homes : memory->homes, first + (uint64_t)i * memory->common.config.burst_bytes,
                     home);
        assert(home->module == memory->module && home->stack == memory->stack);
    }
}

/* Queues a burst, the queue's spare one, unless a queued write answers or absorbs it. */
static void take(struct dram_memory *memory, enum dram_direction direction, struct dram_slice *slice,
                 const struct dram_burst *burst, uint64_t answer)
{
    struct dram_queue *queue = &slice->channel.queue;
    if (direction == DRAM_READS && queue->count[DRAM_WRITES] && dram_queue_forwards(queue, burst)) {
        slice->channel.counters.forwarded++;
        part_done(memory, burst->request, answer);
        return;
    }
    if (direction == DRAM_WRITES && dram_queue_merges(queue, burst)) {
        slice->channel.counters.merged++;
        return;
    }
    dram_channel_add(&slice->channel, direction);
    arm(slice);
}

/* Queues the part of the request's bytes [from, to) that is in the burst at address `at`. */
static void take_part(struct dram_memory *memory, struct mem_request *request, uint64_t from, uint64_t to,
                      uint64_t at, const struct home *home)
{
    const struct dram_config *config = &memory->common.config;
    uint64_t size = config->burst_bytes;
    bool read = request->op == MEM_READ;
    struct dram_slice *slice = &memory->slices[home->controller];
    struct dram_burst *burst = dram_queue_spare(&slice->channel.queue);
    burst->request = read ? request : NULL;
    burst->row = home->row;
    burst->column = home->column;
    burst->first = (uint16_t)(at < from ? from - at : 0);
    burst->last = (uint16_t)(at + size > to ? to - at - 1 : size - 1);
    burst->bank = (uint8_t)home->bank;
    burst->whole = request->mask == UINT64_MAX;
    burst->opened = false;
    take(memory, read ? DRAM_READS : DRAM_WRITES, slice, burst, at_once(config, request->time));
}

/* Accepts a read or write as a whole, or refuses it. */
static bool take_all(struct dram_memory *memory, struct mem_link *link, struct mem_request *request,
                     uint64_t now)
{
    uint64_t size = memory->common.config.burst_bytes;
    uint64_t from = request->address, to = from + request->size, first = from & ~(size - 1);
    uint32_t count = to - first <= size ? 1 : (uint32_t)((to - 1 - first) / size) + 1;
    enum dram_direction direction = request->op == MEM_READ ? DRAM_READS : DRAM_WRITES;
    assert(count <= memory->slices->channel.queue.limit[direction]);

    struct dram_slice *slice = &memory->slices[request->home.controller], *full = NULL;
    const uint64_t edge = edge_at(memory, now);
    if (count == 1) {
        dram_channel_run(&slice->channel, edge);
        full = is_full(slice, direction, link, 1) ? slice : NULL;
    } else {
        find_bursts(memory, request, first, count);
        full = full_slice(memory, request, direction, count, edge);
    }
    if (full) {
        refuse(full, direction, link);
        return false;
    }
    if (direction == DRAM_READS)
        request->parts = (uint16_t)(request->parts + count);
    const struct home *home = &request->home;
    for (uint32_t i = 0; i < count; home = &memory->bursts[++i])
        take_part(memory, request, from, to, first + i * size, home);
    return true;
}

static bool request_offered(void *port, struct mem_link *link, struct mem_request *request, uint64_t now)
{
    struct dram_memory *memory = port;
    const struct home *home = &request->home;
    assert(home_current(home) && home->module == memory->module && home->stack == memory->stack &&
           home->controller < memory->common.config.channels);
    event_init(&request->event, memory->component, respond, request);
    request->time = now;
    request->parts = 1; /* one more, so that the request is not done while its bursts are being queued */
    if (request->op == MEM_READ || request->op == MEM_WRITE) {
        if (!take_all(memory, link, request, now))
            return false;
        *(request->op == MEM_READ ? &memory->requests_read : &memory->requests_write) += 1;
    }
    request->level = MEM_LEVEL_MEMORY;
    part_done(memory, request, request->op == MEM_READ ? 0 : at_once(&memory->common.config, now));
    return true;
}

const struct mem_port_ops dram_memory_ops = {request_offered, response_room, NULL, NULL, NULL};

void dram_memory_init(struct dram_memory *memory, const struct dram_config *config, struct event_queue *queue,
                      uint32_t component, const struct home_map *homes)
{
    memset(memory, 0, sizeof *memory);
    struct dram_common *common = &memory->common;
    *common = (struct dram_common){.config = *config,
                                   .clocks = dram_config_clocks(config),
                                   .refresh_clocks = dram_config_refresh_clocks(config),
                                   .read_done = read_done,
                                   .context = memory};
    dram_rules_init(&common->rules, config);
    memory->homes = homes;
    memory->queue = queue;
    memory->component = component;
    memory->reciprocal = UINT64_MAX / config->tCK;
    memory->edges_per_fs = 1.0 / (double)config->tCK;
    memory->read_clocks = histogram_log2(4, 9); /* the latency of an idle memory is tens of clocks */
    common->read_clocks = dram_command_shift(config, DRAM_RD) + common->clocks.tCL + common->clocks.tBURST;
    memory->lookahead = common->read_clocks * config->tCK + config->front_latency + config->back_latency;
    memory->slices = aligned_alloc(DRAM_LINE, config->channels * sizeof *memory->slices);
    memory->bursts =
        calloc(config->read_queue > config->write_queue ? config->read_queue : config->write_queue,
               sizeof *memory->bursts);
    if (!memory->slices || !memory->bursts)
        alloc_failed();
    memset(memory->slices, 0, config->channels * sizeof *memory->slices);
    for (uint32_t i = 0; i < config->channels; i++) {
        struct dram_slice *slice = &memory->slices[i];
        slice->memory = memory;
        dram_channel_init(&slice->channel, common, i);
        event_init(&slice->event, component, run, slice);
    }
    if (!config->bank_statistics)
        return;
    memory->banks = dram_banks_new(memory);
    dram_memory_observe(memory, dram_banks_observer(memory->banks));
}

void dram_memory_observe(struct dram_memory *memory, struct dram_observer *observer)
{
    observer_add(&memory->common.observers, &observer->link);
}

void dram_memory_track(struct dram_memory *memory, struct track_sink *sink, const char *name)
{
    if (track_takes(sink, TRACK_TIMELINE)) {
        memory->track = dram_track_new(sink, name, &memory->common.config);
        dram_memory_observe(memory, dram_track_observer(memory->track));
    }
    if (track_takes(sink, TRACK_TEXT)) {
        memory->trace = dram_trace_new(track_stream(sink, TRACK_TEXT, name), &memory->common.config);
        dram_memory_observe(memory, dram_trace_observer(memory->trace));
    }
}

void dram_memory_serve(struct dram_memory *memory, uint16_t module, uint16_t stack)
{
    memory->module = module;
    memory->stack = stack;
}

struct dram_channel *dram_memory_reach(struct dram_memory *memory, uint32_t channel)
{
    struct dram_slice *slice = &memory->slices[channel];
    dram_channel_run(&slice->channel, edge_at(memory, memory->queue->now));
    return &slice->channel;
}

void dram_memory_changed(struct dram_memory *memory, uint32_t channel)
{
    struct dram_slice *slice = &memory->slices[channel];
    dram_channel_choose(&slice->channel);
    arm(slice);
}

void dram_memory_free(struct dram_memory *memory)
{
    for (uint32_t i = 0; i < memory->common.config.channels; i++) {
        event_cancel(memory->queue, &memory->slices[i].event);
        dram_channel_free(&memory->slices[i].channel);
    }
    for (uint32_t i = 0; i < memory->figure_count; i++)
        free(memory->figures[i]);
    free(memory->figures);
    free(memory->slices);
    dram_track_free(memory->track);
    dram_trace_free(memory->trace);
    dram_banks_free(memory->banks);
    memory->track = NULL;
    memory->trace = NULL;
    memory->banks = NULL;
    free(memory->bursts);
    memory->figures = NULL;
    memory->slices = NULL;
}
