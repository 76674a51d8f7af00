/* The trace kind "memory": bytes of one stream, compressed by zstd as they arrive. */
#include <stdlib.h>
#include <zstd.h>

#include "emu/debug/trace/state.h"
#include "emu/sim/alloc.h"

enum { LEVEL = 3, ROOM = 1 << 17 };

struct records {
    struct trace base;
    ZSTD_CCtx *context;
    size_t used;
    uint8_t in[ROOM], out[ROOM];
};

static struct track open_stream(struct track_sink *sink, enum track_form form, const char *name)
{
    (void)form;
    (void)name;
    return (struct track){.sink = sink};
}

/* Compresses the buffered bytes and writes them. */
static void compress(struct records *records, ZSTD_EndDirective how)
{
    struct trace_file *file = records->base.files;
    ZSTD_inBuffer in = {records->in, records->used, 0};
    size_t left;
    do {
        ZSTD_outBuffer out = {records->out, sizeof records->out, 0};
        left = ZSTD_compressStream2(records->context, &out, &in, how);
        if (ZSTD_isError(left)) {
            file->lost = true;
            break;
        }
        if (fwrite(out.dst, 1, out.pos, file->out.file) != out.pos && !file->out.failure)
            file->out.failure = errno;
    } while (in.pos < in.size || (how == ZSTD_e_end && left > 0));
    records->used = 0;
}

static bool write_bytes(struct track stream, const void *bytes, size_t size)
{
    struct records *records = (struct records *)trace_of(stream.sink);
    for (const uint8_t *from = bytes; size > 0;) {
        size_t part = ROOM - records->used < size ? ROOM - records->used : size;
        memcpy(records->in + records->used, from, part);
        records->used += part;
        from += part;
        size -= part;
        if (records->used == ROOM)
            compress(records, ZSTD_e_continue);
    }
    return true;
}

static struct trace *create(void)
{
    static const struct track_sink_ops ops = {.group = trace_no_group,
                                              .line = trace_no_line,
                                              .id = trace_no_id,
                                              .write = trace_no_record,
                                              .stream = open_stream,
                                              .bytes = write_bytes};
    struct records *records = alloc(1, sizeof *records);
    records->base.sink = (struct track_sink){.ops = &ops, .forms = TRACK_RECORDS};
    records->context = alloc_checked(ZSTD_createCCtx());
    (void)ZSTD_CCtx_setParameter(records->context, ZSTD_c_compressionLevel, LEVEL);
    (void)ZSTD_CCtx_setParameter(records->context, ZSTD_c_checksumFlag, 1);
    return &records->base;
}

static void end(struct trace *trace)
{
    compress((struct records *)trace, ZSTD_e_end);
}

static void release(struct trace *trace)
{
    struct records *records = (struct records *)trace;
    (void)ZSTD_freeCCtx(records->context);
    free(records);
}

const struct trace_ops trace_memory_ops = {
    .kind = "memory",
    .path = "trace.memory.zst",
    .event = "requests",
    .unlimited = true,
    .create = create,
    .end = end,
    .free = release,
};
