/* Allocations of accelerator memory, shared by the files of this directory. */
#ifndef HOST_AXRAM_MEMORY_H
#define HOST_AXRAM_MEMORY_H

#include <croft/axram_memory.h>
#include <stdbool.h>
#include <stdint.h>

struct axram_allocation {
    void *address;        /* in chip 0 */
    uint32_t half, block; /* of its first block: number of the half page in a chip, and in that */
    uint32_t step;        /* from one of its half pages to the next */
    uint32_t record;      /* blocks that stay in one half page */
    uint32_t blocks;      /* in each chip */
    unsigned values;      /* of each thread; 0: a network */
    uint64_t threads;
    uint64_t duplicated; /* bytes */
    struct axram_allocation *next;
};

/* Takes `count` records of `record` blocks, 1 to AXRAM_MOST_VALUES, in each chip, in even half pages or, with parity 1, in odd
 * ones. NULL: no room; axram_fail() was called. */
struct axram_allocation *axram_take(uint32_t record, uint64_t count, uint32_t parity);

/* Takes blocks that follow each other, for a network. */
struct axram_allocation *axram_take_network(uint32_t blocks);

/* Asks the machine for its geometry, once. False: no ordinary memory for tables; axram_fail() was called. */
bool axram_begin(void);

/* Returns the allocation at an address. NULL: there is none; axram_fail() was called with `who` as the caller. */
struct axram_allocation *axram_find(const void *address, const char *who);

/* Return the bytes that follow each other in a chip, and the chips of the machine. On Linux, a process has some of these, whose
 * pieces are a machine's turn apart. */
#ifdef __linux__
static inline uint64_t axram_piece(void)
{
    return (uint64_t)croft_axram_geometry.pairs * 2 * CROFT_AXRAM_HALF_PAGE;
}

static inline uint64_t axram_stride(void)
{
    return croft_axram_geometry.halves ? croft_axram_geometry.turn / axram_piece() : 0;
}
#else
static inline uint64_t axram_piece(void)
{
    return croft_axram_geometry.turn / croft_axram_geometry.chips;
}

static inline uint64_t axram_stride(void)
{
    return croft_axram_geometry.chips;
}
#endif

/* Sets errno and axram_error(). Returns -1. */
int axram_fail(int number, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
