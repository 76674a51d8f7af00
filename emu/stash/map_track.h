/* A stash's maps on tracks of a trace.
 *
 * Each stash is a group with a span for each map, from its AddMap or ChgMap until it is no longer valid. Its steps: active, until its
 * block ends, and dirty, until its last word is written back or another map has it. Lines below have instants: misses (words that loads
 * ask for, or that stores register), write-backs, and reuse (words that another map of the stash has), each with its map and the
 * number of its words; those of one map at one time are one. */
#ifndef EMU_STASH_MAP_TRACK_H
#define EMU_STASH_MAP_TRACK_H

#include "emu/sim/event.h"
#include "emu/sim/report/track.h"
#include "emu/stash/hardware.h"

struct map_track;

/* Opens a group of a sink that takes TRACK_TIMELINE. The stash and the queue outlive the result. Never NULL. */
struct map_track *map_track_new(struct track_sink *sink, const char *name, struct stash *stash,
                                const struct event_queue *queue);
void map_track_free(struct map_track *track); /* NULL is allowed */

#endif
