/* A table of address ranges: what accelerators translate a program's addresses by (isa/MANUAL.md, "Range-based
 * translation"; NUCD paper, section IV-B). The host's kernel writes it, each accelerator's walker reads it. */
#ifndef CROFT_RANGE_H
#define CROFT_RANGE_H

#include <stdint.h>

/* A set of these is what a range allows, and what is true of it. */
enum {
    CROFT_RANGE_READ = 1,
    CROFT_RANGE_WRITE = 2,
    CROFT_RANGE_EXECUTE = 4,
    CROFT_RANGE_PRESENT = 8, /* all of its pages hold the program's bytes: accelerators may use it */
};
#define CROFT_RANGE_ACCESS 7u /* the first three */

/* In place of the physical address: the range is not contiguous, and no walker translates by it. */
#define CROFT_RANGE_PAGED UINT64_MAX

/* Byte i of the range, of virtual address base + i, is at physical address physical + i. All three are multiples of
 * 4096, and size is not 0. */
struct croft_range {
    uint64_t base, size;
    uint64_t physical;    /* or CROFT_RANGE_PAGED */
    uint32_t permissions; /* set of CROFT_RANGE_... */
    uint32_t use;         /* the kernel's own; walkers ignore it */
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
