/* The memory map analyzer against counts by brute force over random accesses; its maps; and the allocation table. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "emu/sim/alloc.h"
#include "emu/tom/mapping/allocations.h"
#include "emu/tom/mapping/analyzer.h"
#include "tests/isa/random.h"

#define BASE UINT64_C(0x80000000)

enum { LINE = 128, FRAME = 256 * 1024, ACCESSES = 24, INSTANCES = 500 };

/* The homes of machine tom. */
static struct home_layout layout(void)
{
    struct home_layout own = {.geometry = {.modules = 1,
                                           .stacks = 4,
                                           .controllers = 16,
                                           .ranks = 1,
                                           .groups = 1,
                                           .banks = 16,
                                           .rows = 4096,
                                           .columns = 64,
                                           .burst = 64},
                              .stack_hash = true,
                              .bank_hash = true};
    strcpy(own.text, "B4 R12 C5 H4 S2 C1 O6");
    return own;
}

static struct tom_analyzer *analyzer_new(void)
{
    struct tom_analyzer *analyzer = alloc(1, sizeof *analyzer);
    const struct home_layout own = layout();
    struct error err;
    assert_true(tom_analyzer_init(analyzer, &own, BASE, LINE, &err));
    assert_int_equal(analyzer->frame, FRAME);
    return analyzer;
}

/* The stack of an address. bit 0: bits 7 and 8, XORed with all pairs of the row's bits, 18 to 29. */
static unsigned stack_of(uint64_t address, unsigned bit)
{
    uint64_t number = address - BASE;
    unsigned stack = (unsigned)(number >> (bit ? bit : 7)) & 3;
    for (unsigned at = 18; !bit && at < 30; at += 2)
        stack ^= (unsigned)(number >> at) & 3;
    return stack;
}

/* Accesses at random offsets from a random place, or in steps. */
static void make_accesses(uint64_t *state, uint64_t accesses[ACCESSES])
{
    const uint64_t at = random_shift(state) % (UINT64_C(1) << 30), step = UINT64_C(128)
                                                                          << random_shift(state) % 12;
    const uint64_t kind = random_shift(state) % 3;
    for (unsigned i = 0; i < ACCESSES; i++)
        accesses[i] = BASE + (kind == 0   ? at + i * step
                              : kind == 1 ? at + i % 2 * step * 4 + i * 8
                                          : random_shift(state) % (UINT64_C(1) << 30)) /
                                 LINE * LINE;
}

static void counts_equal_brute_force(void **unused)
{
    (void)unused;
    struct tom_analyzer *analyzer = analyzer_new();
    uint64_t state = 88172645463325252, accesses[ACCESSES];
    uint64_t together[TOM_MAPS] = {0}, single[TOM_MAPS] = {0}, stacks[TOM_MAPS] = {0}, all = 0;
    for (unsigned n = 0; n < INSTANCES; n++) {
        const unsigned count = (unsigned)(random_shift(&state) % ACCESSES);
        struct tom_instance instance = {.accesses = 0};
        make_accesses(&state, accesses);
        for (unsigned i = 0; i < count; i++)
            tom_analyzer_access(analyzer, &instance, accesses[i]);
        tom_analyzer_end(analyzer, &instance);
        all += count;
        for (unsigned map = 0; map < TOM_MAPS; map++) {
            unsigned per[4] = {0}, bit = map ? 6 + map : 0;
            for (unsigned i = 0; i < count; i++)
                per[stack_of(accesses[i], bit)]++;
            unsigned used = 0;
            for (unsigned s = 0; s < 4; s++)
                used += per[s] > 0;
            together[map] += count ? per[stack_of(accesses[0], bit)] : 0;
            single[map] += used == 1;
            stacks[map] += used;
        }
    }
    assert_int_equal(analyzer->instances, INSTANCES);
    assert_int_equal(analyzer->accesses, all);
    unsigned best = 1;
    for (unsigned map = 0; map < TOM_MAPS; map++) {
        assert_int_equal(analyzer->tallies[map].together, together[map]);
        assert_int_equal(analyzer->tallies[map].single, single[map]);
        assert_int_equal(analyzer->tallies[map].stacks, stacks[map]);
        best = map && together[map] > together[best] ? map : best;
    }
    assert_int_equal(tom_analyzer_best(analyzer), best);
    free(analyzer);
}

/* Instances one behind the other, 2 KiB apart, with accesses at the distances of 128 B to 16 KiB: bits 15:16 put all of one together, but
 * most of a window is in two stacks; bits 14:15 lack one in nine, and use all four alike. */
static void even_maps_win(void **unused)
{
    (void)unused;
    struct tom_analyzer *analyzer = analyzer_new();
    for (uint64_t n = 0; n < 512; n++) {
        struct tom_instance instance = {.accesses = 0};
        tom_analyzer_access(analyzer, &instance, BASE + n * 2048);
        for (unsigned bit = 7; bit < 15; bit++)
            tom_analyzer_access(analyzer, &instance, BASE + (n * 2048 ^ UINT64_C(1) << bit));
        tom_analyzer_end(analyzer, &instance);
    }
    const unsigned even = tom_analyzer_even(analyzer);
    assert_int_equal(tom_analyzer_bit(analyzer, tom_analyzer_best(analyzer)), 15);
    assert_int_equal(tom_analyzer_bit(analyzer, even), 14);
    const struct tom_tally *far = &analyzer->tallies[tom_analyzer_best(analyzer)],
                           *near = &analyzer->tallies[even];
    assert_int_equal(far->together, 512 * 9);
    assert_true(near->together < far->together && near->busiest * 3 < far->busiest * 2);
    free(analyzer);
}

/* Of maps that are equally good, that with the lowest bits; none before the first access. */
static void ties(void **unused)
{
    (void)unused;
    struct tom_analyzer *analyzer = analyzer_new();
    struct tom_instance instance = {.accesses = 0};
    assert_int_equal(tom_analyzer_best(analyzer), 0);
    for (unsigned i = 0; i < 8;
         i++) /* bits 7 to 9 and 15 vary: bits 10:11 are the first pair that does not */
        tom_analyzer_access(analyzer, &instance, BASE + i * 128 + i % 2 * 32768);
    tom_analyzer_end(analyzer, &instance);
    assert_int_equal(tom_analyzer_bit(analyzer, tom_analyzer_best(analyzer)), 10);
    free(analyzer);
}

/* Every burst of two frames has a place of its own with each map, in the rows of the same frame; the stack is told by the map's
 * bits. Bytes of a burst stay together. */
static void maps_are_one_to_one(void **unused)
{
    (void)unused;
    struct tom_analyzer *analyzer = analyzer_new();
    bool *taken = alloc(4 * 16 * 64, sizeof *taken);
    for (unsigned turn = 0; turn < 2 * TOM_MAPS; turn++) {
        const unsigned map = turn / 2, bit = tom_analyzer_bit(analyzer, map);
        const uint64_t frame = turn % 2 ? UINT64_C(1234) * FRAME : 0;
        assert_int_equal(tom_analyzer_map(analyzer, bit), map);
        memset(taken, 0, 4 * 16 * 64 * sizeof *taken);
        for (uint64_t at = frame; at < frame + FRAME; at++) {
            struct home home, first;
            home_bits_place(&analyzer->maps[map], at, &home);
            home_bits_place(&analyzer->maps[map], at / 64 * 64, &first);
            assert_memory_equal(&home, &first, offsetof(struct home, generation));
            assert_int_equal(home.stack, stack_of(BASE + at, bit));
            assert_int_equal(home.row, frame / FRAME % 4096);
            bool *place = &taken[(home.stack * 16U + home.controller) * 64 + home.column];
            assert_true(at % 64 ? *place : !*place);
            *place = true;
        }
    }
    free(taken);
    free(analyzer);
}

static void is_refused(struct home_layout own, const char *why)
{
    struct tom_analyzer *analyzer = alloc(1, sizeof *analyzer);
    struct error err = {.text = ""};
    assert_false(tom_analyzer_init(analyzer, &own, BASE, LINE, &err));
    if (!strstr(err.text, why))
        fail_msg("%s: %s", why, err.text);
    free(analyzer);
}

static void other_layouts_are_refused(void **unused)
{
    (void)unused;
    struct home_layout own = layout();
    strcpy(own.text, "S2 B4 R12 C5 H4 C1 O6");
    is_refused(own, "does not hold the stack's bits below bit 18");
    own = layout();
    own.geometry.stacks = 3;
    is_refused(own, "1 modules of 3 stacks; mapping needs one of 2, 4, 8 or 16");
}

static void texts(void **unused)
{
    static const struct {
        const char *from;
        uint32_t bit;
        const char *to;
    } cases[] = {
        {"B4 R12 C5 H4 S2 C1 O6", 7, "B4 R12 C5 H4 S2 C1 O6"},
        {"B4 R12 C5 H4 S2 C1 O6", 6, "B4 R12 C5 H4 C1 S2 O6"},
        {"B4 R12 C5 H4 S2 C1 O6", 9, "B4 R12 C5 H2 S2 H2 C1 O6"},
        {"R12 S1 C5 S1 O6", 11, "R12 S2 C5 O6"},
        {"R12 S1 C5 S1 O6", 23, "S2 R12 C5 O6"},
        {"B4 R12 C5 H4 S2 C1 O6", 5, NULL},
        {"B4 R12 C5 H4 S2 C1 O6", 40, NULL},
        {"R12 C5 O6", 7, NULL},
        {"R12 C5 %S C1 O6", 7, NULL},
    };
    (void)unused;
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[HOME_TEXT];
        struct error err = {.text = ""};
        bool done = home_text_stack_at(cases[i].from, cases[i].bit, text, &err);
        assert_int_equal(done, cases[i].to != NULL);
        if (done)
            assert_string_equal(text, cases[i].to);
        else
            assert_string_not_equal(err.text, "");
    }
}

static void the_table_of_allocations(void **unused)
{
    (void)unused;
    struct tom_allocations *table = alloc(1, sizeof *table);
    assert_true(tom_allocations_add(table, 0x1000, 0x2000));
    assert_true(tom_allocations_add(table, 0x2000, 0x1000)); /* within the first */
    assert_true(tom_allocations_add(table, 0x8000, 0xfff));  /* too small */
    assert_int_equal(table->count, 1);
    assert_ptr_equal(tom_allocations_find(table, 0x2fff), &table->ranges[0]);
    assert_null(tom_allocations_find(table, 0xfff));
    assert_null(tom_allocations_find(table, 0x3000));
    for (uint64_t i = 1; i < TOM_RANGES; i++)
        assert_true(tom_allocations_add(table, i << 20, 0x1000));
    assert_false(tom_allocations_add(table, UINT64_C(500) << 20, 0x1000));
    assert_int_equal(table->left_out, 1);
    tom_allocations_remove(table, 0x2000); /* is not a begin */
    assert_int_equal(table->count, TOM_RANGES);
    tom_allocations_remove(table, UINT64_C(7) << 20);
    assert_int_equal(table->count, TOM_RANGES - 1);
    assert_null(tom_allocations_find(table, UINT64_C(7) << 20));
    assert_non_null(tom_allocations_find(table, UINT64_C(99) << 20));
    assert_true(tom_allocations_add(table, UINT64_C(500) << 20, 0x1000));
    free(table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_equal_brute_force),
        cmocka_unit_test(even_maps_win),
        cmocka_unit_test(ties),
        cmocka_unit_test(maps_are_one_to_one),
        cmocka_unit_test(other_layouts_are_refused),
        cmocka_unit_test(texts),
        cmocka_unit_test(the_table_of_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
