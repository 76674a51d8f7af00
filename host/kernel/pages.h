/* Physical memory in pages: which are free, and contiguous runs of them. */
#ifndef HOST_KERNEL_PAGES_H
#define HOST_KERNEL_PAGES_H

#include "host/kernel/kernel.h"

/* All of [boot->memory_base, + memory_size) is free, but for what lies below boot->used_end. */
void pages_init(const struct kernel_boot *boot);

/* Takes `count` pages from a physical address on, if all of them are free. */
bool pages_take_at(uint64_t physical, uint64_t count);

/* Takes the highest run of `count` (not 0) free pages. Returns its physical address, or 0 when there is none.
 */
uint64_t pages_take(uint64_t count);

/* Gives pages back. */
void pages_free(uint64_t physical, uint64_t count);

/* The kernel's address of a byte of physical memory. */
void *pages_at(uint64_t physical);

/* Zeroes a page. */
void pages_zero(uint64_t physical);

#endif
