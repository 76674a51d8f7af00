/* The state of the part kind `dma`, shared by dma.c (the kind) and instructions.c (function). */
#ifndef EMU_STASH_DMA_PART_H
#define EMU_STASH_DMA_PART_H

#include "emu/simt/cluster.h"
#include "emu/stash/dma/dma.h"
#include "emu/stash/dma/engine.h"
#include "isa/include/croft/stash_check.h"

/* The k-th copy of a block. */
struct dma_copy {
    struct dma_transfer transfer;
    struct croft_stash_map tile;
    bool ended;
    struct custom_waiter **waiters;
    uint32_t waiter_count;
};

/* A block that has copied, or a free place. */
struct dma_block {
    const uint8_t *bytes; /* of its scratchpad; NULL: free */
    struct dma_copy **copies;
    uint32_t copy_count;
    uint32_t *executed; /* by thread: dma instructions */
};

struct dma_core {
    struct dma_engine *engine;
    struct simt *simt;
    uint32_t line;
    struct simt_observer observer;
    struct dma_block *blocks;
    uint32_t block_count;
};

struct dma_part {
    struct dma_config config;
    uint32_t core_count;
    struct dma_core *cores; /* by number of the multiprocessor in the machine */
};

/* instructions.c */

/* Serve the instructions, as struct custom_unit says; the context is a struct dma_part. */
bool dma_instruction(void *context, struct custom_call *call);
bool dma_instruction_lanes(void *context, struct custom_lanes *lanes);
/* Frees what is known of a block. */
void dma_block_end(struct dma_block *block);

#endif
