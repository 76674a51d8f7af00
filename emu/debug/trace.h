/* Traces of a timed run, in the file formats of existing viewers.
 *
 *   perfetto  Chrome trace JSON for ui.perfetto.dev: timelines
 *   konata    Kanata 0004 for the Konata viewer: passages, of instructions through cores (trace_konata.h)
 *   dram      lines of text, of commands to memories (emu/dram/trace.h)
 *
 * A trace is opened, asked for a sink to which the parts of the machine write their tracks (emu/sim/track.h), and closed,
 * whatever way the run has ended. Watching changes nothing that is simulated.
 */
#ifndef EMU_DEBUG_TRACE_H
#define EMU_DEBUG_TRACE_H

#include "emu/sim/error.h"
#include "emu/sim/track.h"

struct trace;

/* "perfetto", "konata", "dram", NULL. */
extern const char *const trace_kinds[];

/* Splits an option's value, KIND[:FILE]. *kind is set to an element of trace_kinds; *path points after the
 * colon, or is NULL without one. False with err set, naming what is allowed, when the kind is unknown or FILE
 * is empty or "-". */
bool trace_parse(const char *kind_and_file, const char **kind, const char **path, struct error *err);

/* Opens a trace of a kind in trace_kinds. Creates or truncates the file; if path is NULL, trace.json,
 * trace.kanata or trace.dram in the current folder. Returns NULL with err set when the kind is unknown or the
 * file cannot be written. */
struct trace *trace_open(const char *kind, const char *path, struct error *err);

/* Sets the maximum number of events written. Later events are dropped, except the ends of open slices and
 * spans. An event is an instruction (konata), or a slice, span or mark (perfetto). The default is
 * TRACE_EVENTS; dram has no limit. Call it before the run. */
void trace_set_limit(struct trace *trace, uint64_t events);

/* About the most that the viewers can load: 650 MB of JSON, 900 MB of Kanata. */
enum { TRACE_EVENTS = 5000000 };

/* Where parts write their tracks; NULL for no trace. It is gone when the trace is closed. Kinds that keep a file for each
 * stream write the first one to FILE and the others to FILE.NAME. */
struct track_sink *trace_tracks(struct trace *trace);

/* False with err set when the file of a stream cannot be created. To be called when all parts have opened theirs. NULL is
 * allowed. */
bool trace_ready(const struct trace *trace, struct error *err);

/* Returns true, and sets *warning to a message for the user, if the trace dropped events. */
bool trace_warning(const struct trace *trace, struct error *warning);

/* Ends open events at time now (fs), closes all files and frees the trace. False with err set when a write
 * failed. Call dram_memory_sync() for each memory before. NULL is allowed. */
bool trace_close(struct trace *trace, uint64_t now, struct error *err);

#endif
