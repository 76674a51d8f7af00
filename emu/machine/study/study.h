/* The study of a parallel simulation (croft run --partition-study): watches the events of one run, and prints how much work each
 * partition (cut.h) has in each window of the lookahead, and what several threads would gain (emu/machine/study/windows.h).
 *
 * Work is counted in events, and in host time by the mean cost of an event of each kind of part, of which a part is timed. A
 * network is one part; the unit of its work is a flit that crosses a router. What an event does in other parts, by calls, counts
 * where the event is.
 *
 * A window is in order if a block of threads or a launch begins in it, if threads execute an atomic, or if threads of two
 * partitions access the same 32-bit word of memory and one of them stores: instructions execute when they are issued, on
 * bytes that all share, so these have no lookahead. README.md has the rule. Accesses of hosts are not watched. */
#ifndef EMU_MACHINE_STUDY_STUDY_H
#define EMU_MACHINE_STUDY_STUDY_H

#include <stdio.h>

#include "emu/machine/builder.h"
#include "emu/machine/scheduler.h"

struct study;

struct study *study_new(void);
void study_free(struct study *study); /* accepts NULL */

/* Returns the sink that takes the accesses of threads. Give it to the parts when they are made. */
struct track_sink *study_sink(struct study *study);

/* Begins to watch the scheduler's events. The builder has made its parts. `components` is the number of components; `grid` that of
 * the launches, or EVENT_COMPONENTS. While *warming, hosts execute without time (--detail roi), and their events do not count. False with err set on failure. */
bool study_watch(struct study *study, const struct builder *builder, struct scheduler *scheduler,
                 uint32_t components, uint32_t grid, const bool *warming, struct error *err);

/* Prints the results. Lines that begin with "host" are host time and differ from run to run; the others do not. */
void study_print(struct study *study, FILE *file);

#endif
