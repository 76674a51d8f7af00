/* A core on tracks of a trace.
 *
 * The core is a group with a line of stalls by cause, cut where one begins before the one in front of it is over, and a line
 * of marks, which has the regions of interest too: these are spans, because they may overlap. Single instructions are left
 * out.
 */
#ifndef EMU_CORE_TRACK_H
#define EMU_CORE_TRACK_H

#include "emu/core/core.h"
#include "emu/sim/track.h"

struct core_track;

/* Opens the group, with that name. Never NULL. */
struct core_track *core_track_new(struct track_sink *sink, const char *name);
void core_track_free(struct core_track *track); /* NULL is allowed */

/* What is to be told, its own. */
struct core_observer *core_track_observer(struct core_track *track);

/* A region of interest begins or ends, or the program has set a mark, at time now. Nothing happens if the region is open
 * already, or not open, or if track is NULL. Regions that are still open when the trace ends end then. */
void core_track_region(struct core_track *track, const char *name, bool begins, uint64_t now);
void core_track_mark(struct core_track *track, const char *text, uint64_t now);

#endif
