/* A DMA engine beside a scratchpad (isa/MANUAL.md, chapter Stash): copies a tile of global memory into a block's local memory
 * and back. The tile is described as for a map of the stash (croft/stash.h); `coherent` has no meaning.
 *
 *     const struct croft_stash_map tile = croft_stash_tile_of(0, p->particles + block_x() * 256, x, .objects = 256);
 *     float *x = simt_shared();
 *     croft_dma_load(&tile);
 *     x[thread_x()] += p->distance;
 *     croft_dma_store(&tile);
 *
 * All threads of the block that have not ended call each of the two, with equal descriptors; they wait for one another before
 * the copy begins and until it has ended. On multiprocessors without the engine and where kernels run on the scalar core, the
 * threads copy the tile themselves. */
#ifndef CROFT_DMA_H
#define CROFT_DMA_H

#include <croft/stash.h>

/* Copy a tile into local memory, and from there to global memory. */
#define croft_dma_load(map)  croft_dma_operate(0, (map), CROFT_STASH_SITE)
#define croft_dma_store(map) croft_dma_operate(1, (map), CROFT_STASH_SITE)

/* Returns whether the thread's multiprocessor has the engine. */
CROFT_SIMT_CONSTANT(croft_dma_present, CROFT_SIMT_DMA, "0")

/* Implementation. */

/* What croft_dma_software() (host/stash) is asked to do. */
struct croft_dma_call {
    const struct croft_stash_map *map;
    const struct croft_stash_site *site;
    uint32_t store; /* 1: dma.store, 0: dma.load */
};

CROFT_SIMT_INLINE void croft_dma_operate(uint32_t store, const struct croft_stash_map *map,
                                         const struct croft_stash_site *site)
{
    CROFT_STASH_CHECK_ENVIRONMENT();
    if (!croft_dma_present()) {
        struct croft_dma_call call = {map, site, store};
        register struct croft_dma_call *argument __asm__("a0") = &call;
        __asm__ volatile("call t0, croft_dma_software" : : "r"(argument) : "t0", "memory");
        return;
    }
    simt_barrier();
    if (store)
        __asm__ volatile(".insn r 0x2b, 3, 0, x0, %0, x0" : : "r"(map) : "memory");
    else
        __asm__ volatile(".insn r 0x2b, 2, 0, x0, %0, x0" : : "r"(map) : "memory");
}

#endif
