/* Shows a memory's commands on tracks of a trace.
 *
 * Each channel is a group with lines for the data bus with its bursts, for each rank with its refreshes and
 * the standard's additional commands, and for each bank with its open rows, its column commands within them,
 * and its refreshes. A row is open until a command closes it, or until the device does after a column command
 * with auto-precharge. */
#ifndef EMU_DRAM_OBSERVERS_TRACK_H
#define EMU_DRAM_OBSERVERS_TRACK_H

#include "emu/dram/config.h"
#include "emu/dram/controller/record.h"
#include "emu/sim/report/track.h"

struct dram_track;

/* Opens the groups: "NAME channel 0" and so on. Copies the configuration. Never NULL. */
struct dram_track *dram_track_new(struct track_sink *sink, const char *name,
                                  const struct dram_config *config);
void dram_track_free(struct dram_track *track); /* NULL is allowed */

/* Returns the observer to add to the memory. It belongs to the track. Call dram_memory_sync() before the
 * trace ends. */
struct dram_observer *dram_track_observer(struct dram_track *track);

#endif
