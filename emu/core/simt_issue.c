/* Schedulers, scoreboard and units: which warp's instruction issues in a cycle. */
#include <assert.h>

#include "emu/core/simt_state.h"

/* A warp is in one set only. */
static void leave_sets(struct simt *simt, uint32_t slot)
{
    uint64_t others = ~(UINT64_C(1) << slot);
    for (unsigned i = 0; i < SIMT_UNITS; i++)
        simt->can_issue[i] &= others;
    for (unsigned i = SIMT_STALL_scoreboard; i <= SIMT_STALL_barrier; i++)
        simt->waiting[i] &= others;
}

static void sleep_until(struct simt *simt, uint32_t slot, uint64_t cycle, uint64_t now)
{
    uint64_t at = cycle - now < SIMT_WHEEL ? cycle : now + SIMT_WHEEL - 1;
    uint32_t index = (uint32_t)(at % SIMT_WHEEL);
    simt->wheel[index] |= UINT64_C(1) << slot;
    simt->wheel_used[index / 64] |= UINT64_C(1) << (index % 64);
}

void simt_classify(struct simt *simt, uint32_t slot, uint64_t cycle)
{
    struct simt_warp *warp = &simt->warps[slot];
    const struct stream_op *op = warp->op;
    uint64_t bit = UINT64_C(1) << slot;
    leave_sets(simt, slot);
    if ((warp->pending & warp->uses) || (warp->fence && warp->under_way)) {
        simt->waiting[SIMT_STALL_memory] |= bit;
        return;
    }
    uint64_t ready = warp->next;
    const uint8_t registers[] = {op->rs1, op->rs2, op->rs3, op->rd};
    for (size_t i = 0; i < sizeof registers; i++)
        ready = warp->ready[registers[i]] > ready ? warp->ready[registers[i]] : ready;
    uint64_t when = ready >> SIMT_CAUSE_BITS;
    if (when <= cycle) {
        simt->can_issue[warp->unit] |= bit;
        return;
    }
    simt->waiting[ready & ((1 << SIMT_CAUSE_BITS) - 1)] |= bit;
    sleep_until(simt, slot, when, cycle);
}

static enum simt_unit unit_of(enum simt_work work)
{
    static const uint8_t units[SIMT_WORKS] = {
#define SIMT_WORK(name, meaning, latency, interval, unit, source) unit,
#include "emu/core/simt_work.def"
    };
    return (enum simt_unit)units[work];
}

static void describe(struct simt_warp *warp)
{
    const struct stream_op *op = warp->op;
    const uint8_t registers[] = {op->rs1, op->rs2, op->rs3, op->rd};
    warp->work = (uint8_t)simt_work_of((enum insn_id)op->id);
    warp->unit = (uint8_t)unit_of((enum simt_work)warp->work);
    warp->fence = op->iclass == CLASS_FENCE;
    warp->uses = 0;
    for (size_t i = 0; i < sizeof registers; i++)
        if (registers[i] < STREAM_NONE)
            warp->uses |= UINT64_C(1) << registers[i];
}

static void end_block(struct simt *simt, struct simt_block *block, uint64_t cycle)
{
    const struct simt_need *need = &block->need;
    simt->taken.warps -= need->warps;
    simt->taken.threads -= need->threads;
    simt->taken.registers -= need->registers * need->warps * simt->config.width;
    simt->taken.scratchpad -= need->scratchpad;
    simt->blocks--;
    simt->busy = simt->blocks > 0;
    simt->parts.source.ended(simt->parts.source.context, simt, block, simt_time(simt, cycle));
}

/* No lane can run: the warp has ended, when nothing of it is under way any more, or waits at the barrier. */
static void go_idle(struct simt *simt, uint32_t slot, uint64_t cycle)
{
    struct simt_warp *warp = &simt->warps[slot];
    uint64_t bit = UINT64_C(1) << slot;
    leave_sets(simt, slot);
    if (!warp->ended || warp->under_way) {
        simt->waiting[warp->ended ? SIMT_STALL_memory : SIMT_STALL_barrier] |= bit;
        return;
    }
    struct simt_block *block = warp->block;
    warp->warp = NULL;
    simt->free_slots |= bit;
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
        if (slot == last || warp->block != block || !(simt->waiting[SIMT_STALL_barrier] >> slot & 1))
            continue;
        warp->next = simt_ready_at(cycle + simt->config.work[SIMT_WORK_control].latency, SIMT_STALL_control);
        simt_fetch(simt, slot, cycle);
    }
}

/* Makes the warp's next step; false when it did not execute an instruction. */
static bool step(struct simt *simt, uint32_t slot, uint64_t cycle)
{
    struct simt_warp *warp = &simt->warps[slot];
    const struct simt_source *source = &simt->parts.source;
    source->step(source->context, warp->warp, cycle, &simt->report, &warp->ended);
    simt->halted |= simt->report.event == WARP_TRAP;
    if (simt->released)
        release_barrier(simt, slot, cycle);
    return simt->report.event != WARP_IDLE && simt->report.event != WARP_TRAP;
}

void simt_fetch(struct simt *simt, uint32_t slot, uint64_t cycle)
{
    struct simt_warp *warp = &simt->warps[slot];
    const struct simt_source *source = &simt->parts.source;
    warp->op = NULL;
    while (!warp->ended && !(warp->op = source->next(source->context, warp->warp)) && step(simt, slot, cycle))
        ;
    if (warp->op) {
        describe(warp);
        simt_classify(simt, slot, cycle);
    } else if (!simt->halted) {
        go_idle(simt, slot, cycle);
    }
}

static void count(struct simt *simt)
{
    simt->counters.instructions++;
    simt->counters.thread_instructions += (unsigned)__builtin_popcount(simt->report.mask);
    simt->counters.apart += simt->report.taken_apart;
}

static void issue_warp(struct simt *simt, uint32_t slot, uint64_t cycle)
{
    struct simt_warp *warp = &simt->warps[slot];
    uint8_t rd = warp->op->rd;
    if (!step(simt, slot, cycle)) {
        leave_sets(simt, slot);
        return;
    }
    count(simt);
    if (simt->report.event != WARP_DONE)
        warp->work = SIMT_WORK_control;
    const struct simt_timing *timing = &simt->config.work[warp->work];
    bool control = warp->work == SIMT_WORK_branch || warp->work == SIMT_WORK_control;
    warp->next = simt_ready_at(cycle + (control ? timing->latency : 1), SIMT_STALL_control);
    if (warp->unit == SIMT_UNIT_MEMORY)
        simt_memory_take(simt, slot);
    else if (rd < STREAM_NONE)
        warp->ready[rd] = simt_ready_at(cycle + timing->latency, SIMT_STALL_scoreboard);
    simt_fetch(simt, slot, cycle);
}

/* Which warps of the scheduler can issue now, by the units that take something. */
static uint64_t eligible(const struct simt *simt, const struct simt_scheduler *scheduler, uint64_t cycle)
{
    uint64_t warps = 0;
    if (scheduler->lanes_free <= cycle)
        warps |= simt->can_issue[SIMT_UNIT_LANES];
    if (simt->special_free <= cycle)
        warps |= simt->can_issue[SIMT_UNIT_SPECIAL];
    if (simt->memory_free <= cycle && simt_memory_room(simt))
        warps |= simt->can_issue[SIMT_UNIT_MEMORY];
    return warps & scheduler->own;
}

static uint32_t choose(const struct simt *simt, const struct simt_scheduler *scheduler, uint64_t warps)
{
    if (simt->config.policy == SIMT_ROUND_ROBIN) {
        uint64_t behind = scheduler->last < 63 ? warps & (UINT64_MAX << (scheduler->last + 1)) : 0;
        return (uint32_t)__builtin_ctzll(behind ? behind : warps);
    }
    if (warps >> scheduler->last & 1)
        return scheduler->last;
    uint32_t oldest = (uint32_t)__builtin_ctzll(warps);
    for (warps &= warps - 1; warps; warps &= warps - 1) {
        uint32_t slot = (uint32_t)__builtin_ctzll(warps);
        if (simt->warps[slot].age < simt->warps[oldest].age)
            oldest = slot;
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

/* Why nothing of the scheduler issues. */
static enum simt_stall cause_of(const struct simt *simt, const struct simt_scheduler *scheduler)
{
    uint64_t own = scheduler->own;
    if ((simt->can_issue[SIMT_UNIT_LANES] | simt->can_issue[SIMT_UNIT_SPECIAL]) & own)
        return SIMT_STALL_unit;
    if (simt->can_issue[SIMT_UNIT_MEMORY] & own)
        return simt_memory_room(simt) ? SIMT_STALL_unit : SIMT_STALL_memory_full;
    for (enum simt_stall cause = SIMT_STALL_scoreboard; cause <= SIMT_STALL_barrier; cause++)
        if (simt->waiting[cause] & own)
            return cause;
    return SIMT_STALL_empty;
}

void simt_count_stalls(struct simt *simt, uint64_t count)
{
    for (uint32_t i = 0; i < simt->config.schedulers; i++)
        simt->counters.stalls[i][cause_of(simt, &simt->schedulers[i])] += count;
    simt->counters.cycles += count;
}

static void wake_up(struct simt *simt, uint64_t cycle)
{
    uint32_t index = (uint32_t)(cycle % SIMT_WHEEL);
    uint64_t warps = simt->wheel[index];
    if (!warps)
        return;
    simt->wheel[index] = 0;
    simt->wheel_used[index / 64] &= ~(UINT64_C(1) << (index % 64));
    uint64_t asleep = simt->waiting[SIMT_STALL_scoreboard] | simt->waiting[SIMT_STALL_control] |
                      simt->waiting[SIMT_STALL_memory];
    for (warps &= asleep; warps; warps &= warps - 1) {
        uint32_t slot = (uint32_t)__builtin_ctzll(warps);
        if (!simt->warps[slot].ended)
            simt_classify(simt, slot, cycle);
    }
}

void simt_issue(struct simt *simt, uint64_t cycle)
{
    wake_up(simt, cycle);
    for (uint32_t i = 0; i < simt->config.schedulers; i++) {
        struct simt_scheduler *scheduler = &simt->schedulers[i];
        uint64_t warps = simt->halted ? 0 : eligible(simt, scheduler, cycle);
        if (!warps) {
            simt->counters.stalls[i][cause_of(simt, scheduler)]++;
            continue;
        }
        uint32_t slot = choose(simt, scheduler, warps);
        simt->counters.stalls[i][SIMT_STALL_base]++;
        scheduler->last = slot;
        occupy(simt, scheduler, &simt->warps[slot], cycle);
        issue_warp(simt, slot, cycle);
    }
    simt->counters.cycles++;
}

static uint64_t next_on_wheel(const struct simt *simt, uint64_t cycle)
{
    for (uint64_t at = cycle; at < cycle + SIMT_WHEEL;) {
        uint32_t index = (uint32_t)(at % SIMT_WHEEL);
        uint64_t used = simt->wheel_used[index / 64] >> (index % 64);
        if (used)
            return at + (unsigned)__builtin_ctzll(used);
        at += 64 - index % 64;
    }
    return UINT64_MAX;
}

uint64_t simt_next_cycle(const struct simt *simt, uint64_t cycle)
{
    if (simt->halted)
        return UINT64_MAX;
    if (simt->can_issue[SIMT_UNIT_LANES] | simt->can_issue[SIMT_UNIT_SPECIAL])
        return cycle;
    if (simt->can_issue[SIMT_UNIT_MEMORY] && simt_memory_room(simt))
        return cycle;
    uint64_t next = next_on_wheel(simt, cycle);
    if (simt->queue_count && !simt->refused) {
        uint64_t pipe = simt->pipe_free > cycle ? simt->pipe_free : cycle;
        next = pipe < next ? pipe : next;
    }
    return next;
}
