/* Translations of stash maps in both directions, against a mapping that walks the tile element by element. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "emu/stash/hardware/state.h"
#include "emu/stash/mapping.h"
#include "tests/isa/random.h"

static uint64_t below(uint64_t *state, uint64_t limit)
{
    return random_shift(state) % limit;
}

/* Checks each mapped byte, and addresses that the tile does not have: those around it, and all gaps of its first rows. */
static void check_tile(const struct stash_tile *tile, uint32_t allocation, uint64_t *random)
{
    struct stash_mapping mapping;
    const uint64_t objects = tile->row_size / tile->object_size;
    uint32_t found, s = allocation + (uint32_t)tile->stash_base;
    stash_mapping_set(&mapping, tile, allocation);
    assert_int_equal(mapping.first, s);
    for (uint64_t row = 0; row < tile->strides; row++)
        for (uint64_t object = 0; object < objects; object++) {
            const uint64_t at = tile->global_base + row * tile->stride_size + object * tile->object_size;
            for (uint64_t byte = 0; byte < tile->field_size; byte++, s++) {
                assert_int_equal(stash_mapping_global(&mapping, s), at + byte);
                assert_true(stash_mapping_local(&mapping, at + byte, &found));
                assert_int_equal(found, s);
            }
            for (uint64_t i = 0; i < 3 && tile->object_size > tile->field_size; i++) {
                const uint64_t gap = tile->field_size + below(random, tile->object_size - tile->field_size);
                assert_false(stash_mapping_local(&mapping, at + gap, &found));
            }
        }
    assert_int_equal(mapping.first + mapping.bytes, s);
    const uint64_t last = tile->global_base + (tile->strides - 1) * tile->stride_size + tile->row_size;
    assert_false(stash_mapping_local(&mapping, last, &found));
    assert_false(stash_mapping_local(&mapping, last + below(random, 1 << 20), &found));
    assert_false(stash_mapping_local(&mapping, tile->global_base - 1, &found));
    for (uint64_t row = 0; row + 1 < tile->strides && tile->stride_size > tile->row_size; row++)
        assert_false(stash_mapping_local(&mapping,
                                         tile->global_base + row * tile->stride_size + tile->row_size +
                                             below(random, tile->stride_size - tile->row_size),
                                         &found));
}

static void random_tiles(void **state)
{
    uint64_t random = 88172645463325252u;
    (void)state;
    for (unsigned i = 0; i < 4000; i++) {
        const uint64_t field = 4 * (1 + below(&random, i % 3 ? 3 : 24));
        const uint64_t words = 1 + below(&random, 4096);
        const uint64_t elements = words * 4 / field ? words * 4 / field : 1;
        const uint64_t strides = i % 4 ? 1 + below(&random, elements < 64 ? elements : 64) : 1;
        const uint64_t objects = elements / strides ? elements / strides : 1;
        const uint64_t object = field + (i % 5 ? below(&random, UINT64_C(1) << below(&random, 24)) : 0);
        struct stash_tile tile = {.stash_base = 64 * below(&random, 8192),
                                  .global_base = 4 * (1 + below(&random, UINT64_C(1) << 40)),
                                  .field_size = field,
                                  .object_size = object,
                                  .row_size = objects * object,
                                  .strides = strides};
        tile.stride_size = tile.row_size + (i % 7 ? below(&random, UINT64_C(1) << below(&random, 36)) : 0);
        check_tile(&tile, 64 * (uint32_t)below(&random, 7000), &random);
    }
}

/* Returns whether the tile has a byte of the page. */
static bool has_part(const struct stash_tile *tile, uint64_t page)
{
    for (uint64_t row = 0; row < tile->strides; row++)
        for (uint64_t i = 0; i < tile->row_size / tile->object_size; i++) {
            const uint64_t at = tile->global_base + row * tile->stride_size + i * tile->object_size;
            if (at < page + STASH_PAGE && at + tile->field_size > page)
                return true;
        }
    return false;
}

/* Exactly the pages of which a tile has a byte are touched, if rows begin or end with a page, too. */
static void touched_pages(void **state)
{
    enum { BASE = 1 << 20 };
    uint64_t random = 1181783497276652981u;
    (void)state;
    for (unsigned i = 0; i < 2000; i++) {
        const uint64_t field = 4 * (1 + below(&random, 16)),
                       object = field + (i % 3 ? below(&random, UINT64_C(1) << below(&random, 15)) : 0),
                       row = object * (1 + below(&random, 8));
        struct stash_tile tile = {.global_base = BASE + below(&random, STASH_PAGE),
                                  .field_size = field,
                                  .object_size = object,
                                  .row_size = row,
                                  .stride_size = row + below(&random, 2 * STASH_PAGE),
                                  .strides = 1 + below(&random, 3)};
        struct stash_mapping mapping;
        if (i % 4 < 2)
            tile.global_base = BASE - (i % 4 ? row : 0);
        stash_mapping_set(&mapping, &tile, 0);
        const uint64_t end = tile.global_base + tile.strides * tile.stride_size + 2 * STASH_PAGE;
        for (uint64_t page = (tile.global_base / STASH_PAGE - 1) * STASH_PAGE; page < end; page += STASH_PAGE)
            assert_int_equal(stash_touches(&mapping, page), has_part(&tile, page));
    }
}

/* One row: the stride is not used, and may be anything. */
static void one_row(void **state)
{
    uint64_t random = 2463534242u;
    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        const struct stash_tile tile = {.global_base = 0x80001004,
                                        .field_size = 4,
                                        .object_size = 20,
                                        .row_size = 200,
                                        .stride_size = (uint64_t[]){0, 200, UINT64_MAX}[i],
                                        .strides = 1};
        check_tile(&tile, 128, &random);
    }
}

/* The largest storage, and a tile that reaches almost 2^48 bytes far. */
static void limits(void **state)
{
    uint64_t random = 7;
    const struct stash_tile whole = {.global_base = 0x80000000,
                                     .field_size = 12,
                                     .object_size = 12,
                                     .row_size = 12 * 1365,
                                     .stride_size = 12 * 1365,
                                     .strides = 64};
    const struct stash_tile wide = {.global_base = 4096,
                                    .field_size = 8,
                                    .object_size = 1 << 20,
                                    .row_size = 3 << 20,
                                    .stride_size = (UINT64_C(1) << 40) + 4,
                                    .strides = 255};
    (void)state;
    check_tile(&whole, (1 << 20) - 12 * 1365 * 64, &random);
    check_tile(&wide, 0, &random);
}

/* A perfect match compares tiles, not their places in the stash. */
static void matches(void **state)
{
    struct stash_tile tile = {.global_base = 0x80001000,
                              .field_size = 4,
                              .object_size = 8,
                              .row_size = 64,
                              .stride_size = 256,
                              .strides = 3};
    struct stash_mapping a, b;
    (void)state;
    stash_mapping_set(&a, &tile, 0);
    stash_mapping_set(&b, &tile, 4096);
    assert_true(stash_mapping_matches(&a, &b));
    uint64_t *const fields[] = {&tile.global_base, &tile.field_size,  &tile.object_size,
                                &tile.row_size,    &tile.stride_size, &tile.strides};
    for (unsigned i = 0; i < sizeof fields / sizeof *fields; i++) {
        *fields[i] *= 2;
        stash_mapping_set(&b, &tile, 0);
        assert_false(stash_mapping_matches(&a, &b));
        *fields[i] /= 2;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_tiles), cmocka_unit_test(touched_pages), cmocka_unit_test(one_row),
        cmocka_unit_test(limits),       cmocka_unit_test(matches),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
