/* Byte level of the gdb remote serial protocol: framing, checksums, escapes, and the numbers in a packet. */
#ifndef EMU_DEBUG_GDB_PACKET_H
#define EMU_DEBUG_GDB_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A packet is `$payload#nn`; nn is the sum of the payload's bytes modulo 256, as two hexadecimal digits (gdb
 * manual, "Remote Protocol", Overview). In a payload, 0x7d means that the next byte is XORed with 0x20. */
enum {
    GDB_PACKET = 0x4000,            /* largest payload in bytes, in both directions */
    GDB_FRAME = 2 * GDB_PACKET + 4, /* largest framed packet in bytes: every payload byte escaped */
    GDB_INTERRUPT = 0x03,           /* the byte that gdb sends for Ctrl-C, outside of packets */
};

/* What the byte just taken completes. */
enum gdb_input {
    GDB_INPUT_NONE,
    GDB_INPUT_PACKET,    /* reader->payload[reader->length] is valid */
    GDB_INPUT_CORRUPT,   /* wrong checksum, or an escape as the last byte */
    GDB_INPUT_TOO_LONG,  /* more than GDB_PACKET bytes; the whole packet is dropped */
    GDB_INPUT_ACK,       /* `+` between packets */
    GDB_INPUT_NAK,       /* `-`: gdb asks for the last packet again */
    GDB_INPUT_INTERRUPT, /* GDB_INTERRUPT between packets */
};

enum gdb_reader_state { GDB_READ_IDLE, GDB_READ_BODY, GDB_READ_ESCAPED, GDB_READ_SUM_HIGH, GDB_READ_SUM_LOW };

/* All zeros is the initial state. */
struct gdb_reader {
    enum gdb_reader_state state;
    bool too_long, corrupt;
    uint8_t sum;
    unsigned announced; /* value of the checksum's first digit */
    size_t length;
    char payload[GDB_PACKET + 1]; /* without escapes; zero-terminated when a packet is complete */
};

/* Takes the next byte of the stream. Skips bytes outside of packets that have no meaning. A `$` always begins
 * a packet. The payload is valid until the next call. */
enum gdb_input gdb_reader_take(struct gdb_reader *reader, uint8_t byte);

/* A payload under construction. Bytes that do not fit are dropped and `full` is set. */
struct gdb_reply {
    size_t length;
    bool full;
    char payload[GDB_PACKET];
};

void gdb_reply_bytes(struct gdb_reply *reply, const void *bytes, size_t length);
void gdb_reply_text(struct gdb_reply *reply, const char *text);
void gdb_reply_number(struct gdb_reply *reply, uint64_t value); /* hexadecimal, without leading zeros */
void gdb_reply_hex(struct gdb_reply *reply, const void *bytes, size_t length); /* two digits per byte */
void gdb_reply_register(struct gdb_reply *reply, uint64_t value);              /* 8 bytes, little-endian */

/* Writes the reply as a packet to frame[GDB_FRAME]. Returns its length in bytes. */
size_t gdb_frame(const struct gdb_reply *reply, char *frame);

/* The unread part of a payload. Each gdb_take_*() function consumes its item from the front and returns true.
 * If the item is not there, it returns false and may have consumed part of the input. */
struct gdb_cursor {
    const char *at, *end;
};

static inline size_t gdb_left(const struct gdb_cursor *in)
{
    return (size_t)(in->end - in->at);
}

static inline bool gdb_at_end(const struct gdb_cursor *in)
{
    return in->at == in->end;
}

bool gdb_take_text(struct gdb_cursor *in, const char *text);
bool gdb_take_number(struct gdb_cursor *in, uint64_t *value);         /* 1 to 16 hexadecimal digits */
bool gdb_take_hex(struct gdb_cursor *in, void *bytes, size_t length); /* 2 * length digits */
bool gdb_take_register(struct gdb_cursor *in, uint64_t *value);       /* 16 digits, little-endian */
bool gdb_take_thread(struct gdb_cursor *in, int64_t *thread);         /* a number, or -1 */

#endif
