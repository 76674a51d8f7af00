/* Main memory in a snapshot. */
#ifndef EMU_MEM_PHYS_SNAPSHOT_H
#define EMU_MEM_PHYS_SNAPSHOT_H

#include "emu/mem/phys.h"
#include "emu/sim/snapshot/snapshot.h"

/* Saves the pages that are not zero, or restores them into memory that is zero. */
void phys_snapshot(const struct phys *memory, struct snapshot *snapshot);

#endif
