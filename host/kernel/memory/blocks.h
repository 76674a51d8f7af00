/* Cache-block operations (Zicbom) on the program's memory. */
#ifndef HOST_KERNEL_MEMORY_BLOCKS_H
#define HOST_KERNEL_MEMORY_BLOCKS_H

#include "host/kernel/kernel.h"

enum blocks_operation { BLOCKS_INVAL, BLOCKS_CLEAN, BLOCKS_FLUSH };

/* Applies the operation to all blocks of [first, end), program addresses, that lie in contiguous, present
 * ranges. Skips other blocks. first and end are multiples of the block size. */
void blocks_apply(enum blocks_operation operation, uint64_t first, uint64_t end);

/* Cleans the cache blocks of the range table if it has changed since the last call, for walkers that are not
 * coherent with the caches. */
void blocks_clean_ranges(void);

/* Orders all earlier memory and device accesses before all later ones. */
static inline void blocks_order(void)
{
    __asm__ volatile("fence iorw, iorw" : : : "memory");
}

#endif
