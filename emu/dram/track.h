/* A memory's commands on tracks of a trace.
 *
 * Each channel is a group with lines: the data bus with its bursts, each rank with its refreshes and with the commands
 * that only this standard has, and each bank with the rows that are open in it, within them the column commands, and its
 * own refreshes. A row is open until a command closes it, or until the device does after a column command with
 * auto-precharge.
 */
#ifndef EMU_DRAM_TRACK_H
#define EMU_DRAM_TRACK_H

#include "emu/dram/channel.h"
#include "emu/sim/track.h"

struct dram_track;

/* Opens the groups: "NAME channel 0" and so on. The configuration is copied. Never NULL. */
struct dram_track *dram_track_new(struct track_sink *sink, const char *name,
                                  const struct dram_config *config);
void dram_track_free(struct dram_track *track); /* NULL is allowed */

/* What is to be told, its own. The memory is synced before the trace ends (dram_memory_sync()). */
struct dram_observer *dram_track_observer(struct dram_track *track);

#endif
