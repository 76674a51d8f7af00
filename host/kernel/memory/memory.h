/* The program's memory: page faults, and the calls that change mappings. These return the call's result or
 * -errno.
 *
 * Addresses follow the rules of emu/env/guest/heap.h, so that a program gets the same addresses in both
 * environments: the break grows upwards from its start, and mappings are placed as high as possible. Below
 * the stack is a gap that is never mapped. */
#ifndef HOST_KERNEL_MEMORY_MEMORY_H
#define HOST_KERNEL_MEMORY_MEMORY_H

#include "host/kernel/kernel.h"

/* Creates the ranges of the loaded program and maps the pages that hold data. False when memory is too
 * small. */
bool memory_init(const struct kernel_boot *boot);

enum memory_result {
    MEMORY_READY,  /* the page is mapped and allows the access */
    MEMORY_DENIED, /* the program may not make this access */
    MEMORY_FULL,   /* no page is free */
};

/* Serves a page fault; permission is one CROFT_RANGE_* bit. */
enum memory_result memory_fault(uint64_t address, uint32_t permission);

/* Like memory_fault(), for all pages of [address, address + size). size is not 0. */
enum memory_result memory_touch(uint64_t address, uint64_t size, uint32_t permission);

/* Makes the parts of ranges in [first, end) present (range.h), for devices that translate by ranges. Skips
 * addresses in no range and ranges without permissions. MEMORY_DENIED: a part is not physically contiguous;
 * all other parts are present. */
enum memory_result memory_present(uint64_t first, uint64_t end);

int64_t memory_break(uint64_t address);
int64_t memory_map(const uint64_t a[6]);               /* mmap: anonymous, at any address */
int64_t memory_unmap(uint64_t address, uint64_t size); /* munmap: mappings only */
int64_t memory_remap(const uint64_t a[6]);             /* mremap */
int64_t memory_protect(uint64_t address, uint64_t size, uint64_t permissions); /* mprotect */

#endif
