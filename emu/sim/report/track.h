/* Tracks: the activity of parts over time, as records that do not depend on the kind of part.
 *
 * A traced part gets a sink. It opens a group with its name and lines in the group, and writes
 * records to them: slices, which last from one time to another and may contain other slices of their line;
 * spans, which may overlap and may be divided into steps; instants; and counters. Other sinks take passages of
 * items through stages, or lines of text; a part writes these to a stream that it opens with its name. Others
 * take tables: rows under named columns. emu/debug renders sinks to files. A part that is not traced has no
 * observer (emu/sim/observer.h) and writes nothing. */
#ifndef EMU_SIM_REPORT_TRACK_H
#define EMU_SIM_REPORT_TRACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/sim/observer.h"

struct track_sink;

/* The forms of data that a sink can take. */
enum track_form {
    TRACK_TIMELINE = 1, /* records on lines of groups */
    TRACK_PASSAGES = 2,
    TRACK_TEXT = 4,
    TRACK_TABLE = 8,
    TRACK_RECORDS = 16, /* bytes, as the writer defines them */
};

/* A group, a line in a group, a stream, or a table. The sink assigns the numbers. */
struct track {
    struct track_sink *sink;
    uint32_t group, line;
};

enum track_kind {
    TRACK_SLICE,      /* from, to; after all other slices of its line, or within the open one */
    TRACK_BEGIN,      /* begin of a slice, at `from` */
    TRACK_END,        /* end of the slice of the line that began last, at `from` */
    TRACK_INSTANT,    /* at `from` */
    TRACK_COUNTER,    /* values that hold from `from` on */
    TRACK_SPAN,       /* from, to; spans are written in the order of their ends */
    TRACK_SPAN_BEGIN, /* begin of the span with that id, at `from` */
    TRACK_SPAN_END,
};

/* An additional value of a record. */
struct track_value {
    const char *name;
    const char *text; /* NULL: number */
    uint64_t number;
};

/* A step of a span. */
struct track_step {
    const char *name;
    uint64_t from, to; /* fs */
};

/* Texts may contain any bytes and belong to the caller. */
struct track_record {
    enum track_kind kind;
    const char *name;     /* the end of a span has the name of its begin; the end of a slice has none */
    const char *category; /* of spans: their type, such as "miss" */
    uint32_t id;          /* TRACK_SPAN_BEGIN, TRACK_SPAN_END: from track_id() */
    uint64_t from, to;    /* fs */
    const struct track_value *values;
    size_t value_count;
    const struct track_step *steps; /* TRACK_SPAN: within it, in the order of time, without overlap */
    size_t step_count;
};

/* The passage of an item through stages, such as an instruction through a pipeline, in cycles of the writer's
 * clock. Passages of a stream are written in the order of their ends, which is also the order of their
 * begins. */
struct track_passage {
    uint64_t number; /* number of the item */
    uint64_t thread; /* number of the item's thread */
    const struct track_stage {
        const char *name; /* static; short, because viewers display it */
        uint64_t from;
    } * stages; /* in order; each lasts until the next one begins, and may be empty */
    size_t stage_count;
    uint64_t end; /* end of the last stage */
    /* Writes a label and the detail that is displayed when the user points at the item. Called when the
     * passage is rendered. */
    void (*describe)(const void *context, char *label, char *detail, size_t size);
    const void *context;
};

/* A cell of a table's row. */
enum track_cell_type {
    TRACK_CELL_EMPTY,
    TRACK_CELL_NUMBER,
    TRACK_CELL_ADDRESS, /* written in hexadecimal */
    TRACK_CELL_TIME,    /* fs; written in ns, with as many decimals as it has */
    TRACK_CELL_TEXT,
};

struct track_cell {
    enum track_cell_type type;
    uint64_t number;
    const char *text; /* belongs to the caller */
};

enum { TRACK_LABEL = 160 }; /* bytes of a label, a detail or a line of text, including the NUL */

/* Functions for forms that the sink does not take are NULL. */
struct track_sink_ops {
    struct track (*group)(struct track_sink *sink, const char *name);
    struct track (*line)(struct track group, const char *name);
    uint32_t (*id)(struct track_sink *sink);
    bool (*write)(struct track track, const struct track_record *record);
    struct track (*stream)(struct track_sink *sink, enum track_form form, const char *name);
    bool (*passage)(struct track stream, const struct track_passage *passage);
    bool (*text)(struct track stream, const char *line);
    struct track (*table)(struct track_sink *sink, const char *name, const char *const *columns,
                          size_t count);
    bool (*row)(struct track table, const struct track_cell *cells, size_t count);
    bool (*bytes)(struct track stream, const void *bytes, size_t size);
};

/* Called when the trace ends, so that the writer ends its open records. Afterwards the sink is invalid. */
struct track_end {
    struct observer link;
    void (*end)(void *context, uint64_t now);
    void *context;
};

struct track_sink {
    const struct track_sink_ops *ops;
    unsigned forms;            /* set of enum track_form */
    struct observer_list ends; /* struct track_end; the writer that opened last is called first */
};

static inline bool track_takes(const struct track_sink *sink, enum track_form form)
{
    return sink->forms & form;
}

/* Write groups, lines and records only to a sink that takes TRACK_TIMELINE. */
static inline struct track track_group(struct track_sink *sink, const char *name)
{
    return sink->ops->group(sink, name);
}

static inline struct track track_line(struct track group, const char *name)
{
    return group.sink->ops->line(group, name);
}

/* Returns an id for a span that is written as begin and end. */
static inline uint32_t track_id(struct track_sink *sink)
{
    return sink->ops->id(sink);
}

/* Writes a record. Returns false if the trace is full: then nothing was written, and the end of a refused
 * begin must not be written. */
static inline bool track_write(struct track track, const struct track_record *record)
{
    return track.sink->ops->write(track, record);
}

static inline bool track_slice(struct track track, const char *name, uint64_t from, uint64_t to)
{
    return track_write(track,
                       &(struct track_record){.kind = TRACK_SLICE, .name = name, .from = from, .to = to});
}

static inline bool track_begin(struct track track, const char *name, uint64_t at)
{
    return track_write(track, &(struct track_record){.kind = TRACK_BEGIN, .name = name, .from = at});
}

static inline void track_end(struct track track, uint64_t at)
{
    (void)track_write(track, &(struct track_record){.kind = TRACK_END, .from = at});
}

static inline bool track_instant(struct track track, const char *name, uint64_t at)
{
    return track_write(track, &(struct track_record){.kind = TRACK_INSTANT, .name = name, .from = at});
}

static inline bool track_counter(struct track track, const char *name, uint64_t at, uint64_t value)
{
    const struct track_value values[] = {{"value", NULL, value}};
    return track_write(
        track, &(struct track_record){
                   .kind = TRACK_COUNTER, .name = name, .from = at, .values = values, .value_count = 1});
}

/* Opens a stream of a sink that takes the form: TRACK_PASSAGES, TRACK_TEXT or TRACK_RECORDS. */
static inline struct track track_stream(struct track_sink *sink, enum track_form form, const char *name)
{
    return sink->ops->stream(sink, form, name);
}

/* Writes a passage. Returns false like track_write(). */
static inline bool track_pass(struct track stream, const struct track_passage *passage)
{
    return stream.sink->ops->passage(stream, passage);
}

/* Writes a line of text, without a line end and shorter than TRACK_LABEL bytes. Returns false like
 * track_write(). */
static inline bool track_text(struct track stream, const char *line)
{
    return stream.sink->ops->text(stream, line);
}

/* Opens a stream of a sink that takes TRACK_RECORDS; all writers that give the same name share it. */
static inline struct track track_records(struct track_sink *sink, const char *name)
{
    return sink->ops->stream(sink, TRACK_RECORDS, name);
}

/* Writes bytes. Returns false like track_write(). */
static inline bool track_bytes(struct track stream, const void *bytes, size_t size)
{
    return stream.sink->ops->bytes(stream, bytes, size);
}

/* Opens a table of a sink that takes TRACK_TABLE, with `count` columns of these names. */
static inline struct track track_table(struct track_sink *sink, const char *name, const char *const *columns,
                                       size_t count)
{
    return sink->ops->table(sink, name, columns, count);
}

/* Writes a row with as many cells as the table has columns. Returns false like track_write(). */
static inline bool track_row(struct track table, const struct track_cell *cells, size_t count)
{
    return table.sink->ops->row(table, cells, count);
}

#endif
