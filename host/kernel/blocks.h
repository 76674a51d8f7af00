/* Cache blocks of the program's memory, by Zicbom. */
#ifndef HOST_KERNEL_BLOCKS_H
#define HOST_KERNEL_BLOCKS_H

#include "host/kernel/kernel.h"

enum blocks_operation { BLOCKS_INVAL, BLOCKS_CLEAN, BLOCKS_FLUSH };

/* Does it to all blocks of [first, end), addresses of the program, where these are in contiguous ranges that are
 * present; other blocks are left out. The ends are multiples of a block. */
void blocks_apply(enum blocks_operation operation, uint64_t first, uint64_t end);

/* Cleans those of the table of ranges if it has changed since, for walkers outside of the caches' coherence. */
void blocks_clean_ranges(void);

/* What was done so far holds for all that follows, devices included. */
static inline void blocks_order(void)
{
    __asm__ volatile("fence iorw, iorw" : : : "memory");
}

#endif
