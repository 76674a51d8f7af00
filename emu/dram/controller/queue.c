#include "emu/dram/controller/queue.h"

#include <stdlib.h>
#include <string.h>

#include "emu/sim/alloc.h"

void dram_queue_init(struct dram_queue *queue, const struct dram_config *config)
{
    memset(queue, 0, sizeof *queue);
    queue->limit[DRAM_READS] = config->read_queue;
    queue->limit[DRAM_WRITES] = config->write_queue;
    uint32_t count = config->read_queue + config->write_queue;
    queue->pool = alloc(count, sizeof *queue->pool);
    for (uint32_t i = count; i-- > 0;) {
        queue->pool[i].next = queue->free;
        queue->free = &queue->pool[i];
    }
}

void dram_queue_free(struct dram_queue *queue)
{
    free(queue->pool);
    queue->pool = NULL;
}

uint64_t dram_queue_rebase(struct dram_queue *queue, uint64_t oldest)
{
    oldest = oldest < queue->age ? oldest : queue->age;
    for (uint32_t i = 0; i < DRAM_DIRECTIONS * DRAM_BANKS; i++) {
        const struct dram_burst *first = queue->lists[i / DRAM_BANKS][i % DRAM_BANKS].first;
        if (first && first->age < oldest)
            oldest = first->age;
    }
    for (uint32_t i = 0; i < DRAM_DIRECTIONS * DRAM_BANKS; i++) {
        struct dram_burst *burst = queue->lists[i / DRAM_BANKS][i % DRAM_BANKS].first;
        for (; burst; burst = burst->next)
            burst->age -= oldest;
    }
    queue->age -= oldest;
    return oldest;
}

static bool same_burst(const struct dram_burst *a, const struct dram_burst *b)
{
    return a->row == b->row && a->column == b->column;
}

bool dram_queue_forwards(const struct dram_queue *queue, const struct dram_burst *read)
{
    bool covered = false;
    for (const struct dram_burst *write = queue->lists[DRAM_WRITES][read->bank].first; write;
         write = write->next) {
        if (!same_burst(write, read) || write->last < read->first || write->first > read->last)
            continue;
        covered = write->whole && write->first <= read->first && write->last >= read->last;
    }
    return covered;
}

bool dram_queue_merges(struct dram_queue *queue, const struct dram_burst *write)
{
    struct dram_burst *old = queue->lists[DRAM_WRITES][write->bank].first;
    while (old && !same_burst(old, write))
        old = old->next;
    if (!old)
        return false;
    if (old->whole && old->first <= write->first && old->last >= write->last)
        return true;
    if (!write->whole || write->first > old->first || write->last < old->last)
        return false;
    old->first = write->first;
    old->last = write->last;
    old->whole = true;
    return true;
}
