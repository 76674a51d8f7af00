/* The program's ranges, in the table that others may read (isa/include/croft/range.h). */
#ifndef HOST_KERNEL_RANGES_H
#define HOST_KERNEL_RANGES_H

#include "host/kernel/kernel.h"

/* Its permissions say CROFT_RANGE_PRESENT too. */
extern struct croft_range_table ranges;

/* Counts how often ranges or permissions may have been taken away: who keeps entries has to forget them. */
extern uint64_t ranges_taken;

/* The index of the first range that ends above an address; ranges.count when there is none. */
size_t ranges_from(uint64_t address);

/* The range that holds an address, or NULL. */
const struct croft_range *ranges_find(uint64_t address);

/* Whether all of [first, end) is in ranges, and each allows all of `permissions`. */
bool ranges_cover(uint64_t first, uint64_t end, uint32_t permissions);

/* Whether the table has room for two more entries: what any of the functions below needs at most. */
bool ranges_have_room(void);

/* Adds a range that overlaps no other, and joins it with what it continues. */
void ranges_insert(struct croft_range range);

/* Sees to it that no range reaches over an address. */
void ranges_split(uint64_t address);

/* Removes an entry. */
void ranges_erase(size_t index);

/* Notes that all pages of [first, end), which is covered by contiguous ranges, are there. */
void ranges_present(uint64_t first, uint64_t end);

/* Gives the ranges of [first, end), all of which is covered, other permissions: a set of those in CROFT_RANGE_ACCESS. */
void ranges_permit(uint64_t first, uint64_t end, uint32_t permissions);

static inline uint64_t range_end(const struct croft_range *range)
{
    return range->base + range->size;
}

#endif
