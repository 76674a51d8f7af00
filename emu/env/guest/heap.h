/* Guest addresses between a program's end and its stack: the program break and anonymous mappings. */
#ifndef EMU_ENV_GUEST_HEAP_H
#define EMU_ENV_GUEST_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/mem/phys.h"

enum { GUEST_PAGE = 4096 };

struct heap_range {
    uint64_t first, end; /* multiples of GUEST_PAGE; end excluded */
};

/* The break grows upward from `start`; mappings are placed downward from `top`. */
struct heap {
    const struct phys *memory;
    uint64_t start, end_of_data, top;
    struct heap_range reserved; /* neither break nor mappings get it; end 0: none */
    struct heap_range *maps;    /* ascending, disjoint, not adjacent */
    size_t count, room;
};

/* Prepares the heap in [program_end rounded up to a page, top rounded down to a page). memory must outlive
 * it. */
void heap_init(struct heap *heap, const struct phys *memory, uint64_t program_end, uint64_t top);
void heap_free(struct heap *heap);

/* Keeps the break and all mappings out of a range above the program. Call it once, before anything is mapped. */
void heap_reserve(struct heap *heap, struct heap_range range);

/* Sets the break to address if possible, like the kernel's brk(2), and returns the resulting break. */
uint64_t heap_break(struct heap *heap, uint64_t address);

/* Maps length bytes (rounded up to pages) that read as zero at the highest free place. Returns the address,
 * or 0 if there is no room. */
uint64_t heap_map(struct heap *heap, uint64_t length);

/* Unmaps all mapped parts of [address, address + length); they then read as zero. Returns false if address is
 * not a multiple of a page or the range is not within the heap. */
bool heap_unmap(struct heap *heap, uint64_t address, uint64_t length);

/* Returns whether all of [address, address + length) is mapped. */
bool heap_is_mapped(const struct heap *heap, uint64_t address, uint64_t length);

#endif
