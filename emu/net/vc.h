/* One direction of a crossbar: sources with queues, sinks with buffers, and an arbiter at each sink.
 *
 * A source's queue is first in, first out: only its head asks for a sink, so that a head whose sink is busy
 * or full blocks what stands behind it (head-of-line blocking; 2 - sqrt 2 of the bandwidth under uniform
 * traffic: Karol, Hluchyj, Morgan, "Input versus output queueing on a space-division packet switch", 1987). A
 * sink serves the sources that ask for it in turn (round robin, from the one behind the last served) as long
 * as its buffer has room. A message that begins to cross at edge t occupies its source and its sink for n
 * clocks and is complete at the sink at edge t + latency + n - 1, where it waits until it can be delivered.
 */
#ifndef EMU_NET_VC_H
#define EMU_NET_VC_H

#include "emu/net/message.h"

/* What one end has seen. */
struct vc_counters {
    uint64_t messages; /* begun to cross */
    uint64_t bytes, busy_clocks;
    uint64_t refusals; /* source: messages not taken; sink: messages not delivered at the first try */
    uint64_t peak;     /* most messages at one time in its queue, or on their way to it and in its buffer */
};

struct vc_source {
    struct net_queue queue;
    uint64_t free; /* time from which on the next message can cross */
    struct vc_counters counters;
};

struct vc;

struct vc_sink {
    struct vc *vc;
    struct net_queue arriving; /* on their way or in the buffer, in order of arrival */
    uint64_t free;
    uint64_t *asking; /* a bit for each source: its head wants to come here */
    uint32_t turn;    /* the source that is asked first */
    uint32_t number;
    bool blocked; /* the head of `arriving` was refused */
    struct event arbitrate, deliver;
    struct vc_counters counters;
};

struct vc_owner {
    /* Offers a message that has crossed; false: refused, vc_unblock() will be called. */
    bool (*deliver)(void *context, uint32_t sink, struct mem_request *request, uint64_t now);
    /* The source's queue has room again. */
    void (*room)(void *context, uint32_t source, uint64_t now);
    void *context;
};

struct vc {
    struct event_queue *queue;
    const struct clock *clock;
    struct vc_owner owner;
    uint32_t source_count, sink_count;
    uint32_t words;   /* of each sink's asking */
    uint32_t latency; /* clocks, at least 1 */
    struct vc_source *sources;
    struct vc_sink *sinks;
    uint64_t *asking; /* of all sinks */
};

/* Counts from 1 on; source_queue messages wait at each source, sink_buffer can be on their way to
 * and in the buffer of each sink. Out of memory aborts. Release with vc_free(). */
void vc_init(struct vc *vc, struct event_queue *queue, const struct clock *clock, uint32_t component,
             uint32_t source_count, uint32_t source_queue, uint32_t sink_count, uint32_t sink_buffer,
             uint32_t latency, const struct vc_owner *owner);
void vc_free(struct vc *vc);

/* Queues a message at a source; false when its queue is full: owner.room() will be called. */
bool vc_offer(struct vc *vc, uint32_t source, const struct net_message *message, uint64_t now);

static inline bool vc_has_room(const struct vc *vc, uint32_t source)
{
    const struct net_queue *queue = &vc->sources[source].queue;
    return !net_queue_full(queue);
}

/* The receiver behind a sink, which has refused, has room. */
void vc_unblock(struct vc *vc, uint32_t sink, uint64_t now);

#endif
