#include "emu/simt/trace/access_trace.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "emu/sim/alloc.h"
#include "emu/sim/little_endian.h"

static const char magic[] = "croft memory trace 2\n";

enum { WORD = 8, RECORD = ACCESS_RECORD, IN = 1 << 16 };

struct access_reader {
    FILE *file;
    char *path;
    ZSTD_DCtx *context;
    ZSTD_inBuffer in;
    size_t left; /* 0: at the end of a frame */
    uint8_t bytes[IN];
};

struct track access_trace_open(struct track_sink *sink)
{
    return track_records(sink, "accesses");
}

void access_trace_begin(struct track stream)
{
    uint8_t header[ACCESS_HEADER] = {0};
    memcpy(header, magic, sizeof magic - 1);
    (void)track_bytes(stream, header, sizeof header);
}

void access_trace_write(struct track stream, const struct access_record *record)
{
    const uint64_t words[ACCESS_WORDS] = {
        record->time,
        record->address,
        record->pc,
        (uint64_t)record->launch << 32 | record->block,
        record->multiprocessor | (uint64_t)record->warp << 16 | (uint64_t)record->size << 32 |
            (uint64_t)record->kind << 48 | (uint64_t)record->stack << 56 | (uint64_t)record->threads << 57,
        record->words,
    };
    uint8_t bytes[RECORD];
    for (unsigned i = 0; i < ACCESS_WORDS; i++)
        little_endian_put(bytes + i * WORD, words[i], WORD);
    (void)track_bytes(stream, bytes, sizeof bytes);
}

/* Reads up to `size` bytes. Returns their number, which is less than `size` only at the end of the file or with err set. */
static size_t take(struct access_reader *reader, uint8_t *to, size_t size, struct error *err)
{
    ZSTD_outBuffer out = {to, size, 0};
    while (out.pos < size) {
        if (reader->in.pos == reader->in.size) {
            reader->in = (ZSTD_inBuffer){reader->bytes, fread(reader->bytes, 1, IN, reader->file), 0};
            if (ferror(reader->file))
                (void)error_set(err, "%s: cannot be read: %s", reader->path, strerror(errno));
            else if (reader->in.size == 0 && reader->left > 0)
                (void)error_set(err, "%s: the file is cut off", reader->path);
            if (reader->in.size == 0)
                break;
        }
        reader->left = ZSTD_decompressStream(reader->context, &out, &reader->in);
        if (ZSTD_isError(reader->left)) {
            (void)error_set(err, "%s: no zstd stream: %s", reader->path, ZSTD_getErrorName(reader->left));
            break;
        }
    }
    return out.pos;
}

struct access_reader *access_reader_open(const char *path, struct error *err)
{
    FILE *file = fopen(path, "rb");
    uint8_t header[ACCESS_HEADER];
    if (!file) {
        (void)error_set(err, "%s: cannot be opened: %s", path, strerror(errno));
        return NULL;
    }
    struct access_reader *reader = alloc(1, sizeof *reader);
    reader->file = file;
    reader->path = alloc_text(path);
    reader->context = alloc_checked(ZSTD_createDCtx());
    err->text[0] = '\0';
    if (take(reader, header, sizeof header, err) == sizeof header &&
        memcmp(header, magic, sizeof magic - 1) == 0)
        return reader;
    if (!err->text[0])
        (void)error_set(err, "%s: no memory trace of this version: it must begin with '%.20s'", path, magic);
    access_reader_close(reader);
    return NULL;
}

void access_record_read(const uint8_t bytes[ACCESS_RECORD], struct access_record *record)
{
    uint64_t words[ACCESS_WORDS];
    for (unsigned i = 0; i < ACCESS_WORDS; i++)
        words[i] = little_endian_get(bytes + i * WORD, WORD);
    *record = (struct access_record){
        .time = words[0],
        .address = words[1],
        .pc = words[2],
        .launch = (uint32_t)(words[3] >> 32),
        .block = (uint32_t)words[3],
        .multiprocessor = (uint16_t)words[4],
        .warp = (uint16_t)(words[4] >> 16),
        .size = (uint16_t)(words[4] >> 32),
        .kind = (enum access_kind)(words[4] >> 48 & 0xff),
        .stack = words[4] >> 56 & 1,
        .threads = (uint8_t)(words[4] >> 57),
        .words = words[5],
    };
}

bool access_reader_next(struct access_reader *reader, struct access_record *record, struct error *err)
{
    uint8_t bytes[RECORD];
    err->text[0] = '\0';
    size_t got = take(reader, bytes, sizeof bytes, err);
    if (got > 0 && got < sizeof bytes && !err->text[0])
        (void)error_set(err, "%s: the last record is cut off", reader->path);
    if (got < sizeof bytes)
        return false;
    access_record_read(bytes, record);
    return true;
}

void access_reader_close(struct access_reader *reader)
{
    if (!reader)
        return;
    (void)ZSTD_freeDCtx(reader->context);
    (void)fclose(reader->file);
    free(reader->path);
    free(reader);
}
