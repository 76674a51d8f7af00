/* The program's memory: page faults, and the calls that change what is mapped. Results are the call's, or
 * -errno.
 *
 * The rules for addresses are those of emu/env/heap.h, so that a program sees the same ones in both
 * environments: the break grows upwards from its start, mappings are placed as high as there is room. Beneath
 * the stack lies a gap in which nothing is ever mapped. */
#ifndef HOST_KERNEL_MEMORY_H
#define HOST_KERNEL_MEMORY_H

#include "host/kernel/kernel.h"

/* Makes the ranges of the loaded program, with the pages that hold bytes. False when memory is too small. */
bool memory_init(const struct kernel_boot *boot);

enum memory_result {
    MEMORY_READY,  /* the page is there and allows the access */
    MEMORY_DENIED, /* the program may not do that */
    MEMORY_FULL,   /* no page is left */
};

/* Deals with a page fault; permission is one CROFT_RANGE_*. */
enum memory_result memory_fault(uint64_t address, uint32_t permission);

/* Does the same for all pages of [address, address + size), size not 0. */
enum memory_result memory_touch(uint64_t address, uint64_t size, uint32_t permission);

/* Makes ranges present (range.h) where they meet [first, end), for those who translate by ranges; what is in no range, or
 * allows nothing, is left out. MEMORY_DENIED: some of it is not contiguous in physical memory; the rest is done. */
enum memory_result memory_present(uint64_t first, uint64_t end);

int64_t memory_break(uint64_t address);
int64_t memory_map(const uint64_t a[6]);               /* mmap: anonymous only, and anywhere */
int64_t memory_unmap(uint64_t address, uint64_t size); /* munmap: mappings only */
int64_t memory_remap(const uint64_t a[6]);             /* mremap */
int64_t memory_protect(uint64_t address, uint64_t size, uint64_t permissions); /* mprotect */

#endif
