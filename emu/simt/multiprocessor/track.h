/* A multiprocessor on tracks of a trace.
 *
 * Its group has a counter line with the number of warps that it holds; a line of the blocks, as spans; a counter line of
 * the parts of schedulers' clocks, in percent, that were lost to each cause, over SIMT_TRACK_WINDOW or more; and a line per
 * scheduler with the stalls by cause; adjacent stalls of one cause are one slice. Instructions are not shown. */
#ifndef EMU_SIMT_MULTIPROCESSOR_TRACK_H
#define EMU_SIMT_MULTIPROCESSOR_TRACK_H

#include "emu/sim/report/track.h"
#include "emu/simt/multiprocessor.h"

#define SIMT_TRACK_WINDOW UINT64_C(1000000000) /* fs: 1 us */

struct simt_track;

/* Opens a group with this name. Never returns NULL. */
struct simt_track *simt_track_new(struct track_sink *sink, const char *name, uint32_t schedulers);
void simt_track_free(struct simt_track *track); /* accepts NULL */

/* Returns the observer for the multiprocessor that is shown. */
struct simt_observer *simt_track_observer(struct simt_track *track);

/* Writes what the track still holds at `now`, when the trace ends; all stalls until then must have been told. Afterwards it
 * observes nothing. */
void simt_track_end(struct simt_track *track, uint64_t now);

#endif
