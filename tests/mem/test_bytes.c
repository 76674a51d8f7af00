/* Bytes in memory and beside it: pieces, refusals, and a stash at the end of a chain of ports. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "emu/mem/bus.h"
#include "emu/mem/llc.h"
#include "emu/net/crossbar.h"
#include "emu/net/link.h"

enum { MEMORY = 0x80000000, SIZE = 0x2000, STASH = 0x100, PERIOD = 1000000 };

/* Bytes of its own. As a port it answers untimed accesses at `base`. */
struct stash {
    uint64_t base;
    uint8_t bytes[STASH];
    unsigned reads, writes;
    bool refuses_writes;
};

static bool stash_functional(void *context, const struct mem_access *access)
{
    struct stash *stash = context;
    uint64_t offset = access->address - stash->base;
    if (offset >= STASH || access->size > STASH - offset || (access->write && stash->refuses_writes))
        return false;
    stash->reads += !access->write;
    stash->writes += access->write;
    memcpy(access->write ? stash->bytes + offset : access->bytes,
           access->write ? access->bytes : stash->bytes + offset, access->size);
    return true;
}

static struct phys memory_of(void)
{
    struct phys memory;
    struct error err;
    assert_true(phys_init(&memory, MEMORY, SIZE, &err));
    for (unsigned i = 0; i < SIZE; i++)
        memory.bytes[i] = (uint8_t)(i * 7 + 1);
    return memory;
}

static void hold(struct bytes_holders *holders, struct stash *stash, uint64_t base, bool storage)
{
    struct error err;
    const struct bytes_holder holder = {base, STASH, base, stash_functional, stash, storage, "stash"};
    for (unsigned i = 0; i < STASH; i++)
        stash->bytes[i] = (uint8_t)(0x80 ^ i);
    assert_true(bytes_hold(holders, &holder, &err));
}

/* Memory, a stash right behind it, a hole, and registers. */
struct place {
    struct phys memory;
    struct bytes_holders holders;
    struct bytes bytes;
    struct stash stash, registers;
};

enum { BEHIND = MEMORY + SIZE, REGISTERS = BEHIND + 2 * STASH };

static void make(struct place *place)
{
    *place = (struct place){.memory = memory_of()};
    hold(&place->holders, &place->registers, REGISTERS, false);
    hold(&place->holders, &place->stash, BEHIND, true);
    place->bytes = (struct bytes){&place->memory, &place->holders};
}

static void memory_asks_no_holder(void **state)
{
    struct place place;
    uint8_t buffer[16];
    (void)state;
    make(&place);
    assert_int_equal(bytes_read(&place.bytes, MEMORY + SIZE - 16, buffer, 16), 16);
    for (unsigned i = 0; i < 16; i++)
        assert_int_equal(buffer[i], (uint8_t)((SIZE - 16 + i) * 7 + 1));
    assert_int_equal(bytes_write(&place.bytes, MEMORY, "abc", 3), 3);
    assert_memory_equal(place.memory.bytes, "abc", 3);
    assert_int_equal(place.stash.reads + place.stash.writes, 0);
    bytes_holders_free(&place.holders);
    phys_free(&place.memory);
}

static void a_range_is_split_where_holders_change(void **state)
{
    struct place place;
    uint8_t buffer[24];
    (void)state;
    make(&place);
    assert_int_equal(bytes_read(&place.bytes, BEHIND - 8, buffer, 24), 24);
    for (unsigned i = 0; i < 8; i++)
        assert_int_equal(buffer[i], (uint8_t)((SIZE - 8 + i) * 7 + 1));
    for (unsigned i = 8; i < 24; i++)
        assert_int_equal(buffer[i], 0x80 ^ (i - 8));
    assert_int_equal(bytes_write(&place.bytes, BEHIND - 2, "wxyz", 4), 4);
    assert_memory_equal(place.memory.bytes + SIZE - 2, "wx", 2);
    assert_memory_equal(place.stash.bytes, "yz", 2);
    assert_int_equal(place.stash.writes, 1);
    bytes_holders_free(&place.holders);
    phys_free(&place.memory);
}

static void the_count_tells_where_the_bytes_end(void **state)
{
    struct place place;
    uint8_t buffer[3 * STASH];
    (void)state;
    make(&place);
    memset(buffer, 0, sizeof buffer);
    assert_int_equal(bytes_read(&place.bytes, BEHIND + 0xf0, buffer, 0x20), 0x10);
    assert_int_equal(bytes_read(&place.bytes, BEHIND + STASH, buffer, 1), 0);
    assert_int_equal(bytes_read(&place.bytes, MEMORY - 4, buffer, 8), 0);
    assert_int_equal(bytes_read(&place.bytes, UINT64_MAX - 3, buffer, 8), 0);
    place.stash.refuses_writes = true;
    assert_int_equal(bytes_write(&place.bytes, BEHIND - 5, buffer, 9), 5);
    assert_int_equal(place.stash.bytes[0], 0x80);
    assert_int_equal(bytes_reach(&place.bytes, BEHIND - 5, 9, true), 9);
    assert_int_equal(bytes_reach(&place.bytes, BEHIND - 5, 3 * STASH, true), 5 + STASH);
    assert_int_equal(bytes_reach(&place.bytes, REGISTERS, 4, true), 0);
    assert_int_equal(bytes_reach(&place.bytes, REGISTERS, 4, false), 4);
    assert_int_equal(bytes_read(&place.bytes, REGISTERS, buffer, 4), 4);
    const struct bytes plain = {&place.memory, NULL};
    assert_int_equal(bytes_read(&plain, BEHIND - 5, buffer, 9), 5);
    bytes_holders_free(&place.holders);
    phys_free(&place.memory);
}

static void holders_do_not_overlap(void **state)
{
    struct place place;
    struct error err;
    (void)state;
    make(&place);
    struct bytes_holder holder = {BEHIND + STASH - 1, 1, 0, stash_functional, &place.stash, true, "late"};
    assert_false(bytes_hold(&place.holders, &holder, &err));
    assert_string_equal(err.text, "late at 0x800020ff overlaps stash at 0x80002000");
    holder.base = UINT64_MAX;
    holder.size = 2;
    assert_false(bytes_hold(&place.holders, &holder, &err));
    holder.base = BEHIND + STASH;
    holder.size = STASH;
    assert_true(bytes_hold(&place.holders, &holder, &err));
    assert_string_equal(bytes_holder_of(&place.holders, BEHIND + STASH)->name, "late");
    assert_ptr_equal(bytes_holder_of(&place.holders, REGISTERS)->context, &place.registers);
    bytes_holders_free(&place.holders);
    phys_free(&place.memory);
}

static bool peek(void *device, uint64_t offset, uint64_t *value)
{
    unsigned *asked = device;
    ++*asked;
    *value = 0x11223344 + offset;
    return offset != 8;
}

static void registers_are_peeked_once_each(void **state)
{
    uint8_t buffer[8] = {0};
    unsigned asked = 0;
    (void)state;
    assert_true(bytes_peek(&(struct mem_access){2, buffer, 5, false}, 4, peek, &asked));
    assert_int_equal(asked, 2);
    assert_memory_equal(buffer, "\x22\x11\x48\x33\x22", 5);
    assert_false(bytes_peek(&(struct mem_access){6, buffer, 3, false}, 4, peek, &asked));
    asked = 0;
    assert_false(bytes_peek(&(struct mem_access){0, buffer, 4, true}, 4, peek, &asked));
    assert_int_equal(asked, 0);
}

/* A last level above a crossbar, whose one output has memory and whose other one a link to a stash. */
struct chain {
    struct event_queue queue;
    struct llc *llc;
    struct crossbar *crossbar;
    struct link *link;
    struct stash stash, plain;
    struct mem_link top;
};

enum { FAR = 0x10000 };

static void chain_init(struct chain *chain)
{
    static const struct mem_port_ops ops = {.functional = stash_functional};
    const struct clock clock = {PERIOD};
    struct llc_config llc;
    struct crossbar_config crossbar;
    struct link_config link;
    part_defaults(&llc_kind, 0, &llc);
    part_defaults(&crossbar_kind, 0, &crossbar);
    part_defaults(&link_kind, 0, &link);
    crossbar.inputs = 1;
    crossbar.outputs = 2;
    event_queue_init(&chain->queue);
    chain->crossbar =
        crossbar_new(&crossbar, &chain->queue, &clock, 2, &(struct crossbar_route){.shift = 16});
    chain->link = link_new(&link, &chain->queue, 3);
    chain->llc =
        llc_new("l2", &llc, &chain->queue, &clock, 1, 9, &crossbar_ops, crossbar_port(chain->crossbar, 0));
    crossbar_connect(chain->crossbar, 0, &ops, &chain->plain);
    crossbar_connect(chain->crossbar, 1, &link_ops, chain->link);
    link_connect(chain->link, &ops, &chain->stash);
    chain->top = (struct mem_link){.port_ops = &llc_ops, .port = chain->llc};
}

static void a_port_holds_what_lies_behind_it(void **state)
{
    static const char text[] = "through four parts";
    struct chain chain = {.stash = {.base = FAR}};
    struct phys memory = memory_of();
    struct bus bus;
    struct error err;
    uint8_t buffer[sizeof text];
    (void)state;
    chain_init(&chain);
    bus_init(&bus, &memory);
    assert_true(mem_link_hold(&bus.holders, &chain.top, FAR, 2 * STASH, "far stash", &err));
    const struct bytes bytes = {&memory, &bus.holders};
    assert_int_equal(bytes_write(&bytes, FAR + 3, text, sizeof text), sizeof text);
    assert_memory_equal(chain.stash.bytes + 3, text, sizeof text);
    memset(chain.stash.bytes, 'x', 5);
    assert_int_equal(bytes_read(&bytes, FAR + 3, buffer, sizeof text), sizeof text);
    assert_memory_equal(buffer, "xxrough four parts", sizeof text);
    assert_int_equal(bytes_read(&bytes, FAR + STASH, buffer, 1), 0); /* the port refuses: nothing there */
    assert_int_equal(chain.plain.reads + chain.plain.writes, 0);
    llc_free(chain.llc);
    crossbar_free(chain.crossbar);
    link_free(chain.link);
    bus_free(&bus);
    phys_free(&memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_asks_no_holder),
        cmocka_unit_test(a_range_is_split_where_holders_change),
        cmocka_unit_test(the_count_tells_where_the_bytes_end),
        cmocka_unit_test(holders_do_not_overlap),
        cmocka_unit_test(registers_are_peeked_once_each),
        cmocka_unit_test(a_port_holds_what_lies_behind_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
