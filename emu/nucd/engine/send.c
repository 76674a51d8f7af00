/* Scheduler and packet sender: the way of packets from the write buffer over the link. */
#include "emu/nucd/engine/state.h"

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

/* Returns whether the task has to stop at its first order point: older instructions have not retired. Tasks of threads
 * are not ordered. */
static bool is_ordered(const struct engine_task *t)
{
    return !t->group && window_oldest(t->engine->window) != t->number;
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
        t->task.ordered = is_ordered(t);
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

bool engine_send_next(struct engine *e, uint64_t now)
{
    struct nucd_transfer transfer;
    if (e->flight_count == ENGINE_FLIGHTS)
        return false;
    if (!nucd_scheduler_next(&e->scheduler, &transfer)) {
        if (e->scheduler.lacks && e->turn_since == CLOCK_NEVER)
            e->turn_since = now;
        return false;
    }
    count_turn(e, now);
    launch(e, &transfer, now);
    return true;
}

void engine_send_landed(struct engine *e)
{
    e->flight_first = (e->flight_first + 1) % ENGINE_FLIGHTS;
    if (--e->flight_count > 0)
        event_schedule(e->parts.queue, &e->land_event, e->flights[e->flight_first].due);
}

void engine_try(struct engine *e)
{
    engine_send_go(e, e->parts.queue->now);
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

void engine_send_init(struct engine *e)
{
    e->scheduler.allows = e->parts.core ? may_go : NULL;
    e->scheduler.allows_context = e;
    e->turn_since = CLOCK_NEVER;
}
