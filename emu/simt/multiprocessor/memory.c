/* The memory pipeline: lines through the first-level cache, passes of shared memory, atomics to the shared
 * level. Functions that answer parts of an access return whether it is complete; the caller ends it. */
#include <assert.h>
#include <stddef.h>
#include <stdlib.h>

#include "emu/sim/alloc.h"
#include "emu/sim/list.h"
#include "emu/simt/multiprocessor/state.h"
#include "emu/simt/trace/access_trace.h"

bool simt_memory_settled(struct simt *simt)
{
    if (simt->settling)
        return false;
    simt->queued = !cache_release(simt->parts.l1, &simt->settles);
    simt->settling = simt->queued ||
                     (simt->local_ops && simt->local_ops->settled && !simt->local_ops->settled(simt->local));
    if (!simt->settling)
        cache_released(simt->parts.l1);
    return !simt->settling;
}

void simt_memory_acquire(struct simt *simt)
{
    cache_acquire(simt->parts.l1);
    if (simt->local_ops)
        simt->local_ops->flush(simt->local, simt->parts.queue->now);
}

void simt_memory_init(struct simt *simt)
{
    const struct simt_config *config = &simt->config;
    simt->accesses = alloc(config->accesses, sizeof *simt->accesses);
    simt->atomics = alloc(config->atomics, sizeof *simt->atomics);
    simt->free_accesses = simt->accesses;
    for (uint32_t i = config->atomics; i-- > 0;) {
        simt->atomics[i].next = simt->free_atomics;
        simt->free_atomics = &simt->atomics[i];
    }
}

void simt_memory_free(struct simt *simt)
{
    for (uint32_t i = 0; i < simt->config.atomics; i++)
        event_cancel(simt->parts.queue, &simt->atomics[i].request.event);
    free(simt->accesses);
    free(simt->atomics);
}

/* Writes the access's requests to the trace. */
static void record(const struct simt *simt, const struct simt_access *access)
{
    static const enum access_kind kinds[] = {
        [SIMT_LOAD] = ACCESS_IS_LOAD, [SIMT_STORE] = ACCESS_IS_STORE, [SIMT_ATOMIC] = ACCESS_IS_ATOMIC};
    const struct simt_source *source = &simt->parts.source;
    const struct warp_place *place = source->where(source->context, simt->warps[access->slot].warp);
    for (uint32_t i = 0; i < access->count; i++) {
        const struct coalesce_line *line = &access->lines[i];
        unsigned first = (unsigned)__builtin_ctzll(line->words),
                 last = 63 - (unsigned)__builtin_clzll(line->words);
        const struct access_record record = {
            .time = simt_time(simt, simt->cycle),
            .address = line->line + COALESCE_WORD * first,
            .pc = access->pc,
            .words = line->words,
            .launch = (uint32_t)place->launch,
            .block = (place->block[2] * place->grid_size[1] + place->block[1]) * place->grid_size[0] +
                     place->block[0],
            .multiprocessor = (uint16_t)place->multiprocessor,
            .warp = (uint16_t)place->warp,
            .size = (uint16_t)(COALESCE_WORD * (last - first + 1)),
            .threads = (uint8_t)__builtin_popcount(line->lanes),
            .kind = kinds[access->kind],
            .stack = line->line - simt->stacks_first < simt->stacks_size,
        };
        access_trace_write(simt->trace, &record);
    }
}

/* Notes the lowest line of stacks that the block has accessed. */
static void note_stacks(const struct simt *simt, const struct simt_access *access)
{
    uint64_t *low = &simt->warps[access->slot].block->stack_low;
    for (uint32_t i = 0; i < access->count; i++) {
        uint64_t offset = access->lines[i].line - simt->stacks_first;
        if (offset < simt->stacks_size && offset < *low)
            *low = offset;
    }
}

static void take_local(struct simt *simt, struct simt_access *access, uint32_t shared, unsigned size,
                       unsigned words)
{
    access->local = true;
    simt->local_ops->take(simt->local, (uint32_t)(access - simt->accesses),
                          &(struct simt_local_access){.block = simt->warps[access->slot].block,
                                                      .offset = simt->report.physical,
                                                      .mask = shared,
                                                      .size = size,
                                                      .words = words,
                                                      .pc = access->pc,
                                                      .load = access->kind != SIMT_STORE,
                                                      .store = access->kind != SIMT_LOAD});
}

/* Splits the access into requests and passes, and counts them. */
static void split(struct simt *simt, struct simt_access *access, const struct stream_op *op)
{
    struct simt_counters *counters = &simt->counters;
    const struct warp_report *report = &simt->report;
    unsigned line = cache_configuration(simt->parts.l1)->line;
    uint32_t shared = report->mask & report->shared_mask, global = report->mask & ~shared;
    if (shared) {
        const struct shared_banks_use use = shared_banks_use(report->physical, shared, op->size,
                                                             simt->config.banks, access->kind == SIMT_ATOMIC);
        access->passes = use.passes;
        counters->shared_words += simt->local_ops ? 0 : use.words;
        counters->shared_accesses++;
        counters->work[SIMT_WORK_shared] += simt->local_ops ? 0 : (unsigned)__builtin_popcount(shared);
        counters->shared_passes += access->passes;
        if (simt->local_ops)
            take_local(simt, access, shared, op->size, use.words);
    }
    if (!global)
        return;
    if (access->kind == SIMT_ATOMIC) {
        access->count = coalesce_atomics(report->physical, global, op->size, line, access->lines);
        counters->atomics++;
        counters->atomic_requests += access->count;
    } else {
        access->count = coalesce_lines(report->physical, global, op->size, line, access->lines);
        counters->accesses++;
        counters->requests += access->count;
        histogram_add(&counters->requests_of, access->count);
        if (access->kind == SIMT_LOAD)
            histogram_add(&counters->loads_of, access->count);
    }
    note_stacks(simt, access);
    access->divergent =
        simt->config.one_line ? access->count > 1 : coalesce_divergent(access->count, global, op->size, line);
    counters->divergent += access->divergent && access->kind != SIMT_ATOMIC;
    if (simt->trace.sink)
        record(simt, access);
}

static void enqueue(struct simt *simt, struct simt_access *access)
{
    simt->queue[(simt->queue_first + simt->queue_count++) % SIMT_ACCESSES] = access;
}

/* Looks up each page of the access once, and counts in access->pages those that the TLB does not hold. */
static void translate(struct simt *simt, struct simt_access *access, unsigned size)
{
    enum { PAGES = 2 * WARP_LANES };
    const struct warp_report *report = &simt->report;
    uint64_t pages[PAGES], time = simt_time(simt, simt->cycle);
    unsigned count = 0;
    for (uint32_t left = report->mask & ~report->shared_mask; left; left &= left - 1) {
        uint64_t first = report->address[__builtin_ctz(left)];
        for (uint64_t at = first & ~(uint64_t)(WARP_PAGE - 1); at < first + size && first < WARP_STACK_WINDOW;
             at += WARP_PAGE) {
            unsigned i = count;
            while (i > 0 && pages[i - 1] != at)
                i--;
            if (i > 0)
                continue;
            pages[count++] = at;
            access->pages += !simt_tlb_look(simt->tlb, at, time, (uint32_t)(access - simt->accesses));
        }
    }
}

void simt_memory_translated(struct simt *simt, struct simt_access *access)
{
    if (--access->pages == 0)
        enqueue(simt, access);
}

void simt_memory_fault(struct simt *simt, uint32_t slot, uint64_t cycle)
{
    const struct simt_source *source = &simt->parts.source;
    if (!simt->tlb ||
        simt_tlb_look(simt->tlb, simt->report.trap.value, simt_time(simt, cycle), SIMT_ACCESSES + slot))
        source->missing(source->context, simt->warps[slot].warp);
}

/* Makes an access ready that has never been taken. */
static void prepare(struct simt *simt, struct simt_access *access)
{
    access->simt = simt;
    access->next = access + 1 < simt->accesses + simt->config.accesses ? access + 1 : NULL;
    for (unsigned i = 0; i < COALESCE_LINES; i++)
        access->waiters[i] = (struct cache_waiter){NULL, simt->line_done, access};
}

void simt_memory_take(struct simt *simt, uint32_t slot)
{
    struct simt_warp *warp = &simt->warps[slot];
    const struct stream_op *op = simt->report.op;
    struct simt_access *access = simt->free_accesses;
    assert(access);
    if (!access->simt)
        prepare(simt, access);
    simt->free_accesses = access->next;
    access->slot = (uint16_t)slot;
    access->rd = op->rd;
    access->pc = op->pc;
    access->count = access->sent = access->answered = access->passes = access->responses = 0;
    access->passed = access->divergent = access->local = false;
    access->local_waits = 0;
    access->pages = 0;
    access->ready = 0;
    access->kind = warp->work == SIMT_WORK_atomic ? SIMT_ATOMIC
                   : warp->work == SIMT_WORK_load ? SIMT_LOAD
                                                  : SIMT_STORE;
    if (access->kind != SIMT_LOAD) {
        access->number = simt->stores_taken++;
        simt->stores_held++;
    }
    split(simt, access, op);
    if (op->rd < STREAM_NONE)
        warp->pending |= UINT64_C(1) << op->rd;
    warp->under_way++;
    if (simt->tlb)
        translate(simt, access, op->size);
    if (access->pages == 0)
        enqueue(simt, access);
}

void simt_memory_release(struct simt *simt, struct simt_access *access, uint64_t now)
{
    access->next = simt->free_accesses;
    simt->free_accesses = access;
    if (access->kind == SIMT_LOAD)
        return;
    simt->stores_held--;
    if (simt->pushes.first)
        mem_pushes_answered(&simt->pushes, access->number, now);
}

bool simt_storing(const struct simt *simt, uint64_t line)
{
    for (uint32_t i = 0; i < simt->config.accesses; i++) {
        const struct simt_access *access = &simt->accesses[i];
        if (access->kind == SIMT_LOAD || access->answered == access->count)
            continue;
        for (uint32_t k = access->kind == SIMT_ATOMIC ? 0 : access->sent; k < access->count; k++)
            if (access->lines[k].line == line)
                return true;
    }
    return false;
}

/* Counts how far apart the responses of a load came. */
static void count_responses(struct simt *simt, const struct simt_access *access)
{
    if (access->kind != SIMT_LOAD)
        return;
    simt->counters.one_response += access->responses == 1;
    if (access->responses > 1)
        histogram_add(&simt->counters.response_delay, access->last_response - access->first_response);
}

/* Notes that one of the access's lines was answered in cycle `ready`. Returns whether it was the last. */
static bool answered(struct simt *simt, struct simt_access *access, uint64_t ready)
{
    static const uint8_t works[] = {
        [SIMT_LOAD] = SIMT_WORK_load, [SIMT_STORE] = SIMT_WORK_store, [SIMT_ATOMIC] = SIMT_WORK_atomic};
    uint64_t value = ready + simt->config.work[works[access->kind]].latency;
    access->ready = value > access->ready ? value : access->ready;
    if (++access->answered < access->count || access->local_waits)
        return false;
    count_responses(simt, access);
    return true;
}

bool simt_memory_answered(struct simt *simt, struct simt_access *access, uint64_t cycle)
{
    if (access->responses++ == 0)
        access->first_response = cycle;
    access->last_response = cycle;
    return answered(simt, access, cycle);
}

static void leave_queue(struct simt *simt)
{
    simt->queue_first = (simt->queue_first + 1) % SIMT_ACCESSES;
    simt->queue_count--;
}

/* Lets the first-level cache's banks deliver or take a line's words, and counts them. Returns the clocks beyond the first one. */
static unsigned use_banks(struct simt *simt, const struct coalesce_line *line, bool store, uint64_t cycle)
{
    struct simt_counters *counters = &simt->counters;
    if (!simt->config.l1_banks)
        return 0;
    const unsigned passes = line_banks_passes(line->words, simt->config.l1_banks);
    counters->l1_passes += passes;
    counters->l1_words[store] += (unsigned)__builtin_popcountll(line->words) - 1;
    simt->pipe_free = cycle + passes;
    return passes - 1;
}

/* Sends a line to the first-level cache. Returns false when the cache is full. *complete tells whether the access is. */
static bool send_line(struct simt *simt, struct simt_access *access, uint64_t cycle, bool *complete)
{
    const struct coalesce_line *line = &access->lines[access->sent];
    const struct cache_words words = {line->line, line->words, access->divergent};
    const struct cache_actor actor = {
        .pc = access->pc, .core = simt->parts.number, .atomic = access->kind == SIMT_ATOMIC};
    bool load = access->kind == SIMT_LOAD;
    enum cache_outcome outcome =
        cache_access_words(simt->parts.l1, &words, load ? CACHE_LOAD : CACHE_STORE, simt_time(simt, cycle),
                           actor, &access->waiters[access->sent]);
    if (outcome == CACHE_FULL)
        return false;
    const unsigned more = use_banks(simt, line, !load, cycle);
    access->sent++;
    if (access->sent == access->count)
        leave_queue(simt);
    if (outcome == CACHE_HIT)
        *complete = answered(simt, access,
                             cycle + more + (load ? cache_configuration(simt->parts.l1)->hit_clocks : 0));
    return true;
}

static void send_request(void *owner, uint64_t now);

/* Sends one request of an atomic, from its first to its last word; a mask selects the words. Returns false
 * when no request is free or the cache cannot give up its line. */
static bool send_atomic(struct simt *simt, struct simt_access *access, uint64_t cycle)
{
    struct simt_atomic *atomic = simt->free_atomics;
    if (!atomic)
        return false;
    const struct coalesce_line *line = &access->lines[access->sent];
    simt->full =
        !cache_give_up(simt->parts.l1, line->line, simt_time(simt, cycle), &access->waiters[access->sent]);
    if (simt->full)
        return false;
    access->sent++;
    unsigned first = (unsigned)__builtin_ctzll(line->words),
             last = 63 - (unsigned)__builtin_clzll(line->words);
    uint64_t words = line->words >> first, whole = UINT64_MAX >> (63 - (last - first));
    simt->free_atomics = atomic->next;
    atomic->access = access;
    mem_request_init(&atomic->request, MEM_WRITE, line->line + COALESCE_WORD * first,
                     COALESCE_WORD * (last - first + 1));
    atomic->request.mask = words == whole ? UINT64_MAX : words;
    atomic->request.requester = simt->parts.number;
    atomic->request.divergent = access->divergent;
    atomic->request.atomic = true;
    event_init(&atomic->request.event, simt->parts.component, send_request, atomic);
    event_schedule(simt->parts.queue, &atomic->request.event, simt_time(simt, cycle));
    if (access->sent == access->count)
        leave_queue(simt);
    return true;
}

/* Lets local memory make the access, or go on with it. Returns whether the access is complete. */
static bool step_local(struct simt *simt, struct simt_access *access, uint64_t cycle)
{
    const unsigned done =
        simt->local_ops->step(simt->local, (uint32_t)(access - simt->accesses), simt_time(simt, cycle));
    simt->refused = simt->local_refused = done & SIMT_LOCAL_REFUSED;
    access->local_waits += done / SIMT_LOCAL_WAIT;
    access->local = done & (SIMT_LOCAL_MORE | SIMT_LOCAL_REFUSED);
    if (access->local || access->count)
        return false;
    leave_queue(simt);
    return access->local_waits == 0;
}

bool simt_memory_local_answered(struct simt *simt, struct simt_access *access, uint64_t cycle)
{
    const uint64_t value = cycle + simt->config.work[SIMT_WORK_shared].latency;
    access->ready = value > access->ready ? value : access->ready;
    return --access->local_waits == 0 && !access->local && access->answered == access->count;
}

/* Makes all passes of shared memory at once; they occupy the pipeline. Returns whether the access is complete. */
static bool make_passes(struct simt *simt, struct simt_access *access, uint64_t cycle)
{
    uint64_t last = cycle + access->passes - 1;
    simt->pipe_free = last + 1;
    access->passed = true;
    access->ready = last + simt->config.work[SIMT_WORK_shared].latency;
    if (access->local)
        return step_local(simt, access, cycle);
    if (access->count)
        return false;
    leave_queue(simt);
    return true;
}

struct simt_access *simt_memory_step(struct simt *simt, uint64_t cycle)
{
    if (!simt->queue_count || simt->refused || simt->stopped || simt->pipe_free > cycle)
        return NULL;
    struct simt_access *access = simt->queue[simt->queue_first];
    bool complete = false;
    /* Stores and atomics wait, or a release would have no end while other warps spin. */
    if (simt->settling && access->kind != SIMT_LOAD) {
        simt->refused = simt->holds = true;
        return NULL;
    }
    if (access->passes && !access->passed)
        complete = make_passes(simt, access, cycle);
    else if (access->local)
        complete = step_local(simt, access, cycle);
    else if (access->kind == SIMT_ATOMIC && !simt->by_word)
        simt->refused = !send_atomic(simt, access, cycle);
    else
        simt->refused = !send_line(simt, access, cycle, &complete);
    return complete ? access : NULL;
}

bool simt_memory_foresee(struct simt *simt, uint64_t cycle)
{
    if (!simt->queue_count || simt->refused || simt->stopped || simt->pipe_free > cycle)
        return false;
    struct simt_access *access = simt->queue[simt->queue_first];
    if (access->kind != SIMT_LOAD || (access->passes && !access->passed) || access->local)
        return false;
    simt->refused = cache_full_ahead(simt->parts.l1, access->lines[access->sent].line, simt_time(simt, cycle),
                                     &access->waiters[access->sent]);
    return simt->refused;
}

static bool offer(struct simt *simt, struct simt_atomic *atomic, uint64_t now)
{
    return mem_link_request(&simt->link, &atomic->request, now);
}

static void send_request(void *owner, uint64_t now)
{
    struct simt_atomic *atomic = owner;
    struct simt *simt = atomic->access->simt;
    if (!simt->unsent && offer(simt, atomic, now))
        return;
    LIST_APPEND(simt->unsent, simt->unsent_last, atomic, next);
}

void simt_memory_send_rest(struct simt *simt, uint64_t now)
{
    while (simt->unsent) {
        struct simt_atomic *atomic = simt->unsent, *next = atomic->next;
        if (!offer(simt, atomic, now))
            return;
        simt->unsent = next;
    }
}

struct simt_access *simt_memory_atomic_done(struct simt *simt, struct mem_request *request, uint64_t cycle)
{
    struct simt_atomic *atomic = CONTAINER_OF(request, struct simt_atomic, request);
    struct simt_access *access = atomic->access;
    atomic->next = simt->free_atomics;
    simt->free_atomics = atomic;
    simt->refused = simt->refused && (simt->full || simt->local_refused ||
                                      simt->queue[simt->queue_first]->kind != SIMT_ATOMIC);
    return answered(simt, access, cycle) ? access : NULL;
}
