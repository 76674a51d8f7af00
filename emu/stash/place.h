/* What the parts of this room, `stash` and `dma`, know of the machine: its multiprocessors (part_site.place). */
#ifndef EMU_STASH_PLACE_H
#define EMU_STASH_PLACE_H

#include "emu/schema/assembly.h"

struct stash_place {
    void **clusters; /* struct simt_cluster */
    uint32_t cluster_count;
};

/* Returns the clusters of the machine, kept as long as the assembly; `launchers`: only those that have launches. */
const struct stash_place *stash_place_of(const struct assembly *assembly, bool launchers);

#endif
