/* A table of offloaded tasks, a row per task, in the order in which they leave (emu/nucd/README.md, "Traces of tasks",
 * describes its columns). */
#ifndef EMU_NUCD_OBSERVE_TASK_TABLE_H
#define EMU_NUCD_OBSERVE_TASK_TABLE_H

#include "emu/nucd/observe/task_sources.h"
#include "emu/sim/report/track.h"

struct task_table;

/* Opens the table, of a sink that takes TRACK_TABLE. Copies *sources; what it points to must outlive the result.
 * Never NULL. */
struct task_table *task_table_new(struct track_sink *sink, const struct task_sources *sources);
void task_table_free(struct task_table *table); /* NULL is allowed */

#endif
