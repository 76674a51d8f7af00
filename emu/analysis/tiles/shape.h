/* The map that a load and a store of one word describe. */
#ifndef EMU_ANALYSIS_TILES_SHAPE_H
#define EMU_ANALYSIS_TILES_SHAPE_H

#include "emu/analysis/tiles.h"
#include "emu/analysis/tiles/walk.h"

/* Returns whether the address is relative to the scratchpad's, or to sp. */
bool shape_is_local(const struct walk *walk, int address);
bool shape_is_stack(const struct walk *walk, int address);

/* Fills in copy->possible and what follows it, for resolved addresses in local and global memory. `field` is the distance of elements in
 * local memory, a multiple of the bytes that one access copies; the copy is at `node`. */
void shape_find(struct walk *walk, struct tile_copy *copy, int local, int global, int64_t field,
                unsigned node);

/* Returns the least distance of two elements in local memory; 0: it has no single one. */
int64_t shape_pitch(const struct walk *walk, int local);

/* Sets a reason, with what differs; returns false. */
bool shape_refuse(struct tile_copy *copy, int where, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
