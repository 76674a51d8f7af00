/* The time of a DMA engine: requests for the lines of tiles, past the first-level cache.
 *
 * Transfers are made in the order of dma_engine_begin(). `setup` clocks after its begin, a transfer's lines are requested, one a
 * clock, while fewer than `requests` are under way; the next transfer's follow at once. A line that the tile comes back to after
 * another one is requested again. A transfer ends when all its lines are answered. */
#ifndef EMU_STASH_DMA_ENGINE_H
#define EMU_STASH_DMA_ENGINE_H

#include "emu/hart/custom.h"
#include "emu/mem/request.h"

/* Words of a line: bit w of the mask is word w of 4 bytes. */
struct dma_line {
    uint64_t line, mask;
};

/* The owner sets the fields up to `done`, and keeps the transfer until that is called. */
struct dma_transfer {
    bool store;             /* to global memory */
    struct dma_line *lines; /* count > 0 */
    uint32_t count;
    void (*done)(struct dma_transfer *transfer, uint64_t now);
    struct dma_transfer *next;
    struct event event;
    struct dma_engine *engine;
    uint64_t first; /* time from which its lines may be sent */
    uint32_t sent, answered;
};

struct dma_engine_parts {
    struct event_queue *queue;
    uint32_t component;
    uint16_t requester;
    struct clock clock;
    uint32_t setup, requests;
    bool packed; /* requests carry the words of their masks alone */
    /* The multiprocessor's, whose port is known when the first transfer begins. */
    const struct mem_link *link;
    /* The engine is at work from now on, or no longer. NULL: nobody asks. */
    void (*busy)(void *context, bool busy, uint64_t now);
    void *context;
};

struct dma_counters {
    uint64_t loads, stores; /* transfers */
    uint64_t reads, writes; /* requests */
    uint64_t words_read, words_written;
    uint64_t time; /* fs in which the engine had transfers */
};

struct dma_engine *dma_engine_new(const struct dma_engine_parts *parts);
void dma_engine_free(struct dma_engine *engine);
/* Begins a transfer at a time that may be ahead of the queue's. */
void dma_engine_begin(struct dma_engine *engine, struct dma_transfer *transfer, uint64_t time);
const struct dma_counters *dma_engine_counted(const struct dma_engine *engine);

#endif
