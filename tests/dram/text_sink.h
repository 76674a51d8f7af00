/* A sink of tracks that writes lines of text to a file, for command traces. */
#ifndef TESTS_DRAM_TEXT_SINK_H
#define TESTS_DRAM_TEXT_SINK_H

#include <stdio.h>

#include "emu/dram/observers/trace.h"

struct text_sink {
    struct track_sink sink;
    FILE *out;
};

static inline struct track text_sink_stream(struct track_sink *sink, enum track_form form, const char *name)
{
    (void)form;
    (void)name;
    return (struct track){.sink = sink};
}

static inline bool text_sink_text(struct track stream, const char *line)
{
    return fprintf(((struct text_sink *)stream.sink)->out, "%s\n", line) > 0;
}

/* Traces a memory's commands to the file. The caller owns the file and the sink. Free with
 * dram_trace_free(). */
static inline struct dram_trace *text_sink_trace(struct text_sink *sink, FILE *out,
                                                 const struct dram_config *config)
{
    static const struct track_sink_ops ops = {.stream = text_sink_stream, .text = text_sink_text};
    *sink = (struct text_sink){{.ops = &ops, .forms = TRACK_TEXT}, out};
    return dram_trace_new(track_stream(&sink->sink, TRACK_TEXT, "memory"), config);
}

#endif
