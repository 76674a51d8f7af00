/* The way of a packet from the write buffer to the accelerator's work queue: dependency table, scheduler,
 * link. */
#include "emu/nucd/engine_state.h"

static bool is_stored_to(const struct engine_task *t, const struct nucd_ranges *ranges)
{
    const struct engine *e = t->engine;
    for (unsigned i = 0; i < ranges->count; i++)
        if (e->parts.core->storing(e->core, ranges->range[i].first, ranges->range[i].last))
            return true;
    return false;
}

void engine_clear(struct engine_task *t, uint64_t at)
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
    engine_clean(t, t->at.clear);
}

void engine_clear_all(struct engine *e, uint64_t at)
{
    for (struct engine_task *t = e->ahead.first; t && e->held; t = t->next)
        if (!t->sent)
            engine_clear(t, at);
}

void engine_release(struct engine_task *t)
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

static bool any_ready(const struct nucd_scheduler *scheduler)
{
    for (uint32_t i = 0; i < scheduler->pending_count; i++)
        if (scheduler->pending[i].ready)
            return true;
    return false;
}

void engine_send_go(struct engine *e, uint64_t now)
{
    if (event_pending(&e->send_event) || !any_ready(&e->scheduler))
        return;
    uint64_t chosen = clock_edge(&e->parts.clock, now) + engine_clocks(e, e->config.schedule_clocks);
    event_schedule(e->parts.queue, &e->send_event,
                   engine_later(e->config.ideal ? now : chosen, e->link_free));
}

/* Sends the transfer's packets over the link. */
static void launch(struct engine *e, const struct nucd_transfer *transfer, uint64_t now)
{
    unsigned at = (e->flight_first + e->flight_count++) % ENGINE_FLIGHTS;
    struct engine_flight *flight = &e->flights[at];
    flight->accelerator = transfer->accelerator;
    flight->count = transfer->count;
    flight->words = 0;
    for (unsigned i = 0; i < transfer->count; i++) {
        struct engine_task *t = &e->tasks[transfer->tags[i]];
        flight->tags[i] = t->tag;
        flight->words += nucd_packet_write(&t->task, (uint16_t)(e->parts.first_tag + t->tag),
                                           &flight->word[flight->words]);
        t->sent = true;
        t->at.sent = now;
        t->accelerator = transfer->accelerator;
        t->deadline = now + e->config.timeout;
        engine_watch_time(e, t->deadline);
    }
    uint64_t flits = nucd_words_flits(flight->words, e->config.link_width);
    e->link_free = now + engine_clocks(e, flits);
    flight->due = e->link_free + engine_clocks(e, e->config.link_clocks);
    if (!event_pending(&e->land_event))
        event_schedule(e->parts.queue, &e->land_event, flight->due);
}

/* Counts the wait for room that ends with a transfer. */
static void count_turn(struct engine *e, uint64_t now)
{
    if (e->turn_since == CLOCK_NEVER)
        return;
    e->count.turns++;
    e->count.turn_cycles += (now - e->turn_since) / e->parts.clock.period;
    e->turn_since = CLOCK_NEVER;
}

static void send(void *owner, uint64_t now)
{
    struct engine *e = owner;
    struct nucd_transfer transfer;
    if (e->flight_count == ENGINE_FLIGHTS)
        return; /* land() tries again */
    if (!nucd_scheduler_next(&e->scheduler, &transfer)) {
        if (e->scheduler.lacks && e->turn_since == CLOCK_NEVER)
            e->turn_since = now;
        return; /* tried again after a credit, a release or a completion */
    }
    count_turn(e, now);
    launch(e, &transfer, now);
    engine_generate_go(e, now);
    engine_send_go(e, now);
    engine_make_room(e);
}

void engine_try(struct engine *e)
{
    engine_send_go(e, e->parts.queue->now);
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
    e->flight_first = (e->flight_first + 1) % ENGINE_FLIGHTS;
    if (--e->flight_count > 0)
        event_schedule(e->parts.queue, &e->land_event, e->flights[e->flight_first].due);
    engine_send_go(e, now);
}

/* Returns whether a task may be queued at an accelerator. A frozen task keeps its accelerator until the host
 * has trapped at its nucd, hence until all older tasks are complete: no older task may be queued behind a
 * task that could freeze. */
static bool may_go(const void *context, uint16_t tag, unsigned accelerator)
{
    const struct engine *e = context;
    const struct engine_task *t = &e->tasks[tag];
    for (unsigned i = 0; i < e->places; i++) {
        const struct engine_task *other = &e->tasks[i];
        if (other->used && other->sent && !other->done && other->accelerator == accelerator &&
            (other->number == WINDOW_NONE || other->number > t->number))
            return false;
    }
    return true;
}

void engine_unblock(struct engine *e, uint64_t now)
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

void engine_send_init(struct engine *e)
{
    e->scheduler.allows = e->parts.core ? may_go : NULL;
    e->scheduler.allows_context = e;
    e->turn_since = CLOCK_NEVER;
    event_init(&e->send_event, e->parts.component, send, e);
    event_init(&e->land_event, e->parts.component, land, e);
}
