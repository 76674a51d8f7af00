/* The way of accelerators' reports over the link, and tasks that do not report in time. */
#include <stdlib.h>

#include "emu/nucd/engine/state.h"
#include "emu/sim/alloc.h"

void engine_note_end(struct engine *e, unsigned accelerator)
{
    e->idle_since[accelerator] = e->parts.queue->now;
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

struct engine_answer engine_report_take(struct engine *e)
{
    const struct engine_answer first = e->answers[e->answer_first];
    e->answer_first = (e->answer_first + 1) & (e->answer_room - 1);
    if (--e->answer_count > 0)
        event_schedule(e->parts.queue, &e->answer_event, e->answers[e->answer_first].due);
    return first;
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
void engine_look_for_late(void *owner, uint64_t now)
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
