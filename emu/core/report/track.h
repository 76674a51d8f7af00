/* Shows a core on tracks of a trace.
 *
 * A core is a group with two lines: stalls by cause, each cut where it overlaps the one before; and marks, including
 * regions of interest as spans, which may overlap. Single instructions are not shown. */
#ifndef EMU_CORE_REPORT_TRACK_H
#define EMU_CORE_REPORT_TRACK_H

#include "emu/core/core.h"
#include "emu/sim/report/track.h"

struct core_track;

/* Opens a group with that name. Never NULL. */
struct core_track *core_track_new(struct track_sink *sink, const char *name);
void core_track_free(struct core_track *track); /* NULL is allowed */

/* Returns the observer to add to the core. It belongs to the track. */
struct core_observer *core_track_observer(struct core_track *track);

/* A region of interest begins or ends, or the program sets a mark, at time now. Does nothing if the region is open
 * already, or not open, or if track is NULL. Regions still open when the trace ends are closed then. */
void core_track_region(struct core_track *track, const char *name, bool begins, uint64_t now);
void core_track_mark(struct core_track *track, const char *text, uint64_t now);

#endif
