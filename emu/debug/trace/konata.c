#include "emu/debug/trace/konata.h"

#include <assert.h>
#include <stdlib.h>

#include "emu/sim/alloc.h"

struct konata {
    struct trace base;
    struct konata_stream *streams;
    uint32_t count;
};

static bool earlier(const struct konata_event *a, const struct konata_event *b)
{
    return a->cycle != b->cycle ? a->cycle < b->cycle : a->order < b->order;
}

static void heap_push(struct konata_stream *stream, struct konata_event event)
{
    if (stream->count == stream->room) {
        stream->room = stream->room ? 2 * stream->room : 256;
        stream->heap = alloc_resize(stream->heap, stream->room * sizeof *stream->heap);
    }
    size_t at = stream->count++;
    for (size_t parent; at > 0 && earlier(&event, &stream->heap[parent = (at - 1) / 2]); at = parent)
        stream->heap[at] = stream->heap[parent];
    stream->heap[at] = event;
}

static struct konata_event heap_pop(struct konata_stream *stream)
{
    struct konata_event least = stream->heap[0], last = stream->heap[--stream->count];
    size_t at = 0;
    for (size_t child; (child = 2 * at + 1) < stream->count; at = child) {
        child += child + 1 < stream->count && earlier(&stream->heap[child + 1], &stream->heap[child]);
        if (!earlier(&stream->heap[child], &last))
            break;
        stream->heap[at] = stream->heap[child];
    }
    stream->heap[at] = last;
    return least;
}

static void write_field(struct line_writer *out, uint64_t value)
{
    line_char(out, '\t');
    line_decimal(out, value);
}

static void write_cycle(struct konata_stream *stream, uint64_t cycle)
{
    if (cycle == stream->cycle)
        return;
    line_char(&stream->file->out, 'C');
    write_field(&stream->file->out, cycle - stream->cycle);
    line_char(&stream->file->out, '\n');
    stream->cycle = cycle;
}

static void write_stage(struct line_writer *out, uint64_t id, const char *stage)
{
    if (!stage) {
        line_char(out, 'R');
        write_field(out, id);
        write_field(out, id); /* the retirement number: instructions arrive in retirement order */
        line_text(out, "\t0\n");
        return;
    }
    line_char(out, 'S');
    write_field(out, id);
    line_text(out, "\t0\t");
    line_text(out, stage);
    line_char(out, '\n');
}

/* Writes all events up to `cycle`, and advances the file to that cycle. */
static void advance(struct konata_stream *stream, uint64_t cycle)
{
    while (stream->count > 0 && stream->heap[0].cycle <= cycle) {
        struct konata_event event = heap_pop(stream);
        write_cycle(stream, event.cycle);
        write_stage(&stream->file->out, event.order / KONATA_STAGES, event.stage);
    }
    write_cycle(stream, cycle);
}

static void write_label(struct line_writer *out, uint64_t id, const char *type, const char *text)
{
    line_char(out, 'L');
    write_field(out, id);
    line_text(out, type);
    line_text(out, text);
    line_char(out, '\n');
}

static void write_start(struct konata_stream *stream, const struct track_passage *passage)
{
    struct line_writer *out = &stream->file->out;
    uint64_t id = stream->items;
    char label[TRACK_LABEL], detail[TRACK_LABEL];
    passage->describe(passage->context, label, detail, TRACK_LABEL);
    line_char(out, 'I');
    write_field(out, id);
    write_field(out, passage->number);
    write_field(out, passage->thread);
    line_char(out, '\n');
    write_label(out, id, "\t0\t", label);
    write_label(out, id, "\t1\t", detail);
}

static uint64_t at_least(uint64_t value, uint64_t least)
{
    return value < least ? least : value;
}

/* Computes the begin of each stage, and the end of the last one. No stage begins before its predecessor. */
static void stage_cycles(const struct track_passage *passage, uint64_t first, uint64_t begin[KONATA_STAGES])
{
    for (size_t i = 0; i <= passage->stage_count; i++)
        first = begin[i] = at_least(i < passage->stage_count ? passage->stages[i].from : passage->end, first);
}

static void push_stages(struct konata_stream *stream, const struct track_passage *passage,
                        const uint64_t begin[KONATA_STAGES])
{
    uint64_t order = stream->items * KONATA_STAGES;
    bool any = false;
    for (size_t i = 0; i < passage->stage_count; i++) {
        if (begin[i] == begin[i + 1] && (any || i + 1 < passage->stage_count))
            continue;
        any = true;
        heap_push(stream, (struct konata_event){begin[i], order + i, passage->stages[i].name});
    }
    heap_push(stream, (struct konata_event){begin[passage->stage_count], order + passage->stage_count, NULL});
}

static bool write_passage(struct track track, const struct track_passage *passage)
{
    struct konata *konata = (struct konata *)trace_of(track.sink);
    struct konata_stream *stream = &konata->streams[track.line];
    uint64_t begin[KONATA_STAGES];
    assert(passage->stage_count > 0 && passage->stage_count < KONATA_STAGES);
    if (!stream->file || !trace_admit(&konata->base))
        return false;
    if (stream->items == 0) {
        stream->cycle = passage->stages[0].from;
        line_text(&stream->file->out, "C=");
        write_field(&stream->file->out, stream->cycle);
        line_char(&stream->file->out, '\n');
    }
    stage_cycles(passage, stream->cycle, begin);
    advance(stream, begin[0]);
    write_start(stream, passage);
    push_stages(stream, passage, begin);
    stream->items++;
    return true;
}

static void write_header(struct trace_file *file)
{
    line_text(&file->out, "Kanata\t0004\n");
}

static struct track open_stream(struct track_sink *sink, enum track_form form, const char *name)
{
    (void)form;
    struct konata *konata = (struct konata *)trace_of(sink);
    konata->streams = alloc_resize(konata->streams, (konata->count + 1) * sizeof *konata->streams);
    struct konata_stream *stream = &konata->streams[konata->count];
    *stream = (struct konata_stream){.file = trace_stream_file(&konata->base, name)};
    if (stream->file && stream->file != konata->base.files)
        write_header(stream->file);
    return (struct track){.sink = sink, .line = konata->count++};
}

static struct trace *create(void)
{
    static const struct track_sink_ops ops = {.group = trace_no_group,
                                              .line = trace_no_line,
                                              .id = trace_no_id,
                                              .write = trace_no_record,
                                              .stream = open_stream,
                                              .passage = write_passage};
    struct konata *konata = alloc(1, sizeof *konata);
    konata->base.sink = (struct track_sink){.ops = &ops, .forms = TRACK_PASSAGES};
    return &konata->base;
}

static void begin_trace(struct trace *trace)
{
    write_header(trace->files);
}

/* Writes the remaining events; every passage was written with all its events. */
static void end_trace(struct trace *trace)
{
    struct konata *konata = (struct konata *)trace;
    for (uint32_t i = 0; i < konata->count; i++)
        while (konata->streams[i].count > 0)
            advance(&konata->streams[i], konata->streams[i].heap[0].cycle);
}

static void release(struct trace *trace)
{
    struct konata *konata = (struct konata *)trace;
    for (uint32_t i = 0; i < konata->count; i++)
        free(konata->streams[i].heap);
    free(konata->streams);
    free(konata);
}

const struct trace_ops trace_konata_ops = {
    .kind = "konata",
    .path = "trace.kanata",
    .event = "instructions",
    .create = create,
    .begin = begin_trace,
    .end = end_trace,
    .free = release,
};
