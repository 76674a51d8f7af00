/* The gdb remote serial protocol as bytes: framing, checksums, escapes, and the numbers in a packet. */
#ifndef EMU_DEBUG_GDB_PACKET_H
#define EMU_DEBUG_GDB_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A packet is `$payload#nn`, nn the sum of the payload's bytes as two hexadecimal digits (gdb manual, "Remote
 * Protocol", Overview). In a payload, 0x7d announces that the next byte was exclusive-ored with 0x20. */
enum {
    GDB_PACKET = 0x4000,            /* bytes of the largest payload, in both directions */
    GDB_FRAME = 2 * GDB_PACKET + 4, /* bytes of the largest framed packet: all of its payload escaped */
    GDB_INTERRUPT = 0x03,           /* the byte that Ctrl-C in gdb sends, outside of packets */
};

/* What a byte has completed. */
enum gdb_input {
    GDB_INPUT_NONE,
    GDB_INPUT_PACKET,    /* reader->payload[reader->length] is good */
    GDB_INPUT_CORRUPT,   /* wrong checksum, or an escape without a byte to escape */
    GDB_INPUT_TOO_LONG,  /* more than GDB_PACKET bytes, dropped up to its end */
    GDB_INPUT_ACK,       /* `+` between packets */
    GDB_INPUT_NAK,       /* `-`: the last packet shall be sent again */
    GDB_INPUT_INTERRUPT, /* GDB_INTERRUPT between packets */
};

enum gdb_reader_state { GDB_READ_IDLE, GDB_READ_BODY, GDB_READ_ESCAPED, GDB_READ_SUM_HIGH, GDB_READ_SUM_LOW };

/* Begins as all zero. */
struct gdb_reader {
    enum gdb_reader_state state;
    bool too_long, corrupt;
    uint8_t sum;
    unsigned announced; /* the checksum's first digit */
    size_t length;
    char payload[GDB_PACKET + 1]; /* escapes undone; terminated by a zero when a packet is complete */
};

/* Takes the next byte of the stream. Bytes that are neither in a packet nor meaningful are skipped; a `$`
 * always begins a packet. The payload stays valid until the next byte. */
enum gdb_input gdb_reader_take(struct gdb_reader *reader, uint8_t byte);

/* A payload on its way out. What does not fit is left out; `full` tells. */
struct gdb_reply {
    size_t length;
    bool full;
    char payload[GDB_PACKET];
};

void gdb_reply_bytes(struct gdb_reply *reply, const void *bytes, size_t length);
void gdb_reply_text(struct gdb_reply *reply, const char *text);
void gdb_reply_number(struct gdb_reply *reply, uint64_t value); /* hexadecimal, without zeros */
void gdb_reply_hex(struct gdb_reply *reply, const void *bytes, size_t length); /* two digits for each byte */
void gdb_reply_register(struct gdb_reply *reply, uint64_t value); /* 8 bytes in the target's order */

/* Writes reply as a packet to frame[GDB_FRAME] and returns its length. */
size_t gdb_frame(const struct gdb_reply *reply, char *frame);

/* What is left to read of a payload. The functions below take what they are named after from its front and
 * return true, or return false, having taken an unspecified part, when it is not there. */
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
bool gdb_take_register(struct gdb_cursor *in, uint64_t *value);       /* 16 digits, the target's order */
bool gdb_take_thread(struct gdb_cursor *in, int64_t *thread);         /* a number, or -1 */

#endif
