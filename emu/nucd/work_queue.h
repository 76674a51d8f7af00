/* A work queue in lines: transfers go in whole, packets come out. */
#ifndef EMU_NUCD_WORK_QUEUE_H
#define EMU_NUCD_WORK_QUEUE_H

#include "emu/nucd/packet.h"

/* A ring of words. Packets lie behind each other and can cross lines; each transfer begins at a line. */
struct work_queue {
    uint64_t *words;
    uint32_t lines;       /* of the ring */
    uint32_t first, used; /* in words; used counts from the line in which `first` lies */
};

/* False when the host has no memory. Release with work_queue_free(). */
bool work_queue_init(struct work_queue *queue, uint32_t lines);
void work_queue_free(struct work_queue *queue);
void work_queue_clear(struct work_queue *queue);

/* Lines that are free. */
uint32_t work_queue_free_lines(const struct work_queue *queue);

/* Adds count words, padded with zeros to whole lines; false when there is no room. */
bool work_queue_push(struct work_queue *queue, const uint64_t *words, uint32_t count);

/* What work_queue_take() found. */
enum work_queue_result { WORK_QUEUE_EMPTY, WORK_QUEUE_PACKET, WORK_QUEUE_GARBAGE };

/* Takes the oldest packet. GARBAGE: what stands there cannot be a packet; its line was dropped. *freed: the
 * lines that are free again. */
enum work_queue_result work_queue_take(struct work_queue *queue, struct nucd_packet *packet, uint32_t *freed);

/* Whether anything is queued. */
static inline bool work_queue_waits(const struct work_queue *queue)
{
    return queue->used > 0;
}

#endif
