/* A virtual channel, one direction of a crossbar: sources with queues, sinks with buffers, and an arbiter per
 * sink.
 *
 * Without virtual queues, a source's queue is first in, first out, and only its head requests a sink. A head whose sink is busy or
 * full blocks the messages behind it (head-of-line blocking: it limits throughput to 2 - sqrt 2 of the
 * bandwidth under uniform traffic; Karol, Hluchyj, Morgan, "Input versus output queueing on a space-division
 * packet switch", 1987). With them, the queue's places serve a virtual output queue for each sink, whose heads request
 * their sinks at the same time (McKeown, Mekkittikul, Anantharam, Walrand, "Achieving 100% throughput in an input-queued
 * switch", 1999); messages of a source to a sink stay in order.
 *
 * While its buffer has room, a sink serves the requesting sources round robin,
 * starting after the source served last. A message that begins to cross at clock edge t occupies its source
 * and its sink for n clocks and is complete at the sink at edge t + latency + n - 1. It waits there until it
 * can be delivered. So a source that is free is taken by the first sink that asks it: a maximal matching.
 */
#ifndef EMU_NET_CROSSBAR_VC_H
#define EMU_NET_CROSSBAR_VC_H

#include "emu/net/message.h"
#include "emu/sim/observer.h"

/* Statistics of one source or sink. */
struct vc_counters {
    uint64_t messages; /* messages that have begun to cross */
    uint64_t bytes, busy_clocks;
    uint64_t refusals; /* source: messages refused; sink: messages not delivered at the first attempt */
    /* most messages at one time; source: in its queue; sink: in flight to it and in its buffer */
    uint64_t peak;
};

struct vc_source {
    struct net_queue queue;
    uint64_t free; /* time at which the next message can cross, fs */
    struct vc_counters counters;
};

struct vc;

struct vc_sink {
    struct vc *vc;
    struct net_queue arriving; /* messages in flight or in the buffer, in order of arrival */
    uint64_t free;
    uint64_t *asking; /* bit per source: a head of it requests this sink */
    uint32_t turn;    /* the source with the highest priority */
    uint32_t number;
    bool blocked; /* the receiver refused the head of `arriving` */
    struct event arbitrate, deliver;
    struct vc_counters counters;
};

struct vc_owner {
    /* Offers a message that has crossed. False if refused; the receiver then calls vc_unblock(). */
    bool (*deliver)(void *context, uint32_t sink, struct mem_request *request, uint64_t now);
    /* Called when a source's queue has room again. */
    void (*room)(void *context, uint32_t source, uint64_t now);
    void *context;
};

/* An observer of messages: called when one begins to cross. The message occupies its source and its sink from now until
 * `until` (fs). */
struct vc_observer {
    struct observer link;
    void (*crosses)(void *context, uint32_t sink, uint32_t source, const struct net_message *message,
                    uint64_t now, uint64_t until);
    void *context;
};

struct vc {
    struct event_queue *queue;
    const struct clock *clock;
    struct vc_owner owner;
    uint32_t source_count, sink_count;
    uint32_t words;   /* 64-bit words of each sink's `asking` */
    uint32_t latency; /* clocks, at least 1 */
    bool virtual;     /* queues for each sink */
    struct vc_source *sources;
    struct vc_sink *sinks;
    uint64_t *asking;               /* of all sinks */
    struct observer_list observers; /* struct vc_observer */
};

/* All counts are at least 1. source_queue: messages that each source's queue holds. sink_buffer: messages
 * that can be in flight to a sink and in its buffer. latency in clocks. Aborts when out of memory. Release it
 * with vc_free(). */
void vc_init(struct vc *vc, struct event_queue *queue, const struct clock *clock, uint32_t component,
             uint32_t source_count, uint32_t source_queue, uint32_t sink_count, uint32_t sink_buffer,
             uint32_t latency, bool virtual, const struct vc_owner *owner);
void vc_free(struct vc *vc);

/* Queues a message at a source. False if its queue is full; owner.room() is called later. */
bool vc_offer(struct vc *vc, uint32_t source, const struct net_message *message, uint64_t now);

static inline bool vc_has_room(const struct vc *vc, uint32_t source)
{
    const struct net_queue *queue = &vc->sources[source].queue;
    return !net_queue_full(queue);
}

/* Tells that the receiver of a sink has room again after it refused a message. */
void vc_unblock(struct vc *vc, uint32_t sink, uint64_t now);

#endif
