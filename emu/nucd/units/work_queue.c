#include "emu/nucd/units/work_queue.h"

#include <assert.h>
#include <stdlib.h>

bool work_queue_init(struct work_queue *queue, uint32_t lines)
{
    *queue = (struct work_queue){.words = calloc(lines, NUCD_LINE), .lines = lines};
    return queue->words != NULL;
}

void work_queue_free(struct work_queue *queue)
{
    free(queue->words);
    queue->words = NULL;
}

void work_queue_clear(struct work_queue *queue)
{
    queue->first = queue->used = 0;
}

static uint32_t ring_words(const struct work_queue *queue)
{
    return queue->lines * NUCD_LINE_WORDS;
}

static uint32_t lines_used(const struct work_queue *queue)
{
    return nucd_words_lines(queue->first % NUCD_LINE_WORDS + queue->used);
}

uint32_t work_queue_free_lines(const struct work_queue *queue)
{
    return queue->used == 0 ? queue->lines : queue->lines - lines_used(queue);
}

static uint64_t *word_at(const struct work_queue *queue, uint32_t i)
{
    return &queue->words[(queue->first + i) % ring_words(queue)];
}

bool work_queue_push(struct work_queue *queue, const uint64_t *words, uint32_t count)
{
    assert(count > 0);
    uint32_t padded = nucd_words_lines(count) * NUCD_LINE_WORDS;
    if (nucd_words_lines(count) > work_queue_free_lines(queue))
        return false;
    for (uint32_t i = 0; i < padded; i++)
        *word_at(queue, queue->used + i) = i < count ? words[i] : 0;
    queue->used += padded;
    return true;
}

/* Removes words from the front. Adds the number of lines that this frees to *freed. */
static void pass(struct work_queue *queue, uint32_t words, uint32_t *freed)
{
    *freed += (queue->first % NUCD_LINE_WORDS + words) / NUCD_LINE_WORDS;
    queue->first = (queue->first + words) % ring_words(queue);
    queue->used -= words;
}

static void pass_line(struct work_queue *queue, uint32_t *freed)
{
    pass(queue, NUCD_LINE_WORDS - queue->first % NUCD_LINE_WORDS, freed);
}

enum work_queue_result work_queue_take(struct work_queue *queue, struct nucd_packet *packet, uint32_t *freed)
{
    *freed = 0;
    if (queue->used == 0)
        return WORK_QUEUE_EMPTY;
    uint64_t words[NUCD_PACKET_WORDS];
    unsigned length = nucd_packet_length(*word_at(queue, 0));
    if (length == 0 || length > queue->used) {
        pass_line(queue, freed);
        return WORK_QUEUE_GARBAGE;
    }
    for (unsigned i = 0; i < length; i++)
        words[i] = *word_at(queue, i);
    nucd_packet_read(words, packet);
    pass(queue, length, freed);
    /* If the rest of the line is padding, remove it with the packet. */
    if (queue->first % NUCD_LINE_WORDS != 0 && queue->used > 0 && !(*word_at(queue, 0) & 1))
        pass_line(queue, freed);
    return WORK_QUEUE_PACKET;
}
