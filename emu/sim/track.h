/* Tracks: what parts show over time in a trace, as records that are independent of the kind of part.
 *
 * A part that is to be watched gets a sink. It opens a group, with its name, in it lines, and writes records to these: a
 * slice, which lasts from one time to another and may contain others on its line; a span, which may overlap others; an
 * instant; a counter. Some sinks take passages of items through stages instead, or lines of text: these go to a stream, of
 * which a part opens one under its name. Sinks are rendered by emu/debug. A part that is not watched writes nothing: it has
 * no observer that would (emu/sim/observer.h).
 */
#ifndef EMU_SIM_TRACK_H
#define EMU_SIM_TRACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/sim/observer.h"

struct track_sink;

/* What sinks take. */
enum track_form {
    TRACK_TIMELINE = 1, /* records on lines of groups */
    TRACK_PASSAGES = 2,
    TRACK_TEXT = 4,
};

/* A group, a line in it, or a stream; the numbers are the sink's. */
struct track {
    struct track_sink *sink;
    uint32_t group, line;
};

enum track_kind {
    TRACK_SLICE,      /* from, to; after all other slices of its line, or inside the open one */
    TRACK_BEGIN,      /* of a slice, at `from` */
    TRACK_END,        /* of the slice that began last on the line, at `from` */
    TRACK_INSTANT,    /* at `from` */
    TRACK_COUNTER,    /* values valid from `from` on */
    TRACK_SPAN,       /* from, to; written in the order of their ends */
    TRACK_SPAN_BEGIN, /* of the span with that id, at `from` */
    TRACK_SPAN_END,
};

/* A further value of a record. */
struct track_value {
    const char *name;
    const char *text; /* NULL: number */
    uint64_t number;
};

/* Texts may hold any bytes and belong to the caller. */
struct track_record {
    enum track_kind kind;
    const char *name;     /* a span's end has the name of its begin; a slice's end has none */
    const char *category; /* of spans: what they are, such as "miss" */
    uint32_t id;          /* TRACK_SPAN_BEGIN, TRACK_SPAN_END: from track_id() */
    uint64_t from, to;    /* fs */
    const struct track_value *values;
    size_t value_count;
};

/* An item's way through stages, such as an instruction's through a pipeline, in cycles of the writer's clock. The passages of
 * a stream are written in the order of their ends; they begin in ascending order. */
struct track_passage {
    uint64_t number; /* of the item */
    uint64_t thread; /* whose item it is */
    const struct track_stage {
        const char *name; /* static; short, as viewers show it */
        uint64_t from;
    } * stages; /* in their order; each lasts until the next one, and may be empty */
    size_t stage_count;
    uint64_t end; /* of the last stage */
    /* Writes what is shown of the item, and what is shown of it when it is pointed at: asked if it is rendered. */
    void (*describe)(const void *context, char *label, char *detail, size_t size);
    const void *context;
};

enum { TRACK_LABEL = 160 }; /* bytes of a label, of a detail, of a line of text, each with its end */

/* Functions for forms that a sink does not take are NULL. */
struct track_sink_ops {
    struct track (*group)(struct track_sink *sink, const char *name);
    struct track (*line)(struct track group, const char *name);
    uint32_t (*id)(struct track_sink *sink);
    bool (*write)(struct track track, const struct track_record *record);
    struct track (*stream)(struct track_sink *sink, const char *name);
    bool (*passage)(struct track stream, const struct track_passage *passage);
    bool (*text)(struct track stream, const char *line);
};

/* Tells a writer that the trace ends, so that it writes the ends of open records; afterwards the sink is invalid. */
struct track_end {
    struct observer link;
    void (*end)(void *context, uint64_t now);
    void *context;
};

struct track_sink {
    const struct track_sink_ops *ops;
    unsigned forms;            /* enum track_form that it takes */
    struct observer_list ends; /* struct track_end, the last one that was opened first */
};

static inline bool track_takes(const struct track_sink *sink, enum track_form form)
{
    return sink->forms & form;
}

/* Groups, lines and records are written to sinks that take TRACK_TIMELINE only. */
static inline struct track track_group(struct track_sink *sink, const char *name)
{
    return sink->ops->group(sink, name);
}

static inline struct track track_line(struct track group, const char *name)
{
    return group.sink->ops->line(group, name);
}

/* Returns a number for spans that are written as begin and end. */
static inline uint32_t track_id(struct track_sink *sink)
{
    return sink->ops->id(sink);
}

/* Writes a record. Returns false if the trace is full: nothing of the record is written, and the end of a refused begin
 * must not be. */
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

/* Opens the stream of a part, for a sink that takes TRACK_PASSAGES or TRACK_TEXT. */
static inline struct track track_stream(struct track_sink *sink, const char *name)
{
    return sink->ops->stream(sink, name);
}

/* As track_write(). */
static inline bool track_pass(struct track stream, const struct track_passage *passage)
{
    return stream.sink->ops->passage(stream, passage);
}

/* A line, without its end, of less than TRACK_LABEL bytes. */
static inline bool track_text(struct track stream, const char *line)
{
    return stream.sink->ops->text(stream, line);
}

#endif
