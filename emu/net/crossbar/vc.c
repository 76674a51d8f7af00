#include "emu/net/crossbar/vc.h"

#include <stdlib.h>
#include <string.h>

#include "emu/sim/alloc.h"

static void arm(struct vc_sink *sink, uint64_t time)
{
    if (time < sink->free)
        time = sink->free;
    time = clock_edge(sink->vc->clock, time);
    if (!event_pending(&sink->arbitrate) || sink->arbitrate.time > time)
        event_schedule(sink->vc->queue, &sink->arbitrate, time);
}

/* Lets a source request a sink, for which it has a message. */
static void ask(struct vc *vc, uint32_t number, uint32_t to, uint64_t now)
{
    const struct vc_source *source = &vc->sources[number];
    struct vc_sink *sink = &vc->sinks[to];
    sink->asking[number / 64] |= UINT64_C(1) << number % 64;
    if (!net_queue_full(&sink->arriving))
        arm(sink, source->free > now ? source->free : now);
}

/* Returns the place in the source's queue of the first message to the sink, or the queue's length. */
static uint32_t first_to(const struct vc_source *source, uint32_t sink)
{
    uint32_t i = 0;
    while (i < source->queue.count && net_queue_at(&source->queue, i)->sink != sink)
        i++;
    return i;
}

/* Drops a message of the source's queue, and lets it request what the next one wants. */
static void drop(struct vc *vc, uint32_t number, uint32_t place, uint32_t sink, uint64_t now)
{
    struct net_queue *queue = &vc->sources[number].queue;
    for (uint32_t i = place; i > 0; i--)
        *net_queue_at(queue, i) = *net_queue_at(queue, i - 1);
    net_queue_drop(queue);
    const struct net_message *head = net_queue_head(queue);
    if (!vc->virtual && head)
        ask(vc, number, head->sink, now);
    else if (vc->virtual && first_to(&vc->sources[number], sink) < queue->count)
        ask(vc, number, sink, now);
}

/* Returns the first requesting source with number >= from, or source_count. */
static uint32_t next_asking(const struct vc_sink *sink, uint32_t from)
{
    for (uint32_t word = from / 64; word < sink->vc->words; word++) {
        uint64_t bits = sink->asking[word];
        if (word == from / 64)
            bits &= UINT64_MAX << from % 64;
        if (bits)
            return word * 64 + (uint32_t)__builtin_ctzll(bits);
    }
    return sink->vc->source_count;
}

/* Returns the first requesting source in [from, to) that can send now, or source_count. Lowers *next to the
 * earliest time at which one that cannot send now will be able to. */
static uint32_t ready_source(const struct vc_sink *sink, uint32_t from, uint32_t to, uint64_t now,
                             uint64_t *next)
{
    for (uint32_t i = next_asking(sink, from); i < to; i = i + 1 < to ? next_asking(sink, i + 1) : to) {
        uint64_t time = sink->vc->sources[i].free;
        if (time <= now)
            return i;
        *next = time < *next ? time : *next;
    }
    return sink->vc->source_count;
}

static void count(struct vc_counters *counters, const struct net_message *message)
{
    counters->messages++;
    counters->bytes += message->bytes;
    counters->busy_clocks += message->clocks;
}

/* Sends a source's first message to the sink, which it requests. */
static void cross(struct vc_sink *sink, uint32_t number, uint64_t now)
{
    struct vc *vc = sink->vc;
    struct vc_source *source = &vc->sources[number];
    const uint32_t place = vc->virtual ? first_to(source, sink->number) : 0;
    struct net_message message = *net_queue_at(&source->queue, place);
    const uint64_t period = vc->clock->period;
    message.time = now + (vc->latency + message.clocks - 1) * period;
    source->free = sink->free = now + message.clocks * period;
    sink->turn = number + 1;
    sink->asking[number / 64] &= ~(UINT64_C(1) << number % 64);
    count(&source->counters, &message);
    count(&sink->counters, &message);
    OBSERVER_TELL(&vc->observers, struct vc_observer, crosses, sink->number, number, &message, now,
                  sink->free);
    net_queue_add(&sink->arriving, &message, &sink->counters.peak);
    if (!sink->blocked && !event_pending(&sink->deliver))
        event_schedule(vc->queue, &sink->deliver, message.time);
    drop(vc, number, place, sink->number, now);
}

static void arbitrate(void *owner, uint64_t now)
{
    struct vc_sink *sink = owner;
    struct vc *vc = sink->vc;
    const uint32_t none = vc->source_count;
    uint64_t next = CLOCK_NEVER;
    if (net_queue_full(&sink->arriving))
        return;
    uint32_t source = ready_source(sink, sink->turn, none, now, &next);
    if (source == none)
        source = ready_source(sink, 0, sink->turn, now, &next);
    if (source != none) {
        cross(sink, source, now);
        next = !net_queue_full(&sink->arriving) && next_asking(sink, 0) < none ? sink->free : CLOCK_NEVER;
    }
    if (next != CLOCK_NEVER)
        arm(sink, next);
    if (source != none)
        vc->owner.room(vc->owner.context, source, now);
}

/* Delivers arrived messages in order until the receiver refuses one. */
static void deliver(void *owner, uint64_t now)
{
    struct vc_sink *sink = owner;
    struct vc *vc = sink->vc;
    const struct net_message *head;
    bool any = false, again = sink->blocked;
    sink->blocked = false; /* the receiver may report room while it takes the message */
    while ((head = net_queue_head(&sink->arriving)) && head->time <= now) {
        if (!vc->owner.deliver(vc->owner.context, sink->number, head->request, now)) {
            sink->counters.refusals += any || !again;
            sink->blocked = true;
            break;
        }
        any = true;
        net_queue_drop(&sink->arriving);
    }
    if (head && head->time > now)
        event_schedule(vc->queue, &sink->deliver, head->time);
    if (any && next_asking(sink, 0) < vc->source_count)
        arm(sink, now);
}

void vc_init(struct vc *vc, struct event_queue *queue, const struct clock *clock, uint32_t component,
             uint32_t source_count, uint32_t source_queue, uint32_t sink_count, uint32_t sink_buffer,
             uint32_t latency, bool virtual, const struct vc_owner *owner)
{
    *vc = (struct vc){.queue = queue,
                      .clock = clock,
                      .owner = *owner,
                      .source_count = source_count,
                      .sink_count = sink_count,
                      .words = (source_count + 63) / 64,
                      .latency = latency,
                      .virtual = virtual,
                      .sources = alloc(source_count, sizeof *vc->sources),
                      .sinks = alloc(sink_count, sizeof *vc->sinks)};
    vc->asking = alloc((size_t)sink_count * vc->words, sizeof *vc->asking);
    for (uint32_t i = 0; i < source_count; i++)
        net_queue_init(&vc->sources[i].queue, source_queue);
    for (uint32_t i = 0; i < sink_count; i++) {
        struct vc_sink *sink = &vc->sinks[i];
        sink->vc = vc;
        sink->number = i;
        sink->asking = &vc->asking[(size_t)i * vc->words];
        net_queue_init(&sink->arriving, sink_buffer);
        event_init(&sink->arbitrate, component, arbitrate, sink);
        event_init(&sink->deliver, component, deliver, sink);
    }
}

void vc_free(struct vc *vc)
{
    for (uint32_t i = 0; i < vc->source_count; i++)
        net_queue_free(&vc->sources[i].queue);
    for (uint32_t i = 0; i < vc->sink_count; i++) {
        event_cancel(vc->queue, &vc->sinks[i].arbitrate);
        event_cancel(vc->queue, &vc->sinks[i].deliver);
        net_queue_free(&vc->sinks[i].arriving);
    }
    free(vc->sources);
    free(vc->sinks);
    free(vc->asking);
}

bool vc_offer(struct vc *vc, uint32_t source, const struct net_message *message, uint64_t now)
{
    struct vc_source *from = &vc->sources[source];
    if (!vc_has_room(vc, source)) {
        from->counters.refusals++;
        return false;
    }
    net_queue_add(&from->queue, message, &from->counters.peak);
    if (from->queue.count == 1 || vc->virtual)
        ask(vc, source, message->sink, now);
    return true;
}

void vc_unblock(struct vc *vc, uint32_t sink, uint64_t now)
{
    if (vc->sinks[sink].blocked)
        deliver(&vc->sinks[sink], now);
}
