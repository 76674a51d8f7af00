#include "emu/simt/warp.h"

#include <stdlib.h>
#include <string.h>

#include "emu/hart/dispatch.h"
#include "emu/hart/fp.h"
#include "emu/simt/warp/code/meet.h"
#include "emu/simt/warp/state.h"
#include "emu/simt/warp_debug.h"

enum { RA = 1, SP = 2, GP = 3, A0 = 10 };

struct warp *warp_new(struct warp_memory *memory, struct error *err)
{
    struct warp *warp = aligned_alloc(64, (sizeof *warp + 63) / 64 * 64);
    if (!warp) {
        (void)error_set(err, "no memory for a warp");
        return NULL;
    }
    memset(warp, 0, sizeof *warp);
    warp->memory = memory;
    warp_choose_table(memory->code);
    warp->page = UINT64_MAX;
    return warp;
}

void warp_free(struct warp *warp)
{
    free(warp);
}

static void start_lane(struct warp *warp, unsigned lane, uint64_t argument, uint64_t gp)
{
    const struct warp_memory_setup *setup = &warp->memory->setup;
    uint64_t stack = (uint64_t)warp->place.stacks * setup->width + lane;
    warp->x[SP][lane] = WARP_STACK_WINDOW + ((stack + 1) << setup->stack_shift);
    warp->x[GP][lane] = gp;
    warp->x[A0][lane] = argument;
    warp->live |= UINT32_C(1) << lane;
}

void warp_start(struct warp *warp, const struct warp_place *place, uint64_t entry, uint64_t argument,
                uint64_t gp)
{
    unsigned width = warp->memory->setup.width;
    uint64_t first = (uint64_t)place->warp * width, count = warp_block_threads(place) - first;
    memset(warp->x, 0, sizeof warp->x);
    memset(warp->f, 0, sizeof warp->f);
    memset(warp->fflags, 0, sizeof warp->fflags);
    memset(warp->frm, 0, sizeof warp->frm);
    memset(warp->lane_depth, 0, sizeof warp->lane_depth);
    warp->frm_set = warp->sharing = warp->yielding = false;
    warp->look.pc = 0;
    warp->jumps = 0;
    warp->live = warp->waiting = warp->away = warp->mask = warp->reserved = 0;
    warp->failed = false;
    warp->held = warp->memory->debug && warp->memory->debug->hold;
    warp->steps = 0;
    warp->depth = 0;
    warp->base = warp->bound = 0;
    warp->stacked = warp->memory->setup.reconvergence == WARP_STACKED;
    warp->mixed = warp->handed_over = false;
    warp->level_count = 1;
    warp->levels[0] = (struct warp_level){WARP_MEET_RETURN, warp->count, UINT32_MAX, INT32_MIN};
    warp->page = UINT64_MAX;
    warp->place = *place;
    warp->pad = (struct warp_scratchpad){place->scratchpad, place->scratchpad_size};
    for (unsigned lane = 0; lane < width && lane < count; lane++) {
        start_lane(warp, lane, argument, gp);
        warp->lane_pc[lane] = entry;
        warp->lane_since[lane] = warp->count;
    }
}

/* Makes the page of pc that of the group. */
static __attribute__((noinline)) struct warp_op *turn_page(struct warp *warp)
{
    const uint64_t page = warp->pc & ~(uint64_t)(WARP_PAGE - 1);
    warp->ops = warp_code_page(warp->memory->code, page);
    warp->page = page;
    return warp->ops;
}

/* Returns the op at the group's pc. */
static ALWAYS_INLINE struct warp_op *fetch(struct warp *warp)
{
    const uint64_t pc = warp->pc;
    struct warp_op *ops =
        LIKELY((pc & ~(uint64_t)(WARP_PAGE - 1)) == warp->page) ? warp->ops : turn_page(warp);
    struct warp_op *op = &ops[pc % WARP_PAGE / 2];
    if (UNLIKELY(!op->run))
        warp_decode(warp->memory, op, pc);
    return op;
}

static bool make_group(struct warp *warp)
{
    return (warp->mask && warp_due(warp)) || warp_schedule(warp);
}

const struct stream_op *warp_next(struct warp *warp, uint32_t *mask)
{
    *mask = 0;
    if (warp->failed || !make_group(warp))
        return NULL;
    *mask = warp->mask;
    if (warp->pc == 0)
        return NULL;
    const struct warp_op *op = fetch(warp);
    return op->run == warp_fetch_fault ? NULL : &op->stream;
}

uint32_t warp_at_break(struct warp *warp, uint64_t *pc)
{
    if (warp->failed || !make_group(warp) || warp->pc == 0 || fetch(warp)->run != warp_break)
        return 0;
    *pc = warp->pc;
    return warp->mask;
}

static enum warp_event end_group(struct warp *warp, struct warp_report *report)
{
    report->event = WARP_EXIT;
    report->mask = warp->mask;
    report->op = NULL;
    warp->live &= ~warp->mask;
    warp->mask = 0;
    return WARP_EXIT;
}

/* Fills in the report of an instruction. The lanes of a barrier or a call are parked already. */
static enum warp_event report_event(struct warp *warp, enum warp_event event, const struct warp_op *op,
                                    uint32_t mask, uint32_t lanes, struct warp_report *report)
{
    report->event = event;
    report->op = &op->stream;
    report->pc = op->stream.pc;
    report->mask = mask;
    report->lane = warp->trap_lane;
    report->trap = warp->trap;
    if (event != WARP_TRAP && event != WARP_BREAK) {
        warp->count++;
        warp->thread_insns += event == WARP_CALL ? 1 : lanes;
    }
    return event;
}

/* Executes instructions of the group, one at least, while it may continue and its pc is not 0, up to the count `end`. Returns the event of
 * the last one, with a report unless it is WARP_DONE. */
static enum warp_event run_group(struct warp *warp, uint64_t end, struct warp_report *report)
{
    do {
        const struct warp_op *op = fetch(warp);
        const uint32_t mask = warp->mask, lanes = warp->lanes;
        const enum warp_event event = op->run(warp, op);
        if (UNLIKELY(event != WARP_DONE))
            return report_event(warp, event, op, mask, lanes, report);
        warp->count++;
        warp->thread_insns += lanes;
    } while (LIKELY(warp_due(warp)) && warp->count < end && warp->pc != 0);
    return WARP_DONE;
}

enum warp_event warp_run(struct warp *warp, uint64_t max_insns, struct warp_report *report)
{
    uint64_t end = max_insns < UINT64_MAX - warp->count ? warp->count + max_insns : UINT64_MAX;
    uint32_t saved = fp_begin(RM_RNE);
    report->event = WARP_DONE;
    while (report->event == WARP_DONE && warp->count < end) {
        if (!make_group(warp))
            report->event = WARP_IDLE;
        else if (warp->pc == 0)
            (void)end_group(warp, report);
        else
            report->event = run_group(warp, end, report);
    }
    (void)fp_end(saved);
    return report->event;
}

/* Reports the trap of a lane that a unit has returned. */
static enum warp_event report_failed(const struct warp *warp, struct warp_report *report)
{
    *report = (struct warp_report){.event = WARP_TRAP,
                                   .mask = UINT32_C(1) << warp->trap_lane,
                                   .lane = warp->trap_lane,
                                   .trap = warp->trap,
                                   .pc = warp->trap_pc};
    return WARP_TRAP;
}

/* Stores the spaces and addresses of the accesses of the instruction just executed. */
static void place_access(struct warp *warp, const struct stream_op *op, struct warp_report *report)
{
    enum warp_access access = op->flags & STREAM_STORE ? WARP_STORE : WARP_LOAD;
    report->shared_mask = 0;
    report->address = warp->address;
    for (uint32_t left = report->mask; left; left &= left - 1) {
        unsigned lane = (unsigned)__builtin_ctz(left);
        enum warp_space space =
            warp_memory_place(warp->memory, warp->address[lane], access, &report->physical[lane]);
        if (space == WARP_SHARED)
            report->shared_mask |= UINT32_C(1) << lane;
        if (left == report->mask)
            report->space = space;
    }
}

/* Executes an instruction in the host's floating-point environment that it needs. Setting and restoring it costs more than
 * most instructions. */
static enum warp_event run_alone(struct warp *warp, const struct warp_op *op)
{
    if (class_table[op->stream.iclass].unit != UNIT_FLOAT)
        return op->run(warp, op);
    const uint32_t saved = fp_begin(RM_RNE);
    const enum warp_event event = op->run(warp, op);
    (void)fp_end(saved);
    return event;
}

enum warp_event warp_step(struct warp *warp, struct warp_report *report)
{
    warp->taken = warp->taken_apart = warp->spins = report->paused = false;
    if (warp->failed)
        return report_failed(warp, report);
    if (!make_group(warp)) {
        *report = (struct warp_report){.event = warp->away ? WARP_AWAY : WARP_IDLE};
        return report->event;
    }
    report->pc = warp->pc;
    if (warp->pc == 0)
        return end_group(warp, report);
    const struct warp_op *op = fetch(warp);
    const uint32_t mask = warp->mask, lanes = warp->lanes;
    enum warp_event event = report_event(warp, run_alone(warp, op), op, mask, lanes, report);
    report->taken = warp->taken;
    report->taken_apart = warp->taken_apart;
    report->spins = warp->spins;
    report->handed_over = warp->handed_over;
    warp->handed_over = false;
    if (event == WARP_DONE && op->stream.flags & (STREAM_LOAD | STREAM_STORE))
        place_access(warp, &op->stream, report);
    return event;
}

void warp_release(struct warp *warp)
{
    for (uint32_t left = warp->waiting; left; left &= left - 1)
        warp->lane_since[__builtin_ctz(left)] = warp->count;
    warp->waiting = 0;
    warp->bound = 0;
}

void warp_called(struct warp *warp, unsigned lane, uint64_t result)
{
    warp->x[A0][lane] = result;
    warp->lane_pc[lane] += 4;
}

void warp_return(struct warp *warp, unsigned lane, uint64_t pc, const struct trap *trap)
{
    warp->away &= ~(UINT32_C(1) << lane);
    warp->lane_pc[lane] = pc;
    warp->lane_since[lane] = warp->count;
    warp->bound = 0;
    if (!trap || warp->failed)
        return;
    warp->failed = true;
    warp->trap_lane = (uint8_t)lane;
    warp->trap = *trap;
    warp->trap_pc = pc;
}

void warp_end(struct warp *warp, unsigned lane)
{
    if (warp->mask)
        warp_park(warp, warp->pc);
    warp->live &= ~(UINT32_C(1) << lane);
    warp->waiting &= warp->live;
}

uint32_t warp_live(const struct warp *warp)
{
    return warp->live;
}

uint32_t warp_waiting(const struct warp *warp)
{
    return warp->waiting;
}

uint64_t warp_register(const struct warp *warp, unsigned reg, unsigned lane)
{
    return reg < 32 ? warp->x[reg][lane] : warp->f[reg - 32][lane];
}

void warp_set_register(struct warp *warp, unsigned reg, unsigned lane, uint64_t value)
{
    if (reg >= 32)
        warp->f[reg - 32][lane] = value;
    else
        warp->x[reg ? reg : HART_SINK][lane] = value;
}

uint64_t warp_pc(const struct warp *warp, unsigned lane)
{
    return warp->mask >> lane & 1 ? warp->pc : warp->lane_pc[lane];
}

struct warp_memory *warp_memory_of(const struct warp *warp)
{
    return warp->memory;
}

const struct warp_place *warp_where(const struct warp *warp)
{
    return &warp->place;
}

const struct warp_scratchpad *warp_scratchpad(const struct warp *warp)
{
    return &warp->pad;
}

uint64_t warp_insns(const struct warp *warp)
{
    return warp->count;
}

uint64_t warp_thread_insns(const struct warp *warp)
{
    return warp->thread_insns;
}

void warp_set_clock(struct warp *warp, uint64_t cycles, uint64_t time, uint64_t tick)
{
    warp->timed = true;
    warp->cycles = cycles;
    warp->time = time;
    warp->tick = tick;
}

void warp_set_waiter(struct warp *warp, struct custom_waiter *waiter)
{
    warp->waiter = waiter;
}
