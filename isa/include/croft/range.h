/* A table of the program's address ranges: what is contiguous in virtual and in physical memory. Accelerators translate
 * by it instead of by pages (isa/MANUAL.md, "Range-based translation"; NUCD paper, section IV-B). The host's kernel
 * writes it, each accelerator's walker reads it. In --env kernel it is in the kernel's data, physically contiguous;
 * DOOR_START says where (door.h). */
#ifndef CROFT_RANGE_H
#define CROFT_RANGE_H

#include <stdint.h>

/* What a range is for. */
enum croft_range_use { CROFT_USE_PROGRAM, CROFT_USE_BREAK, CROFT_USE_MAP, CROFT_USE_STACK };

/* A set of these is what a range allows, and what is true of it. */
enum {
    CROFT_RANGE_READ = 1,
    CROFT_RANGE_WRITE = 2,
    CROFT_RANGE_EXECUTE = 4,
    /* All of its pages are there and hold the program's bytes: accelerators may use it. In a range that is only listed,
     * a page that the program has not touched yet is not in the page tables; the host takes that fault (section IV-B:
     * "If a page is not loaded in memory, the fault is taken in the host core"). */
    CROFT_RANGE_PRESENT = 8,
};
#define CROFT_RANGE_ACCESS 7u /* the first three */

/* In place of the physical address: the range's pages lie anywhere, so that only the page tables translate it. Comes
 * about when memory has no hole of its size left, and for mappings without any access. */
#define CROFT_RANGE_PAGED UINT64_MAX

/* Byte i of the range, of virtual address base + i, is at physical address physical + i. All three are multiples of
 * 4096, and size is not 0. */
struct croft_range {
    uint64_t base, size;
    uint64_t physical;    /* or CROFT_RANGE_PAGED */
    uint32_t permissions; /* set of CROFT_RANGE_... */
    uint32_t use;         /* enum croft_range_use; walkers ignore it */
};

enum { CROFT_RANGES_MAX = 1024 };

/* Aligned to 64 bytes, so that no entry reaches over a cache line. */
struct croft_range_table {
    uint64_t changes; /* counts them: one more before and one more behind each, so that it is odd meanwhile */
    uint64_t count;
    uint64_t reserved[2];
    struct croft_range entries[CROFT_RANGES_MAX]; /* by ascending base, disjoint */
};

#endif
