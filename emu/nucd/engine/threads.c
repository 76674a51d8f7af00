/* Tasks of a multiprocessor's threads. A group, the threads of a warp that were taken at one nucd, is away
 * from its warp until all of its tasks are complete. */
#include <stdlib.h>

#include "emu/nucd/engine/state.h"
#include "emu/sim/alloc.h"
#include "emu/sim/list.h"
#include "emu/simt/warp.h"

enum { FRM_SHIFT = 5 };

struct thread {
    const struct warp *warp;
    unsigned lane;
};

static uint64_t read_thread(const void *context, unsigned reg)
{
    const struct thread *thread = context;
    return warp_register(thread->warp, reg, thread->lane);
}

/* engine_describe() for the nucd of a lane. */
static bool describe(struct engine *e, const struct insn *insn, uint64_t pc, const struct thread *thread,
                     struct nucd_task *task)
{
    const struct nucd_operands operands = {.pc = pc,
                                           .frm =
                                               (uint8_t)(warp_fcsr(thread->warp, thread->lane) >> FRM_SHIFT),
                                           .read = read_thread,
                                           .context = thread};
    return engine_describe(e, insn, operands, task);
}

static struct engine_task *make_task(struct engine_group *g, unsigned lane, uint64_t now)
{
    struct engine *e = g->engine;
    const struct thread thread = {g->warp, lane};
    struct nucd_task task;
    bool well_formed = describe(e, &g->insn, g->pc, &thread, &task);
    assert(well_formed); /* the thread has not changed since it was taken */
    (void)well_formed;
    struct engine_task *t = engine_task_new(e, &task);
    t->number = WINDOW_NONE;
    t->group = g;
    t->lane = (uint8_t)lane;
    t->at.decoded = t->at.freed = g->time;
    t->at.ready = now;
    engine_tell_dispatched(t);
    engine_list_append(&e->threads, t);
    e->thread_count++;
    return t;
}

void engine_threads_enter(struct engine_group *g)
{
    struct engine *e = g->engine;
    LIST_APPEND(e->starting, e->starting_last, g, next);
}

struct engine_task *engine_threads_next(struct engine *e, uint64_t now)
{
    struct engine_group *g = e->starting;
    if (!g || e->thread_count >= e->config.tasks)
        return NULL;
    unsigned lane = (unsigned)__builtin_ctz(g->left);
    g->left &= g->left - 1;
    if (!g->left)
        e->starting = g->next;
    return make_task(g, lane, now);
}

static struct engine_group *make_group(struct engine *e, const struct custom_lanes *lanes)
{
    struct engine_group *g = e->free_groups, *after;
    if (g) {
        e->free_groups = g->next;
    } else {
        g = alloc(1, sizeof *g);
        g->after = e->groups;
        e->groups = g;
    }
    after = g->after;
    *g = (struct engine_group){.after = after,
                               .engine = e,
                               .warp = lanes->warp,
                               .insn = *lanes->insn,
                               .pc = lanes->pc,
                               .time = lanes->time};
    return g;
}

struct engine_group *engine_threads_take(struct engine *e, const struct custom_lanes *lanes)
{
    struct engine_group *g = NULL;
    struct nucd_task task;
    for (uint32_t left = lanes->mask; left; left &= left - 1) {
        const struct thread thread = {lanes->warp, (unsigned)__builtin_ctz(left)};
        if (!describe(e, lanes->insn, lanes->pc, &thread, &task))
            continue;
        g = g ? g : make_group(e, lanes);
        g->lanes |= UINT32_C(1) << thread.lane;
        g->end[thread.lane] = task.end;
    }
    if (!g)
        return NULL;
    g->left = g->running = g->lanes;
    g->waiter = lanes->waiter;
    e->count.groups++;
    return g;
}

/* Returns the group's threads to their warp. */
static void end_group(struct engine_group *g, uint64_t now)
{
    struct engine *e = g->engine;
    uint64_t period = e->parts.clock.period;
    e->count.group_cycles += now / period - g->time / period;
    g->next = e->free_groups;
    e->free_groups = g;
    if (!g->warp)
        return;
    for (uint32_t left = g->lanes; left; left &= left - 1) {
        unsigned lane = (unsigned)__builtin_ctz(left);
        warp_return(g->warp, lane, g->end[lane], NULL);
    }
    custom_returned(g->waiter, now);
}

void engine_threads_completed(struct engine_task *t)
{
    struct warp *warp = t->group->warp;
    if (warp && t->report.event == TASK_UNIT_COMPLETED) {
        if (t->task.result)
            warp_set_register(warp, t->task.result, t->lane, t->report.result);
        warp_set_fcsr(warp, t->lane, warp_fcsr(warp, t->lane) | t->report.fflags);
    }
}

void engine_threads_returned(struct engine_task *t, uint64_t now)
{
    struct engine *e = t->engine;
    struct engine_group *g = t->group;
    engine_list_remove(&e->threads, t);
    engine_tell_left(t, NUCD_RETIRED, now);
    t->used = false;
    e->thread_count--;
    g->running &= ~(UINT32_C(1) << t->lane);
    if (!g->running)
        end_group(g, now);
}

void engine_threads_stopped(struct engine_task *t)
{
    struct engine *e = t->engine;
    struct engine_group *g = t->group;
    struct warp *warp = g->warp;
    if (!warp)
        return;
    const struct trap trap = {(enum trap_cause)t->report.cause, t->report.value};
    e->fault = (struct engine_fault){t->accelerator, t->task.pc, t->task.begin + (uint64_t)t->report.offset,
                                     t->report.cause, t->report.value};
    e->faulted = true;
    g->warp = NULL;
    warp_return(warp, t->lane, t->task.pc, &trap);
    custom_returned(g->waiter, e->parts.queue->now);
}

void engine_threads_free(struct engine *e)
{
    for (struct engine_group *g = e->groups, *after; g; g = after) {
        after = g->after;
        event_cancel(e->parts.queue, &g->event);
        free(g);
    }
}
