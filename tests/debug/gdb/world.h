/* A session over the fake target, and the packets that go to and fro. */
#ifndef TESTS_DEBUG_GDB_WORLD_H
#define TESTS_DEBUG_GDB_WORLD_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/debug/gdb/fake.h"

enum { OUTPUT = 1 << 20 };

struct world {
    struct fake fake;
    struct gdb_session *session;
    size_t length;
    char output[OUTPUT]; /* all that was sent since the last talk() */
    char answer[OUTPUT]; /* the payloads among it, separated by '|' */
};

static inline void collect(void *context, const void *bytes, size_t length)
{
    struct world *world = context;
    assert_true(length <= sizeof world->output - world->length);
    memcpy(world->output + world->length, bytes, length);
    world->length += length;
}

static inline int set_up(void **state)
{
    struct world *world = calloc(1, sizeof *world);
    assert_non_null(world);
    world->fake.registers[0][GDB_REGISTER_PC] = 0x80000000;
    world->fake.registers[1][GDB_REGISTER_PC] = 0x80001000;
    world->session = gdb_session_new(&(struct gdb_target){&fake_ops, &world->fake});
    gdb_session_connect(world->session, collect, world);
    *state = world;
    return 0;
}

static inline int tear_down(void **state)
{
    struct world *world = *state;
    gdb_session_free(world->session);
    free(world);
    return 0;
}

/* The payloads of what was sent. */
static const char *answers(struct world *world)
{
    static struct gdb_reader reader;
    size_t used = 0;
    for (size_t i = 0; i < world->length; i++) {
        enum gdb_input input = gdb_reader_take(&reader, (uint8_t)world->output[i]);
        assert_true(input == GDB_INPUT_NONE || input == GDB_INPUT_PACKET || input == GDB_INPUT_ACK);
        if (input != GDB_INPUT_PACKET)
            continue;
        if (used > 0)
            world->answer[used++] = '|';
        memcpy(world->answer + used, reader.payload, reader.length);
        used += reader.length;
    }
    world->answer[used] = '\0';
    world->length = 0;
    return world->answer;
}

/* Sends a packet of these bytes and returns the answer. */
static const char *talk_bytes(struct world *world, const void *bytes, size_t length)
{
    static struct gdb_reply packet;
    static char frame[GDB_FRAME];
    packet.length = 0;
    gdb_reply_bytes(&packet, bytes, length);
    size_t size = gdb_frame(&packet, frame);
    assert_int_equal(gdb_session_receive(world->session, frame, size), size);
    return answers(world);
}

static const char *talk(struct world *world, const char *payload)
{
    return talk_bytes(world, payload, strlen(payload));
}

static inline void raw(struct world *world, const char *bytes, const char *expected)
{
    (void)gdb_session_receive(world->session, bytes, strlen(bytes));
    assert_int_equal(world->length, strlen(expected));
    assert_memory_equal(world->output, expected, world->length);
    world->length = 0;
}

#define HERE(thread, pc) "thread:" thread ";2:0000000000000000;20:" pc ";"
#define AT_START         HERE("1", "0000008000000000")

#endif
