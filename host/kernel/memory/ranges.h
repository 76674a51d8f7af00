/* The program's ranges, in the table that accelerators read too (isa/include/croft/range.h). */
#ifndef HOST_KERNEL_MEMORY_RANGES_H
#define HOST_KERNEL_MEMORY_RANGES_H

#include "host/kernel/kernel.h"

/* The permissions include CROFT_RANGE_PRESENT. */
extern struct croft_range_table ranges;

/* Counts the changes that may have removed ranges or permissions. After such a change, caches of entries must
 * be flushed. */
extern uint64_t ranges_taken;

/* Returns the index of the first range that ends above the address; ranges.count when there is none. */
size_t ranges_from(uint64_t address);

/* Returns the range that contains the address, or NULL. */
const struct croft_range *ranges_find(uint64_t address);

/* Returns true if ranges cover all of [first, end) and each has all of `permissions`. */
bool ranges_cover(uint64_t first, uint64_t end, uint32_t permissions);

/* Returns true if the table has room for two more entries, the most that any function below adds. */
bool ranges_have_room(void);

/* Adds a range that overlaps no other, and merges it with adjacent ranges that it continues. */
void ranges_insert(struct croft_range range);

/* Splits the range that contains the address so that a range begins there. */
void ranges_split(uint64_t address);

/* Removes an entry. */
void ranges_erase(size_t index);

/* Marks [first, end) as present. Contiguous ranges whose pages are all mapped must cover it. */
void ranges_present(uint64_t first, uint64_t end);

/* Replaces the permissions of the ranges in [first, end): a set of bits in CROFT_RANGE_ACCESS. Ranges must
 * cover all of it. */
void ranges_permit(uint64_t first, uint64_t end, uint32_t permissions);

static inline uint64_t range_end(const struct croft_range *range)
{
    return range->base + range->size;
}

#endif
