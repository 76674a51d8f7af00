/* Traces of a timed run: who did what when, in the formats of other people's viewers.
 *
 *   perfetto  Chrome trace JSON for ui.perfetto.dev: the tracks that parts write (emu/sim/track.h)
 *   konata    Kanata 0004 for the Konata viewer: each instruction's way through its core (trace_konata.h)
 *   dram      command traces as text (emu/dram/trace.h)
 *
 * A trace is opened, handed the parts of the machine that it is to watch or asked for a sink for their tracks, and closed,
 * whatever way the run has ended. Watching changes nothing that is simulated.
 */
#ifndef EMU_DEBUG_TRACE_H
#define EMU_DEBUG_TRACE_H

#include "emu/core/core.h"
#include "emu/dram/channel.h"
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

/* Where parts write their tracks; NULL for a kind of trace that has none, and for no trace. It is gone when the trace is closed. */
struct track_sink *trace_tracks(struct trace *trace);

/* The observers of a named part, for kinds of traces that know parts; their functions are NULL where the kind of trace has no use for it. The
 * trace must outlive the part's last call, name and config are copied. Kinds that keep a file for each part
 * (konata: a core; dram: a memory) write the first one to FILE and the others to FILE.NAME; false when that
 * cannot be created. */
bool trace_core(struct trace *trace, const char *name, const struct clock *clock,
                struct core_observer *observer, struct error *err);
bool trace_dram(struct trace *trace, const char *name, const struct dram_config *config,
                struct dram_observer *observer, struct error *err);

/* Sets *warning to what the user should know about a trace that is not complete; false if it is. */
bool trace_warning(const struct trace *trace, struct error *warning);

/* Ends what is still open at time now, closes all files and frees the trace. False when not everything could
 * be written. Memories are synced before (dram_memory_sync()). NULL is allowed. */
bool trace_close(struct trace *trace, uint64_t now, struct error *err);

#endif
