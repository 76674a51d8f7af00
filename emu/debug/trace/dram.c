/* The trace kind "dram": lines of text, a file for each stream. Memories write their commands
 * (emu/dram/observers/trace.h). */
#include <stdlib.h>

#include "emu/debug/trace/state.h"
#include "emu/sim/alloc.h"

struct texts {
    struct trace base;
    struct trace_file **files; /* by stream; NULL: the file could not be created */
    uint32_t count;
};

static struct track open_stream(struct track_sink *sink, enum track_form form, const char *name)
{
    (void)form;
    struct texts *texts = (struct texts *)trace_of(sink);
    texts->files = alloc_resize(texts->files, (texts->count + 1) * sizeof *texts->files);
    texts->files[texts->count] = trace_stream_file(&texts->base, name);
    return (struct track){.sink = sink, .line = texts->count++};
}

static bool write_text(struct track stream, const char *line)
{
    const struct texts *texts = (const struct texts *)trace_of(stream.sink);
    struct trace_file *file = texts->files[stream.line];
    if (!file)
        return false;
    line_text(&file->out, line);
    line_char(&file->out, '\n');
    return true;
}

static struct trace *create(void)
{
    static const struct track_sink_ops ops = {.group = trace_no_group,
                                              .line = trace_no_line,
                                              .id = trace_no_id,
                                              .write = trace_no_record,
                                              .stream = open_stream,
                                              .text = write_text};
    struct texts *texts = alloc(1, sizeof *texts);
    texts->base.sink = (struct track_sink){.ops = &ops, .forms = TRACK_TEXT};
    return &texts->base;
}

static void release(struct trace *trace)
{
    struct texts *texts = (struct texts *)trace;
    free(texts->files);
    free(texts);
}

const struct trace_ops trace_dram_ops = {
    .kind = "dram",
    .path = "trace.dram",
    .event = "commands",
    .unlimited = true,
    .create = create,
    .free = release,
};
