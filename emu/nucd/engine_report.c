/* Reports of accelerators (completion, faults, credits), and tasks that do not report in time. */
#include <stdlib.h>
#include <string.h>

#include "emu/nucd/engine_state.h"
#include "emu/sim/alloc.h"

/* Continues the tasks in the set of slots `freed`, which the completed task with that serial had blocked. */
static void go_on(struct engine *e, uint64_t freed, uint64_t serial, uint64_t now)
{
    freed &= e->depend.used;
    while (freed) {
        struct engine_task *t = &e->tasks[e->by_slot[nucd_depend_oldest(&e->depend, &freed)]];
        t->blocker = t->waited ? serial : t->blocker;
        engine_release(t);
    }
    engine_clear_all(e, now);
    if (e->full) {
        e->full = false;
        e->parts.core->go_on(e->core, now);
    }
}

/* Handles the report of a task that was squashed after it had been sent. After a fault, the tasks queued
 * behind it do not report before the host has reached its nucd. */
static void record_ended(struct engine *e, uint64_t now)
{
    e->running--;
    e->parts.core->go_on(e->core, now);
}

static void completed(struct engine_task *t, const struct task_unit_report *report, uint64_t now)
{
    struct engine *e = t->engine;
    uint64_t freed = 0, squashed = WINDOW_NONE;
    t->done = true;
    t->report = *report;
    t->deadline = CLOCK_NEVER;
    t->at.reported = now;
    if (t->dead)
        engine_tell_left(t, NUCD_DROPPED, now);
    engine_keep_out(e);
    if (t->group) {
        engine_threads_completed(t, now);
        return;
    }
    if (engine_task_ended(t))
        return;
    if (t->number == WINDOW_NONE) {
        record_ended(e, now);
        return;
    }
    if (t->slot != NUCD_NO_TASK)
        freed = nucd_depend_complete(&e->depend, t->slot);
    t->slot = NUCD_NO_TASK;
    squashed = window_complete(e->window, t->number, report->result, report->fflags);
    if (squashed != WINDOW_NONE) {
        engine_squash_tasks(e, squashed);
        e->parts.core->squash(e->core, squashed, now);
    }
    e->parts.core->complete(e->core, t->number, now);
    go_on(e, freed, t->serial, now);
}

/* Squashes from the task's nucd on, so that the host traps there. */
static void stop_ahead(struct engine_task *t, uint64_t now)
{
    struct engine *e = t->engine;
    uint64_t number = t->number;
    engine_squash(e, number);
    e->parts.core->squash(e->core, number, now);
}

static void stopped(struct engine_task *t, const struct task_unit_report *report, uint64_t now)
{
    struct engine *e = t->engine;
    t->stopped = true;
    t->told = false;
    t->report = *report;
    t->deadline = CLOCK_NEVER;
    e->count.faults++;
    if (t->group) {
        engine_threads_stopped(t);
        return;
    }
    nucd_scheduler_freeze(&e->scheduler, t->accelerator, true);
    if (t->dead)
        engine_task_drop(t); /* no one will resume it */
    else if (t->number == WINDOW_NONE)
        record_ended(e, now);
    else
        stop_ahead(t, now);
    engine_unblock(e, now);
}

static void killed(struct engine_task *t, uint64_t now)
{
    t->done = true;
    t->at.reported = now;
    engine_tell_left(t, NUCD_KILLED, now);
    t->deadline = CLOCK_NEVER;
    t->engine->count.killed++;
    nucd_scheduler_freeze(&t->engine->scheduler, t->accelerator, false);
    engine_keep_out(t->engine);
    (void)engine_task_ended(t);
}

/* Returns whether the report is for a task of the engine. A program may drive the units itself, and the
 * engine ignores its tasks. Their tags differ from the engine's only while no task of the engine with the
 * same tag is on that accelerator. */
static bool is_ours(const struct engine_task *t, unsigned accelerator, const struct task_unit_report *report)
{
    if (report->event == TASK_UNIT_EMPTIED)
        return true;
    return t->used && t->sent && !t->done && t->accelerator == accelerator &&
           engine_has_tag(t->engine, report->tag);
}

void engine_note_end(struct engine *e, unsigned accelerator)
{
    e->idle_since[accelerator] = e->parts.queue->now;
}

/* Counts the time for which a complete task had its accelerator. */
static void count_occupied(struct engine_task *t)
{
    struct engine *e = t->engine;
    uint64_t from = t->at.idle != CLOCK_NEVER ? t->at.idle : t->at.arrived;
    e->count.occupied += (t->at.complete - from) / e->parts.clock.period;
}

/* An exclusive scheduler makes room for others when its last task is complete. */
static void leave_accelerator(struct engine *e, unsigned accelerator)
{
    nucd_scheduler_complete(&e->scheduler, accelerator);
    if (e->config.scheduler.exclusive && !nucd_scheduler_owns(&e->scheduler, accelerator))
        engine_make_room(e);
}

/* Handles a report that has reached the host. made: the time (fs) at which the unit reported. */
static void deliver(struct engine *e, unsigned accelerator, const struct task_unit_report *report,
                    uint64_t made, uint64_t now)
{
    struct engine_task *t = engine_tagged(e, report->tag);
    if (!is_ours(t, accelerator, report))
        return;
    if (report->event == TASK_UNIT_COMPLETED)
        t->at.complete = made;
    switch (report->event) {
    case TASK_UNIT_EMPTIED:
        nucd_scheduler_credit(&e->scheduler, accelerator, report->lines);
        engine_make_room(e);
        break;
    case TASK_UNIT_COMPLETED:
        count_occupied(t);
        leave_accelerator(e, accelerator);
        completed(t, report, now);
        break;
    case TASK_UNIT_STOPPED: stopped(t, report, now); break;
    case TASK_UNIT_KILLED:
        leave_accelerator(e, accelerator);
        killed(t, now);
        break;
    }
    engine_send_go(e, now);
}

static void answer(void *owner, uint64_t now)
{
    struct engine *e = owner;
    const struct engine_answer first = e->answers[e->answer_first];
    e->answer_first = (e->answer_first + 1) & (e->answer_room - 1);
    if (--e->answer_count > 0)
        event_schedule(e->parts.queue, &e->answer_event, e->answers[e->answer_first].due);
    deliver(e, first.accelerator, &first.report, first.made, now);
}

static void grow(struct engine *e)
{
    unsigned room = e->answer_room ? 2 * e->answer_room : NUCD_ACCELERATORS;
    struct engine_answer *moved = alloc(1, room * sizeof *moved);
    for (unsigned i = 0; i < e->answer_count; i++)
        moved[i] = e->answers[(e->answer_first + i) & (e->answer_room - 1)];
    free(e->answers);
    e->answers = moved;
    e->answer_first = 0;
    e->answer_room = room;
}

void engine_report(struct engine *e, unsigned accelerator, const struct task_unit_report *report)
{
    uint64_t now = e->parts.queue->now, due = now;
    if (!e->config.ideal)
        due = clock_edge(&e->parts.clock, now) + engine_clocks(e, e->config.link_clocks + 1);
    if (report->event == TASK_UNIT_COMPLETED || report->event == TASK_UNIT_KILLED)
        engine_note_end(e, accelerator);
    if (e->answer_count == e->answer_room)
        grow(e);
    e->answers[(e->answer_first + e->answer_count++) & (e->answer_room - 1)] =
        (struct engine_answer){due, now, accelerator, *report};
    if (e->answer_count == 1)
        event_schedule(e->parts.queue, &e->answer_event, due);
}

void engine_watch_time(struct engine *e, uint64_t deadline)
{
    if (!event_pending(&e->timeout_event) && deadline != CLOCK_NEVER)
        event_schedule(e->parts.queue, &e->timeout_event, deadline);
}

/* Returns the new deadline of a task whose deadline has passed; not earlier than the old one. The time that
 * the task spent behind older tasks in the work queue does not count. */
static uint64_t due(const struct engine_task *t)
{
    const struct engine *e = t->engine;
    uint64_t first = engine_later(e->idle_since[t->accelerator], t->at.sent);
    if (t->at.begun != CLOCK_NEVER)
        first = engine_later(first, t->at.begun);
    return engine_later(t->deadline, first + e->config.timeout);
}

/* Reports each task whose deadline has passed, and waits for the earliest deadline of the others. */
static void look_for_late(void *owner, uint64_t now)
{
    struct engine *e = owner;
    uint64_t next = CLOCK_NEVER;
    for (unsigned i = 0; i < e->places; i++) {
        struct engine_task *t = &e->tasks[i];
        if (!t->used || t->deadline == CLOCK_NEVER)
            continue;
        if (t->deadline <= now)
            t->deadline = due(t);
        if (t->deadline <= now) {
            t->deadline = CLOCK_NEVER;
            engine_tell_expired(t);
        }
        next = t->deadline < next ? t->deadline : next;
    }
    engine_watch_time(e, next);
}

void engine_report_init(struct engine *e)
{
    event_init(&e->answer_event, e->parts.component, answer, e);
    event_init(&e->timeout_event, e->parts.component, look_for_late, e);
}

enum hart_stop engine_trap(struct engine *e)
{
    struct engine_task *t = e->records.first;
    struct hart *hart = e->parts.hart;
    if (!t || !t->stopped || t->told || hart->pc != t->task.pc)
        return HART_STOP_LIMIT;
    t->told = true;
    e->fault = (struct engine_fault){t->accelerator, t->task.pc, t->task.begin + (uint64_t)t->report.offset,
                                     t->report.cause, t->report.value};
    e->faulted = true;
    if (!hart->privileged) {
        hart->trap = (struct trap){(enum trap_cause)t->report.cause, t->report.value};
        return HART_STOP_TRAP;
    }
    e->frozen = t;
    hart->offload.frozen = true;
    hart->offload.cause = t->report.cause;
    hart->offload.value = t->report.value;
    hart->offload.offset = (uint64_t)t->report.offset;
    hart->trap = (struct trap){TRAP_NUCD_FAULT, 0};
    priv_take_trap(hart);
    return HART_STOP_LIMIT;
}

void engine_control(void *context, uint64_t action)
{
    struct engine *e = context;
    struct engine_task *t = e->frozen;
    if (!t || action != 2)
        return;
    e->frozen = NULL;
    e->parts.hart->offload.frozen = false;
    engine_list_remove(&e->records, t);
    engine_task_drop(t);
}
