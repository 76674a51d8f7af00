#include "emu/simt/multiprocessor.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "emu/sim/alloc.h"
#include "emu/sim/threads/turns.h"
#include "emu/simt/multiprocessor/state.h"
#include "emu/simt/multiprocessor/track.h"
#include "emu/simt/trace/access_trace.h"

/* Counts the cycles before `cycle`, in which the multiprocessor slept. */
static void settle(struct simt *simt, uint64_t cycle)
{
    if (!simt->busy || cycle <= simt->cycle)
        return;
    simt_count_stalls(simt, cycle - simt->cycle);
    simt->cycle = cycle;
}

static void go_on_at(struct simt *simt, uint64_t time)
{
    if (!event_pending(&simt->event) || simt->event.time > time)
        event_schedule(simt->parts.queue, &simt->event, time);
}

/* Call it when something changes, at time `now`, for which the multiprocessor may sleep. Counts the cycles until then
 * and schedules the next one. */
static void touch(struct simt *simt, uint64_t now)
{
    if (simt->running)
        return;
    settle(simt, clock_cycle(&simt->parts.clock, now));
    uint64_t next = simt_time(simt, simt->cycle), edge = clock_edge(&simt->parts.clock, now);
    go_on_at(simt, next > edge ? next : edge);
}

/* Frees an access that is complete at time `now`, and ends its warp's wait for it. */
static void end_access(struct simt *simt, struct simt_access *access, uint64_t now)
{
    simt_memory_release(simt, access, now);
    simt_end_wait(simt, access->slot, access->rd, access->ready);
}

/* Executes cycles ahead of the queue's time until another event is due before. */
static void run_cycles(struct simt *simt)
{
    struct event_queue *queue = simt->parts.queue;
    while (simt->busy || simt->halfway) {
        uint64_t next = simt->halfway ? simt->cycle : simt_next_cycle(simt, simt->cycle);
        if (next == UINT64_MAX)
            return;
        uint64_t time = simt_time(simt, next);
        if (time > queue->now && time >= event_queue_next(queue)) {
            /* A cycle with a look at starving warps has to be executed. */
            if (!simt->halfway && !simt->debugged && next < simt->look && simt_memory_foresee(simt, next))
                continue;
            event_schedule(queue, &simt->event, time);
            return;
        }
        if (queue->window && time > queue->now)
            window_reach(queue->window, time, (uint16_t)simt->parts.component);
        if (!simt->halfway) {
            settle(simt, next);
            struct simt_access *complete = simt_memory_step(simt, next);
            if (complete)
                end_access(simt, complete, time > queue->now ? time : queue->now);
        }
        simt_issue(simt, next);
        if (simt->halfway) {
            event_schedule(queue, &simt->event, time > queue->now ? time : queue->now);
            return;
        }
        simt->cycle++;
    }
}

static void run(void *owner, uint64_t now)
{
    struct simt *simt = owner;
    simt->running = true;
    settle(simt, clock_cycle(&simt->parts.clock, now));
    run_cycles(simt);
    simt->running = false;
}

static void line_done(struct cache_waiter *waiter, uint64_t now, unsigned level)
{
    struct simt_access *access = waiter->owner;
    struct simt *simt = access->simt;
    touch(simt, now);
    if (level == MEM_LEVELS)
        simt->refused = simt->full = false;
    else if (simt_memory_answered(simt, access, clock_cycle(&simt->parts.clock, now)))
        end_access(simt, access, now);
}

void simt_set_local(struct simt *simt, const struct simt_local_ops *ops, void *local)
{
    simt->local_ops = ops;
    simt->local = local;
}

void simt_local_answered(struct simt *simt, uint32_t number, uint64_t now)
{
    struct simt_access *access = &simt->accesses[number];
    touch(simt, now);
    if (simt_memory_local_answered(simt, access, clock_cycle(&simt->parts.clock, now)))
        end_access(simt, access, now);
}

void simt_local_retry(struct simt *simt, uint64_t now)
{
    if (!simt->local_refused)
        return;
    touch(simt, now);
    simt->refused = simt->local_refused = false;
}

void simt_local_settled(struct simt *simt, uint64_t now)
{
    if (!simt->settling || simt->queued)
        return;
    touch(simt, now);
    simt->settling = false;
    simt->settled++;
    cache_released(simt->parts.l1);
    simt->refused = simt->refused && !simt->holds;
    simt->holds = false;
    simt_settle(simt);
}

static void cache_settled(struct cache_waiter *waiter, uint64_t now, unsigned level)
{
    struct simt *simt = waiter->owner;
    (void)level;
    simt->queued = false;
    simt_local_settled(simt, now);
}

uint64_t simt_settle_begin(struct simt *simt, uint64_t now)
{
    if (!simt->by_word)
        return 0;
    touch(simt, now);
    return simt->settled + !simt_memory_settled(simt);
}

bool simt_push(struct simt *simt, struct mem_push *push)
{
    return mem_pushes_add(&simt->pushes, push, simt->stores_taken, simt->stores_held);
}

uint64_t simt_settled(const struct simt *simt)
{
    return simt->settled;
}

/* Ends the wait for a page of an access, or for the walk of a warp's missing page. */
static void page_done(void *context, uint32_t waiter, uint64_t now)
{
    struct simt *simt = context;
    const struct simt_source *source = &simt->parts.source;
    touch(simt, now);
    if (waiter >= SIMT_ACCESSES)
        source->missing(source->context, simt->warps[waiter - SIMT_ACCESSES].warp);
    else
        simt_memory_translated(simt, &simt->accesses[waiter]);
}

static void request_room(void *client, struct mem_link *link, uint64_t now)
{
    (void)link;
    simt_memory_send_rest(client, now);
}

static bool respond(void *client, struct mem_link *link, struct mem_request *request, uint64_t now)
{
    struct simt *simt = client;
    (void)link;
    touch(simt, now);
    struct simt_access *access = simt_memory_atomic_done(simt, request, clock_cycle(&simt->parts.clock, now));
    if (access)
        end_access(simt, access, now);
    return true;
}

static const struct mem_client_ops client_ops = {respond, request_room};

static void unit_done(struct custom_waiter *waiter, uint64_t now)
{
    struct simt_warp *warp = waiter->owner;
    struct simt *simt = warp->simt;
    touch(simt, now);
    simt_end_wait(simt, (uint32_t)(warp - simt->warps), warp->unit_rd, clock_cycle(&simt->parts.clock, now));
}

/* The unit of a HINT has returned threads of the warp. */
static void unit_returned(struct custom_waiter *waiter, uint64_t now)
{
    struct simt_warp *warp = waiter->owner;
    struct simt *simt = warp->simt;
    touch(simt, now);
    warp->absent = false;
    /* With these threads, another instruction than the one that is fetched may be next. */
    simt_fetch(simt, (uint32_t)(warp - simt->warps), simt->cycle);
}

static void make_slots(struct simt *simt)
{
    const struct simt_config *config = &simt->config;
    simt->words = (config->warps + 63) / 64;
    simt->age = simt->eldest = UINT64_MAX / 2;
    simt->warps = alloc(config->warps, sizeof *simt->warps);
    simt->wheel = alloc((size_t)SIMT_WHEEL * simt->words, sizeof *simt->wheel);
    for (uint32_t i = 0; i < 64; i++)
        simt->schedulers[i % config->schedulers].own |= UINT64_C(1) << i;
    for (uint32_t i = 0; i < config->schedulers; i++)
        simt->schedulers[i].cause = SIMT_STALLS;
    for (uint32_t i = 0; i < config->warps; i++) {
        simt->free_slots[i / 64] |= UINT64_C(1) << i % 64;
        simt->warps[i].state = SIMT_NOWHERE;
        simt->schedulers[i % config->schedulers].count[SIMT_NOWHERE]++;
    }
}

/* Makes what calls the multiprocessor when memory has answered. */
static void make_waiters(struct simt *simt)
{
    const struct simt_parts *parts = &simt->parts;
    simt->line_done = line_done;
    simt->by_word = cache_is_by_word(parts->l1);
    simt->settles = (struct cache_waiter){NULL, cache_settled, simt};
    simt->link =
        (struct mem_link){parts->lower_ops, parts->lower, &client_ops, simt, NULL, false, parts->homes, NULL};
    if (parts->mmu)
        simt->tlb = simt_tlb_new(parts->mmu, SIMT_ACCESSES + simt->config.warps, page_done, simt);
}

struct simt *simt_new(const struct simt_config *config, const struct simt_parts *parts)
{
    struct simt *simt = alloc(1, sizeof *simt);
    simt->config = *config;
    simt->parts = *parts;
    simt->name = alloc_text(parts->name);
    static_assert(COALESCE_LINES == 1 << 6, "the last of 7 buckets holds the most lines");
    simt->counters.requests_of = histogram_log2(0, 7);
    simt->counters.requests_of.bounded = true;
    simt->counters.loads_of = histogram_linear(1, 3);
    simt->counters.response_delay = histogram_linear(20, 5);
    make_slots(simt);
    event_init(&simt->event, parts->component, run, simt);
    simt_memory_init(simt);
    make_waiters(simt);
    return simt;
}

void simt_free(struct simt *simt)
{
    if (!simt)
        return;
    if (simt->track_sink)
        observer_remove(&simt->track_sink->ends, &simt->track_end.link);
    simt_track_free(simt->track);
    event_cancel(simt->parts.queue, &simt->event);
    simt_memory_free(simt);
    simt_tlb_free(simt->tlb);
    free(simt->warps);
    free(simt->wheel);
    free(simt->name);
    free(simt);
}

void simt_connect(struct simt *simt, const struct mem_port_ops *ops, void *port)
{
    simt->link.port_ops = ops;
    simt->link.port = port;
}

const struct mem_link *simt_lower(const struct simt *simt)
{
    return &simt->link;
}

struct simt_tlb *simt_translation(const struct simt *simt)
{
    return simt->tlb;
}

const struct simt_source *simt_source_of(const struct simt *simt)
{
    return &simt->parts.source;
}

void simt_set_source(struct simt *simt, const struct simt_source *source)
{
    simt->parts.source = *source;
}

void simt_offer(struct simt *simt, enum insn_extension extension)
{
    simt->offered |= UINT64_C(1) << extension;
}

/* Returns whether a block with `need` fits beside `blocks` blocks that have taken `taken`. */
static bool fits(const struct simt_config *config, const struct simt_need *taken, uint32_t blocks,
                 const struct simt_need *need)
{
    uint64_t registers = (uint64_t)need->registers * need->warps * config->width;
    return blocks < config->blocks && taken->warps + (uint64_t)need->warps <= config->warps &&
           taken->threads + (uint64_t)need->threads <= config->threads &&
           taken->registers + registers <= config->registers &&
           taken->scratchpad + need->scratchpad <= config->scratchpad;
}

bool simt_could(const struct simt_config *config, const struct simt_need *need)
{
    return fits(config, &(struct simt_need){0}, 0, need);
}

bool simt_fits(const struct simt *simt, const struct simt_need *need)
{
    return fits(&simt->config, &simt->taken, simt->blocks, need) &&
           (!simt->local_ops || simt->local_ops->fits(simt->local, need->scratchpad));
}

uint32_t simt_occupancy(const struct simt_config *config, const struct simt_need *need, const char **limit)
{
    const struct {
        const char *name;
        uint64_t room, each;
    } resources[] = {
        {"blocks", config->blocks, 1},
        {"warps", config->warps, need->warps},
        {"threads", config->threads, need->threads},
        {"registers", config->registers, (uint64_t)need->registers * need->warps * config->width},
        {"scratchpad", config->scratchpad, need->scratchpad},
    };
    uint64_t most = UINT64_MAX;
    for (size_t i = 0; i < sizeof resources / sizeof *resources; i++) {
        if (!resources[i].each || resources[i].room / resources[i].each >= most)
            continue;
        most = resources[i].room / resources[i].each;
        *limit = resources[i].name;
    }
    return (uint32_t)most;
}

static void start_warp(struct simt *simt, struct simt_block *block, uint32_t number)
{
    uint32_t word = 0;
    while (!simt->free_slots[word])
        word++;
    uint32_t slot = 64 * word + (uint32_t)__builtin_ctzll(simt->free_slots[word]);
    struct simt_warp *warp = &simt->warps[slot];
    simt->free_slots[word] &= simt->free_slots[word] - 1;
    *warp =
        (struct simt_warp){.warp = block->warps[number], .block = block, .state = SIMT_NOWHERE, .simt = simt};
    warp->unit_waiter = (struct custom_waiter){
        .done = unit_done, .owner = warp, .clock = simt->parts.clock, .returned = unit_returned};
    simt->ages[slot] = simt->age++;
    block->slots[number] = slot;
}

void simt_place(struct simt *simt, struct simt_block *block, uint64_t now)
{
    const struct simt_need *need = &block->need;
    assert(simt_fits(simt, need) && need->warps > 0);
    if (!simt->busy) {
        uint64_t cycle = clock_cycle(&simt->parts.clock, now);
        simt->cycle = cycle > simt->cycle ? cycle : simt->cycle;
        simt->busy = true;
    }
    touch(simt, now);
    if (simt->local_ops)
        simt->local_ops->begin(simt->local, block,
                               simt->parts.source.where(simt->parts.source.context, block->warps[0]));
    simt->taken.warps += need->warps;
    simt->taken.threads += need->threads;
    simt->taken.registers += need->registers * need->warps * simt->config.width;
    simt->taken.scratchpad += need->scratchpad;
    simt->blocks++;
    simt->counters.blocks++;
    block->left = need->warps;
    block->stack_low = UINT64_MAX;
    block->placed = now;
    block->stacks_written = cache_stacks_written(simt->parts.l1);
    for (uint32_t i = 0; i < need->warps; i++)
        start_warp(simt, block, i);
    simt_tell_held(simt, simt->cycle);
    for (uint32_t i = 0; i < need->warps; i++)
        simt_fetch(simt, block->slots[i], simt->cycle);
}

void simt_release(struct simt *simt, struct simt_block *block)
{
    simt->released = block;
}

void simt_flush(struct simt *simt)
{
    cache_invalidate_all(simt->parts.l1);
    if (simt->local_ops)
        simt->local_ops->flush(simt->local, simt->parts.queue->now);
}

void simt_set_stacks(struct simt *simt, uint64_t first, uint64_t size)
{
    simt->stacks_first = first;
    simt->stacks_size = size;
    if (simt->config.stack_write_back)
        cache_set_stacks(simt->parts.l1, first, size);
}

/* The levels below have lines of the block only if the first-level cache has written some there. */
void simt_drop_stacks(struct simt *simt, const struct simt_block *block, uint64_t first, uint64_t size)
{
    bool written = cache_stacks_written(simt->parts.l1) != block->stacks_written;
    cache_drop(simt->parts.l1, first, size, written || !simt->config.stack_write_back);
}

void simt_debug(struct simt *simt, bool debugged)
{
    simt->debugged = debugged;
}

/* A multiprocessor that sleeps is not woken to hold its warps: the cycle would count as one without them. */
void simt_hold(struct simt *simt, const struct simt_block *block, uint32_t number, bool held, uint64_t now)
{
    uint32_t slot = block->slots[number];
    struct simt_warp *warp = &simt->warps[slot];
    if (warp->block != block || !warp->warp || warp->held == held)
        return;
    if (held)
        settle(simt, clock_cycle(&simt->parts.clock, now));
    else
        touch(simt, now);
    warp->held = held;
    if (held ? warp->state < SIMT_UNITS : warp->state == SIMT_NOWHERE && warp->op)
        simt_classify(simt, slot, simt->cycle);
}

void simt_stop_memory(struct simt *simt, bool stopped, uint64_t now)
{
    touch(simt, now);
    simt->stopped = stopped;
}

const char *simt_name(const struct simt *simt)
{
    return simt->name;
}

struct event_queue *simt_queue(const struct simt *simt)
{
    return simt->parts.queue;
}

const struct clock *simt_clock(const struct simt *simt)
{
    return &simt->parts.clock;
}

uint32_t simt_held(const struct simt *simt)
{
    return simt->blocks;
}

bool simt_busy(const struct simt *simt)
{
    return simt->busy;
}

void simt_observe(struct simt *simt, struct simt_observer *observer)
{
    observer_add(&simt->observers, &observer->link);
}

static void end_track(void *context, uint64_t now)
{
    struct simt *simt = context;
    (void)simt_counted(simt); /* tells the last stalls */
    simt_track_end(simt->track, now);
    simt->track_sink = NULL;
}

static void show(struct simt *simt, struct track_sink *sink)
{
    simt->track = simt_track_new(sink, simt->name, simt->config.schedulers);
    simt_observe(simt, simt_track_observer(simt->track));
    simt->track_sink = sink;
    simt->track_end = (struct track_end){.end = end_track, .context = simt};
    observer_add_first(&sink->ends, &simt->track_end.link);
}

void simt_track(struct simt *simt, struct track_sink *sink)
{
    if (track_takes(sink, TRACK_TIMELINE))
        show(simt, sink);
    if (track_takes(sink, TRACK_RECORDS) && simt->parts.source.where)
        simt->trace = access_trace_open(sink);
}

const struct simt_counters *simt_counted(struct simt *simt)
{
    if (!simt->running)
        settle(simt, clock_cycle(&simt->parts.clock, simt->parts.queue->now));
    return &simt->counters;
}
