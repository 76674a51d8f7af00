/* Several traces of one run. The joined sink takes what any of them takes; what a writer opens there belongs to the trace
 * that takes its form, to which the writer then writes directly. */
#include <stdlib.h>

#include "emu/debug/trace/state.h"
#include "emu/sim/alloc.h"

/* Returns the sink of the trace that takes the form. No trace takes it: returns the first sink, which discards it. */
static struct track_sink *taker(struct track_sink *sink, enum track_form form)
{
    const struct trace *joined = trace_of(sink);
    for (size_t i = 0; i < joined->part_count; i++)
        if (track_takes(&joined->parts[i]->sink, form))
            return &joined->parts[i]->sink;
    return &joined->parts[0]->sink;
}

static struct track open_group(struct track_sink *sink, const char *name)
{
    return track_group(taker(sink, TRACK_TIMELINE), name);
}

static uint32_t next_id(struct track_sink *sink)
{
    return track_id(taker(sink, TRACK_TIMELINE));
}

static struct track open_stream(struct track_sink *sink, enum track_form form, const char *name)
{
    return track_stream(taker(sink, form), form, name);
}

static struct track open_table(struct track_sink *sink, const char *name, const char *const *columns,
                               size_t count)
{
    return track_table(taker(sink, TRACK_TABLE), name, columns, count);
}

static void release(struct trace *trace)
{
    free(trace->parts);
    free(trace);
}

struct trace *trace_join(struct trace *const *traces, size_t count)
{
    static const struct track_sink_ops sink_ops = {
        .group = open_group, .id = next_id, .stream = open_stream, .table = open_table};
    static const struct trace_ops ops = {.free = release};
    if (count <= 1)
        return count ? traces[0] : NULL;
    struct trace *joined = alloc(1, sizeof *joined);
    joined->ops = &ops;
    joined->sink.ops = &sink_ops;
    joined->parts = alloc(count, sizeof *joined->parts);
    joined->part_count = count;
    for (size_t i = 0; i < count; i++) {
        joined->parts[i] = traces[i];
        joined->sink.forms |= traces[i]->sink.forms;
    }
    return joined;
}
