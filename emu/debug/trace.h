/* Traces of a timed run: who did what when, in the formats of other people's viewers.
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

/* Splits an option's value, KIND[:FILE]: *kind is the element of trace_kinds, *path points behind the colon
 * or is NULL. Fails when there is no such kind or FILE is empty; the message says what is allowed. */
bool trace_parse(const char *kind_and_file, const char **kind, const char **path, struct error *err);

/* Opens a trace of a kind of trace_kinds. The file is created or emptied; path NULL: trace.json,
 * trace.kanata or trace.dram in the current folder. NULL with err set when the kind is unknown or the file
 * cannot be written. */
struct trace *trace_open(const char *kind, const char *path, struct error *err);

/* How many events are written; what comes later is left out, but for the ends of what has begun. An event is
 * an instruction (konata) or a slice or mark (perfetto). Default: TRACE_EVENTS; there is no limit for dram.
 * To be called before the run. */
void trace_set_limit(struct trace *trace, uint64_t events);

/* About as much as the viewers can hold: 650 MB of JSON, 900 MB of Kanata. */
enum { TRACE_EVENTS = 5000000 };

/* Where parts write their tracks; NULL for no trace. It is gone when the trace is closed. Kinds that keep a file for each
 * stream write the first one to FILE and the others to FILE.NAME. */
struct track_sink *trace_tracks(struct trace *trace);

/* False with err set when the file of a stream cannot be created. To be called when all parts have opened theirs. NULL is
 * allowed. */
bool trace_ready(const struct trace *trace, struct error *err);

/* Sets *warning to what the user should know about a trace that is not complete; false if it is. */
bool trace_warning(const struct trace *trace, struct error *warning);

/* Ends what is still open at time now, closes all files and frees the trace. False when not everything could
 * be written. Memories are synced before (dram_memory_sync()). NULL is allowed. */
bool trace_close(struct trace *trace, uint64_t now, struct error *err);

#endif
