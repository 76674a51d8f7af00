/* Pages shared by blocks of threads, found in a memory trace (access_trace.h), as the NUPIM paper measures them (section IV-B):
 * a kernel's PS_avg is the number of its blocks that access a page, averaged over its pages; PS_max is the greatest number of
 * blocks that access one page. Over several launches, PS_avg is weighted by their memory instructions. The functions also tell
 * how often each multiprocessor accesses each page. */
#ifndef EMU_SIMT_TRACE_SHARING_H
#define EMU_SIMT_TRACE_SHARING_H

#include <stddef.h>

#include "emu/simt/trace/access_trace.h"

struct sharing;

/* The requests that count. */
struct sharing_setup {
    uint64_t page;        /* bytes, a power of two */
    uint64_t first, last; /* first and last physical address that counts */
    bool stacks;          /* requests to thread stacks count, too */
};

/* Never NULL; aborts when out of memory. Free it with sharing_free(), which accepts NULL. */
struct sharing *sharing_new(const struct sharing_setup *setup);
void sharing_free(struct sharing *sharing);

/* Adds the next record of a trace. */
void sharing_add(struct sharing *sharing, const struct access_record *record);

/* A launch. instructions: instructions of its warps that access memory. pages: pages that its blocks access. shared: sum over
 * these pages of the blocks that access each; most: the greatest number of blocks of a page. */
struct sharing_launch {
    uint32_t launch, blocks;
    uint64_t kernel; /* address of its first instruction */
    uint64_t instructions, pages, shared, most;
};

/* Return the launches in ascending order, and their number in *count. They belong to `sharing`, until the next sharing_add(). */
const struct sharing_launch *sharing_launches(struct sharing *sharing, size_t *count);

/* Returns the number of pages that any launch accesses. */
uint64_t sharing_pages(struct sharing *sharing);

/* How often a block accesses a page in a launch, or a multiprocessor in all launches. */
struct sharing_touch {
    uint64_t page;       /* its address */
    uint32_t launch, by; /* `by`: number of the block or multiprocessor */
    uint64_t requests;
};

/* Return the touches of blocks in ascending order of launch, page and block, or those of multiprocessors, whose launch is 0, in
 * ascending order of page and multiprocessor. They belong to `sharing`, until the next sharing_add(). */
const struct sharing_touch *sharing_blocks(struct sharing *sharing, size_t *count);
const struct sharing_touch *sharing_multiprocessors(struct sharing *sharing, size_t *count);

#endif
