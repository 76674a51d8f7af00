/* Writes broken versions of a snapshot, each with the digest that belongs to it, so that croft restores as much of it as it
 * understands: mutations SNAPSHOT FOLDER COUNT SEED. Fields get other values, lines and blocks go or come twice. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/sim/little_endian.h"
#include "emu/sim/mix.h"

enum { NAME = 32, LINES = 1 << 16 };

/* A line with its end, and the block of bytes that may follow it. */
struct line {
    const uint8_t *text;
    size_t length, block;
};

static void add(uint64_t *digest, const uint8_t *at, size_t size, FILE *out)
{
    (void)fwrite(at, 1, size, out);
    for (; size >= 8; at += 8, size -= 8)
        *digest = mix(*digest ^ little_endian_get(at, 8)) + MIX_FACTOR;
    *digest = mix(*digest ^ little_endian_get(at, (unsigned)size)) + size;
}

static size_t split(const uint8_t *bytes, size_t size, struct line *lines)
{
    size_t count = 0;
    for (size_t at = 0; at < size && count < LINES;) {
        const uint8_t *end = memchr(bytes + at, '\n', size - at);
        struct line *line = &lines[count++];
        *line = (struct line){.text = bytes + at, .length = (size_t)(end + 1 - bytes) - at};
        at += line->length;
        if (strncmp((const char *)line->text, "bytes ", 6) == 0 ||
            strncmp((const char *)line->text, "fifo ", 5) == 0)
            line->block = strtoull((const char *)line->text + 5, NULL, 16);
        at += line->block;
    }
    return count - 1; /* without the digest */
}

/* Writes a field with another value. */
static void change(uint64_t *random, const struct line *line, uint64_t *digest, FILE *out)
{
    static const uint64_t edges[] = {0, 1, 2, 255, 256, 4096, UINT32_MAX, INT64_MAX, UINT64_MAX};
    char text[128];
    const uint8_t *blank = memchr(line->text, ' ', line->length);
    uint64_t value = mix_next(random);
    if (!blank) {
        add(digest, line->text, line->length, out);
        return;
    }
    uint64_t old = strtoull((const char *)blank, NULL, 16);
    switch (value % 4) {
    case 0: value = edges[value / 4 % (sizeof edges / sizeof edges[0])]; break;
    case 1: value = old ^ UINT64_C(1) << value / 4 % 64; break;
    case 2: value = old + 1; break;
    default: value >>= value % 64; break;
    }
    int length = snprintf(text, sizeof text, "%.*s %" PRIx64 "\n", (int)(blank - line->text),
                          (const char *)line->text, value);
    add(digest, (const uint8_t *)text, (size_t)length, out);
}

static void write_one(uint64_t *random, const struct line *lines, size_t count, FILE *out)
{
    size_t place[3];
    uint64_t digest = 0;
    unsigned changes = 1 + mix_next(random) % 3;
    for (unsigned i = 0; i < 3; i++)
        place[i] = i < changes ? 1 + mix_next(random) % (count - 1) : count;
    for (size_t i = 0; i < count; i++) {
        unsigned kind = (unsigned)(mix_next(random) % 8);
        bool hit = i == place[0] || i == place[1] || i == place[2];
        if (hit && kind == 0)
            continue;
        if (hit && kind > 1)
            change(random, &lines[i], &digest, out);
        else
            add(&digest, lines[i].text, lines[i].length, out);
        if (hit && kind == 1)
            add(&digest, lines[i].text, lines[i].length, out);
        if (lines[i].block)
            add(&digest, lines[i].text + lines[i].length, lines[i].block, out);
    }
    (void)fprintf(out, "end %" PRIx64 "\n", digest);
}

int main(int argc, char **argv)
{
    static struct line lines[LINES];
    if (argc != 5) {
        (void)fprintf(stderr, "usage: %s SNAPSHOT FOLDER COUNT SEED\n", argv[0]);
        return 2;
    }
    FILE *in = fopen(argv[1], "rb");
    if (!in || fseek(in, 0, SEEK_END) != 0)
        return 1;
    size_t size = (size_t)ftell(in);
    uint8_t *bytes = malloc(size);
    rewind(in);
    if (!bytes || fread(bytes, 1, size, in) != size)
        return 1;
    (void)fclose(in);
    size_t count = split(bytes, size, lines);
    uint64_t random = strtoull(argv[4], NULL, 10);
    for (long i = 0; i < strtol(argv[3], NULL, 10); i++) {
        char path[4096];
        (void)snprintf(path, sizeof path, "%s/%ld.snapshot", argv[2], i);
        FILE *out = fopen(path, "wb");
        if (!out)
            return 1;
        write_one(&random, lines, count, out);
        (void)fclose(out);
    }
    free(bytes);
    return 0;
}
