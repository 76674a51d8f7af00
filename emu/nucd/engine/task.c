/* The engine's tasks: their descriptions, their places, their lists in program order, and squashes. */
#include "emu/nucd/engine/state.h"

bool engine_describe(struct engine *e, const struct insn *insn, struct nucd_operands operands,
                     struct nucd_task *task)
{
    struct error warning;
    operands.xn = insn->rs1;
    operands.xd = insn->rs2;
    enum nucd_cause cause = nucd_packet_task(&operands, &e->parts.limits, task);
    if (cause == NUCD_WELL_FORMED)
        return true;
    if (cause != NUCD_CAUSE_SIGNATURE)
        engine_tell_refused(e, operands.pc, nucd_cause_text(cause));
    if (cause == NUCD_CAUSE_SIGNATURE && operands.read(operands.context, insn->rs1) >> 32 == HART_NUCD_MARK)
        return false; /* a call of the kernel's driver */
    if (nucd_causes_note(&e->causes, cause, operands.pc, &warning) && e->parts.warn)
        e->parts.warn(e->parts.context, operands.pc, warning.text);
    return false;
}

struct engine_task *engine_task_new(struct engine *e, const struct nucd_task *task)
{
    unsigned tag = 0;
    while (tag < ENGINE_TASKS && e->tasks[tag].used)
        tag++;
    assert(tag < ENGINE_TASKS);
    struct engine_task *t = &e->tasks[tag];
    nucd_access_set_free(t->access);
    *t = (struct engine_task){.engine = e,
                              .task = *task,
                              .at = engine_times_none(),
                              .serial = NUCD_NO_RECORD,
                              .blocker = NUCD_NO_RECORD,
                              .deadline = CLOCK_NEVER,
                              .slot = NUCD_NO_TASK,
                              .tag = (uint16_t)tag,
                              .used = true,
                              .outputs = {1, 0}};
    if (tag >= e->places)
        e->places = tag + 1;
    return t;
}

/* Returns whether an event, a report or a cache operation that refers to the task is still to come. */
static bool is_under_way(const struct engine_task *t)
{
    return t->cleaning > 0 || (t->sent && !t->done) || event_pending(&t->event);
}

bool engine_task_ended(struct engine_task *t)
{
    if (t->dead && !is_under_way(t))
        t->used = false;
    return t->dead;
}

void engine_task_drop(struct engine_task *t)
{
    struct engine *e = t->engine;
    t->dead = true;
    if (t->done || !t->sent)
        engine_tell_left(t, t->done ? NUCD_DROPPED : NUCD_SQUASHED, e->parts.queue->now);
    if (t->sent && !t->done) {
        if (t->stopped && !(event_pending(&t->event) && t->step == ENGINE_KILL))
            engine_schedule(t, ENGINE_KILL, e->parts.queue->now + engine_clocks(e, e->config.link_clocks));
    } else if (!t->sent) {
        event_cancel(e->parts.queue, &t->event);
        e->held -= t->ready && !t->clear;
        engine_generate_remove(t);
        if (nucd_scheduler_squash(&e->scheduler, t->tag)) {
            e->turn_since = CLOCK_NEVER;
            engine_make_room(e);
        }
    }
    (void)engine_task_ended(t);
}

void engine_list_append(struct engine_list *list, struct engine_task *t)
{
    t->next = NULL;
    t->previous = list->last;
    *(list->last ? &list->last->next : &list->first) = t;
    list->last = t;
}

static void prepend(struct engine_list *list, struct engine_task *t)
{
    t->previous = NULL;
    t->next = list->first;
    *(list->first ? &list->first->previous : &list->last) = t;
    list->first = t;
}

void engine_list_remove(struct engine_list *list, struct engine_task *t)
{
    *(t->previous ? &t->previous->next : &list->first) = t->next;
    *(t->next ? &t->next->previous : &list->last) = t->previous;
}

void engine_task_resume(struct engine_task *t)
{
    struct engine *e = t->engine;
    uint64_t now = e->parts.queue->now;
    t->stopped = false;
    nucd_scheduler_freeze(&e->scheduler, t->accelerator, false);
    t->deadline = now + e->config.timeout;
    engine_watch_time(e, t->deadline);
    engine_schedule(t, ENGINE_RESUME, now + engine_clocks(e, e->config.link_clocks));
    e->count.resumed += !engine_at_order_point(t);
    if (e->frozen == t) {
        e->frozen = NULL;
        e->parts.hart->offload.frozen = false;
    }
}

void engine_task_restored(struct engine_task *t)
{
    t->engine->checkpoints -= t->checkpoint;
    t->checkpoint = false;
}

void engine_task_enter(struct engine_task *t, uint64_t number)
{
    struct engine *e = t->engine;
    t->number = number;
    e->by_number[number % WINDOW_MOST] = t->tag;
    if (t->slot != NUCD_NO_TASK)
        e->by_slot[t->slot] = t->tag;
    engine_list_append(&e->ahead, t);
}

/* Removes the task from the window and adds it to the records. A task that was sent is not run again; one
 * that was not sent starts anew when its nucd is reached. */
static void squash_task(struct engine_task *t)
{
    struct engine *e = t->engine;
    engine_list_remove(&e->ahead, t);
    engine_task_restored(t);
    t->number = WINDOW_NONE;
    t->slot = NUCD_NO_TASK;
    if (!t->sent) {
        e->count.squashed++;
        prepend(&e->records, engine_task_new(e, &t->task));
        engine_task_drop(t);
        return;
    }
    e->running += !t->done && !t->stopped;
    prepend(&e->records, t);
}

void engine_squash_tasks(struct engine *e, uint64_t number)
{
    int oldest = NUCD_NO_TASK;
    e->last_nucd = WINDOW_NONE;
    for (struct engine_task *t = e->ahead.last, *previous; t && t->number >= number; t = previous) {
        previous = t->previous;
        oldest = t->slot != NUCD_NO_TASK ? t->slot : oldest;
        squash_task(t);
    }
    if (oldest != NUCD_NO_TASK)
        (void)nucd_depend_squash(&e->depend, oldest);
}

void engine_squash(struct engine *e, uint64_t number)
{
    engine_squash_tasks(e, number);
    window_squash(e->window, number);
}

bool engine_keeps(const struct engine *e)
{
    const struct engine_task *t = e->records.first;
    while (t && !t->sent)
        t = t->next;
    return t != NULL;
}

void engine_forget_records(struct engine *e)
{
    while (e->records.first) {
        struct engine_task *t = e->records.first;
        engine_list_remove(&e->records, t);
        if (e->frozen == t) {
            e->frozen = NULL;
            e->parts.hart->offload.frozen = false;
        }
        engine_task_drop(t);
    }
}
