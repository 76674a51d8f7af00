/* Offloaded tasks on tracks of a trace.
 *
 * Each offloading host has a group, "nucd" or "nucd.1", whose line has a span per task. Its steps: decode (until
 * all older instructions are complete), packet, held (until the host's stores to its ranges have drained), clean,
 * blocked by task N, transfer, queue (of the accelerator), start (its firmware), run, commit (the write-back of the
 * accelerator's data cache, and the report), retire. Steps without time are left out; where steps overlap, the
 * later one begins when the earlier one ends. Nucds that are refused are instants.
 *
 * The group "nucd.accel" has a line per accelerator, with a slice from a region's first instruction to the report,
 * also for tasks that the kernel's driver sends. In it, `commit` is the time after the region's end. */
#ifndef EMU_NUCD_OBSERVE_TASK_TRACK_H
#define EMU_NUCD_OBSERVE_TASK_TRACK_H

#include "emu/nucd/observe/task_sources.h"
#include "emu/sim/report/track.h"

struct task_track;

/* Opens the groups, of a sink that takes TRACK_TIMELINE. Copies *sources; what it points to must outlive the
 * result. Never NULL. */
struct task_track *task_track_new(struct track_sink *sink, const struct task_sources *sources);
void task_track_free(struct task_track *track); /* NULL is allowed */

#endif
