/* Fuzzes the gdb session over a fake target. The input's first byte chooses: 0 feeds the rest as it is;
 * otherwise each line is a packet, framed here, and the target stops in a manner that depends on the line's
 * length. */
#include <stdlib.h>
#include <string.h>

#include "tests/debug/gdb/fake.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What gdb receives: it must consist of whole packets and signs. */
struct listener {
    struct gdb_reader reader;
};

static void listen_to(void *context, const void *bytes, size_t length)
{
    struct listener *listener = context;
    const uint8_t *from = bytes;
    for (size_t i = 0; i < length; i++) {
        enum gdb_input input = gdb_reader_take(&listener->reader, from[i]);
        if (input == GDB_INPUT_CORRUPT || input == GDB_INPUT_TOO_LONG || input == GDB_INPUT_INTERRUPT)
            abort();
    }
    if (listener->reader.state != GDB_READ_IDLE)
        abort();
}

/* One of every kind of stop. */
static struct gdb_stop choose_stop(size_t number)
{
    return (struct gdb_stop){
        .kind = (enum gdb_stop_kind)(number % (GDB_STOP_DIED + 1)),
        .thread = (unsigned)(number / 8 % FAKE_THREADS),
        .signal =
            number % (GDB_STOP_DIED + 1) == GDB_STOP_SIGNAL ? (unsigned)(number & 0x1f) : GDB_SIGNAL_NONE,
        .status = (int)(number & 0xff),
        .address = FAKE_BASE + number,
        .write = number % 2 != 0,
    };
}

static void feed(struct gdb_session *session, struct fake *fake, const uint8_t *bytes, size_t length,
                 size_t number)
{
    while (length > 0 && session->attached) {
        size_t taken = gdb_session_receive(session, bytes, length);
        if (taken == 0 || taken > length)
            abort();
        bytes += taken;
        length -= taken;
        if (session->state == GDB_RUNNING || session->state == GDB_FREE) {
            fake->next = choose_stop(number++);
            gdb_session_advance(session);
        }
    }
}

static void feed_lines(struct gdb_session *session, struct fake *fake, const uint8_t *data, size_t size)
{
    static struct gdb_reply packet;
    static char frame[GDB_FRAME];
    while (size > 0) {
        const uint8_t *end = memchr(data, '\n', size);
        size_t length = end ? (size_t)(end - data) : size;
        packet.length = 0;
        gdb_reply_bytes(&packet, data, length);
        feed(session, fake, (const uint8_t *)frame, gdb_frame(&packet, frame), length);
        data += length + (end != NULL);
        size -= length + (end != NULL);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct fake fake;
    static struct listener listener;
    if (size == 0)
        return 0;
    memset(&fake, 0, sizeof fake);
    memset(&listener, 0, sizeof listener);
    struct gdb_session *session = gdb_session_new(&(struct gdb_target){&fake_ops, &fake});
    gdb_session_connect(session, listen_to, &listener);
    if (data[0] == 0)
        feed(session, &fake, data + 1, size - 1, size);
    else
        feed_lines(session, &fake, data + 1, size - 1);
    gdb_session_disconnect(session);
    if (fake.breakpoints + fake.watchpoints != 0)
        abort();
    gdb_session_free(session);
    return 0;
}
