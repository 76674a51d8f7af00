/* The engine's top: creation, and what a task does next after each callback of core, caches, accelerators and events. */
#include "emu/nucd/engine.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "emu/nucd/engine/state.h"

static void task_event(void *owner, uint64_t now);

/* Lets the task pass its stages from `ready` on. */
static void start(struct engine_task *t, uint64_t ready)
{
    event_init(&t->event, t->engine->parts.component, task_event, t);
    engine_schedule(t, ENGINE_READY, ready);
}

/* Starts the table lookup if the packet is made, the ranges are clean, and no task blocks the task. */
static void release(struct engine_task *t)
{
    struct engine *e = t->engine;
    if (!t->made || !t->cleaned || t->released)
        return;
    t->waited = !t->group && nucd_depend_blocked(&e->depend, t->slot);
    if (t->waited)
        return;
    t->released = true;
    t->at.free = engine_later(e->parts.queue->now, t->at.cleaned);
    engine_schedule(t, ENGINE_RELEASE, t->at.free + engine_clocks(e, t->group ? 0 : e->config.table_clocks));
}

/* Makes tasks of waiting threads while fewer than config.tasks are under way. */
static void start_threads(struct engine *e, uint64_t now)
{
    struct engine_task *t;
    while ((t = engine_threads_next(e, now)))
        start(t, now);
}

static void piece_is_done(struct engine_task *t, uint64_t now);

/* Goes on when the ranges of a task, and of those that clean an input range with it, are clean. */
static void cleaned(struct engine_task *t, uint64_t now)
{
    struct engine *e = t->engine;
    for (unsigned i = 0; i < e->places; i++) {
        struct engine_task *follower = &e->tasks[i];
        if (!follower->used || follower->follows != t)
            continue;
        follower->follows = NULL;
        piece_is_done(follower, now);
    }
    if (t->done && t->group) {
        engine_threads_returned(t, now);
        start_threads(e, now);
        return;
    }
    if (engine_task_ended(t))
        return;
    t->cleaned = true;
    t->at.cleaned = now;
    release(t);
}

static void piece_is_done(struct engine_task *t, uint64_t now)
{
    if (--t->cleaning == 0)
        cleaned(t, now);
}

static void piece_done(struct cache_waiter *waiter, uint64_t now, unsigned level)
{
    (void)level;
    piece_is_done(waiter->owner, now);
}

/* A block of a sweep is clean: the next one begins. */
static void block_done(struct cache_waiter *waiter, uint64_t now, unsigned level)
{
    (void)level;
    (void)engine_clean_block(waiter->owner);
    piece_is_done(waiter->owner, now);
}

static bool is_stored_to(const struct engine_task *t, const struct nucd_ranges *ranges)
{
    const struct engine *e = t->engine;
    for (unsigned i = 0; i < ranges->count; i++)
        if (e->parts.core->storing(e->core, ranges->range[i].first, ranges->range[i].last))
            return true;
    return false;
}

/* Starts cleaning if the task is ready and no store of the host is in its way. `at` is the earliest time of cleaning,
 * fs. */
static void clear(struct engine_task *t, uint64_t at)
{
    struct engine *e = t->engine;
    const bool host = !t->group;
    const struct nucd_footprint *memory = host ? &e->depend.entry[t->slot].memory : NULL;
    if (!t->ready || t->clear ||
        (host && (!window_task_ready(e->window, t->number) || is_stored_to(t, &memory->in) ||
                  is_stored_to(t, &memory->out))))
        return;
    t->clear = true;
    e->held--;
    t->at.clear = engine_later(at, e->parts.queue->now);
    t->waiter = (struct cache_waiter){NULL, piece_done, t};
    t->block_waiter = (struct cache_waiter){NULL, block_done, t};
    if (engine_clean(t, t->at.clear))
        cleaned(t, t->at.clear);
}

static void clear_all(struct engine *e, uint64_t at)
{
    for (struct engine_task *t = e->ahead.first; t && e->held; t = t->next)
        if (!t->sent)
            clear(t, at);
}

/* If faults hold all accelerators for some task, squashes from the oldest such task on; the host runs its
 * region. */
static void unblock(struct engine *e, uint64_t now)
{
    for (struct engine_task *t = e->ahead.first; t; t = t->next) {
        if (!t->released || t->sent || !nucd_scheduler_stuck(&e->scheduler, t->task.capabilities))
            continue;
        uint64_t number = t->number;
        e->host_pc = t->task.pc;
        e->count.returned++;
        engine_squash(e, number);
        e->parts.core->squash(e->core, number, now);
        return;
    }
}

static void task_event(void *owner, uint64_t now)
{
    struct engine_task *t = owner;
    struct engine *e = t->engine;
    switch (t->step) {
    case ENGINE_READY:
        t->ready = true;
        e->held++;
        engine_generate_add(t);
        clear(t, now);
        break;
    case ENGINE_RELEASE:
        nucd_scheduler_release(&e->scheduler, t->tag);
        engine_send_go(e, now);
        unblock(e, now);
        break;
    case ENGINE_RESUME: e->parts.accelerators.resume(e->parts.accelerators.context, t->accelerator); break;
    case ENGINE_KILL: e->parts.accelerators.kill(e->parts.accelerators.context, t->accelerator); break;
    }
}

static void write_done(void *owner, uint64_t now)
{
    struct engine *e = owner;
    release(engine_generate_written(e, now));
    engine_generate_go(e, now);
}

static void send(void *owner, uint64_t now)
{
    struct engine *e = owner;
    if (!engine_send_next(e, now))
        return; /* tried again after a landing, a credit, a release or a completion */
    engine_generate_go(e, now);
    engine_send_go(e, now);
    engine_make_room(e);
}

static void land(void *owner, uint64_t now)
{
    struct engine *e = owner;
    const struct engine_accelerators *accelerators = &e->parts.accelerators;
    const struct engine_flight *flight = &e->flights[e->flight_first];
    for (unsigned i = 0; i < flight->count; i++) {
        struct engine_task *t = &e->tasks[flight->tags[i]];
        t->at.arrived = now;
        if (accelerators->sent)
            accelerators->sent(accelerators->context, flight->accelerator, t->tag, &t->task);
        if (t->number != WINDOW_NONE)
            e->parts.core->arrived(e->core, t->number, now);
    }
    accelerators->push(accelerators->context, flight->accelerator, flight->word, flight->words);
    engine_send_landed(e);
    engine_send_go(e, now);
}

/* Continues the tasks in the set of slots `freed`, which the completed task with that serial had blocked. */
static void go_on(struct engine *e, uint64_t freed, uint64_t serial, uint64_t now)
{
    freed &= e->depend.used;
    while (freed) {
        struct engine_task *t = &e->tasks[e->by_slot[nucd_depend_oldest(&e->depend, &freed)]];
        t->blocker = t->waited ? serial : t->blocker;
        release(t);
    }
    clear_all(e, now);
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
        engine_threads_completed(t);
        if (engine_clean_after(t))
            cleaned(t, now);
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
    if (engine_at_order_point(t))
        e->count.ordered++;
    else
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
    unblock(e, now);
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

/* A report has reached the host. */
static void answer(void *owner, uint64_t now)
{
    struct engine *e = owner;
    const struct engine_answer first = engine_report_take(e);
    const struct task_unit_report *report = &first.report;
    unsigned accelerator = first.accelerator;
    struct engine_task *t = engine_tagged(e, report->tag);
    if (!is_ours(t, accelerator, report))
        return;
    if (report->event == TASK_UNIT_COMPLETED)
        t->at.complete = first.made;
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

/* Begins the tasks of a group, in the cycle of issue. */
static void start_group(void *owner, uint64_t now)
{
    struct engine_group *g = owner;
    engine_threads_enter(g);
    start_threads(g->engine, now);
    g->engine->count.table_full += g->left != 0;
}

uint32_t engine_take_lanes(void *context, struct custom_lanes *lanes)
{
    struct engine *e = context;
    struct engine_group *g = engine_threads_take(e, lanes);
    if (!g)
        return 0;
    event_init(&g->event, e->parts.component, start_group, g);
    event_schedule(e->parts.queue, &g->event, lanes->time);
    return g->lanes;
}

static void look(const void *context, uint64_t number, struct offload_view *view)
{
    const struct engine *e = context;
    const struct window_entry *entry = window_entry(e->window, number);
    *view = (struct offload_view){.evaluated = entry->evaluated,
                                  .address_known = entry->address_known,
                                  .address = entry->address,
                                  .physical = entry->physical,
                                  .held_for = entry->held_for};
}

static void task_ready(void *context, uint64_t number, uint64_t decoded, uint64_t freed, uint64_t ready)
{
    struct engine_task *t = engine_numbered(context, number);
    assert(t->number == number);
    if (t->sent)
        return;
    t->at.decoded = decoded;
    t->at.freed = freed;
    t->at.ready = ready;
    start(t, ready);
}

static bool pass(void *context, uint64_t number, uint32_t *clocks)
{
    struct engine *e = context;
    struct engine_task *t = engine_numbered(e, number);
    assert(t->number == number && t->sent && !t->checkpoint);
    if (e->checkpoints == e->config.checkpoints) {
        e->count.checkpoints_full += !t->refused;
        t->refused = true;
        return false;
    }
    t->checkpoint = true;
    e->checkpoints++;
    e->count.checkpoints++;
    *clocks = e->config.ideal ? 0 : e->config.checkpoint_clocks;
    return true;
}

static void retired(void *context, uint64_t number, uint64_t at)
{
    struct engine *e = context;
    engine_commit(e, number, at);
    clear_all(e, at);
}

static uint64_t interrupt(void *context)
{
    struct engine *e = context;
    struct engine_task *t = e->ahead.first;
    while (t && t->done)
        t = t->next;
    uint64_t number = t ? t->number : window_next(e->window);
    engine_squash(e, number);
    return number;
}

static enum hart_stop left(void *context, uint64_t now)
{
    struct engine *e = context;
    (void)now;
    e->last_nucd = WINDOW_NONE;
    e->full = false;
    return engine_trap(e);
}

static void drained(void *context)
{
    struct engine *e = context;
    clear_all(e, e->parts.queue->now);
}

static const struct offload_ops engine_ops = {.takes = engine_takes,
                                              .step = engine_dispatch,
                                              .look = look,
                                              .task_ready = task_ready,
                                              .pass = pass,
                                              .retired = retired,
                                              .interrupt = interrupt,
                                              .left = left,
                                              .drained = drained};

static void init_events(struct engine *e)
{
    event_init(&e->read_event, e->parts.component, engine_generate_read, e);
    event_init(&e->write_event, e->parts.component, write_done, e);
    event_init(&e->send_event, e->parts.component, send, e);
    event_init(&e->land_event, e->parts.component, land, e);
    event_init(&e->answer_event, e->parts.component, answer, e);
    event_init(&e->timeout_event, e->parts.component, engine_look_for_late, e);
}

struct engine *engine_new(const struct engine_config *config, const struct engine_parts *parts,
                          struct error *err)
{
    struct engine *e = calloc(1, sizeof *e);
    if (!e) {
        (void)error_set(err, "no memory for an offload engine: %s", strerror(errno));
        return NULL;
    }
    e->config = *config;
    e->parts = *parts;
    e->parts.limits.capabilities = e->config.scheduler.capabilities;
    e->parts.limits.accelerators = config->scheduler.accelerators;
    e->host_pc = ENGINE_NOWHERE;
    nucd_depend_init(&e->depend, config->tasks, config->granule);
    nucd_scheduler_init(&e->scheduler, &config->scheduler);
    engine_send_init(e);
    init_events(e);
    engine_spreads_init(&e->spreads);
    e->causes.runner = parts->core ? NULL : "thread";
    if (!parts->core)
        return e;
    unsigned size = config->checkpoints ? config->checkpoint_window : config->rob;
    e->window = window_new(parts->hart, &e->depend, size, config->stores, err);
    if (e->window)
        return e;
    engine_free(e);
    return NULL;
}

/* The run may end while events are pending. */
static void cancel_events(struct engine *e)
{
    struct event *const events[] = {&e->read_event, &e->write_event,  &e->send_event,
                                    &e->land_event, &e->answer_event, &e->timeout_event};
    for (size_t i = 0; i < sizeof events / sizeof *events; i++)
        event_cancel(e->parts.queue, events[i]);
    for (unsigned i = 0; i < e->places; i++)
        event_cancel(e->parts.queue, &e->tasks[i].event);
}

void engine_free(struct engine *e)
{
    if (!e)
        return;
    cancel_events(e);
    if (e->window)
        window_free(e->window);
    engine_threads_free(e);
    for (unsigned i = 0; i < e->places; i++)
        nucd_access_set_free(e->tasks[i].access);
    free(e->answers);
    free(e);
}

struct core_offload engine_offload(struct engine *e)
{
    uint32_t kept = e->config.checkpoints ? e->config.checkpoint_window : 0;
    return (struct core_offload){.ops = &engine_ops, .context = e, .kept = kept};
}

void engine_attach(struct engine *e, struct core *core, struct stream *stream)
{
    e->core = core;
    e->stream = stream;
    e->parts.hart->offload.control = engine_control;
    e->parts.hart->offload.context = e;
}

void engine_share(struct engine *e, unsigned number, struct engine *other, unsigned theirs,
                  struct nucd_turns *turns)
{
    nucd_scheduler_share(&e->scheduler, number, &other->scheduler, theirs, turns);
}

bool engine_owns(const struct engine *e, unsigned accelerator)
{
    return nucd_scheduler_owns(&e->scheduler, accelerator);
}
