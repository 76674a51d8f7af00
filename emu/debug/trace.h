/* Traces of a timed run, in the file formats of existing viewers.
 *
 *    perfetto  Chrome trace JSON for ui.perfetto.dev: timelines
 *    konata    Kanata 0004 for the Konata viewer: passages of instructions through cores (emu/debug/trace/konata.h)
 *    dram      lines of text: commands to memories (emu/dram/observers/trace.h)
 *    nucd      CSV (RFC 4180) with a line of column names: offloaded tasks (emu/nucd/observe/task_table.h)
 *    memory    records, compressed by zstd: memory requests of multiprocessors' threads (emu/simt/trace/access_trace.h)
 *
 * After a trace was opened, the parts of the machine write tracks (emu/sim/report/track.h) to its sink. It is closed
 * however the run ends. Tracing does not change the simulation. */
#ifndef EMU_DEBUG_TRACE_H
#define EMU_DEBUG_TRACE_H

#include "emu/sim/error.h"
#include "emu/sim/report/track.h"

struct trace;

/* "perfetto", "konata", "dram", "nucd", "memory", NULL. */
extern const char *const trace_kinds[];
enum { TRACE_KINDS = 5 };

/* Splits an option's value, KIND[:FILE]. *kind is set to an element of trace_kinds; *path points after the
 * colon, or is NULL without one. False with err set, naming what is allowed, when the kind is unknown or FILE
 * is empty or "-". */
bool trace_parse(const char *kind_and_file, const char **kind, const char **path, struct error *err);

/* Returns the file of a trace of a kind in trace_kinds: `path`, or the kind's default if that is NULL. */
const char *trace_path(const char *kind, const char *path);

/* Opens a trace of a kind in trace_kinds. Creates or truncates the file; if path is NULL, trace.json,
 * trace.kanata, trace.dram, trace.csv or trace.memory.zst in the current folder. Returns NULL with err set when the kind is unknown or the
 * file cannot be written. */
struct trace *trace_open(const char *kind, const char *path, struct error *err);

/* Makes traces of different kinds one trace, which owns them. Returns NULL for 0 traces, and a single one as it is. Warnings
 * are those of the parts: ask each of them. */
struct trace *trace_join(struct trace *const *traces, size_t count);

/* Sets the maximum number of events written. Later events are dropped, except the ends of open slices and
 * spans. An event is an instruction (konata), or a slice, span or mark (perfetto). The default is
 * TRACE_EVENTS; dram, nucd and memory have no limit. Call it before the run. */
void trace_set_limit(struct trace *trace, uint64_t events);

/* About the most that the viewers can load: 650 MB of JSON, 900 MB of Kanata. */
enum { TRACE_EVENTS = 5000000 };

/* Returns the sink for the parts' tracks; NULL if trace is NULL. Closing the trace invalidates it. Kinds with
 * a file for each stream write the first stream to FILE and the others to FILE.NAME. */
struct track_sink *trace_tracks(struct trace *trace);

/* Returns false with err set if a stream's file could not be created. Call it when all parts have opened
 * their streams. trace may be NULL. */
bool trace_ready(const struct trace *trace, struct error *err);

/* Returns true, and sets *warning to a message for the user, if the trace dropped events. */
bool trace_warning(const struct trace *trace, struct error *warning);

/* Ends open events at time `now` (fs), closes all files and frees the trace. Returns false with err set if a
 * write failed. Call dram_memory_sync() for each memory before. trace may be NULL. */
bool trace_close(struct trace *trace, uint64_t now, struct error *err);

#endif
