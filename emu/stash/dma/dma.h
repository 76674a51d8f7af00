/* The part kind `dma`: a DMA engine beside the scratchpad of each multiprocessor (emu/stash/README.md). */
#ifndef EMU_STASH_DMA_DMA_H
#define EMU_STASH_DMA_DMA_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/sim/part.h"

enum dma_blocks { DMA_BLOCKS_CORE, DMA_BLOCKS_BLOCK };
extern const char *const dma_blocks_names[]; /* indexed by value; ends with NULL */

struct dma_config {
#include "emu/sim/fields_struct.h"

#include "emu/stash/dma/dma.def"
};

extern const struct part_kind dma_kind;

#endif
