/* The memory allocation table (TOM 4.3): the ranges that the program has allocated, and which of them candidates access. */
#ifndef EMU_TOM_ALLOCATIONS_H
#define EMU_TOM_ALLOCATIONS_H

#include <stdbool.h>
#include <stdint.h>

enum {
    TOM_RANGES = 100, /* TOM 6.6 */
    TOM_RANGE_LEAST = 4096,
};

struct tom_range {
    uint64_t base, bytes; /* program addresses */
    uint64_t accesses;    /* requests of candidates to it */
    uint64_t bit;         /* lowest bit of the stack's number in its map; 0: the base map */
};

struct tom_allocations {
    struct tom_range ranges[TOM_RANGES];
    unsigned count;
    uint64_t left_out; /* ranges for which there was no room */
};

/* Adds a range of at least TOM_RANGE_LEAST bytes; smaller ones, and those that begin in another one, are left out without
 * being counted. Returns false if the table is full. */
bool tom_allocations_add(struct tom_allocations *table, uint64_t base, uint64_t bytes);

/* Removes the range that begins there, if there is one. */
void tom_allocations_remove(struct tom_allocations *table, uint64_t base);

/* Returns the range that holds the address, or NULL. */
struct tom_range *tom_allocations_find(struct tom_allocations *table, uint64_t address);

#endif
