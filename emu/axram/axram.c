/* The part kind `axram`: instructions, their messages, statistics and energy. */
#include "emu/axram/axram.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/hart/access.h"
#include "emu/hart/custom.h"
#include "emu/mem/cache.h"
#include "emu/mem/llc.h"
#include "emu/sim/alloc.h"
#include "emu/simt/warp.h"

enum { PAGE = 4096, WORD = 4, MOST_MESSAGES = 5 };

const char *const axram_notify_names[] = {"poll", "fixed", NULL};

/* The inputs that a thread has named, until its wrt_res.axram. */
struct named {
    uint64_t base;
    uint32_t blocks, units; /* units 0: none */
    uint64_t launch, thread;
};

/* A multiprocessor's first-level cache, and the slices of its cluster's second level. */
struct front {
    struct cache *l1;
    struct llc *const *slices;
    uint32_t slice_count;
    bool by_line;
    bool first; /* it is the first of its cluster */
};

struct axram;

/* An instruction that a timed core or warp waits for. */
struct job {
    struct axram_request request;
    struct axram *axram;
    struct custom_waiter *waiter;
    uint32_t chip;
    uint64_t asked;            /* fs: time of the instruction */
    const struct front *front; /* of the multiprocessor whose stores are pushed; NULL: none */
    struct mem_push *push;     /* [0] of its first-level cache, then of the slices */
    uint32_t unpushed;
    bool leaving, waiting; /* waiting: from the instruction until its answer */
    struct event event;
    struct job *next; /* in the list of free jobs */
    struct job *all;  /* in the list of all jobs */
};

struct axram {
    struct axram_config config;
    struct event_queue *queue;
    uint32_t component;
    struct axram_shared shared;
    struct axram_chip *chips;
    uint32_t chip_count, harts;
    uint64_t base; /* first address of accelerator memory */
    struct stream_peers *peers;
    struct network_place {
        bool configured;
        struct axram_topology topology;
        uint64_t address;
    } * networks;        /* by chip */
    struct named *named; /* by hart, then by lane of each warp */
    size_t named_count;
    struct front *fronts;
    uint32_t front_count;
    bool check;
    struct job *free, *all;
    uint64_t dropped, drop_clocks, findings;
    struct histogram clocks;
    struct figure *figures;
    size_t figure_count;
};

/* The executor of an instruction: a hart, or a lane of a warp. */
struct thread {
    struct hart *hart; /* NULL: `lane` of `warp` */
    struct warp *warp;
    unsigned lane;
};

/* Instructions. */

static bool refused(struct trap *trap, enum trap_cause cause, uint64_t value)
{
    *trap = (struct trap){cause, value};
    return false;
}

/* Prints why an instruction traps, and sets the trap; the environment then prints where. Returns false. */
static bool complain(const struct insn *insn, const struct thread *thread, const struct error *err,
                     struct trap *trap)
{
    char name[INSN_NAME_SIZE], who[48] = "";
    insn_spell(insn_table[insn->id].name, name);
    if (thread->warp)
        (void)snprintf(who, sizeof who, " of thread %" PRIu64, warp_thread_id(thread->warp, thread->lane));
    fprintf(stderr, "croft run: %s%s: %s\n", name, who, err->text);
    return refused(trap, TRAP_ILLEGAL_INSTRUCTION, insn->bits);
}

/* Translates the address of a word. */
static bool translate(const struct thread *thread, uint64_t address, bool store, uint64_t *physical,
                      struct trap *trap)
{
    if (thread->hart) {
        uint64_t ignored;
        if (access_load(thread->hart, address, WORD, &ignored, physical) &&
            (!store || access_can_store(thread->hart, address, WORD)))
            return true;
        *trap = thread->hart->trap;
        return false;
    }
    struct warp_memory *memory = warp_memory_of(thread->warp);
    const struct warp_scratchpad *pad = warp_scratchpad(thread->warp);
    const enum warp_access access = store ? WARP_STORE : WARP_LOAD;
    if (warp_memory_can(memory, pad, address, WORD, access) &&
        warp_memory_place(memory, address, access, physical) == WARP_GLOBAL)
        return true;
    return refused(trap, store ? TRAP_STORE_ACCESS : TRAP_LOAD_ACCESS, address);
}

static bool in_space(const struct axram *axram, uint64_t first, uint64_t last)
{
    const uint64_t end = axram->base + axram->config.size;
    return first >= axram->base && first < end && last >= axram->base && last < end;
}

/* Translates and checks the region [start, end) that a thread names, operand[0] and operand[1], and splits it. */
static bool find_region(const struct axram *axram, const struct insn *insn, const struct thread *thread,
                        const uint64_t operand[2], bool store, struct axram_part *part, struct trap *trap)
{
    const uint64_t start = operand[0], end = operand[1];
    struct error err;
    uint64_t first, other;
    if ((start % WORD || end % WORD || end <= start) && !axram_split(part, start, end, 0, &err))
        return complain(insn, thread, &err, trap);
    if (!translate(thread, start, store, &first, trap))
        return false;
    for (uint64_t at = (start / PAGE + 1) * PAGE; at < end && end - start <= AXRAM_PIECE; at += PAGE) {
        if (!translate(thread, at, store, &other, trap))
            return false;
        if (other - first != at - start) {
            (void)error_set(&err, "the pages of the region 0x%" PRIx64 "-0x%" PRIx64 " are not contiguous",
                            start, end);
            return complain(insn, thread, &err, trap);
        }
    }
    const uint64_t last = first + (end - start) - 1;
    if (!in_space(axram, first, last)) {
        (void)error_set(&err,
                        "the region 0x%" PRIx64 "-0x%" PRIx64
                        " is not in accelerator memory, which is at 0x%" PRIx64 "-0x%" PRIx64,
                        start, end, axram->base, axram->base + axram->config.size);
        return complain(insn, thread, &err, trap);
    }
    return axram_split(part, first, last + 1, axram->base, &err) || complain(insn, thread, &err, trap);
}

static uint32_t chip_of(const struct axram *axram, uint64_t address)
{
    return (uint32_t)((address - axram->base) / AXRAM_PIECE % axram->chip_count);
}

static struct named *named_of(struct axram *axram, const struct thread *thread)
{
    size_t index = thread->hart ? thread->hart->hartid : 0;
    if (thread->warp)
        index = axram->harts + (size_t)warp_where(thread->warp)->stacks * WARP_LANES + thread->lane;
    if (index >= axram->named_count) {
        const size_t count = (index + 1) * 2;
        axram->named = alloc_resize(axram->named, count * sizeof *axram->named);
        memset(axram->named + axram->named_count, 0, (count - axram->named_count) * sizeof *axram->named);
        axram->named_count = count;
    }
    return &axram->named[index];
}

/* Returns a thread's launch and number, so that inputs that an earlier thread has left in the same place are not taken for its
 * own. */
static struct named identity_of(const struct thread *thread)
{
    if (thread->hart)
        return (struct named){.launch = 0};
    return (struct named){.launch = warp_where(thread->warp)->launch + 1,
                          .thread = warp_thread_id(thread->warp, thread->lane)};
}

static bool configure(struct axram *axram, const struct insn *insn, const struct thread *thread,
                      const struct axram_part *part, struct axram_request *request, struct trap *trap)
{
    const uint32_t *header = (const void *)phys_at(axram->shared.bytes, part->base, AXRAM_BLOCK);
    uint32_t words[NETWORK_HEADER];
    struct error err;
    assert(header);
    memcpy(words, header, sizeof words);
    if (part->units != UINT32_MAX) {
        (void)error_set(&err, "a configuration is of whole blocks of 128 bytes");
        return complain(insn, thread, &err, trap);
    }
    if (!axram_read_header(&request->topology, words, &err)) {
        (void)error_prefix(&err, "the region at 0x%" PRIx64 " has no network", part->base);
        return complain(insn, thread, &err, trap);
    }
    const struct axram_layout layout = axram_layout_of(&request->topology);
    if (part->blocks < layout.blocks) {
        (void)error_set(&err,
                        "the network needs %" PRIu32 " blocks of 128 bytes, but the region has %" PRIu32,
                        layout.blocks, part->blocks);
        return complain(insn, thread, &err, trap);
    }
    request->configuration = part->base;
    return true;
}

static bool check_size(const struct axram *axram, const struct insn *insn, const struct thread *thread,
                       const struct axram_part *part, bool results, struct trap *trap)
{
    const uint32_t chip = chip_of(axram, part->base);
    const struct network_place *place = &axram->networks[chip];
    struct error err;
    if (!place->configured) {
        (void)error_set(&err, "chip %" PRIu32 " has no network: config.axram must come first", chip);
        return complain(insn, thread, &err, trap);
    }
    const unsigned wanted = place->topology.size[results ? place->topology.layers : 0];
    if (part->blocks == wanted)
        return true;
    (void)error_set(&err, "the network of chip %" PRIu32 " has %u %s, but the region has %" PRIu32 " blocks",
                    chip, wanted, results ? "outputs" : "inputs", part->blocks);
    return complain(insn, thread, &err, trap);
}

static void name_inputs(struct axram *axram, const struct thread *thread, const struct axram_part *part)
{
    struct named *named = named_of(axram, thread);
    *named = identity_of(thread);
    named->base = part->base;
    named->blocks = part->blocks;
    named->units = part->units;
}

/* Finds the inputs that belong to a thread's region of results. */
static bool take_inputs(struct axram *axram, const struct insn *insn, const struct thread *thread,
                        const struct axram_part *part, struct named *taken, struct trap *trap)
{
    const struct named *named = named_of(axram, thread), own = identity_of(thread);
    const struct network_place *place = &axram->networks[chip_of(axram, part->base)];
    struct error err;
    *taken = *named;
    if (!named->units || named->launch != own.launch || named->thread != own.thread)
        (void)error_set(&err, "initiate.axram must come first");
    else if (chip_of(axram, named->base) != chip_of(axram, part->base))
        (void)error_set(&err, "the inputs are in chip %" PRIu32 ", the results in chip %" PRIu32,
                        chip_of(axram, named->base), chip_of(axram, part->base));
    else if (named->units != part->units)
        (void)error_set(
            &err, "the units of the results, 0x%08" PRIx32 ", are not those of the inputs, 0x%08" PRIx32,
            part->units, named->units);
    else if (named->blocks != place->topology.size[0])
        (void)error_set(&err, "another network was configured since initiate.axram");
    else
        return true;
    return complain(insn, thread, &err, trap);
}

/* Adds a thread's region to the request that the threads of its warp make together. */
static bool join(const struct insn *insn, const struct thread *thread, const struct axram_part *part,
                 const struct named *inputs, struct axram_request *request, struct trap *trap)
{
    struct error err;
    if (request->units == 0) {
        request->results = part->base;
        request->inputs = inputs->base;
    } else if (request->results != part->base || request->inputs != inputs->base) {
        (void)error_set(&err, "the regions of the warp's threads are not in the same blocks");
        return complain(insn, thread, &err, trap);
    }
    request->units |= part->units;
    return true;
}

/* Checks one thread's part of an instruction, and adds it to the request. Changes nothing else. */
static bool prepare(struct axram *axram, const struct insn *insn, const struct thread *thread,
                    const uint64_t operand[2], struct axram_part *part, struct axram_request *request,
                    struct trap *trap)
{
    const bool results = insn->id == INSN_wrt__res_axram;
    struct named inputs = {.units = 0};
    if (!find_region(axram, insn, thread, operand, results, part, trap))
        return false;
    if (insn->id == INSN_config_axram)
        return configure(axram, insn, thread, part, request, trap);
    if (!check_size(axram, insn, thread, part, results, trap))
        return false;
    if (results && !take_inputs(axram, insn, thread, part, &inputs, trap))
        return false;
    inputs.base = results ? inputs.base : part->base;
    return join(insn, thread, part, &inputs, request, trap);
}

static bool within(uint64_t address, uint64_t first, uint32_t blocks)
{
    return address >= first && address - first < (uint64_t)blocks * AXRAM_BLOCK;
}

/* Returns whether an instruction that waits uses the block at an address. */
static bool uses(const struct job *job, uint64_t address)
{
    const struct axram_request *request = &job->request;
    const struct axram_topology *topology = &request->topology;
    return within(address, request->configuration, axram_layout_of(topology).blocks) ||
           (request->invokes && (within(address, request->inputs, topology->size[0]) ||
                                 within(address, request->results, topology->size[topology->layers])));
}

/* Returns the number of instructions that wait; with an address, of those that use its block, at most 1. */
static uint64_t count_waiting(const struct axram *axram, const uint64_t *address)
{
    uint64_t count = 0;
    for (const struct job *job = axram->all; job; job = job->all)
        count += job->waiting && (!address || uses(job, *address));
    return address ? count > 0 : count;
}

static bool reaches_space(const struct axram *axram, const struct thread *thread)
{
    uint64_t physical;
    struct trap ignored;
    return translate(thread, axram->base, false, &physical, &ignored) && physical == axram->base;
}

static uint64_t answer_query(const struct axram *axram, const struct thread *thread, uint64_t number)
{
    switch (number) {
    case AXRAM_QUERY_CHIPS: return axram->chip_count;
    case AXRAM_QUERY_BASE: return reaches_space(axram, thread) ? axram->base : 0;
    case AXRAM_QUERY_SIZE: return reaches_space(axram, thread) ? axram->config.size : 0;
    case AXRAM_QUERY_PIECE: return AXRAM_PIECE;
    case AXRAM_QUERY_REQUESTS: return count_waiting(axram, NULL);
    default: return in_space(axram, number, number) ? count_waiting(axram, &number) : 0;
    }
}

/* Time. */

static uint64_t there(const struct axram *axram)
{
    return axram->config.message + axram->shared.memory->common.config.front_latency;
}

static uint64_t back(const struct axram *axram)
{
    return axram->config.message + axram->shared.memory->common.config.back_latency;
}

static void arrive(void *owner, uint64_t now)
{
    struct job *job = owner;
    (void)now;
    axram_chip_request(&job->axram->chips[job->chip], &job->request);
}

static void depart(struct job *job, uint64_t now)
{
    struct axram *axram = job->axram;
    event_init(&job->event, axram->component, arrive, job);
    event_schedule(axram->queue, &job->event, now + there(axram));
}

static void slice_pushed(struct mem_push *push, uint64_t now)
{
    struct job *job = push->owner;
    if (--job->unpushed == 0)
        depart(job, now);
}

static void l1_pushed(struct mem_push *push, uint64_t now)
{
    struct job *job = push->owner;
    for (uint32_t i = 0; i < job->front->slice_count; i++) {
        struct mem_push *slice = &job->push[1 + i];
        *slice = (struct mem_push){.done = slice_pushed, .owner = job};
        job->unpushed += llc_push(job->front->slices[i], slice);
    }
    if (job->unpushed == 0)
        depart(job, now);
}

/* Pushes the stores of the instruction's multiprocessor, at the time of the instruction. */
static void begin(void *owner, uint64_t now)
{
    struct job *job = owner;
    job->unpushed = 0;
    if (!job->front) {
        depart(job, now);
        return;
    }
    job->push[0] = (struct mem_push){.done = l1_pushed, .owner = job};
    if (!cache_push(job->front->l1, &job->push[0]))
        l1_pushed(&job->push[0], now);
}

static void release(void *owner, uint64_t now)
{
    struct job *job = owner;
    struct axram *axram = job->axram;
    const uint64_t tCK = axram->shared.memory->common.config.tCK;
    if (job->request.invokes)
        histogram_add(&axram->clocks, (now - job->asked) / tCK);
    job->waiting = false;
    job->next = axram->free;
    axram->free = job;
    custom_done(job->waiter, now);
}

static void drop_line(const struct front *front, uint64_t line, uint64_t now)
{
    cache_expire(front->l1, line, now);
    for (uint32_t i = 0; front->first && i < front->slice_count; i++)
        if (!front->by_line || line / cache_configuration(front->l1)->line % front->slice_count == i)
            llc_expire(front->slices[i], line, now);
}

/* Drops the lines of the results from the caches. Returns the clocks of CK that this takes. */
static uint64_t drop_lines(struct axram *axram, const struct axram_request *request, uint64_t now)
{
    if (!axram->config.invalidate || axram->front_count == 0 || !request->invokes)
        return 0;
    const uint32_t line = cache_configuration(axram->fronts[0].l1)->line;
    const uint64_t end =
        request->results + (uint64_t)request->topology.size[request->topology.layers] * AXRAM_BLOCK;
    uint64_t lines = 0;
    for (uint64_t at = request->results & ~(uint64_t)(line - 1); at < end; at += line, lines++)
        for (uint32_t i = 0; i < axram->front_count; i++)
            drop_line(&axram->fronts[i], at, now);
    axram->dropped += lines;
    axram->drop_clocks += lines * axram->config.drop_clocks;
    return lines * axram->config.drop_clocks;
}

/* Reports the result blocks of which a first-level cache still has a copy. Ordinary requests do not reach a chip while it is
 * taken, so such a copy is older than the results. */
static void check_copies(struct axram *axram, const struct axram_request *request)
{
    for (unsigned i = 0; request->invokes && i < request->topology.size[request->topology.layers]; i++)
        for (uint32_t j = 0; j < axram->front_count; j++) {
            const uint64_t line = request->results + (uint64_t)i * AXRAM_BLOCK;
            if (cache_line_state(axram->fronts[j].l1, line) == CACHE_INVALID ||
                axram->findings++ >= MOST_MESSAGES)
                continue;
            fprintf(stderr,
                    "croft: --check coherence: %s keeps an old copy of line 0x%" PRIx64
                    ", which wrt_res.axram has written\n",
                    cache_name(axram->fronts[j].l1), line);
        }
}

static void answered(struct axram_request *request, uint64_t now)
{
    struct job *job = request->owner;
    struct axram *axram = job->axram;
    const uint64_t clocks = drop_lines(axram, request, now);
    if (axram->check)
        check_copies(axram, request);
    event_init(&job->event, axram->component, release, job);
    event_schedule(axram->queue, &job->event,
                   now + back(axram) + clocks * axram->shared.memory->common.config.tCK);
}

static struct job *job_new(struct axram *axram)
{
    struct job *job = axram->free;
    if (job) {
        axram->free = job->next;
        return job;
    }
    uint32_t slices = 0;
    for (uint32_t i = 0; i < axram->front_count; i++)
        slices = axram->fronts[i].slice_count > slices ? axram->fronts[i].slice_count : slices;
    job = alloc(1, sizeof *job);
    job->axram = axram;
    job->push = alloc(slices + 1, sizeof *job->push);
    job->all = axram->all;
    axram->all = job;
    return job;
}

/* Lets the request leave at `time` (fs), or serves it at once if the thread's core is not timed. */
static void enqueue(struct axram *axram, const struct axram_request *request, const struct thread *thread,
                    uint64_t time, struct custom_waiter *waiter)
{
    if (!custom_halt(waiter)) {
        if (request->invokes)
            axram_execute(&axram->shared, request, NULL);
        return;
    }
    struct job *job = job_new(axram);
    const uint32_t number = thread->warp ? warp_where(thread->warp)->multiprocessor : UINT32_MAX;
    job->request = *request;
    job->request.done = answered;
    job->request.owner = job;
    job->waiter = waiter;
    job->waiting = true;
    job->chip = chip_of(axram, request->invokes ? request->results : request->configuration);
    job->asked = time;
    job->front = number < axram->front_count ? &axram->fronts[number] : NULL;
    event_init(&job->event, axram->component, begin, job);
    event_schedule(axram->queue, &job->event, time);
}

/* Carries out the request that prepare() has made of all threads' parts. */
static void carry_out(struct axram *axram, const struct insn *insn, struct axram_request *request,
                      const struct thread *thread, uint64_t time, struct custom_waiter *waiter)
{
    struct network_place *place;
    if (insn->id == INSN_initiate_axram)
        return;
    if (insn->id == INSN_config_axram) {
        place = &axram->networks[chip_of(axram, request->configuration)];
        *place = (struct network_place){true, request->topology, request->configuration};
    } else {
        place = &axram->networks[chip_of(axram, request->results)];
        request->invokes = true;
        request->topology = place->topology;
        request->configuration = place->address;
    }
    enqueue(axram, request, thread, time, waiter);
}

static bool execute(void *context, struct custom_call *call)
{
    struct axram *axram = context;
    const struct thread thread = {.hart = call->hart, .warp = call->warp, .lane = call->lane};
    struct axram_request request = {.invokes = false};
    struct axram_part part;
    if (call->insn->id == INSN_query_axram) {
        call->result = answer_query(axram, &thread, call->operand[0]);
        return true;
    }
    if (!prepare(axram, call->insn, &thread, call->operand, &part, &request, &call->trap))
        return false;
    if (call->insn->id == INSN_initiate_axram)
        name_inputs(axram, &thread, &part);
    if (call->insn->id == INSN_wrt__res_axram)
        named_of(axram, &thread)->units = 0;
    carry_out(axram, call->insn, &request, &thread, call->time, call->waiter);
    return true;
}

static bool execute_lanes(void *context, struct custom_lanes *lanes)
{
    struct axram *axram = context;
    struct axram_request request = {.invokes = false};
    struct axram_part parts[CUSTOM_LANES];
    struct thread thread = {.warp = lanes->warp};
    const enum insn_id id = lanes->insn->id;
    for (uint32_t left = lanes->mask; left; left &= left - 1) {
        const unsigned lane = lanes->lane = thread.lane = (unsigned)__builtin_ctz(left);
        const uint64_t operand[2] = {lanes->operand[0][lane], lanes->operand[1][lane]};
        if (id == INSN_query_axram)
            lanes->result[lane] = answer_query(axram, &thread, operand[0]);
        else if (!prepare(axram, lanes->insn, &thread, operand, &parts[lane], &request, &lanes->trap))
            return false;
    }
    if (id == INSN_query_axram)
        return true;
    for (uint32_t left = lanes->mask; left; left &= left - 1) {
        thread.lane = (unsigned)__builtin_ctz(left);
        if (id == INSN_initiate_axram)
            name_inputs(axram, &thread, &parts[thread.lane]);
        else if (id == INSN_wrt__res_axram)
            named_of(axram, &thread)->units = 0;
    }
    carry_out(axram, lanes->insn, &request, &thread, lanes->time, lanes->waiter);
    return true;
}

/* The kind. */

static void stored(void *context, uint64_t address, uint64_t size)
{
    struct axram *axram = context;
    phys_note_store(axram->shared.bytes, address, size);
    for (uint64_t at = address; axram->peers && axram->peers->reserved && at < address + size; at += 8) {
        stream_peers_stored(axram->peers, at, 8);
        if (axram->peers->threads_stored)
            (void)axram->peers->threads_stored(axram->peers->threads, at, 8);
    }
}

static void make_fronts(struct axram *axram, const struct axram_site *place)
{
    for (uint32_t i = 0; i < place->cluster_count; i++)
        axram->front_count += simt_cluster_count(place->clusters[i]);
    axram->fronts = alloc(axram->front_count + 1, sizeof *axram->fronts);
    uint32_t number = 0;
    for (uint32_t i = 0; i < place->cluster_count; i++)
        for (uint32_t j = 0; j < simt_cluster_count(place->clusters[i]); j++, number++) {
            struct front *front = &axram->fronts[number];
            front->l1 = simt_cluster_beside(place->clusters[i], j).l1;
            front->first = j == 0;
            front->by_line = simt_cluster_by_line(place->clusters[i]);
            front->slice_count = simt_cluster_slices(place->clusters[i], &front->slices);
        }
}

static void make_shared(struct axram *axram, const struct axram_site *place, const struct clock *clock)
{
    const struct axram_config *config = &axram->config;
    axram->shared = (struct axram_shared){.memory = place->dram,
                                          .homes = place->memory->homes,
                                          .bytes = place->bytes,
                                          .queue = axram->queue,
                                          .component = axram->component,
                                          .unit_period = clock->period,
                                          .sigmoid = config->sigmoid_clocks,
                                          .poll = config->poll_clocks,
                                          .fixed = config->fixed_clocks,
                                          .depth = config->queue,
                                          .retry = config->message,
                                          .notify = config->notify,
                                          .stored = stored,
                                          .context = axram};
}

static void *make(const void *config, const struct part_site *site, struct error *err)
{
    const struct axram_site *place = site->place;
    struct axram *axram = alloc(1, sizeof *axram);
    axram->config = *(const struct axram_config *)config;
    if (!clock_set_frequency(site->clock, axram->config.clock, err)) {
        free(axram);
        return NULL;
    }
    axram->queue = site->queue;
    axram->component = part_component(site);
    axram->base = place->base + axram->config.offset;
    axram->harts = place->harts;
    axram->peers = place->peers;
    axram->check = place->check;
    axram->clocks = histogram_log2(8, 16);
    make_fronts(axram, place);
    make_shared(axram, place, site->clock);
    axram->chip_count = place->dram->common.config.channels;
    axram->chips = alloc(axram->chip_count, sizeof *axram->chips);
    axram->networks = alloc(axram->chip_count, sizeof *axram->networks);
    for (uint32_t i = 0; i < axram->chip_count; i++)
        axram_chip_init(&axram->chips[i], &axram->shared, i);
    return axram;
}

void *axram_untimed(const struct axram_config *config, const struct phys *bytes, uint64_t base,
                    uint32_t chips, uint32_t harts)
{
    struct axram *axram = alloc(1, sizeof *axram);
    axram->config = *config;
    axram->base = base + config->offset;
    axram->harts = harts;
    axram->chip_count = chips;
    axram->networks = alloc(chips, sizeof *axram->networks);
    axram->shared = (struct axram_shared){.bytes = bytes, .stored = stored, .context = axram};
    return axram;
}

static void free_part(void *part)
{
    struct axram *axram = part;
    while (axram->all) {
        struct job *job = axram->all;
        axram->all = job->all;
        event_cancel(axram->queue, &job->event);
        free(job->push);
        free(job);
    }
    for (uint32_t i = 0; axram->chips && i < axram->chip_count; i++)
        axram_chip_free(&axram->chips[i]);
    free(axram->chips);
    free(axram->networks);
    free(axram->named);
    free(axram->fronts);
    free(axram->figures);
    free(axram);
}

uint64_t axram_findings(const void *part)
{
    const struct axram *axram = part;
    if (axram->findings)
        fprintf(stderr, "croft: --check coherence: %" PRIu64 " old copies of results\n", axram->findings);
    return axram->findings;
}

static void units(void *part, struct custom_units *table)
{
    custom_serve(table, EXTENSION_Xaxram, &(struct custom_unit){execute, execute_lanes, .context = part});
}

static void publish(void *part, struct stats *stats, struct scope scope)
{
    const struct axram *axram = part;
    const struct stats_row rows[] = {
#define AXRAM_COUNTER(name, unit, meaning) {#name, &axram->shared.counters.name, unit, meaning},
        AXRAM_COUNTERS(AXRAM_COUNTER)
#undef AXRAM_COUNTER
            {"dropped_lines", &axram->dropped, "lines", "Lines of results that caches had to drop"},
        {"drop_clocks", &axram->drop_clocks, "clocks", "Clocks of CK that this took"},
    };
    stats_counters(stats, scope, rows, sizeof rows / sizeof *rows);
    stats_histogram(stats, scope, "invocation_clocks", &axram->clocks, "clocks", "invocations",
                    "Clocks of CK from wrt_res.axram to its answer");
}

/* The memory's count of a command, times a factor, for an account of energy. */
struct figure {
    const struct axram *axram;
    uint32_t command;
    uint64_t factor;
};

static uint64_t read_figure(const void *context)
{
    const struct figure *figure = context;
    struct dram_memory *memory = figure->axram->shared.memory;
    dram_memory_sync(memory, figure->axram->queue->now);
    return dram_memory_sum(memory, offsetof(struct dram_channel, counters.own[0]) +
                                       figure->command * sizeof(uint64_t)) *
           figure->factor;
}

static void charge_units(const struct axram *axram, struct energy_ledger *ledger, struct scope scope)
{
    const struct axram_counters *counters = &axram->shared.counters;
    const struct {
        const char *name, *field;
        const uint64_t *count;
        uint64_t unit;
    } rows[] = {
        {"sha", "energy_sha", &counters->sha_iterations, axram->config.energy_sha},
        {"fxp", "energy_fxp", &counters->fxp_macs, axram->config.energy_fxp},
        {"fp", "energy_fp", &counters->fp_macs, axram->config.energy_fp},
        {"register", "energy_register", &counters->register_accesses, axram->config.energy_register},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        energy_add(ledger, scope,
                   &(struct energy_account){.name = rows[i].name,
                                            .count = rows[i].count,
                                            .unit = rows[i].unit,
                                            .kind = ENERGY_PER_EVENT,
                                            .fields = rows[i].field,
                                            .group = "axram"});
}

/* Charges the commands inside the devices by the memory's energies. I/O is charged only for what the controller reads and
 * sends. */
static void charge_commands(struct axram *axram, struct energy_ledger *ledger, struct scope scope)
{
    const struct dram_config *dram = &axram->shared.memory->common.config;
    const struct {
        const char *name;
        uint32_t command; /* number among the standard's own commands */
        uint64_t factor, unit;
        const char *source;
    } rows[] = {
        {"activate", 0, AXRAM_GROUPS, dram->energy_act, "dram.energy_act, four for an ACT4"},
        {"read", 2, 8 * AXRAM_BLOCK, dram->energy_read_bit, "dram.energy_read_bit, 1024 bits of an RD4"},
        {"write", 3, 8 * AXRAM_BLOCK, dram->energy_write_bit, "dram.energy_write_bit, 1024 bits of a WR4"},
        {"word", 4, 8 * WORD, dram->energy_io_bit, "dram.energy_io_bit, 32 bits of a word for the chip"},
        {"poll", 6, 8 * UINT64_C(32), dram->energy_io_bit, "dram.energy_io_bit, 256 bits of MR0"},
    };
    axram->figure_count = sizeof rows / sizeof *rows;
    axram->figures = alloc(axram->figure_count, sizeof *axram->figures);
    for (size_t i = 0; i < axram->figure_count; i++) {
        axram->figures[i] = (struct figure){axram, rows[i].command, rows[i].factor};
        energy_add(ledger, scope,
                   &(struct energy_account){.name = rows[i].name,
                                            .read = read_figure,
                                            .context = &axram->figures[i],
                                            .unit = rows[i].unit,
                                            .kind = ENERGY_PER_EVENT,
                                            .source = rows[i].source,
                                            .group = "dram"});
    }
}

static void energy(void *part, struct energy_ledger *ledger, struct scope scope)
{
    charge_units(part, ledger, scope);
    charge_commands(part, ledger, scope);
}

#define PART struct axram_config
static const struct part_field fields[] = {
#include "emu/sim/fields_rows.h"

#include "emu/axram/axram.def"
};

const struct part_kind axram_kind = {
    .name = "axram",
    .explanation = "Accelerators of neural networks inside GDDR5 chips, as in the AxRAM paper.",
    .config_size = sizeof(struct axram_config),
    .fields = fields,
    .field_count = sizeof fields / sizeof *fields,
    .functional = "offset size",
    .make = make,
    .free = free_part,
    .units = units,
    .publish = publish,
    .energy = energy,
};
