/* The packet generator: input-load sequencer and packet producer (NUCD paper, section IV-A). */
#include "emu/nucd/engine/state.h"

enum { OPERANDS = 3 }; /* Xn, Xd and Xt, which name the other registers to read */

static uint64_t rounds(uint64_t count, uint64_t width)
{
    return (count + width - 1) / width;
}

static uint64_t read_clocks(const struct engine *e, const struct engine_task *t)
{
    unsigned sources = (unsigned)__builtin_popcount(t->task.live_ins.mask);
    return rounds(OPERANDS, e->config.read_ports) + rounds(sources, e->config.read_ports);
}

uint64_t engine_generate_clocks(const struct engine_task *t)
{
    const struct engine *e = t->engine;
    return engine_clocks(e, read_clocks(e, t) + rounds(nucd_packet_words(&t->task), e->config.write_words));
}

static void start_reading(struct engine *e, uint64_t now)
{
    struct engine_task *t = e->waiting;
    e->waiting = t->behind;
    e->reading = t;
    e->read = false;
    event_schedule(e->parts.queue, &e->read_event,
                   clock_edge(&e->parts.clock, now) + engine_clocks(e, read_clocks(e, t)));
}

/* Passes the task that the sequencer has read to the producer. Returns false when the write buffer is
 * full. */
static bool start_writing(struct engine *e, uint64_t now)
{
    struct engine_task *t = e->reading;
    unsigned words = nucd_packet_words(&t->task);
    if (!nucd_scheduler_offer(&e->scheduler, t->tag, t->task.capabilities, words))
        return false;
    e->reading = NULL;
    e->writing = t;
    event_schedule(e->parts.queue, &e->write_event,
                   now + engine_clocks(e, rounds(words, e->config.write_words)));
    return true;
}

void engine_generate_go(struct engine *e, uint64_t now)
{
    if (e->reading && e->read && !e->writing)
        (void)start_writing(e, now);
    if (!e->reading && e->waiting)
        start_reading(e, now);
}

void engine_generate_read(void *owner, uint64_t now)
{
    struct engine *e = owner;
    e->read = true;
    engine_generate_go(e, now);
}

struct engine_task *engine_generate_written(struct engine *e, uint64_t now)
{
    struct engine_task *t = e->writing;
    e->writing = NULL;
    t->queued = false;
    t->made = true;
    t->at.made = now;
    return t;
}

void engine_generate_add(struct engine_task *t)
{
    struct engine *e = t->engine;
    t->behind = NULL;
    t->queued = true;
    *(e->waiting ? &e->waiting_last->behind : &e->waiting) = t;
    e->waiting_last = t;
    engine_generate_go(e, e->parts.queue->now);
}

/* Removes a task from the queue. It is the last one there, because squashes remove the youngest first. */
static void remove_waiting(struct engine *e, const struct engine_task *t)
{
    struct engine_task **at = &e->waiting, *last = NULL;
    for (; *at && *at != t; at = &(*at)->behind)
        last = *at;
    if (!*at)
        return;
    *at = t->behind;
    if (e->waiting_last == t)
        e->waiting_last = last;
}

void engine_generate_remove(struct engine_task *t)
{
    struct engine *e = t->engine;
    if (!t->queued)
        return;
    t->queued = false;
    if (e->reading == t) {
        e->reading = NULL;
        event_cancel(e->parts.queue, &e->read_event);
    } else if (e->writing == t) {
        e->writing = NULL;
        event_cancel(e->parts.queue, &e->write_event);
    } else {
        remove_waiting(e, t);
    }
}
