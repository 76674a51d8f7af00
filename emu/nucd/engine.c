#include "emu/nucd/engine.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "emu/nucd/engine_state.h"

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
    engine_schedule(t, ENGINE_READY, ready);
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
    engine_clear_all(e, at);
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
    engine_clear_all(e, e->parts.queue->now);
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
    engine_generate_init(e);
    engine_send_init(e);
    engine_report_init(e);
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

const struct engine_fault *engine_fault(const struct engine *e)
{
    return e->faulted ? &e->fault : NULL;
}
