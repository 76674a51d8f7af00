/* A work queue made of lines: whole transfers are added, single packets are removed. */
#ifndef EMU_NUCD_UNITS_WORK_QUEUE_H
#define EMU_NUCD_UNITS_WORK_QUEUE_H

#include "emu/nucd/packet.h"

/* A ring of words. Packets follow each other and can cross lines. Each transfer begins at a line. */
struct work_queue {
    uint64_t *words;
    uint32_t lines;       /* length of the ring */
    uint32_t first, used; /* in words; `used` counts from `first` */
};

/* Returns false when the host has no memory. Release the queue with work_queue_free(). */
bool work_queue_init(struct work_queue *queue, uint32_t lines);
void work_queue_free(struct work_queue *queue);
void work_queue_clear(struct work_queue *queue);

/* Returns the number of free lines. */
uint32_t work_queue_free_lines(const struct work_queue *queue);

/* Adds `count` words, padded with zeroes to whole lines. Returns false when there is no room. */
bool work_queue_push(struct work_queue *queue, const uint64_t *words, uint32_t count);

/* The result of work_queue_take(). */
enum work_queue_result { WORK_QUEUE_EMPTY, WORK_QUEUE_PACKET, WORK_QUEUE_GARBAGE };

/* Takes the oldest packet. Stores the number of lines freed to *freed. GARBAGE: the first word does not begin
 * a packet, and its line was dropped. */
enum work_queue_result work_queue_take(struct work_queue *queue, struct nucd_packet *packet, uint32_t *freed);

/* Returns whether anything is queued. */
static inline bool work_queue_waits(const struct work_queue *queue)
{
    return queue->used > 0;
}

#endif
