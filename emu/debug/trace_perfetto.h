/* Chrome trace JSON for ui.perfetto.dev and chrome://tracing.
 *
 * Processes are the cores, the caches and the DRAM channels. Of a core: a track of stalls by cause, one of
 * marks, and the regions of interest, which may overlap and are therefore asynchronous. Of a cache: its
 * misses from the access to the fill, asynchronous too, named by the line's address; and its write-backs. Of
 * a channel: the data bus, the refreshes of each rank, and each bank with the rows that are open in it and,
 * within them, the column commands.
 *
 * The viewer gives the slices of one asynchronous id a track of their own, named by the first of them, and
 * shows tracks of equal name together. So misses reuse the ids of those that are over, as MSHRs are reused,
 * and each id begins with an instant "miss" at time 0.
 *
 * Slices of a core's stalls are cut where a cause begins before the one in front of it is over. Left out:
 * hits, evictions of clean lines, prefetches that found the line there, and each single instruction (--trace
 * konata).
 */
#ifndef EMU_DEBUG_TRACE_PERFETTO_H
#define EMU_DEBUG_TRACE_PERFETTO_H

#include "emu/debug/trace_json.h"
#include "emu/debug/trace_kind.h"

struct perfetto {
    struct trace base;
    struct line_writer *out;
    uint32_t numbers; /* of processes, tracks and asynchronous slices so far */
    struct perfetto_core *cores;
    struct perfetto_cache *caches;
    struct perfetto_memory *memories;
};

/* The next process, or the next track of one, with its name written. */
struct json_track perfetto_process(struct perfetto *perfetto, const char *name);
struct json_track perfetto_track(struct perfetto *perfetto, struct json_track of, const char *name);

/* trace_perfetto_dram.c: the DRAM channels. */
bool perfetto_watch_dram(struct trace *trace, const char *name, const struct dram_config *config,
                         struct dram_observer *observer, struct error *err);
void perfetto_end_dram(struct perfetto *perfetto, uint64_t now);
void perfetto_free_dram(struct perfetto *perfetto);

/* trace_perfetto_cache.c: the caches. */
bool perfetto_watch_cache(struct trace *trace, const char *name, struct cache_observer *observer,
                          struct error *err);
void perfetto_free_caches(struct perfetto *perfetto);

#endif
