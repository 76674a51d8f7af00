/* A multiprocessor on tracks of a trace.
 *
 * It is a group with a line of the warps that it holds, a counter, and a line for each scheduler with its stalls by cause,
 * each as long as it lasts without a break. Single instructions are left out.
 */
#ifndef EMU_SIMT_TRACK_H
#define EMU_SIMT_TRACK_H

#include "emu/sim/track.h"
#include "emu/simt/simt.h"

struct simt_track;

/* Opens the group, with that name, and observes the multiprocessor, which outlives the track. Never NULL. */
struct simt_track *simt_track_new(struct track_sink *sink, struct simt *simt, const char *name,
                                  uint32_t schedulers);
void simt_track_free(struct simt_track *track); /* NULL is allowed */

#endif
