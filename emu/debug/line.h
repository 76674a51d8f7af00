/* A buffered writer for log lines; faster than printf. */
#ifndef EMU_DEBUG_LINE_H
#define EMU_DEBUG_LINE_H

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { LINE_BUFFER = 1 << 16, LINE_ROOM = 256 };

struct line_writer {
    size_t used;
    FILE *file;
    int failure; /* errno of the first write that failed, or 0 */
    char buffer[LINE_BUFFER + LINE_ROOM];
};

static inline void line_open(struct line_writer *out, FILE *file)
{
    out->used = 0;
    out->file = file;
    out->failure = 0;
}

static inline void line_flush(struct line_writer *out)
{
    if (fwrite(out->buffer, 1, out->used, out->file) != out->used || fflush(out->file) != 0)
        out->failure = out->failure ? out->failure : errno;
    out->used = 0;
}

static inline void line_char(struct line_writer *out, char c)
{
    if (out->used >= LINE_BUFFER)
        line_flush(out);
    out->buffer[out->used++] = c;
}

/* text must be shorter than LINE_ROOM bytes. */
static inline void line_text(struct line_writer *out, const char *text)
{
    if (out->used >= LINE_BUFFER)
        line_flush(out);
    size_t length = strlen(text);
    memcpy(out->buffer + out->used, text, length);
    out->used += length;
}

/* Writes the low 4 * digits bits of value in hexadecimal, with leading zeros. */
static inline void line_hex(struct line_writer *out, uint64_t value, unsigned digits)
{
    if (out->used >= LINE_BUFFER)
        line_flush(out);
    for (unsigned i = digits; i-- > 0; value >>= 4)
        out->buffer[out->used + i] = "0123456789abcdef"[value & 15];
    out->used += digits;
}

static inline void line_decimal(struct line_writer *out, uint64_t value)
{
    char digits[20];
    unsigned count = 0;
    do
        digits[count++] = (char)('0' + value % 10);
    while (value /= 10);
    while (count > 0)
        line_char(out, digits[--count]);
}

#endif
