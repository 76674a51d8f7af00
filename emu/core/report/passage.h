/* A core's instructions as passages of a trace (emu/sim/report/track.h), from fetch to retirement.
 *
 * Stages: F the cycle of the fetch, Dc until dispatch, Is until issue, X until the result, Cm until
 * retirement. Squashed instructions are not reported by a core; the instruction before them is labelled
 * "[mispredicted]". */
#ifndef EMU_CORE_REPORT_PASSAGE_H
#define EMU_CORE_REPORT_PASSAGE_H

#include "emu/core/core.h"
#include "emu/sim/report/track.h"

struct core_passages;

/* Opens a stream of that name, which takes passages. Never NULL. The sink must outlive the last call of the
 * observer. */
struct core_passages *core_passages_new(struct track_sink *sink, const char *name);
void core_passages_free(struct core_passages *passages); /* NULL is allowed */

/* Returns the observer to add to the core. It belongs to `passages`. */
struct core_observer *core_passages_observer(struct core_passages *passages);

#endif
