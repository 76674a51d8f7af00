/* A table of the program's address ranges, each contiguous in virtual and in physical memory. Accelerators translate by
 * it instead of by page tables (isa/MANUAL.md, "Range-based translation"; NUCD paper, section IV-B). The host's kernel
 * writes it; the accelerators' walkers read it. In --env kernel it is in the kernel's data, physically contiguous;
 * DOOR_START passes its address (door.h). */
#ifndef CROFT_RANGE_H
#define CROFT_RANGE_H

#include <stdint.h>

/* What a range is for; the break grows up to the first from CROFT_USE_MAP on. CROFT_USE_UNITS is the memory of accelerators (AxRAM),
 * at its physical address, which the program cannot unmap. */
enum croft_range_use { CROFT_USE_PROGRAM, CROFT_USE_BREAK, CROFT_USE_STACK, CROFT_USE_MAP, CROFT_USE_UNITS };

/* Permissions and state of a range. */
enum {
    CROFT_RANGE_READ = 1,
    CROFT_RANGE_WRITE = 2,
    CROFT_RANGE_EXECUTE = 4,
    /* All pages of the range are present and hold the program's bytes, so accelerators may use it. Without this bit,
     * pages that the program has not touched yet are not in the page tables; the host takes that fault (section IV-B:
     * "If a page is not loaded in memory, the fault is taken in the host core"). */
    CROFT_RANGE_PRESENT = 8,
};
#define CROFT_RANGE_ACCESS 7u /* READ | WRITE | EXECUTE */

/* In place of the physical address: the range's pages are not contiguous, so only the page tables translate it. Used if
 * memory has no hole of the range's size, and for mappings without any permission. */
#define CROFT_RANGE_PAGED UINT64_MAX

/* Byte i of the range, at virtual address base + i, is at physical address physical + i. All three are multiples of
 * 4096; size is not 0. */
struct croft_range {
    uint64_t base, size;
    uint64_t physical;    /* or CROFT_RANGE_PAGED */
    uint32_t permissions; /* set of CROFT_RANGE_... */
    uint32_t use;         /* enum croft_range_use; walkers ignore it */
};

enum { CROFT_RANGES_MAX = 1024 };

/* Aligned to 64 bytes, so that no entry crosses a cache line. */
struct croft_range_table {
    uint64_t changes; /* the writer adds 1 before and after each change: odd while the table is changing */
    uint64_t count;
    uint64_t reserved[2];
    struct croft_range entries[CROFT_RANGES_MAX]; /* by ascending base, disjoint */
};

#endif
