/* The memory allocation table (TOM 4.3): the ranges that the program has allocated, and how often candidates access each. */
#ifndef EMU_TOM_MAPPING_ALLOCATIONS_H
#define EMU_TOM_MAPPING_ALLOCATIONS_H

#include <stdbool.h>
#include <stdint.h>

enum {
    TOM_RANGES = 100, /* TOM 6.6 */
    TOM_RANGE_LEAST = 4096,
};

struct tom_range {
    uint64_t base, bytes; /* program addresses */
    uint64_t accesses;    /* requests of candidates to the range */
    uint64_t bit;         /* lowest bit of the stack's number in the range's map; 0: the machine's own map */
};

struct tom_allocations {
    struct tom_range ranges[TOM_RANGES];
    unsigned count;
    uint64_t left_out; /* ranges for which there was no room */
};

/* Adds a range of at least TOM_RANGE_LEAST bytes. Ignores smaller ranges and ranges that begin in another one, and does not
 * count them in `left_out`. Returns false if the table is full. */
bool tom_allocations_add(struct tom_allocations *table, uint64_t base, uint64_t bytes);

/* Removes the range that begins at `base`, if there is one. */
void tom_allocations_remove(struct tom_allocations *table, uint64_t base);

/* Returns the range that holds the address, or NULL. */
struct tom_range *tom_allocations_find(struct tom_allocations *table, uint64_t address);

#endif
