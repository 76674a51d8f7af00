/* Messages of the network and FIFO queues of messages. */
#ifndef EMU_NET_MESSAGE_H
#define EMU_NET_MESSAGE_H

#include <stdlib.h>

#include "emu/mem/request.h"
#include "emu/sim/alloc.h"

struct net_message {
    struct mem_request *request;
    uint64_t time;   /* time of arrival, fs */
    uint32_t clocks; /* clocks of a crossbar, or flits of a link, that it occupies */
    uint32_t bytes;  /* bytes of data */
    uint32_t sink;   /* number of the virtual channel's sink */
};

/* A ring buffer, first in, first out. */
struct net_queue {
    struct net_message *ring;
    uint32_t first, count, size;
};

static inline uint32_t net_data_bytes(const struct mem_request *request)
{
    enum { WORD = 4 };
    return request->packed ? WORD * (uint32_t)__builtin_popcountll(request->mask) : request->size;
}

/* Bytes of data in a request and in its response. Maintenance has no data, and the response to an upgrade is only a grant. A
 * command carries its size both ways; the part that answers it sets the size of the response. */
static inline uint32_t net_request_bytes(const struct mem_request *request)
{
    return request->op == MEM_WRITE || request->op == MEM_COMMAND ? net_data_bytes(request) : 0;
}

static inline uint32_t net_response_bytes(const struct mem_request *request)
{
    const bool brings = request->op == MEM_READ && !request->upgrade;
    return brings || request->op == MEM_COMMAND ? net_data_bytes(request) : 0;
}

/* Makes an empty queue for `size` messages; aborts when out of memory. Release it with net_queue_free(). */
static inline void net_queue_init(struct net_queue *queue, uint32_t size)
{
    *queue = (struct net_queue){.ring = alloc(size, sizeof *queue->ring), .size = size};
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

/* The message at a place, counted from the oldest. */
static inline struct net_message *net_queue_at(const struct net_queue *queue, uint32_t place)
{
    uint32_t at = queue->first + place;
    return &queue->ring[at < queue->size ? at : at - queue->size];
}

/* Adds a message; the queue must not be full. Raises *peak to the queue's length if that is larger. */
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
