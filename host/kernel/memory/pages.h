/* Allocator of physical pages and contiguous runs of them. */
#ifndef HOST_KERNEL_MEMORY_PAGES_H
#define HOST_KERNEL_MEMORY_PAGES_H

#include "host/kernel/kernel.h"

/* Initially, [boot->used_end, boot->memory_base + boot->memory_size) is free. */
void pages_init(const struct kernel_boot *boot);

/* Takes `count` pages starting at a physical address. False if any of them is not free. */
bool pages_take_at(uint64_t physical, uint64_t count);

/* Takes the highest run of `count` (not 0) free pages. Returns its physical address, or 0 when there is
 * none. */
uint64_t pages_take(uint64_t count);

/* Frees pages. */
void pages_free(uint64_t physical, uint64_t count);

/* Returns the kernel's address of a byte of physical memory. */
void *pages_at(uint64_t physical);

/* Fills a page with zeros. */
void pages_zero(uint64_t physical);

#endif
