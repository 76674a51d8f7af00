/* Schedulers, scoreboard and units: choose the instruction that issues in a cycle. */
#include <assert.h>

#include "emu/simt/multiprocessor/state.h"

static void enter(struct simt *simt, uint32_t slot, uint8_t state)
{
    struct simt_warp *warp = &simt->warps[slot];
    struct simt_scheduler *scheduler = &simt->schedulers[slot & (simt->config.schedulers - 1)];
    uint64_t bit = UINT64_C(1) << slot % 64;
    if (warp->state < SIMT_UNITS) {
        simt->can_issue[warp->state][slot / 64] &= ~bit;
        simt->ready[warp->state]--;
    }
    if (state < SIMT_UNITS) {
        simt->can_issue[state][slot / 64] |= bit;
        simt->ready[state]++;
        simt->since[slot] = simt->cycle;
    }
    scheduler->count[warp->state]--;
    scheduler->count[state]++;
    scheduler->cause = SIMT_STALLS;
    warp->state = state;
}

static void sleep_until(struct simt *simt, uint32_t slot, uint64_t cycle, uint64_t now)
{
    uint64_t at = cycle - now < SIMT_WHEEL ? cycle : now + SIMT_WHEEL - 1;
    uint32_t index = (uint32_t)(at % SIMT_WHEEL);
    simt->wheel[index * simt->words + slot / 64] |= UINT64_C(1) << slot % 64;
    simt->wheel_used[index / 64] |= UINT64_C(1) << (index % 64);
    simt->wheel_words |= 1u << index / 64;
}

static uint64_t later_of(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

void simt_classify(struct simt *simt, uint32_t slot, uint64_t cycle)
{
    struct simt_warp *warp = &simt->warps[slot];
    const struct stream_op *op = warp->op;
    if ((warp->pending & warp->uses) || (warp->fence && warp->under_way) ||
        (warp->releases && !simt_memory_settled(simt)) ||
        (warp->unit_waiter.waits && (warp->custom || warp->unit_waiter.halts))) {
        enter(simt, slot, simt_waits(SIMT_STALL_memory));
        return;
    }
    uint64_t ready = later_of(warp->next, warp->ready[op->rs1]);
    ready = later_of(ready, warp->ready[op->rs2]);
    ready = later_of(ready, warp->ready[op->rs3]);
    ready = later_of(ready, warp->ready[op->rd]);
    for (size_t i = 0; warp->offers && i < SIMT_REGISTERS; i++)
        ready = warp->ready[i] > ready ? warp->ready[i] : ready;
    uint64_t when = ready >> SIMT_CAUSE_BITS;
    if (warp->held) {
        enter(simt, slot, SIMT_NOWHERE);
        return;
    }
    if (when <= cycle) {
        enter(simt, slot, warp->unit);
        return;
    }
    enter(simt, slot, simt_waits((enum simt_stall)(ready & ((1 << SIMT_CAUSE_BITS) - 1))));
    sleep_until(simt, slot, when, cycle);
}

void simt_settle(struct simt *simt)
{
    for (uint32_t slot = 0; slot < simt->config.warps; slot++) {
        const struct simt_warp *warp = &simt->warps[slot];
        if (warp->warp && warp->op && warp->releases && warp->state == simt_waits(SIMT_STALL_memory))
            simt_classify(simt, slot, simt->cycle);
    }
}

static enum simt_unit unit_of(enum simt_work work)
{
    static const uint8_t units[SIMT_WORKS] = {
#define SIMT_WORK(name, meaning, latency, interval, unit, source) unit,
#include "emu/simt/multiprocessor/work.def"
    };
    return (enum simt_unit)units[work];
}

/* Returns the set of the register alone; the empty set for STREAM_NONE. */
static uint64_t bit_of(uint8_t reg)
{
    _Static_assert(STREAM_NONE == 64, "a set of registers has 64 bits");
    return (uint64_t)(reg < STREAM_NONE) << reg % 64;
}

/* With caches by word, fences and atomics with aq or rl do something to them. */
static void describe_order(struct simt_warp *warp)
{
    enum { RL = 1, AQ = 2 };
    const struct stream_op *op = warp->op;
    const bool fence = op->iclass == CLASS_FENCE, atomic = op->iclass == CLASS_AMO;
    const bool after = warp->acquiring; /* the instruction is behind an atomic that acquires */
    warp->releases = fence || (atomic && (op->imm & RL));
    warp->acquires = fence || after;
    warp->fence |= warp->releases || after;
    warp->acquiring = atomic && (op->imm & AQ);
}

static void describe(const struct simt *simt, struct simt_warp *warp)
{
    const struct stream_op *op = warp->op;
    warp->work = (uint8_t)simt_work_of((enum insn_id)op->id);
    warp->unit = (uint8_t)unit_of((enum simt_work)warp->work);
    warp->offers = op->iclass == CLASS_HINT && (simt->offered >> insn_table[op->id].extension & 1);
    warp->fence = op->iclass == CLASS_FENCE || warp->offers;
    warp->custom = op->iclass == CLASS_CUSTOM || warp->offers;
    if (simt->by_word)
        describe_order(warp);
    warp->uses = bit_of(op->rs1) | bit_of(op->rs2) | bit_of(op->rs3) | bit_of(op->rd);
}

void simt_tell_held(const struct simt *simt, uint64_t cycle)
{
    if (!simt->observers.first)
        return;
    uint32_t held = simt->config.warps;
    for (uint32_t word = 0; word < simt->words; word++)
        held -= (uint32_t)__builtin_popcountll(simt->free_slots[word]);
    OBSERVER_TELL(&simt->observers, struct simt_observer, held, held, simt_time(simt, cycle));
}

static void end_block(struct simt *simt, struct simt_block *block, uint64_t cycle)
{
    const struct simt_need *need = &block->need;
    simt->taken.warps -= need->warps;
    simt->taken.threads -= need->threads;
    simt->taken.registers -= need->registers * need->warps * simt->config.width;
    simt->taken.scratchpad -= need->scratchpad;
    if (simt->local_ops)
        simt->local_ops->end(simt->local, block);
    simt->blocks--;
    simt->busy = simt->blocks > 0;
    if (simt->observers.first && simt->parts.source.where)
        OBSERVER_TELL(&simt->observers, struct simt_observer, left,
                      simt->parts.source.where(simt->parts.source.context, block->warps[0]), block->placed,
                      simt_time(simt, cycle));
    simt->parts.source.ended(simt->parts.source.context, simt, block, simt_time(simt, cycle));
}

/* Handles a warp without lanes that can run: it has ended, it waits at the barrier, or units have some of
 * its lanes. An ended warp leaves its slot when nothing is under way for it. */
static void go_idle(struct simt *simt, uint32_t slot, uint64_t cycle)
{
    struct simt_warp *warp = &simt->warps[slot];
    if (!warp->ended || warp->under_way) {
        bool memory = warp->ended || simt->report.event == WARP_AWAY || warp->absent;
        enter(simt, slot, simt_waits(memory ? SIMT_STALL_memory : SIMT_STALL_barrier));
        return;
    }
    enter(simt, slot, SIMT_NOWHERE);
    struct simt_block *block = warp->block;
    warp->warp = NULL;
    simt->free_slots[slot / 64] |= UINT64_C(1) << slot % 64;
    simt_tell_held(simt, cycle);
    if (--block->left == 0)
        end_block(simt, block, cycle);
}

static void release_barrier(struct simt *simt, uint32_t last, uint64_t cycle)
{
    const struct simt_block *block = simt->released;
    simt->released = NULL;
    simt->counters.barriers++;
    for (uint32_t i = 0; i < block->need.warps; i++) {
        uint32_t slot = block->slots[i];
        struct simt_warp *warp = &simt->warps[slot];
        if (slot == last || warp->block != block || warp->state != simt_waits(SIMT_STALL_barrier))
            continue;
        warp->next = simt_ready_at(cycle + simt->config.work[SIMT_WORK_control].latency, SIMT_STALL_control);
        simt_fetch(simt, slot, cycle);
    }
}

/* Executes the warp's next step. Returns false if it was not an instruction. */
static bool step(struct simt *simt, uint32_t slot, uint64_t cycle)
{
    struct simt_warp *warp = &simt->warps[slot];
    const struct simt_source *source = &simt->parts.source;
    source->step(source->context, warp->warp, cycle, &warp->unit_waiter, &simt->report, &warp->ended);
    simt->halted |= simt->report.event == WARP_TRAP;
    if (simt->released)
        release_barrier(simt, slot, cycle);
    switch (simt->report.event) {
    case WARP_MISSING:
    case WARP_LATER:
        warp->absent = true;
        if (simt->report.event == WARP_MISSING)
            simt_memory_fault(simt, slot, cycle);
        return false;
    case WARP_IDLE:
    case WARP_AWAY:
    case WARP_TRAP: return false;
    default: return true;
    }
}

void simt_fetch(struct simt *simt, uint32_t slot, uint64_t cycle)
{
    struct simt_warp *warp = &simt->warps[slot];
    const struct simt_source *source = &simt->parts.source;
    warp->op = NULL;
    while (!warp->ended && !(warp->op = source->next(source->context, warp->warp)) && step(simt, slot, cycle))
        ;
    if (warp->op) {
        describe(simt, warp);
        simt_classify(simt, slot, cycle);
    } else if (!simt->halted) {
        go_idle(simt, slot, cycle);
    }
}

void simt_end_wait(struct simt *simt, uint32_t slot, uint8_t rd, uint64_t ready)
{
    struct simt_warp *warp = &simt->warps[slot];
    warp->under_way--;
    if (rd < STREAM_NONE) {
        warp->pending &= ~(UINT64_C(1) << rd);
        warp->ready[rd] = simt_ready_at(ready, SIMT_STALL_memory);
    }
    if (warp->absent)
        return;
    if (!warp->op && warp->state == simt_waits(SIMT_STALL_memory))
        simt_fetch(simt, slot, simt->cycle);
    else if (warp->state == simt_waits(SIMT_STALL_memory))
        simt_classify(simt, slot, simt->cycle);
}

static void count(struct simt *simt, uint8_t work)
{
    static const uint8_t operations[CLASS_COUNT] = {
        [CLASS_FADD] = 1, [CLASS_FMUL] = 1, [CLASS_FMA] = 2, [CLASS_FDIV] = 1, [CLASS_FSQRT] = 1};
    /* a warp is rarely split */
    unsigned lanes =
        simt->report.mask == UINT32_MAX ? WARP_LANES : (unsigned)__builtin_popcount(simt->report.mask);
    simt->counters.instructions++;
    simt->counters.thread_instructions += lanes;
    simt->counters.work[work] += lanes;
    simt->counters.apart += simt->report.taken_apart;
    simt->counters.handovers += simt->report.handed_over;
    const struct stream_op *op = simt->report.op;
    unsigned sources = (unsigned)(op->rs1 < STREAM_NONE) + (op->rs2 < STREAM_NONE) + (op->rs3 < STREAM_NONE);
    simt->counters.registers_read += lanes * sources;
    simt->counters.registers_written += op->rd < STREAM_NONE ? lanes : 0;
    simt->counters.flops += lanes * operations[op->iclass];
}

/* Makes a warp that waits for other warps the youngest, so that greedy-then-oldest prefers them. */
static void stand_back(struct simt *simt, uint32_t slot)
{
    simt->ages[slot] = simt->age++;
    simt->schedulers[slot & (simt->config.schedulers - 1)].greedy = false;
}

/* Makes the warp wait for rd, because the unit of its custom instruction is not done. */
static void wait_for_unit(struct simt_warp *warp, uint8_t rd)
{
    warp->under_way++;
    warp->unit_rd = rd;
    if (rd < STREAM_NONE)
        warp->pending |= UINT64_C(1) << rd;
}

static void issue_warp(struct simt *simt, uint32_t slot, uint64_t cycle)
{
    struct simt_warp *warp = &simt->warps[slot];
    uint8_t rd = warp->op->rd;
    if (warp->acquires)
        simt_memory_acquire(simt);
    if (!step(simt, slot, cycle)) {
        warp->op = NULL;
        enter(simt, slot, warp->absent ? simt_waits(SIMT_STALL_memory) : SIMT_NOWHERE);
        return;
    }
    if (simt->report.event != WARP_DONE)
        warp->work = SIMT_WORK_control;
    count(simt, warp->work);
    if (simt->report.spins)
        stand_back(simt, slot);
    const struct simt_timing *timing = &simt->config.work[warp->work];
    bool control = warp->work == SIMT_WORK_branch || warp->work == SIMT_WORK_control;
    warp->next = simt_ready_at(cycle + (control ? timing->latency : 1), SIMT_STALL_control);
    if (warp->unit == SIMT_UNIT_MEMORY)
        simt_memory_take(simt, slot);
    else if (warp->unit_waiter.waits && warp->custom)
        wait_for_unit(warp, rd);
    else if (rd < STREAM_NONE)
        warp->ready[rd] = simt_ready_at(cycle + timing->latency, SIMT_STALL_scoreboard);
    simt_fetch(simt, slot, cycle);
}

/* The units that accept an instruction of the scheduler: all ones, or 0. */
struct open {
    uint64_t lanes, special, memory;
};

/* Returns false if none of the scheduler's warps can issue to a unit. */
static bool open_units(const struct simt *simt, const struct simt_scheduler *scheduler, uint64_t cycle,
                       struct open *open)
{
    const bool lanes = scheduler->count[SIMT_UNIT_LANES] && scheduler->lanes_free <= cycle;
    const bool special = scheduler->count[SIMT_UNIT_SPECIAL] && simt->special_free <= cycle;
    const bool memory =
        scheduler->count[SIMT_UNIT_MEMORY] && simt->memory_free <= cycle && simt_memory_room(simt);
    *open = (struct open){-(uint64_t)lanes, -(uint64_t)special, -(uint64_t)memory};
    return lanes || special || memory;
}

/* Returns the slots in a word of the set whose warps can issue. */
static uint64_t eligible(const struct simt *simt, const struct simt_scheduler *scheduler,
                         const struct open *open, uint32_t word)
{
    const uint64_t warps = (simt->can_issue[SIMT_UNIT_LANES][word] & open->lanes) |
                           (simt->can_issue[SIMT_UNIT_SPECIAL][word] & open->special) |
                           (simt->can_issue[SIMT_UNIT_MEMORY][word] & open->memory);
    return warps & scheduler->own;
}

/* Returns the next slot that can issue after the last one, in round-robin order. There must be one. */
static uint32_t choose_next(const struct simt *simt, const struct simt_scheduler *scheduler,
                            const struct open *open)
{
    uint32_t word = scheduler->last / 64;
    uint64_t warps = eligible(simt, scheduler, open, word) & UINT64_MAX << 1 << scheduler->last % 64;
    while (!warps) {
        word = word + 1 < simt->words ? word + 1 : 0;
        warps = eligible(simt, scheduler, open, word);
    }
    return 64 * word + (uint32_t)__builtin_ctzll(warps);
}

/* Returns the slot that issued last if it can issue again, otherwise that of the oldest warp that can. There
 * must be one. */
static uint32_t choose_oldest(const struct simt *simt, const struct simt_scheduler *scheduler,
                              const struct open *open)
{
    uint32_t last = scheduler->last, oldest = last;
    uint64_t age = UINT64_MAX;
    if (scheduler->greedy && eligible(simt, scheduler, open, last / 64) >> last % 64 & 1)
        return last;
    for (uint32_t word = 0; word < simt->words; word++)
        for (uint64_t warps = eligible(simt, scheduler, open, word); warps; warps &= warps - 1) {
            uint32_t slot = 64 * word + (uint32_t)__builtin_ctzll(warps);
            if (simt->ages[slot] < age) {
                oldest = slot;
                age = simt->ages[slot];
            }
        }
    return oldest;
}

static void occupy(struct simt *simt, struct simt_scheduler *scheduler, const struct simt_warp *warp,
                   uint64_t cycle)
{
    uint64_t until = cycle + simt->config.work[warp->work].interval;
    switch ((enum simt_unit)warp->unit) {
    case SIMT_UNIT_LANES: scheduler->lanes_free = until; break;
    case SIMT_UNIT_SPECIAL: simt->special_free = until; break;
    case SIMT_UNIT_MEMORY: simt->memory_free = until; break;
    case SIMT_UNITS: assert(false);
    }
}

/* Returns why none of the scheduler's warps issues, by their states. */
static enum simt_stall find_cause(const struct simt *simt, const struct simt_scheduler *scheduler)
{
    if (scheduler->count[SIMT_UNIT_LANES] || scheduler->count[SIMT_UNIT_SPECIAL])
        return SIMT_STALL_unit;
    if (scheduler->count[SIMT_UNIT_MEMORY])
        return simt_memory_room(simt) ? SIMT_STALL_unit : SIMT_STALL_memory_full;
    for (enum simt_stall cause = SIMT_STALL_scoreboard; cause <= SIMT_STALL_barrier; cause++)
        if (scheduler->count[simt_waits(cause)])
            return cause;
    return SIMT_STALL_empty;
}

/* Returns why none of the scheduler's warps issues. Only the cause of those that wait for the memory queue may change while all
 * warps keep their states. */
static enum simt_stall cause_of(const struct simt *simt, struct simt_scheduler *scheduler)
{
    if (scheduler->cause != SIMT_STALLS)
        return (enum simt_stall)scheduler->cause;
    const enum simt_stall cause = find_cause(simt, scheduler);
    if (!scheduler->count[SIMT_UNIT_MEMORY])
        scheduler->cause = (uint8_t)cause;
    return cause;
}

void simt_count_stalls(struct simt *simt, uint64_t count)
{
    for (uint32_t i = 0; i < simt->config.schedulers; i++)
        simt_stall(simt, i, cause_of(simt, &simt->schedulers[i]), simt->cycle, count);
    simt->counters.cycles += count;
}

static void wake_up(struct simt *simt, uint64_t cycle)
{
    uint32_t index = (uint32_t)(cycle % SIMT_WHEEL);
    uint64_t *used = &simt->wheel_used[index / 64], bit = UINT64_C(1) << index % 64;
    if (!(*used & bit))
        return;
    *used &= ~bit;
    if (!*used)
        simt->wheel_words &= ~(1u << index / 64);
    for (uint32_t word = 0; word < simt->words; word++) {
        uint64_t warps = simt->wheel[index * simt->words + word];
        simt->wheel[index * simt->words + word] = 0;
        for (; warps; warps &= warps - 1) {
            uint32_t slot = 64 * word + (uint32_t)__builtin_ctzll(warps);
            const struct simt_warp *warp = &simt->warps[slot];
            if (warp->state >= SIMT_UNITS && warp->state <= simt_waits(SIMT_STALL_memory) && warp->op)
                simt_classify(simt, slot, cycle);
        }
    }
}

/* Makes warps that could have issued for SIMT_PATIENCE cycles the oldest. Otherwise greedy-then-oldest keeps
 * the youngest from issuing as long as other warps can, and those may wait for the youngest. */
static void look_for_starving(struct simt *simt, uint64_t cycle)
{
    simt->look = cycle + SIMT_PATIENCE;
    for (uint32_t slot = 0; slot < simt->config.warps; slot++) {
        if (simt->warps[slot].state >= SIMT_UNITS || cycle - simt->since[slot] < SIMT_PATIENCE)
            continue;
        simt->ages[slot] = --simt->eldest;
        simt->schedulers[slot & (simt->config.schedulers - 1)].greedy = false;
    }
}

/* Returns whether some warp can issue as soon as its unit is free. */
static bool any_ready(const struct simt *simt)
{
    return simt->ready[SIMT_UNIT_LANES] || simt->ready[SIMT_UNIT_SPECIAL] ||
           (simt->ready[SIMT_UNIT_MEMORY] && simt_memory_room(simt));
}

static void stop_halfway(struct simt *simt, uint32_t scheduler)
{
    simt->halfway = true;
    simt->resume = scheduler;
    simt->report.paused = false;
}

void simt_issue(struct simt *simt, uint64_t cycle)
{
    const struct simt_source *source = &simt->parts.source;
    if (!simt->halfway) {
        wake_up(simt, cycle);
        if (cycle >= simt->look)
            look_for_starving(simt, cycle);
    }
    simt->halfway = false;
    if (!simt->resume && !any_ready(simt)) {
        simt_count_stalls(simt, 1);
        return;
    }
    for (uint32_t i = simt->resume; i < simt->config.schedulers; i++) {
        struct simt_scheduler *scheduler = &simt->schedulers[i];
        struct open open;
        if (simt->halted || !open_units(simt, scheduler, cycle, &open)) {
            simt_stall(simt, i, cause_of(simt, scheduler), cycle, 1);
            continue;
        }
        uint32_t slot = simt->config.policy == SIMT_GTO ? choose_oldest(simt, scheduler, &open)
                                                        : choose_next(simt, scheduler, &open);
        if (simt->debugged && source->breaks(source->context, simt->warps[slot].warp)) {
            stop_halfway(simt, i);
            return;
        }
        simt->counters.stalls[i][SIMT_STALL_base]++;
        scheduler->last = slot;
        scheduler->greedy = true;
        occupy(simt, scheduler, &simt->warps[slot], cycle);
        issue_warp(simt, slot, cycle);
        if (simt->debugged && simt->report.paused) {
            stop_halfway(simt, i + 1);
            return;
        }
    }
    simt->resume = 0;
    simt->counters.cycles++;
}

static_assert(SIMT_WHEEL / 64 <= 16, "a set of the wheel's words, twice, fits in 32 bits");

static uint64_t next_on_wheel(const struct simt *simt, uint64_t cycle)
{
    enum { WORDS = SIMT_WHEEL / 64 };
    const uint32_t index = (uint32_t)(cycle % SIMT_WHEEL), word = index / 64;
    uint64_t used = simt->wheel_used[word] >> (index % 64);
    if (used)
        return cycle + (unsigned)__builtin_ctzll(used);
    /* the words after this one, in the order of their cycles; this one is the last */
    uint32_t words = (simt->wheel_words << WORDS | simt->wheel_words) >> (word + 1) & ((1u << WORDS) - 1);
    if (!words)
        return UINT64_MAX;
    uint32_t steps = (uint32_t)__builtin_ctz(words) + 1;
    used = simt->wheel_used[(word + steps) % WORDS];
    return cycle - index % 64 + 64 * (uint64_t)steps + (unsigned)__builtin_ctzll(used);
}

uint64_t simt_next_cycle(const struct simt *simt, uint64_t cycle)
{
    if (simt->halted)
        return UINT64_MAX;
    if (any_ready(simt))
        return cycle;
    uint64_t next = next_on_wheel(simt, cycle);
    if (simt->queue_count && !simt->refused && !simt->stopped) {
        uint64_t pipe = simt->pipe_free > cycle ? simt->pipe_free : cycle;
        next = pipe < next ? pipe : next;
    }
    return next;
}
