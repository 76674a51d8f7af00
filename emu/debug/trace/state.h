/* The data shared by all kinds of traces: files, the event limit, and the functions that each kind
 * implements. */
#ifndef EMU_DEBUG_TRACE_STATE_H
#define EMU_DEBUG_TRACE_STATE_H

#include <stddef.h>

#include "emu/debug/line.h"
#include "emu/debug/trace.h"
#include "emu/sim/list.h"

struct trace_file {
    struct trace_file *next;
    char *path;
    bool lost; /* a write failed for an unknown reason */
    struct line_writer out;
};

/* Functions that a kind does not need are NULL. */
struct trace_ops {
    const char *kind, *path; /* path: default file name */
    const char *event;       /* name of its events, plural, for messages */
    bool unlimited;
    struct trace *(*create)(void); /* zeroed except for the kind's own fields; files is still NULL */
    void (*begin)(struct trace *trace);
    void (*end)(struct trace *trace); /* called after the parts have ended their events */
    void (*free)(struct trace *trace);
};

/* The first member of every kind's struct. */
struct trace {
    const struct trace_ops *ops;
    struct track_sink sink; /* set by create() */
    struct error failure;   /* error of creating a file; empty: none */
    uint64_t limit, events, left_out;
    struct trace_file *files; /* the first one is FILE */
    bool first_taken;         /* the first file was returned by trace_stream_file() */
    struct trace **parts;     /* of a joined trace, which has no files; else NULL */
    size_t part_count;
};

extern const struct trace_ops trace_perfetto_ops, trace_konata_ops, trace_dram_ops, trace_nucd_ops,
    trace_memory_ops;

/* Creates a file. Returns NULL with err set if it cannot be written. */
struct trace_file *trace_file_open(const char *path, struct error *err);

/* Closes the file. False if a write failed; then sets err, unless `good` is false because err is set
 * already. */
bool trace_file_close(struct trace_file *file, bool good, struct error *err);

/* Returns the file of the next stream: FILE for the first one, then a new file FILE.NAME. NULL if it cannot
 * be created, which trace_ready() reports. The trace owns the file. */
struct trace_file *trace_stream_file(struct trace *trace, const char *name);

static inline struct trace *trace_of(struct track_sink *sink)
{
    return CONTAINER_OF(sink, struct trace, sink);
}

/* For sinks without timelines: these functions discard what parts write to timelines. */
struct track trace_no_group(struct track_sink *sink, const char *name);
struct track trace_no_line(struct track group, const char *name);
uint32_t trace_no_id(struct track_sink *sink);
bool trace_no_record(struct track track, const struct track_record *record);

/* Counts one more event. Returns true if it is within the limit and may be written. */
static inline bool trace_admit(struct trace *trace)
{
    bool admitted = trace->events < trace->limit;
    trace->events += admitted;
    trace->left_out += !admitted;
    return admitted;
}

#endif
