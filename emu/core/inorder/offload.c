/* The in-order core's use of an offload mechanism (emu/core/offload.h): it executes a task alone and waits for it.
 *
 * All instructions before the nucd are complete, stores included, when the core asks for the task; none is dispatched
 * after it until the core has left the mechanism. An interrupt squashes the task, but the mechanism keeps it and
 * resumes it when it is reached again after the handler. Fetch continues at the end of the region when the task is
 * complete. */
#include "emu/core/inorder/state.h"

static const struct core_offload *mechanism(const struct inorder *c)
{
    return &c->core.parts.offload;
}

bool inorder_offload_takes(struct inorder *c)
{
    struct inorder_offload *o = &c->offload;
    const struct hart *hart = c->core.parts.hart;
    bool refused = o->refused;
    o->refused = false;
    if (!mechanism(c)->ops || refused || c->core.warming || core_interrupted(hart) ||
        !mechanism(c)->ops->takes(mechanism(c)->context))
        return false;
    *o = (struct inorder_offload){.pc = hart->pc, .from = c->cycle, .arrived = INORDER_PENDING};
    return true;
}

/* Accounts for the cycles up to `cycle`, in which the core waited. */
static void pass(struct inorder *c, uint64_t cycle)
{
    uint64_t arrived = c->offload.arrived;
    inorder_stall(c, arrived < cycle ? arrived : cycle, CPI_offload);
    inorder_stall(c, cycle, CPI_task);
    c->cycle = c->next;
}

/* Retires the instruction that is ahead; its effects reach the hart. */
static void retire(struct inorder *c)
{
    struct inorder_offload *o = &c->offload;
    const struct stream_op *op = o->step.entry.op;
    if (c->next == o->from)
        pass(c, o->from + 1);
    c->ready[op->rd] = ready_at(c->next, CPI_task);
    c->ready[STREAM_NONE] = 0;
    c->cycle = o->from;
    if (c->noting)
        inorder_note(c, op, c->next, true);
    c->number++;
    c->cycle = c->next;
    o->entered = false;
    mechanism(c)->ops->retired(mechanism(c)->context, o->step.number, inorder_time(c, c->next));
}

/* Asks for the next instruction: the task, unless something prevents it. */
static void ask(struct inorder *c)
{
    struct inorder_offload *o = &c->offload;
    const struct offload_ops *ops = mechanism(c)->ops;
    o->step = ops->step(mechanism(c)->context);
    o->entered = o->step.stop == OFFLOAD_TASK || o->step.stop == OFFLOAD_DISPATCHED;
    o->complete = o->step.stop == OFFLOAD_DISPATCHED;
    o->halted = o->step.stop == OFFLOAD_WAIT;
    o->leaving = o->refused = o->step.stop == OFFLOAD_LEAVE;
    assert(!o->halted || !o->step.number); /* no other instruction is ahead */
    if (o->step.stop == OFFLOAD_TASK)
        ops->task_ready(mechanism(c)->context, o->step.number, clock_time(&c->core.parts.clock, o->from),
                        clock_time(&c->core.parts.clock, o->from), inorder_time(c, c->cycle + 1));
}

static void squash(struct inorder *c, uint64_t number)
{
    struct inorder_offload *o = &c->offload;
    if (o->entered && number <= o->step.number)
        o->entered = false;
    o->leaving |= !o->entered;
}

static void interrupt(struct inorder *c)
{
    struct inorder_offload *o = &c->offload;
    o->interrupted = true;
    squash(c, mechanism(c)->ops->interrupt(mechanism(c)->context));
}

/* Leaves the mechanism at the queue's now. */
static void leave(struct inorder *c)
{
    struct inorder_offload *o = &c->offload;
    const struct hart *hart = c->core.parts.hart;
    c->stop = mechanism(c)->ops->left(mechanism(c)->context, c->core.parts.queue->now);
    c->phase = c->stop == HART_STOP_LIMIT ? PHASE_ISSUE : PHASE_STOP;
    o->refused &= c->phase == PHASE_ISSUE && hart->pc == o->pc;
    if (o->refused)
        c->phase = PHASE_STEP;
    else if (hart->pc != o->pc)
        inorder_refetch(c);
}

bool inorder_offload_go(struct inorder *c)
{
    struct inorder_offload *o = &c->offload;
    pass(c, clock_cycle(&c->core.parts.clock, c->core.parts.queue->now));
    if (!o->interrupted && !o->leaving && core_interrupted(c->core.parts.hart))
        interrupt(c);
    if (!o->entered && !o->halted && !o->leaving)
        ask(c);
    if (o->entered && o->complete) {
        retire(c);
        o->leaving = true;
    }
    if (!o->leaving) {
        c->blocked = true;
        return false;
    }
    if (!inorder_reach(c, c->next))
        return false;
    leave(c);
    return true;
}

/* Returns the task if the core waits for one, and makes the core check it again; else NULL. */
static struct inorder_offload *look_again(struct core *core, uint64_t now)
{
    struct inorder *c = (struct inorder *)core;
    if (c->phase != PHASE_TASK)
        return NULL;
    inorder_go_on(c, now);
    return &c->offload;
}

static void complete(struct core *core, uint64_t number, uint64_t now)
{
    struct inorder_offload *o = look_again(core, now);
    assert(o && o->entered && o->step.number == number);
    (void)number;
    o->complete = true;
}

static void squash_from(struct core *core, uint64_t number, uint64_t now)
{
    (void)look_again(core, now);
    squash((struct inorder *)core, number);
}

static void go_on(struct core *core, uint64_t now)
{
    struct inorder_offload *o = look_again(core, now);
    if (o)
        o->halted = false;
}

static void interrupted(struct core *core, uint64_t now)
{
    (void)look_again(core, now);
}

static void arrived(struct core *core, uint64_t number, uint64_t now)
{
    const struct inorder *c = (const struct inorder *)core;
    struct inorder_offload *o = look_again(core, now);
    assert(o && o->entered && o->step.number == number);
    (void)number;
    o->arrived = clock_cycle(&c->core.parts.clock, now);
}

/* Always false: all stores drained before the task began. */
static bool storing(struct core *core, uint64_t first, uint64_t last)
{
    (void)core;
    (void)first;
    (void)last;
    return false;
}

const struct core_offload_events inorder_offload_events = {
    .complete = complete,
    .squash = squash_from,
    .go_on = go_on,
    .interrupted = interrupted,
    .arrived = arrived,
    .storing = storing,
};
