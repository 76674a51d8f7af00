/* Arrays as a GPU's allocator places them: a warp's aligned access to adjacent words has one line. */
#ifndef NUPIM_ALIGNED_H
#define NUPIM_ALIGNED_H

#include "kernel.h"

enum { ALIGNMENT = 256 };

/* Returns zeroed memory for `count` objects of `size` bytes, which is never freed. */
static inline void *aligned_memory(long count, size_t size)
{
    uintptr_t memory = (uintptr_t)kernel_memory(count * (long)size + ALIGNMENT, 1);
    return (void *)((memory + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT);
}

#endif
