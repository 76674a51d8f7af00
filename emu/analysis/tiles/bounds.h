/* How large an index gets. */
#ifndef EMU_ANALYSIS_TILES_BOUNDS_H
#define EMU_ANALYSIS_TILES_BOUNDS_H

#include "emu/analysis/tiles.h"
#include "emu/analysis/tiles/walk.h"

/* Returns a number that a resolved index stays below where `node` is executed, by the branches that lead to it; without any, by
 * the threads of a block. */
struct tile_parameter bounds_of(struct walk *walk, int index, unsigned node);

#endif
