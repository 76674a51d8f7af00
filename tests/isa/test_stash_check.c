/* Descriptors of stash maps: addresses, pages and overlaps against element-by-element models, and arbitrary descriptors. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "isa/include/croft/stash_check.h"
#include "tests/isa/random.h"

enum { LOCAL = 4096, PAGE = 256, PAGES = 4096, ROUNDS = 3000 };

static uint64_t state;
static uint64_t number_below(uint64_t below)
{
    random_shift(&state);
    return state % below;
}

static struct croft_stash_map random_map(void)
{
    const uint64_t field = 4 * (1 + number_below(5)), object = field + 4 * number_below(100);
    const uint64_t objects = 1 + number_below(12), row = objects * object;
    return (struct croft_stash_map){.stash_base = 64 * number_below(32),
                                    .global_base = 4 * number_below(PAGE),
                                    .field_size = field,
                                    .object_size = object,
                                    .row_size = row,
                                    .stride_size = row + 4 * number_below(200),
                                    .strides = 1 + number_below(8),
                                    .coherent = number_below(2)};
}

static const struct croft_stash_limits wide = {.local = UINT64_MAX, .global_end = UINT64_MAX};

static void tiles_are_as_three_loops_say(void **unused)
{
    (void)unused;
    static uint8_t used[PAGES];
    for (unsigned round = 0; round < ROUNDS; round++) {
        const struct croft_stash_map map = random_map();
        uint64_t offset = 0, pages = 0, end = 0;
        assert_int_equal(croft_stash_check(&map, &wide).error, CROFT_STASH_OK);
        memset(used, 0, sizeof used);
        for (uint64_t row = 0; row < map.strides; row++)
            for (uint64_t at = 0; at < map.row_size; at += map.object_size)
                for (uint64_t byte = 0; byte < map.field_size; byte++, offset++) {
                    const uint64_t address = map.global_base + row * map.stride_size + at + byte;
                    assert_int_equal(croft_stash_global(&map, offset), address);
                    pages += !used[address / PAGE];
                    used[address / PAGE] = 1;
                    end = address + 1;
                }
        assert_int_equal(croft_stash_length(&map), offset);
        assert_int_equal(croft_stash_local_end(&map), map.stash_base + offset);
        assert_int_equal(croft_stash_global_end(&map), end);
        assert_int_equal(croft_stash_pages(&map, PAGE), pages);
    }
}

static void maps_overlap_by_chunks(void **unused)
{
    (void)unused;
    for (unsigned round = 0; round < ROUNDS; round++) {
        const struct croft_stash_map a = random_map(), b = random_map();
        int common = 0;
        for (uint64_t i = a.stash_base / 64; i <= (croft_stash_local_end(&a) - 1) / 64; i++)
            common |= i >= b.stash_base / 64 && i <= (croft_stash_local_end(&b) - 1) / 64;
        assert_int_equal(croft_stash_overlap(&a, &b), common);
        assert_int_equal(croft_stash_overlap(&b, &a), common);
    }
}

/* Limits hold to the byte and to the page. */
static void limits_are_exact(void **unused)
{
    (void)unused;
    for (unsigned round = 0; round < ROUNDS; round++) {
        const struct croft_stash_map map = random_map();
        struct croft_stash_limits limits = {croft_stash_local_end(&map), croft_stash_global_end(&map),
                                            croft_stash_pages(&map, PAGE), PAGE};
        struct croft_stash_fault fault;
        assert_int_equal(croft_stash_check(&map, &limits).error, CROFT_STASH_OK);
        limits.pages--;
        fault = croft_stash_check(&map, &limits);
        assert_int_equal(fault.error, CROFT_STASH_ERROR_PAGES);
        assert_int_equal(fault.value, limits.pages + 1);
        limits.global_end--;
        fault = croft_stash_check(&map, &limits);
        assert_int_equal(fault.error, CROFT_STASH_ERROR_GLOBAL_END);
        assert_int_equal(fault.value, limits.global_end + 1);
        limits.local--;
        fault = croft_stash_check(&map, &limits);
        assert_int_equal(fault.error, CROFT_STASH_ERROR_LENGTH);
        assert_int_equal(fault.value, limits.local + 1);
    }
}

/* Numbers that overflow products and sums. */
static uint64_t random_parameter(void)
{
    static const uint64_t some[] = {
        0, 1, 2, 4, 8, 64, 128, 4096, UINT64_C(1) << 32, UINT64_C(1) << 62, UINT64_C(1) << 63};
    const uint64_t value = some[number_below(sizeof some / sizeof some[0])];
    return number_below(4) ? value : 0 - value;
}

static void no_descriptor_overflows(void **unused)
{
    (void)unused;
    const struct croft_stash_limits limits = {LOCAL, CROFT_STASH_GLOBAL_END, 64, PAGE};
    unsigned legal = 0;
    for (unsigned round = 0; round < 300 * ROUNDS; round++) {
        uint64_t p[CROFT_STASH_PARAMETERS];
        struct croft_stash_map map = random_map();
        memcpy(p, &map, sizeof p);
        for (unsigned i = 0; i < 3; i++)
            p[number_below(CROFT_STASH_PARAMETERS)] = random_parameter();
        memcpy(&map, p, sizeof map);
        if (croft_stash_check(&map, &limits).error != CROFT_STASH_OK)
            continue;
        legal++;
        const unsigned __int128 objects = p[4] / p[3];
        assert_true(p[0] + objects * p[2] * p[6] <= LOCAL);
        assert_true((p[6] == 1 ? 0 : (unsigned __int128)(p[6] - 1) * p[5]) + p[4] - p[3] + p[2] + p[1] <=
                    CROFT_STASH_GLOBAL_END);
    }
    assert_true(legal > 1000);
}

static void the_parameter_that_differs_is_found(void **unused)
{
    (void)unused;
    for (unsigned i = 0; i < CROFT_STASH_PARAMETERS; i++) {
        const struct croft_stash_map map = random_map();
        struct croft_stash_map other = map;
        assert_int_equal(croft_stash_difference(&map, &other), CROFT_STASH_PARAMETERS);
        (&other.stash_base)[i] ^= UINT64_C(1) << 63;
        assert_int_equal(croft_stash_difference(&map, &other), i);
    }
}

static int begin(void **unused)
{
    (void)unused;
    state = 33;
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(tiles_are_as_three_loops_say, begin),
        cmocka_unit_test_setup(maps_overlap_by_chunks, begin),
        cmocka_unit_test_setup(limits_are_exact, begin),
        cmocka_unit_test_setup(no_descriptor_overflows, begin),
        cmocka_unit_test_setup(the_parameter_that_differs_is_found, begin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
