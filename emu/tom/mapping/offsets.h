/* How far apart the accesses of a block's instances are (TOM 3.2.1, figure 5).
 *
 * The first load or store that a block executes leads. Each other access, and each further one by the leader, has an offset: its
 * address less that of the same lane's latest access by the leader in this instance. It is fixed if the instruction had it the first
 * time. The paper does not say how it measures. Only the lowest active lane is looked at. */
#ifndef EMU_TOM_MAPPING_OFFSETS_H
#define EMU_TOM_MAPPING_OFFSETS_H

#include "emu/simt/warp.h"

enum {
    TOM_ACCESSES = 64
}; /* loads and stores of a block that are told apart; offsets of others are not fixed */

/* Of one block; all zero at first. */
struct tom_offsets {
    uint64_t leader; /* address of the instruction */
    uint64_t pc[TOM_ACCESSES], offset[TOM_ACCESSES];
    unsigned count;
    uint64_t measured, fixed; /* accesses */
};

/* Of an instance under way: the lanes that have executed the leader, and the addresses of their latest accesses by it. All zero
 * at its beginning. */
struct tom_offsets_led {
    uint32_t lanes;
    uint64_t address[WARP_LANES];
};

/* Adds a load or store of an instance of the block. */
void tom_offsets_access(struct tom_offsets *offsets, struct tom_offsets_led *led,
                        const struct warp_report *report);

#endif
