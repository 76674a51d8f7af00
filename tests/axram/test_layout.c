/* The layout of accelerator memory: regions by hand, homes by hand, configurations read back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "emu/axram/axram.h"
#include "emu/axram/controller/sequence.h"
#include "emu/dram/map.h"
#include "emu/dram/standard.h"

enum { BASE = 1 << 20 };

static void regions_by_hand(void **state)
{
    (void)state;
    struct axram_part part;
    struct error err;
    /* a whole region of six blocks; thread 5's part; units 8 to 15 */
    assert_true(axram_split(&part, BASE, BASE + 6 * 128, BASE, 1, &err));
    assert_true(part.base == BASE && part.blocks == 6 && part.units == UINT32_MAX);
    assert_true(axram_split(&part, BASE + 20, BASE + 5 * 128 + 24, BASE, 1, &err));
    assert_true(part.base == BASE && part.blocks == 6 && part.units == 1 << 5);
    assert_true(axram_split(&part, BASE + 256 + 32, BASE + 256 + 64, BASE, 1, &err));
    assert_true(part.base == BASE + 256 && part.blocks == 1 && part.units == 0xff00);
    assert_true(axram_split(&part, BASE + 124, BASE + 128, BASE, 1, &err));
    assert_true(part.blocks == 1 && part.units == UINT32_C(1) << 31);
    for (unsigned unit = 0; unit < 32; unit++) {
        uint64_t start, end;
        axram_unit_region(BASE + 1024, 3, unit, &start, &end);
        assert_true(axram_split(&part, start, end, BASE, 1, &err));
        assert_true(part.base == BASE + 1024 && part.blocks == 3 && part.units == UINT32_C(1) << unit);
    }
    static const struct {
        uint64_t start, end;
        const char *message;
    } wrong[] = {
        {BASE + 2, BASE + 128, "whole words"},
        {BASE, BASE + 127, "whole words"},
        {BASE, BASE, "empty"},
        {BASE + 128, BASE, "empty"},
        {BASE + 64, BASE + 256 + 32, "ends behind word 7"},
        {BASE + AXRAM_PIECE - 128, BASE + AXRAM_PIECE + 128, "crosses"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_false(axram_split(&part, wrong[i].start, wrong[i].end, BASE, 1, &err));
        if (!strstr(err.text, wrong[i].message))
            fail_msg("\"%s\" does not say %s", err.text, wrong[i].message);
    }
}

static struct dram_config memory_of(uint32_t channels)
{
    struct dram_config config;
    dram_config_default(&config, DRAM_STANDARD_gddr5_axram);
    config.channels = channels;
    (void)strcpy(config.map, "R12 B2 C5 % C1 G2 O5");
    return config;
}

/* axram_homes() with one memory, from address 0 on. */
static bool homes_of(const struct axram_config *space, const struct dram_config *config, uint64_t bytes,
                     struct home_map *homes, struct error *err)
{
    const struct home_layout layout = dram_map_layout(config);
    return axram_homes(space, config, &layout, 0, bytes, homes, err);
}

/* The four groups of a block have the same row, column and bank; blocks alternate between two banks; pieces take turns; and
 * no two addresses, of accelerator memory or of the rest, have one home. */
static void homes_by_hand(void **state)
{
    (void)state;
    for (uint32_t channels = 6; channels <= 12; channels += 6) {
        const uint64_t turn = (uint64_t)channels * AXRAM_PIECE;
        const struct axram_config space = {.together = 1, .halves = 1, .offset = 2 * turn, .size = 3 * turn};
        const struct dram_config config = memory_of(channels);
        struct home_map *homes = dram_map_homes(&config, 0);
        struct error err;
        if (!homes_of(&space, &config, 8 * turn, homes, &err))
            fail_msg("%s", err.text);
        for (uint64_t block = 0; block < 3 * turn / 128; block += 7) {
            const uint64_t at = 2 * turn + block * 128;
            struct home first;
            home_resolve(homes, at, &first);
            assert_int_equal(first.controller, block / 2048 % channels);
            assert_int_equal(first.bank, (block / 128 % 2) * 2 + block % 2);
            assert_int_equal(first.column, block / 2 % 64);
            assert_int_equal(first.row, (2 + block / 2048 / channels) * 8 + block / 256 % 8);
            for (unsigned group = 0; group < 4; group++) {
                struct home home;
                home_resolve(homes, at + group * 32 + group * 5, &home);
                assert_int_equal(home.controller, first.controller);
                assert_int_equal(home.bank, first.bank + 4 * group);
                assert_true(home.row == first.row && home.column == first.column);
            }
        }
        const uint64_t places = 8 * turn / 32;
        uint8_t *taken = calloc(places, 1);
        for (uint64_t at = 0; at < 8 * turn; at += 32) {
            struct home home;
            home_resolve(homes, at, &home);
            const uint64_t place =
                (((uint64_t)home.row * 64 + home.column) * 16 + home.bank) * channels + home.controller;
            assert_true(place < places && !taken[place]);
            taken[place] = 1;
        }
        free(taken);
        home_map_free(homes);
    }
}

/* A vault: blocks of a half page take turns among eight banks, and the four columns of a block follow each other. */
static void homes_of_vaults_by_hand(void **state)
{
    (void)state;
    const uint64_t turn = UINT64_C(32) * AXRAM_PIECE;
    const struct axram_config space = {.together = 1, .halves = 1, .offset = turn, .size = 2 * turn};
    struct dram_config config;
    dram_config_default(&config, DRAM_STANDARD_hmc_axram);
    struct home_map *homes = dram_map_homes(&config, 0);
    struct error err;
    if (!homes_of(&space, &config, 8 * turn, homes, &err))
        fail_msg("%s", err.text);
    uint8_t *taken = calloc(3 * turn / 32, 1);
    for (uint64_t at = 0; at < 3 * turn; at += 32) {
        const uint64_t block = (at - turn) / 128;
        struct home home;
        home_resolve(homes, at, &home);
        if (at >= turn) {
            assert_int_equal(home.controller, block / 2048 % 32);
            assert_int_equal(home.bank, block / 128 % 2 * 8 + block % 8);
            assert_int_equal(home.column, block / 8 % 2 * 4 + at / 32 % 4);
            assert_int_equal(home.row, (1 + block / 2048 / 32) * 64 + block / 256 % 8 * 8 + block / 16 % 8);
        }
        const uint64_t place =
            (((uint64_t)home.row * 8 + home.column) * 16 + home.bank) * 32 + home.controller;
        assert_true(place < 3 * turn / 32 && !taken[place]);
        taken[place] = 1;
    }
    free(taken);
    home_map_free(homes);
}

/* Three modules of two memories: the chips of a memory are neighbours, and so are the memories of a module. */
static void homes_of_several_memories(void **state)
{
    (void)state;
    enum { MODULES = 3, STACKS = 2, VAULTS = 4, ALL = MODULES * STACKS * VAULTS };
    const uint64_t turn = (uint64_t)ALL * AXRAM_PIECE;
    const struct axram_config space = {.together = 1, .halves = 1, .offset = turn, .size = turn};
    struct dram_config config;
    dram_config_default(&config, DRAM_STANDARD_hmc_axram);
    config.channels = VAULTS;
    struct home_layout layout = dram_map_layout(&config);
    layout.geometry.modules = MODULES;
    layout.geometry.stacks = STACKS;
    layout.stack_hash = true;
    (void)strcpy(layout.text, "R16 B4 %M S1 H2 C3 O5");
    struct home_map *homes = home_map_new();
    struct error err;
    if (!home_range_add(homes, 0, 3 * turn, &layout, &err) ||
        !axram_homes(&space, &config, &layout, 0, 3 * turn, homes, &err))
        fail_msg("%s", err.text);
    uint8_t *taken = calloc(3 * turn / 32, 1);
    for (uint64_t at = 0; at < 3 * turn; at += 32) {
        struct home home;
        home_resolve(homes, at, &home);
        const uint64_t chip = ((uint64_t)home.module * STACKS + home.stack) * VAULTS + home.controller;
        if (at >= turn && at < 2 * turn)
            assert_int_equal(chip, (at - turn) / AXRAM_PIECE % ALL);
        const uint64_t place = (((uint64_t)home.row * 8 + home.column) * 16 + home.bank) * ALL + chip;
        assert_true(place < 3 * turn / 32 && !taken[place]);
        taken[place] = 1;
    }
    free(taken);
    home_map_free(homes);
}

static void wrong_places_are_refused(void **state)
{
    (void)state;
    struct dram_config config = memory_of(12);
    const struct axram_config good = {.together = 1, .halves = 1, .offset = 192 << 20, .size = 192 << 20};
    struct axram_config space = good;
    struct home_map *homes = dram_map_homes(&config, 0);
    struct error err;
    space.offset = 1 << 20;
    assert_false(homes_of(&space, &config, 1 << 30, homes, &err));
    assert_non_null(strstr(err.text, "3072 KiB"));
    assert_false(homes_of(&good, &config, 256 << 20, homes, &err));
    assert_non_null(strstr(err.text, "memory.size"));
    (void)strcpy(config.map, "B2 R12 C5 % C1 G2 O5");
    assert_false(homes_of(&good, &config, 1 << 30, homes, &err));
    assert_non_null(strstr(err.text, "map"));
    dram_config_default(&config, DRAM_STANDARD_gddr5);
    assert_false(homes_of(&good, &config, 1 << 30, homes, &err));
    assert_non_null(strstr(err.text, "gddr5_axram"));
    dram_config_default(&config, DRAM_STANDARD_hmc_axram);
    config.banks = 8;
    assert_false(homes_of(&good, &config, 1 << 30, homes, &err));
    assert_non_null(strstr(err.text, "16 banks without groups, rows of 256 bytes"));
    home_map_free(homes);
}

/* jmeint with a bias: 1 header, 1 block of ones, (19 * 8 + 9 * 2 + 3) / 4 of weights, 8 hidden, 2. */
static void configuration_by_hand(void **state)
{
    (void)state;
    static struct network n = {.kind = ARITH_FP, .layers = 2, .size = {18, 8, 2}, .bias = true};
    static uint32_t words[256 * 32];
    struct axram_topology topology;
    struct error err;
    for (unsigned i = 0; i < 170; i++)
        n.weights[i] = 1000 + i;
    axram_write_configuration(&n, words);
    assert_true(axram_read_header(&topology, words, &err));
    assert_true(topology.kind == ARITH_FP && topology.layers == 2 && topology.bias && topology.size[1] == 8);
    const struct axram_layout layout = axram_layout_of(&topology);
    assert_int_equal(axram_weight_count(&topology), 170);
    assert_int_equal(layout.ones, 1);
    assert_int_equal(layout.weights, 2);
    assert_int_equal(layout.temporary, 2 + 43);
    assert_int_equal(layout.saved, 2 + 43 + 8);
    assert_int_equal(layout.blocks, 2 + 43 + 8 + 2);
    assert_int_equal(words[32 + 17], 0x3f800000);
    for (unsigned i = 0; i < 170; i++)
        for (unsigned half = 0; half < 8; half++)
            assert_int_equal(words[(2 + i / 4) * 32 + half * 4 + i % 4], 1000 + i);
    assert_int_equal(words[(2 + 42) * 32 + 2], 0); /* 170 is not a multiple of four */

    words[3]++;
    assert_false(axram_read_header(&topology, words, &err));
    assert_non_null(strstr(err.text, "171 weights"));
    words[3]--;
    for (unsigned i = 4; i < NETWORK_HEADER; i++) {
        words[i] = 1;
        assert_false(axram_read_header(&topology, words, &err));
        assert_non_null(strstr(err.text, "words 4 to 7 must be 0"));
        words[i] = 0;
    }
    words[1] |= 1 << 17;
    assert_false(axram_read_header(&topology, words, &err));
    assert_non_null(strstr(err.text, "bits 31 to 17 must be 0"));
    words[1] &= 0x1ffff;
    assert_true(axram_read_header(&topology, words, &err));
    words[2] |= 0xff00;
    assert_false(axram_read_header(&topology, words, &err));
    words[0] = 0;
    assert_false(axram_read_header(&topology, words, &err));
    assert_non_null(strstr(err.text, "first word"));
}

/* Commands of 2 -> 2 -> 1 by hand: refills follow the first input of the block before, hidden results are read back. */
static void sequence_by_hand(void **state)
{
    (void)state;
    static const struct axram_topology topology = {.kind = ARITH_FXP, .layers = 2, .size = {2, 2, 1}};
    static const struct {
        enum axram_step step;
        uint64_t address;
    } rows[] = {
        /* configuration at 0x10000: header, weights 1 and 2, hidden results 3 and 4; inputs at 0x400, results at 0x800 */
        {AXRAM_WEIGHTS, 0x10080}, {AXRAM_INPUT, 0x400},   {AXRAM_WEIGHTS, 0x10100}, {AXRAM_INPUT, 0x480},
        {AXRAM_OUTPUT, 0x10180},  {AXRAM_INPUT, 0x400},   {AXRAM_INPUT, 0x480},     {AXRAM_OUTPUT, 0x10200},
        {AXRAM_INPUT, 0x10180},   {AXRAM_INPUT, 0x10200}, {AXRAM_OUTPUT, 0x800},
    };
    struct axram_sequence s;
    axram_sequence_begin(&s, &topology, 0x10000, 0x400, 0x800, UINT32_MAX, 1);
    const size_t count = sizeof rows / sizeof *rows;
    assert_int_equal(s.total, count);
    for (size_t i = 0; i < count; i++, axram_sequence_step(&s)) {
        const struct axram_op op = axram_sequence_next(&s);
        assert_int_equal(op.step, rows[i].step);
        assert_int_equal(op.address, rows[i].address);
        assert_int_equal(op.last, i + 1 == count);
    }
    assert_int_equal(axram_sequence_next(&s).step, AXRAM_END);
}

/* A refill never replaces a weight that is still needed, and each weight is there when it is used. */
static void refills_fit(void **state)
{
    (void)state;
    for (unsigned inputs = 1; inputs <= 40; inputs += 3) {
        const struct axram_topology topology = {.layers = 3, .size = {inputs, 7, 5, 3}};
        struct axram_sequence s;
        uint32_t loaded = 0, used = 0;
        axram_sequence_begin(&s, &topology, 0, 0, 0, UINT32_MAX, 1);
        for (struct axram_op op = axram_sequence_next(&s); op.step != AXRAM_END;
             axram_sequence_step(&s), op = axram_sequence_next(&s)) {
            if (op.step == AXRAM_WEIGHTS)
                loaded += AXRAM_REFILL;
            if (op.step == AXRAM_INPUT)
                assert_int_equal(op.number, used++);
            assert_true(used <= loaded && loaded <= used / 4 * 4 + AXRAM_ENTRIES);
        }
        assert_int_equal(used, axram_weight_count(&topology));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(regions_by_hand),          cmocka_unit_test(homes_by_hand),
        cmocka_unit_test(homes_of_vaults_by_hand),  cmocka_unit_test(homes_of_several_memories),
        cmocka_unit_test(wrong_places_are_refused), cmocka_unit_test(configuration_by_hand),
        cmocka_unit_test(sequence_by_hand),         cmocka_unit_test(refills_fit),
    };
    return cmocka_run_group_tests_name("AxRAM's layout", tests, NULL, NULL);
}
