/* HTIF as Berkeley's front-end server and Spike understand it. */
#include "tests/dev/rig.h"

#include <errno.h>

#include "emu/dev/htif.h"

enum { TOHOST = 0x80001000, FROMHOST = 0x80001040, BLOCK = 0x80002000, TEXT = 0x80003000 };

struct place {
    struct rig rig;
    struct phys memory;
    struct htif *htif;
};

static void make(struct place *place, uint64_t fromhost)
{
    struct error err;
    *place = (struct place){0};
    assert_true(phys_init(&place->memory, 0x80000000, 0x10000, &err));
    place->htif = htif_new(&(struct htif_wiring){.memory = &place->memory,
                                                 .tohost = TOHOST,
                                                 .fromhost = fromhost,
                                                 .exit = rig_code,
                                                 .output = rig_output,
                                                 .exit_context = &place->rig,
                                                 .output_context = &place->rig},
                           &err);
    assert_non_null(place->htif);
}

static void drop(struct place *place)
{
    htif_free(place->htif);
    phys_free(&place->memory);
}

static uint64_t get(const struct place *place, uint64_t address)
{
    uint64_t value;
    memcpy(&value, phys_at(&place->memory, address, 8), 8);
    return value;
}

static void set(struct place *place, uint64_t address, uint64_t value, size_t size)
{
    memcpy(phys_at(&place->memory, address, size), &value, size);
}

/* The guest stores, and its hart tells. */
static void store(struct place *place, uint64_t address, uint64_t value, size_t size)
{
    set(place, address, value, size);
    htif_store(place->htif, address, size);
}

static bool poll(struct place *place)
{
    struct error err;
    return htif_poll(place->htif, &err);
}

static void odd_values_end_the_run(void **state)
{
    (void)state;
    struct place place;
    make(&place, FROMHOST);
    store(&place, TOHOST, 1, 8);
    assert_true(place.rig.exits == 1 && place.rig.code == 0);
    assert_true(get(&place, TOHOST) == 0);
    store(&place, TOHOST, 1337 << 1 | 1, 8);
    assert_true(place.rig.exits == 2 && place.rig.code == 1337);
    store(&place, TOHOST, 0, 8);
    assert_true(poll(&place) && place.rig.exits == 2);
    drop(&place);
}

static void halves_make_a_whole(void **state)
{
    (void)state;
    struct place place;
    make(&place, FROMHOST);
    store(&place, TOHOST, 'A', 4); /* low, then high: one putchar */
    assert_int_equal(place.rig.length, 0);
    store(&place, TOHOST + 4, 0x01010000, 4);
    assert_string_equal(place.rig.text, "A");
    store(&place, TOHOST + 4, 0x01010000, 4); /* high, then low */
    store(&place, TOHOST, 'B', 4);
    assert_string_equal(place.rig.text, "AB");
    store(&place, TOHOST, 11, 4); /* riscv-tests: low, then zero */
    assert_int_equal(place.rig.exits, 0);
    store(&place, TOHOST + 4, 0, 4);
    assert_true(place.rig.exits == 1 && place.rig.code == 5);
    store(&place, TOHOST, 13, 4); /* low alone: when there is time */
    assert_int_equal(place.rig.exits, 1);
    assert_true(poll(&place));
    assert_true(place.rig.exits == 2 && place.rig.code == 6);
    store(&place, TOHOST + 8, 1, 8); /* beside it */
    store(&place, TOHOST - 8, 1, 8);
    assert_true(poll(&place) && place.rig.exits == 2);
    drop(&place);
}

static void responses_wait_for_fromhost(void **state)
{
    (void)state;
    struct place place;
    make(&place, FROMHOST);
    store(&place, TOHOST, UINT64_C(0x0101000000000041), 8);
    assert_true(get(&place, FROMHOST) == UINT64_C(0x0101000000000141));
    store(&place, TOHOST, UINT64_C(0x0101000000000042), 8);
    assert_true(poll(&place) && get(&place, FROMHOST) == UINT64_C(0x0101000000000141));
    set(&place, FROMHOST, 0, 8);
    assert_true(poll(&place) && get(&place, FROMHOST) == UINT64_C(0x0101000000000142));
    for (unsigned i = 0; i < 1000; i++) /* a program that never looks */
        store(&place, TOHOST, UINT64_C(0x010100000000002e), 8);
    assert_int_equal(place.rig.length, 1002);
    drop(&place);
}

static void characters_are_read(void **state)
{
    (void)state;
    struct place place;
    make(&place, FROMHOST);
    assert_false(htif_waits(place.htif));
    store(&place, TOHOST, UINT64_C(0x0100000000000000), 8);
    assert_true(htif_waits(place.htif) && get(&place, FROMHOST) == 0);
    htif_receive(place.htif, 0xfe);
    assert_true(get(&place, FROMHOST) == UINT64_C(0x01000000000001fe));
    assert_false(htif_waits(place.htif));
    store(&place, TOHOST, UINT64_C(0x0100000000000000), 8);
    assert_false(htif_waits(place.htif)); /* fromhost is not free */
    set(&place, FROMHOST, 0, 8);
    assert_true(htif_waits(place.htif));
    htif_reset(place.htif);
    assert_false(htif_waits(place.htif));
    drop(&place);
}

static uint64_t call(struct place *place, uint64_t number, uint64_t a0, uint64_t a1, uint64_t a2)
{
    const uint64_t block[8] = {number, a0, a1, a2};
    for (unsigned i = 0; i < 8; i++)
        set(place, BLOCK + 8 * i, block[i], 8);
    set(place, FROMHOST, 0, 8);
    store(place, TOHOST, BLOCK, 8);
    return get(place, BLOCK);
}

static void calls(void **state)
{
    (void)state;
    struct place place;
    make(&place, FROMHOST);
    memcpy(phys_at(&place.memory, TEXT, 6), "hello!", 6);
    assert_true(call(&place, 64, 1, TEXT, 6) == 6);
    assert_true(get(&place, FROMHOST) == 1);
    assert_string_equal(place.rig.text, "hello!");
    assert_true(call(&place, 64, 2, TEXT, 0) == 0);
    assert_true(call(&place, 64, 3, TEXT, 6) == (uint64_t)-EBADF);
    assert_true(call(&place, 64, 1, 0x8000fffe, 3) == (uint64_t)-EFAULT);
    assert_true(call(&place, 64, 1, TEXT, UINT64_MAX) == (uint64_t)-EFAULT);
    assert_true(call(&place, 63, 0, TEXT, 6) == (uint64_t)-ENOSYS);
    assert_string_equal(place.rig.text, "hello!");
    (void)call(&place, 93, 3, 0, 0);
    assert_true(place.rig.exits == 1 && place.rig.code == 3);
    drop(&place);
}

static void what_does_not_exist_is_refused(void **state)
{
    (void)state;
    static const uint64_t values[] = {UINT64_C(0x0102000000000000),
                                      UINT64_C(0x0201000000000041),
                                      UINT64_C(0x0001000000000001),
                                      0x7fff0000,
                                      0x8000ffc8,
                                      UINT64_C(0xffffffffffffffff)};
    for (unsigned i = 0; i < sizeof values / sizeof values[0]; i++) {
        struct place place;
        struct error err = {.text = ""};
        make(&place, FROMHOST);
        store(&place, TOHOST, values[i], 8);
        assert_false(htif_poll(place.htif, &err));
        assert_non_null(strstr(err.text, "to tohost"));
        assert_non_null(strstr(err.text, "allowed: "));
        assert_true(place.rig.exits == 0 && place.rig.length == 0);
        drop(&place);
    }
}

static void addresses_must_be_in_memory(void **state)
{
    (void)state;
    struct place place;
    struct error err;
    make(&place, 0); /* no fromhost: responses go nowhere */
    store(&place, TOHOST, UINT64_C(0x0101000000000041), 8);
    store(&place, TOHOST, UINT64_C(0x0100000000000000), 8);
    assert_false(htif_waits(place.htif));
    assert_true(poll(&place));
    assert_null(htif_new(&(struct htif_wiring){.memory = &place.memory, .tohost = 0x8000fff9}, &err));
    assert_string_equal(err.text,
                        "symbol tohost is at 0x8000fff9, outside of the memory 0x80000000-0x8000ffff");
    assert_null(
        htif_new(&(struct htif_wiring){.memory = &place.memory, .tohost = TOHOST, .fromhost = 8}, &err));
    assert_string_equal(err.text, "symbol fromhost is at 0x8, outside of the memory 0x80000000-0x8000ffff");
    drop(&place);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(odd_values_end_the_run),
        cmocka_unit_test(halves_make_a_whole),
        cmocka_unit_test(responses_wait_for_fromhost),
        cmocka_unit_test(characters_are_read),
        cmocka_unit_test(calls),
        cmocka_unit_test(what_does_not_exist_is_refused),
        cmocka_unit_test(addresses_must_be_in_memory),
    };
    return cmocka_run_group_tests_name("htif", tests, NULL, NULL);
}
