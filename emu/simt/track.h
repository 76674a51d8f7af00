/* A multiprocessor on tracks of a trace.
 *
 * Its group has a counter line with the number of warps that it holds; a line of the blocks, as spans; a counter line of
 * the parts of schedulers' clocks, in percent, that were lost to each cause, over SIMT_TRACK_WINDOW or more; and a line per
 * scheduler with the stalls by cause; adjacent stalls of one cause are one slice. Instructions are not shown. */
#ifndef EMU_SIMT_TRACK_H
#define EMU_SIMT_TRACK_H

#include "emu/sim/track.h"
#include "emu/simt/simt.h"

#define SIMT_TRACK_WINDOW UINT64_C(1000000000) /* fs: 1 us */

struct simt_track;

/* Opens a group with this name and observes the multiprocessor, which must outlive the track. Never returns
 * NULL. */
struct simt_track *simt_track_new(struct track_sink *sink, struct simt *simt, const char *name,
                                  uint32_t schedulers);
void simt_track_free(struct simt_track *track); /* accepts NULL */

#endif
