#include "emu/net/plane.h"

#include <stdlib.h>
#include <string.h>

static void queue_init(struct plane_queue *queue, uint32_t size)
{
    *queue = (struct plane_queue){.ring = calloc(size, sizeof *queue->ring), .size = size};
    if (!queue->ring)
        abort();
}

static struct plane_message *queue_head(const struct plane_queue *queue)
{
    return queue->count ? &queue->ring[queue->first] : NULL;
}

/* Adds a message; most messages at one time so far are kept in *peak. */
static void queue_add(struct plane_queue *queue, const struct plane_message *message, uint64_t *peak)
{
    uint32_t at = queue->first + queue->count++;
    queue->ring[at < queue->size ? at : at - queue->size] = *message;
    *peak = queue->count > *peak ? queue->count : *peak;
}

static void queue_drop(struct plane_queue *queue)
{
    queue->count--;
    if (++queue->first == queue->size)
        queue->first = 0;
}

static void arm(struct plane_sink *sink, uint64_t time)
{
    if (time < sink->free)
        time = sink->free;
    time = clock_edge(sink->plane->clock, time);
    if (!event_pending(&sink->arbitrate) || sink->arbitrate.time > time)
        event_schedule(sink->plane->queue, &sink->arbitrate, time);
}

/* Lets the head of a source, if there is one, ask for its sink. */
static void ask(struct plane *plane, uint32_t number, uint64_t now)
{
    const struct plane_source *source = &plane->sources[number];
    const struct plane_message *head = queue_head(&source->queue);
    if (!head)
        return;
    struct plane_sink *sink = &plane->sinks[head->sink];
    sink->asking[number / 64] |= UINT64_C(1) << number % 64;
    if (sink->arriving.count < sink->arriving.size)
        arm(sink, source->free > now ? source->free : now);
}

/* The first asking source with number from..PLANE_ENDS - 1, or PLANE_ENDS. */
static uint32_t next_asking(const struct plane_sink *sink, uint32_t from)
{
    for (uint32_t word = from / 64; word < PLANE_ENDS / 64; word++) {
        uint64_t bits = sink->asking[word];
        if (word == from / 64)
            bits &= UINT64_MAX << from % 64;
        if (bits)
            return word * 64 + (uint32_t)__builtin_ctzll(bits);
    }
    return PLANE_ENDS;
}

/* The first asking source of [from, to) that can send now, or PLANE_ENDS; *next becomes the earliest time at
 * which another one can, if that is less. */
static uint32_t ready_source(const struct plane_sink *sink, uint32_t from, uint32_t to, uint64_t now,
                             uint64_t *next)
{
    for (uint32_t i = next_asking(sink, from); i < to; i = i + 1 < to ? next_asking(sink, i + 1) : to) {
        uint64_t time = sink->plane->sources[i].free;
        if (time <= now)
            return i;
        *next = time < *next ? time : *next;
    }
    return PLANE_ENDS;
}

static void count(struct plane_counters *counters, const struct plane_message *message)
{
    counters->messages++;
    counters->bytes += message->bytes;
    counters->busy_clocks += message->clocks;
}

/* The head of a source begins to cross to the sink that it has asked for. */
static void cross(struct plane_sink *sink, uint32_t number, uint64_t now)
{
    struct plane *plane = sink->plane;
    struct plane_source *source = &plane->sources[number];
    struct plane_message message = *queue_head(&source->queue);
    const uint64_t period = plane->clock->period;
    message.time = now + (plane->latency + message.clocks - 1) * period;
    source->free = sink->free = now + message.clocks * period;
    sink->turn = number + 1;
    sink->asking[number / 64] &= ~(UINT64_C(1) << number % 64);
    count(&source->counters, &message);
    count(&sink->counters, &message);
    queue_drop(&source->queue);
    queue_add(&sink->arriving, &message, &sink->counters.peak);
    if (!sink->blocked && !event_pending(&sink->deliver))
        event_schedule(plane->queue, &sink->deliver, message.time);
    ask(plane, number, now);
}

static void arbitrate(void *owner, uint64_t now)
{
    struct plane_sink *sink = owner;
    struct plane *plane = sink->plane;
    uint64_t next = CLOCK_NEVER;
    if (sink->arriving.count == sink->arriving.size)
        return;
    uint32_t source = ready_source(sink, sink->turn, PLANE_ENDS, now, &next);
    if (source == PLANE_ENDS)
        source = ready_source(sink, 0, sink->turn, now, &next);
    if (source != PLANE_ENDS) {
        cross(sink, source, now);
        next = sink->arriving.count < sink->arriving.size && next_asking(sink, 0) < PLANE_ENDS ? sink->free
                                                                                               : CLOCK_NEVER;
    }
    if (next != CLOCK_NEVER)
        arm(sink, next);
    if (source != PLANE_ENDS)
        plane->owner.room(plane->owner.context, source, now);
}

/* Hands over what has arrived, in order, until the receiver refuses. */
static void deliver(void *owner, uint64_t now)
{
    struct plane_sink *sink = owner;
    struct plane *plane = sink->plane;
    const struct plane_message *head;
    bool any = false, again = sink->blocked;
    sink->blocked = false; /* the receiver may tell us of room while it takes the message */
    while ((head = queue_head(&sink->arriving)) && head->time <= now) {
        if (!plane->owner.deliver(plane->owner.context, sink->number, head->request, now)) {
            sink->counters.refusals += any || !again;
            sink->blocked = true;
            break;
        }
        any = true;
        queue_drop(&sink->arriving);
    }
    if (head && head->time > now)
        event_schedule(plane->queue, &sink->deliver, head->time);
    if (any && next_asking(sink, 0) < PLANE_ENDS)
        arm(sink, now);
}

void plane_init(struct plane *plane, struct event_queue *queue, const struct clock *clock, uint32_t component,
                uint32_t source_count, uint32_t source_queue, uint32_t sink_count, uint32_t sink_buffer,
                uint32_t latency, const struct plane_owner *owner)
{
    *plane = (struct plane){.queue = queue,
                            .clock = clock,
                            .owner = *owner,
                            .source_count = source_count,
                            .sink_count = sink_count,
                            .latency = latency,
                            .sources = calloc(source_count, sizeof *plane->sources),
                            .sinks = calloc(sink_count, sizeof *plane->sinks)};
    if (!plane->sources || !plane->sinks)
        abort();
    for (uint32_t i = 0; i < source_count; i++)
        queue_init(&plane->sources[i].queue, source_queue);
    for (uint32_t i = 0; i < sink_count; i++) {
        struct plane_sink *sink = &plane->sinks[i];
        sink->plane = plane;
        sink->number = i;
        queue_init(&sink->arriving, sink_buffer);
        event_init(&sink->arbitrate, component, arbitrate, sink);
        event_init(&sink->deliver, component, deliver, sink);
    }
}

void plane_free(struct plane *plane)
{
    for (uint32_t i = 0; i < plane->source_count; i++)
        free(plane->sources[i].queue.ring);
    for (uint32_t i = 0; i < plane->sink_count; i++) {
        event_cancel(plane->queue, &plane->sinks[i].arbitrate);
        event_cancel(plane->queue, &plane->sinks[i].deliver);
        free(plane->sinks[i].arriving.ring);
    }
    free(plane->sources);
    free(plane->sinks);
}

bool plane_offer(struct plane *plane, uint32_t source, const struct plane_message *message, uint64_t now)
{
    struct plane_source *from = &plane->sources[source];
    if (!plane_has_room(plane, source)) {
        from->counters.refusals++;
        return false;
    }
    queue_add(&from->queue, message, &from->counters.peak);
    if (from->queue.count == 1)
        ask(plane, source, now);
    return true;
}

void plane_unblock(struct plane *plane, uint32_t sink, uint64_t now)
{
    if (plane->sinks[sink].blocked)
        deliver(&plane->sinks[sink], now);
}
