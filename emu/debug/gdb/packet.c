#include "emu/debug/gdb/packet.h"
#include "emu/sim/little_endian.h"

#include <string.h>

enum { ESCAPE = 0x7d, ESCAPE_FLIP = 0x20, REGISTER_BYTES = 8, NUMBER_DIGITS = 16 };

static const char digits[] = "0123456789abcdef";

/* Returns the value of a hexadecimal digit, or -1. */
static int digit_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

static enum gdb_input take_idle(uint8_t byte)
{
    switch (byte) {
    case '+': return GDB_INPUT_ACK;
    case '-': return GDB_INPUT_NAK;
    case GDB_INTERRUPT: return GDB_INPUT_INTERRUPT;
    default: return GDB_INPUT_NONE;
    }
}

static void keep(struct gdb_reader *reader, uint8_t byte)
{
    if (reader->length == GDB_PACKET)
        reader->too_long = true;
    else
        reader->payload[reader->length++] = (char)byte;
}

static void take_body(struct gdb_reader *reader, uint8_t byte)
{
    if (byte == '#') {
        reader->corrupt |= reader->state == GDB_READ_ESCAPED;
        reader->state = GDB_READ_SUM_HIGH;
        return;
    }
    reader->sum = (uint8_t)(reader->sum + byte);
    if (reader->state == GDB_READ_ESCAPED) {
        keep(reader, byte ^ ESCAPE_FLIP);
        reader->state = GDB_READ_BODY;
    } else if (byte == ESCAPE) {
        reader->state = GDB_READ_ESCAPED;
    } else {
        keep(reader, byte);
    }
}

/* Takes the second digit of the checksum, which ends the packet. */
static enum gdb_input take_last(struct gdb_reader *reader, uint8_t byte)
{
    int low = digit_value((char)byte);
    reader->state = GDB_READ_IDLE;
    reader->payload[reader->length] = '\0';
    if (reader->corrupt || low < 0 || (reader->announced << 4 | (unsigned)low) != reader->sum)
        return GDB_INPUT_CORRUPT;
    return reader->too_long ? GDB_INPUT_TOO_LONG : GDB_INPUT_PACKET;
}

enum gdb_input gdb_reader_take(struct gdb_reader *reader, uint8_t byte)
{
    if (byte == '$') {
        reader->state = GDB_READ_BODY;
        reader->too_long = reader->corrupt = false;
        reader->sum = 0;
        reader->length = 0;
        return GDB_INPUT_NONE;
    }
    switch (reader->state) {
    case GDB_READ_BODY:
    case GDB_READ_ESCAPED: take_body(reader, byte); return GDB_INPUT_NONE;
    case GDB_READ_SUM_HIGH: {
        int high = digit_value((char)byte);
        reader->corrupt |= high < 0;
        reader->announced = high < 0 ? 0 : (unsigned)high;
        reader->state = GDB_READ_SUM_LOW;
        return GDB_INPUT_NONE;
    }
    case GDB_READ_SUM_LOW: return take_last(reader, byte);
    default: return take_idle(byte);
    }
}

void gdb_reply_bytes(struct gdb_reply *reply, const void *bytes, size_t length)
{
    size_t room = sizeof reply->payload - reply->length;
    if (length > room) {
        reply->full = true;
        length = room;
    }
    memcpy(reply->payload + reply->length, bytes, length);
    reply->length += length;
}

void gdb_reply_text(struct gdb_reply *reply, const char *text)
{
    gdb_reply_bytes(reply, text, strlen(text));
}

void gdb_reply_number(struct gdb_reply *reply, uint64_t value)
{
    char text[NUMBER_DIGITS];
    unsigned first = NUMBER_DIGITS;
    do
        text[--first] = digits[value & 15];
    while (value >>= 4);
    gdb_reply_bytes(reply, text + first, NUMBER_DIGITS - first);
}

void gdb_reply_hex(struct gdb_reply *reply, const void *bytes, size_t length)
{
    const uint8_t *from = bytes;
    for (size_t i = 0; i < length; i++) {
        const char pair[2] = {digits[from[i] >> 4], digits[from[i] & 15]};
        gdb_reply_bytes(reply, pair, sizeof pair);
    }
}

void gdb_reply_register(struct gdb_reply *reply, uint64_t value)
{
    uint8_t bytes[REGISTER_BYTES];
    little_endian_put(bytes, value, REGISTER_BYTES);
    gdb_reply_hex(reply, bytes, sizeof bytes);
}

size_t gdb_frame(const struct gdb_reply *reply, char *frame)
{
    size_t length = 0;
    unsigned sum = 0;
    frame[length++] = '$';
    for (size_t i = 0; i < reply->length; i++) {
        char c = reply->payload[i];
        /* Escape `*` too: it starts run-length encoding. */
        if (c == '#' || c == '$' || c == '*' || c == ESCAPE) {
            frame[length++] = ESCAPE;
            sum += ESCAPE;
            c ^= ESCAPE_FLIP;
        }
        frame[length++] = c;
        sum += (uint8_t)c;
    }
    frame[length++] = '#';
    frame[length++] = digits[sum >> 4 & 15];
    frame[length++] = digits[sum & 15];
    return length;
}

bool gdb_take_text(struct gdb_cursor *in, const char *text)
{
    size_t length = strlen(text);
    if (length > gdb_left(in) || memcmp(in->at, text, length) != 0)
        return false;
    in->at += length;
    return true;
}

bool gdb_take_number(struct gdb_cursor *in, uint64_t *value)
{
    unsigned count = 0;
    *value = 0;
    for (int digit; !gdb_at_end(in) && (digit = digit_value(*in->at)) >= 0; in->at++) {
        *value = *value << 4 | (unsigned)digit;
        if (++count > NUMBER_DIGITS)
            return false;
    }
    return count > 0;
}

bool gdb_take_hex(struct gdb_cursor *in, void *bytes, size_t length)
{
    uint8_t *to = bytes;
    if (gdb_left(in) / 2 < length)
        return false;
    for (size_t i = 0; i < length; i++, in->at += 2) {
        int high = digit_value(in->at[0]), low = digit_value(in->at[1]);
        if (high < 0 || low < 0)
            return false;
        to[i] = (uint8_t)(high << 4 | low);
    }
    return true;
}

bool gdb_take_register(struct gdb_cursor *in, uint64_t *value)
{
    uint8_t bytes[REGISTER_BYTES];
    if (!gdb_take_hex(in, bytes, sizeof bytes))
        return false;
    *value = little_endian_get(bytes, REGISTER_BYTES);
    return true;
}

bool gdb_take_thread(struct gdb_cursor *in, int64_t *thread)
{
    uint64_t value;
    if (gdb_take_text(in, "-1")) {
        *thread = -1;
        return true;
    }
    if (!gdb_take_number(in, &value) || value > INT32_MAX)
        return false;
    *thread = (int64_t)value;
    return true;
}
