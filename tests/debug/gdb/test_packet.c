/* Framing: what gdb sends is read as the manual says, and what is not a packet never becomes one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "emu/debug/gdb/packet.h"

/* Feeds bytes; returns what the last one completed. */
static enum gdb_input feed(struct gdb_reader *reader, const char *bytes, size_t length)
{
    enum gdb_input input = GDB_INPUT_NONE;
    for (size_t i = 0; i < length; i++) {
        assert_int_equal(input, GDB_INPUT_NONE);
        input = gdb_reader_take(reader, (uint8_t)bytes[i]);
    }
    return input;
}

static enum gdb_input feed_text(struct gdb_reader *reader, const char *text)
{
    return feed(reader, text, strlen(text));
}

static void test_read(void **state)
{
    (void)state;
    struct gdb_reader reader = {.length = 0};
    assert_int_equal(feed_text(&reader, "$OK#9a"), GDB_INPUT_PACKET);
    assert_string_equal(reader.payload, "OK");
    assert_int_equal(feed_text(&reader, "$#00"), GDB_INPUT_PACKET);
    assert_int_equal(reader.length, 0);
    assert_int_equal(feed_text(&reader, "rubbish$OK#9A"), GDB_INPUT_PACKET);
    assert_int_equal(feed_text(&reader, "$half$OK#9a"), GDB_INPUT_PACKET);
    assert_string_equal(reader.payload, "OK");
    /* The sum is of the bytes as sent: 58 7d 03 7d 5d. */
    assert_int_equal(feed_text(&reader, "$X}\x03}]#b2"), GDB_INPUT_PACKET);
    assert_memory_equal(reader.payload, "X#}", 3);
    assert_int_equal(reader.length, 3);
}

static void test_signs(void **state)
{
    (void)state;
    struct gdb_reader reader = {.length = 0};
    assert_int_equal(feed_text(&reader, "+"), GDB_INPUT_ACK);
    assert_int_equal(feed_text(&reader, "-"), GDB_INPUT_NAK);
    assert_int_equal(feed_text(&reader, "\x03"), GDB_INPUT_INTERRUPT);
    assert_int_equal(feed_text(&reader, "$+-\x03#5b"), GDB_INPUT_PACKET);
}

static void test_corrupt(void **state)
{
    static const char *const corrupt[] = {"$OK#9b", "$OK#8a", "$OK#x9", "$OK#9x",
                                          "$OK##9", "$X}#d5", "$}#7d"};
    struct gdb_reader reader = {.length = 0};
    (void)state;
    for (size_t i = 0; i < sizeof corrupt / sizeof corrupt[0]; i++) {
        assert_int_equal(feed_text(&reader, corrupt[i]), GDB_INPUT_CORRUPT);
        assert_int_equal(feed_text(&reader, "$OK#9a"), GDB_INPUT_PACKET);
    }
}

static void test_length(void **state)
{
    struct gdb_reader reader = {.length = 0};
    (void)state;
    for (unsigned extra = 0; extra < 2; extra++) {
        char sum[3];
        assert_int_equal(feed_text(&reader, "$"), GDB_INPUT_NONE);
        for (unsigned i = 0; i < GDB_PACKET + extra; i++)
            assert_int_equal(gdb_reader_take(&reader, 'a'), GDB_INPUT_NONE);
        (void)snprintf(sum, sizeof sum, "%02x", (GDB_PACKET + extra) * 'a' & 0xff);
        assert_int_equal(feed_text(&reader, "#"), GDB_INPUT_NONE);
        assert_int_equal(feed_text(&reader, sum), extra ? GDB_INPUT_TOO_LONG : GDB_INPUT_PACKET);
        assert_int_equal(reader.length, GDB_PACKET);
    }
}

static void test_frame(void **state)
{
    struct gdb_reply reply = {.length = 0};
    char frame[GDB_FRAME];
    (void)state;
    gdb_reply_text(&reply, "OK");
    assert_int_equal(gdb_frame(&reply, frame), 6);
    assert_memory_equal(frame, "$OK#9a", 6);
    reply.length = 0;
    gdb_reply_text(&reply, "a*b");
    assert_int_equal(gdb_frame(&reply, frame), 8);
    assert_memory_equal(frame, "$a}\nb#4a", 8);
}

/* Whatever the payload, gdb_frame() and gdb_reader_take() are each other's inverse. */
static void test_round_trip(void **state)
{
    static struct gdb_reply reply;
    static struct gdb_reader reader;
    static char frame[GDB_FRAME];
    (void)state;
    for (unsigned step = 1; step < 256; step += 2) {
        reply = (struct gdb_reply){.length = 0};
        for (unsigned i = 0; i < GDB_PACKET; i++) {
            const uint8_t byte = (uint8_t)(i * step);
            gdb_reply_bytes(&reply, &byte, 1);
        }
        assert_false(reply.full);
        assert_int_equal(feed(&reader, frame, gdb_frame(&reply, frame)), GDB_INPUT_PACKET);
        assert_int_equal(reader.length, reply.length);
        assert_memory_equal(reader.payload, reply.payload, reply.length);
    }
    gdb_reply_text(&reply, "x");
    assert_true(reply.full);
    memset(reply.payload, '#', sizeof reply.payload);
    assert_int_equal(gdb_frame(&reply, frame), GDB_FRAME);
}

static void test_numbers(void **state)
{
    struct gdb_reply reply = {.length = 0};
    (void)state;
    gdb_reply_number(&reply, 0);
    gdb_reply_text(&reply, ",");
    gdb_reply_number(&reply, UINT64_MAX);
    gdb_reply_text(&reply, ",");
    gdb_reply_number(&reply, 0x10);
    gdb_reply_text(&reply, ",");
    gdb_reply_register(&reply, 0x0123456789abcdef);
    assert_int_equal(reply.length, strlen("0,ffffffffffffffff,10,efcdab8967452301"));
    assert_memory_equal(reply.payload, "0,ffffffffffffffff,10,efcdab8967452301", reply.length);
}

static struct gdb_cursor cursor(const char *text)
{
    return (struct gdb_cursor){text, text + strlen(text)};
}

static void test_cursor(void **state)
{
    uint64_t value;
    int64_t thread;
    uint8_t bytes[3];
    (void)state;
    struct gdb_cursor in = cursor("fF,0102zz");
    assert_true(gdb_take_number(&in, &value));
    assert_int_equal(value, 0xff);
    assert_true(gdb_take_text(&in, ","));
    assert_true(gdb_take_hex(&in, bytes, 2));
    assert_memory_equal(bytes, "\1\2", 2);
    assert_false(gdb_take_hex(&in, bytes, 1));
    in = cursor("12345");
    assert_false(gdb_take_hex(&in, bytes, 3));
    in = cursor("");
    assert_false(gdb_take_number(&in, &value));
    in = cursor("ffffffffffffffff");
    assert_true(gdb_take_number(&in, &value));
    assert_int_equal(value, UINT64_MAX);
    in = cursor("10000000000000000");
    assert_false(gdb_take_number(&in, &value));
    in = cursor("efcdab8967452301");
    assert_true(gdb_take_register(&in, &value));
    assert_int_equal(value, 0x0123456789abcdef);
    in = cursor("efcdab896745230");
    assert_false(gdb_take_register(&in, &value));
    in = cursor("-1");
    assert_true(gdb_take_thread(&in, &thread));
    assert_int_equal(thread, -1);
    in = cursor("-2");
    assert_false(gdb_take_thread(&in, &thread));
    in = cursor("80000000");
    assert_false(gdb_take_thread(&in, &thread));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_read),    cmocka_unit_test(test_signs),  cmocka_unit_test(test_corrupt),
        cmocka_unit_test(test_length),  cmocka_unit_test(test_frame),  cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_numbers), cmocka_unit_test(test_cursor),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
