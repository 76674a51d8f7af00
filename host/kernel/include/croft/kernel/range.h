/* The kernel's table of the program's address ranges: what is contiguous in virtual and in physical memory,
 * for those who translate by ranges instead of by pages (NUCD, section IV-B: "range-based translation"). */
#ifndef CROFT_KERNEL_RANGE_H
#define CROFT_KERNEL_RANGE_H

#include <stdint.h>

/* A set of these is what a range allows. */
enum { CROFT_RANGE_READ = 1, CROFT_RANGE_WRITE = 2, CROFT_RANGE_EXECUTE = 4 };

/* What a range is for. */
enum croft_range_use { CROFT_USE_PROGRAM, CROFT_USE_BREAK, CROFT_USE_MAP, CROFT_USE_STACK };

/* In place of the physical address: this range's pages lie anywhere, so that it can only be translated by the
 * page tables. Comes about when memory has no hole of its size left, and for mappings without any access. */
#define CROFT_RANGE_PAGED UINT64_MAX

/* Byte i of the range, of virtual address base + i, is at physical address physical + i. All fields but the
 * permissions and the use are multiples of 4096. That a range is listed means that this translation holds
 * once a page is there: a page that the program has not touched yet is not in the page tables and does not
 * read as zero; the host takes that fault (section IV-B: "If a page is not loaded in memory, the fault is
 * taken in the host core"). */
struct croft_range {
    uint64_t base, size;  /* in bytes; size is not 0 */
    uint64_t physical;    /* or CROFT_RANGE_PAGED */
    uint32_t permissions; /* set of CROFT_RANGE_*, or 0 */
    uint32_t use;         /* enum croft_range_use */
};

enum { CROFT_RANGES_MAX = 1024 };

/* In the kernel's data, physically contiguous; the door's DOOR_START tells where (door.h). */
struct croft_range_table {
    uint64_t changes; /* counts every change: who keeps a copy of an entry compares */
    uint64_t count;
    struct croft_range entries[CROFT_RANGES_MAX]; /* by ascending base, disjoint */
};

#endif
