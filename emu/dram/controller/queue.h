/* The queues of a channel: bursts that wait for their column command, by bank and age. */
#ifndef EMU_DRAM_CONTROLLER_QUEUE_H
#define EMU_DRAM_CONTROLLER_QUEUE_H

#include <assert.h>

#include "emu/dram/map.h"
#include "emu/mem/request.h"
#include "emu/sim/list.h"

enum dram_direction { DRAM_READS, DRAM_WRITES, DRAM_DIRECTIONS };

/* One burst of a request. */
struct dram_burst {
    struct dram_burst *next; /* next younger burst of the same bank and direction */
    /* of a read: the request that waits; NULL for writes, which are answered when they are queued */
    struct mem_request *request;
    uint64_t age;
    uint32_t row, column;
    uint16_t first, last; /* range of the burst's bytes that is accessed */
    uint8_t bank;
    bool whole;  /* all bytes of the range are accessed */
    bool opened; /* the row was activated for this burst */
};

struct dram_queue {
    uint32_t count[DRAM_DIRECTIONS];
    uint32_t limit[DRAM_DIRECTIONS];
    struct dram_burst *free;
    uint64_t age; /* next age to assign; below 2^32 */
    struct dram_burst *pool;
    struct dram_list {
        struct dram_burst *first, *last;
    } lists[DRAM_DIRECTIONS][DRAM_BANKS];
};

/* Initializes queues for the configured numbers of bursts. Aborts if the host has no memory. Release them
 * with dram_queue_free(). */
void dram_queue_init(struct dram_queue *queue, const struct dram_config *config);
void dram_queue_free(struct dram_queue *queue);

static inline uint32_t dram_queue_room(const struct dram_queue *queue, enum dram_direction direction)
{
    return queue->limit[direction] - queue->count[direction];
}

/* Returns the entry for the next burst. The caller sets its fields except `next` and `age`. There must be
 * room. */
static inline struct dram_burst *dram_queue_spare(const struct dram_queue *queue)
{
    assert(queue->free);
    return queue->free;
}

/* Appends the burst of dram_queue_spare(), which must be younger than all others. */
static inline void dram_queue_add(struct dram_queue *queue, enum dram_direction direction, uint64_t age)
{
    assert(dram_queue_room(queue, direction) > 0);
    struct dram_burst *added = dram_queue_spare(queue);
    struct dram_list *list = &queue->lists[direction][added->bank];
    queue->free = added->next;
    added->age = age;
    LIST_APPEND(list->first, list->last, added, next);
    queue->count[direction]++;
}

/* Reduces all ages by that of the oldest burst, or by `oldest` if that is less. Returns the reduction. Call
 * it when the next age is UINT32_MAX. */
uint64_t dram_queue_rebase(struct dram_queue *queue, uint64_t oldest);

static inline void dram_queue_remove(struct dram_queue *queue, enum dram_direction direction,
                                     struct dram_burst *burst)
{
    struct dram_list *list = &queue->lists[direction][burst->bank];
    struct dram_burst *before = NULL;
    for (struct dram_burst *at = list->first; at != burst; at = at->next)
        before = at;
    if (before)
        before->next = burst->next;
    else
        list->first = burst->next;
    if (list->last == burst)
        list->last = before;
    burst->next = queue->free;
    queue->free = burst;
    queue->count[direction]--;
}

/* Returns the bank's oldest burst for that row, or NULL. */
static inline struct dram_burst *dram_queue_hit(const struct dram_queue *queue, enum dram_direction direction,
                                                uint32_t bank, uint32_t row)
{
    struct dram_burst *burst = queue->lists[direction][bank].first;
    while (burst && burst->row != row)
        burst = burst->next;
    return burst;
}

/* Returns whether a queued write has every byte of the read, and no younger write has some of them. */
bool dram_queue_forwards(const struct dram_queue *queue, const struct dram_burst *read);

/* Merges the write into a queued one, if possible. Returns whether it was merged, and so needs no entry of
 * its own. */
bool dram_queue_merges(struct dram_queue *queue, const struct dram_burst *write);

#endif
