/* Shows a cache's misses and write-backs, and a last level's probes, on tracks of a trace.
 *
 * The cache is a group of tracks. Misses are spans from the access to the fill, named by the line's address,
 * with the level that had the line. Write-backs are instants on a line of their own; so are probes, each with
 * its result. Hits, evictions of clean lines and prefetches that hit are not shown. */
#ifndef EMU_MEM_CACHE_TRACK_H
#define EMU_MEM_CACHE_TRACK_H

#include "emu/mem/cache.h"
#include "emu/sim/report/track.h"

struct cache_track;

/* Opens a group of that name. Never NULL. The sink must outlive the last call of the observer. */
struct cache_track *cache_track_new(struct track_sink *sink, const char *name);
/* The same for a last level, or a slice of one (llc_observe()). */
struct cache_track *cache_track_level(struct track_sink *sink, const char *name);

void cache_track_free(struct cache_track *track); /* NULL is allowed */

/* Returns the observer to add to the cache. It belongs to the track. */
struct cache_observer *cache_track_observer(struct cache_track *track);

#endif
