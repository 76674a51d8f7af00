/* A cache's misses and write-backs on tracks of a trace, and a last level's probes.
 *
 * The cache is a group. Misses are its spans, from the access to the fill, named by the line's address, with the level that
 * had the line; write-backs are instants on a line. Probes are instants on another line, each with what it found. Left out: hits, evictions of clean lines, prefetches that found the line
 * there.
 */
#ifndef EMU_MEM_CACHE_TRACK_H
#define EMU_MEM_CACHE_TRACK_H

#include "emu/mem/cache.h"
#include "emu/sim/track.h"

struct cache_track;

/* Opens the group, with that name. Never NULL; the sink outlives the last call of the observer. */
struct cache_track *cache_track_new(struct track_sink *sink, const char *name);
/* The same for a last level, or a slice of one (llc_observe()). */
struct cache_track *cache_track_level(struct track_sink *sink, const char *name);

void cache_track_free(struct cache_track *track); /* NULL is allowed */

/* What is to be told, its own. */
struct cache_observer *cache_track_observer(struct cache_track *track);

#endif
