/* The guest addresses between a program's end and its stack: the program break and anonymous mappings. */
#ifndef EMU_ENV_HEAP_H
#define EMU_ENV_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/mem/phys.h"

enum { GUEST_PAGE = 4096 };

struct heap_range {
    uint64_t first, end; /* multiples of GUEST_PAGE; end excluded */
};

/* The break grows upwards from `start`, mappings are placed downwards from `top`. */
struct heap {
    const struct phys *memory;
    uint64_t start, end_of_data, top;
    struct heap_range *maps; /* ascending, disjoint, not adjacent */
    size_t count, room;
};

/* Prepares the heap in [program_end rounded up to a page, top rounded down); memory must outlive it. */
void heap_init(struct heap *heap, const struct phys *memory, uint64_t program_end, uint64_t top);
void heap_free(struct heap *heap);

/* brk(2) as the kernel does it: sets the break if address is possible, and returns the break that then holds.
 */
uint64_t heap_break(struct heap *heap, uint64_t address);

/* Maps length bytes (rounded up to pages) that read as zero, at the highest place that is free. Returns the
 * address, or 0 when there is no room. */
uint64_t heap_map(struct heap *heap, uint64_t length);

/* Unmaps what is mapped of [address, address + length); returns false if address is no page's or the range is
 * not within the heap. The bytes read as zero afterwards. */
bool heap_unmap(struct heap *heap, uint64_t address, uint64_t length);

/* Whether all of [address, address + length) is mapped. */
bool heap_is_mapped(const struct heap *heap, uint64_t address, uint64_t length);

#endif
