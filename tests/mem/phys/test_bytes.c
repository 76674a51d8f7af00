/* Bytes in memory and at holders: pieces and refusals. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "emu/mem/phys/bus.h"

enum { MEMORY = 0x80000000, SIZE = 0x2000, STASH = 0x100 };

/* Bytes outside memory, held from `base` on. */
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

/* Memory, a stash directly after it, a hole, and registers. */
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_asks_no_holder),
        cmocka_unit_test(a_range_is_split_where_holders_change),
        cmocka_unit_test(the_count_tells_where_the_bytes_end),
        cmocka_unit_test(holders_do_not_overlap),
        cmocka_unit_test(registers_are_peeked_once_each),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
