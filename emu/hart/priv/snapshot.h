/* The architectural state of a hart in a snapshot. */
#ifndef EMU_HART_PRIV_SNAPSHOT_H
#define EMU_HART_PRIV_SNAPSHOT_H

#include "emu/hart/hart.h"
#include "emu/sim/snapshot/snapshot.h"

/* Saves the state of a privileged hart between two runs, or restores it into a hart out of reset. In both cases the hart then
 * forgets the translations of addresses and code that it has kept, so that it goes on as a restored one does. Statistics of a
 * restored hart begin at 0. Time is the caller's (priv_time()). */
void hart_snapshot(struct hart *hart, struct snapshot *snapshot);

#endif
