/* Messages of the network, and queues of them. */
#ifndef EMU_NET_MESSAGE_H
#define EMU_NET_MESSAGE_H

#include <stdlib.h>

#include "emu/mem/request.h"

struct net_message {
    struct mem_request *request;
    uint64_t time;   /* of its arrival */
    uint32_t clocks; /* that it occupies what it passes: clocks of a crossbar, flits of a link */
    uint32_t bytes;  /* of data */
    uint32_t sink;   /* of a virtual channel */
};

/* First in, first out. */
struct net_queue {
    struct net_message *ring;
    uint32_t first, count, size;
};

/* Bytes of data that a request takes down, and that its response takes up. Neither maintenance nor a device
 * command has data; the answer to an upgrade is a grant alone. */
static inline uint32_t net_request_bytes(const struct mem_request *request)
{
    return request->op == MEM_WRITE ? request->size : 0;
}

static inline uint32_t net_response_bytes(const struct mem_request *request)
{
    return request->op == MEM_READ && !request->upgrade ? request->size : 0;
}

/* Room for `size` messages; out of memory aborts. */
static inline void net_queue_init(struct net_queue *queue, uint32_t size)
{
    *queue = (struct net_queue){.ring = calloc(size, sizeof *queue->ring), .size = size};
    if (!queue->ring)
        abort();
}

static inline void net_queue_free(struct net_queue *queue)
{
    free(queue->ring);
}

static inline bool net_queue_full(const struct net_queue *queue)
{
    return queue->count == queue->size;
}

/* The oldest message, or NULL. */
static inline struct net_message *net_queue_head(const struct net_queue *queue)
{
    return queue->count ? &queue->ring[queue->first] : NULL;
}

/* Adds a message, for which there must be room; most messages at one time so far are kept in *peak. */
static inline void net_queue_add(struct net_queue *queue, const struct net_message *message, uint64_t *peak)
{
    uint32_t at = queue->first + queue->count++;
    queue->ring[at < queue->size ? at : at - queue->size] = *message;
    *peak = queue->count > *peak ? queue->count : *peak;
}

static inline void net_queue_drop(struct net_queue *queue)
{
    queue->count--;
    if (++queue->first == queue->size)
        queue->first = 0;
}

#endif
