/* Values that follow from others: defaults of places, windows, ways of TLBs, and the map of a memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "emu/dram/map.h"
#include "emu/dram/standard.h"
#include "emu/machine/plan/plan.h"
#include "tests/isa/random.h"
#include "tests/schema/load.h"

static void places_have_defaults_of_their_own(void **state)
{
    struct machine_config config;
    must_load(*state, &config,
              "host: {core: ooo, count: 2, clock: 2.5 GHz, 1.clock: 1 GHz}\naccel: {}\ncrossbar: "
              "{}\ndevices: {clint: {}}\n",
              NULL);
    assert_value(&config, "l2", "clock", "2.5 GHz"); /* host.0's */
    assert_value(&config, "accel", "clock", "1 GHz");
    assert_value(&config, "accel", "core", "inorder");
    char source[TREE_SOURCE];
    tree_source_of(config.tree, "l2.clock", source);
    assert_string_equal(source, "the host's clock");
    machine_free(&config);
    must_load(*state, &config, "host: {core: ooo}\n", SETS("host.0.clock=1.5 GHz"));
    assert_value(&config, "l2", "clock", "1.5 GHz");
    machine_free(&config);
}

/* Each copy derives for itself. */
static void windows_and_ways_follow_in_each_copy(void **state)
{
    struct machine_config config;
    must_load(*state, &config, "host: {core: ooo, count: 4}\ndevices: {clint: {}}\n",
              SETS("host.1.rob=20", "host.2.rob=50", "host.2.iq=9", "host.3.core=inorder",
                   "host.1.tlb.l1_entries=48", "host.2.tlb.l2_entries=2", "host.3.tlb.l2_entries=0"));
    static const char *const wanted[4][5] = {{"48", "64", "32", "4", "3"},
                                             {"20", "20", "48", "4", "3"},
                                             {"48", "9", "32", "2", "3"},
                                             {"3", NULL, "32", "4", "2"}};
    for (unsigned i = 0; i < 4; i++) {
        char part[32], tlb[32];
        (void)snprintf(part, sizeof part, "host.%u", i);
        (void)snprintf(tlb, sizeof tlb, "host.%u.tlb", i);
        assert_value(&config, part, "fetch_queue", wanted[i][0]);
        if (wanted[i][1])
            assert_value(&config, part, "iq", wanted[i][1]);
        assert_value(&config, tlb, "l1_ways", wanted[i][2]);
        assert_value(&config, tlb, "l2_ways", wanted[i][3]);
        assert_value(&config, part, i < 3 ? "decode_width" : "width", wanted[i][4]);
    }
    machine_free(&config);
}

/* Random bursts lie in places that exist, from which the way back leads to them; neighbours lie in different places. */
static void assert_one_to_one(const struct dram_config *dram, const char *what)
{
    struct home_bits map;
    struct error err;
    uint64_t random = 1, bytes = dram_config_bytes(dram);
    if (!dram_map_init(&map, dram, &err))
        fail_msg("%s: %s", what, err.text);
    for (unsigned i = 0; i < 1000; i++) {
        random_step(&random);
        uint64_t address = (i < 100 ? (uint64_t)i * dram->burst_bytes : (random >> 8)) % bytes;
        address -= address % dram->burst_bytes;
        if (i == 999)
            address = bytes - dram->burst_bytes;
        struct home place = {0};
        home_bits_place(&map, address, &place);
        if (place.controller >= dram->channels || place.bank >= dram_config_channel_banks(dram) ||
            place.row >= dram->rows || place.column >= dram->row_bytes / dram->burst_bytes ||
            home_bits_number(&map, &place) != address)
            fail_msg("%s: map %s, address %#llx", what, dram->map, (unsigned long long)address);
    }
}

static void try_map(const struct folder *folder, enum dram_standard standard, const char *set,
                    const char *value)
{
    struct machine_config config;
    char text[128], one[64];
    const char *sets[] = {one, NULL};
    (void)snprintf(text, sizeof text, "host: {core: inorder}\nmemory: {size: 16 MiB}\ndram: {standard: %s}\n",
                   dram_standard_name(standard));
    (void)snprintf(one, sizeof one, "dram.%s=%s", set, value);
    must_load(folder, &config, text, sets);
    assert_value(&config, "dram", set, value);
    assert_one_to_one(tree_config(config.tree, "dram"), one);
    machine_free(&config);
}

static void the_map_follows_the_organisation(void **state)
{
    static const char *const changes[][2] = {
        {"channels", "1"},      {"channels", "2"},       {"channels", "3"},       {"channels", "4"},
        {"channels", "6"},      {"channels", "16"},      {"channels", "68"},      {"channels", "255"},
        {"channels", "256"},    {"rows", "1024"},        {"rows", "65536"},       {"row_bytes", "512 B"},
        {"row_bytes", "1 KiB"}, {"row_bytes", "16 KiB"}, {"burst_bytes", "16 B"}, {"burst_bytes", "128 B"},
        {"banks", "2"},         {"banks", "8"},          {"groups", "1"},         {"groups", "2"},
        {"groups", "4"},
    };
    for (enum dram_standard standard = 0; standard < DRAM_STANDARDS; standard++)
        for (size_t i = 0; i < sizeof changes / sizeof *changes; i++)
            try_map(*state, standard, changes[i][0], changes[i][1]);
    try_map(*state, DRAM_STANDARD_ddr3_1600k, "ranks", "2");
    try_map(*state, DRAM_STANDARD_ddr3_1600k, "ranks", "8");
}

/* By hand: the channels of a power of two keep the standard's place, others are a remainder in that place. */
static void fitted_maps_by_hand(void **state)
{
    static const char *const maps[][3] = {
        {"hbm1", "channels=8", "\"R14 B2 C5 G2 H3 O6\""},
        {"hbm1", "channels=4", "\"R14 B2 C5 G2 H2 O6\""},
        {"hbm1", "channels=1", "\"R14 B2 C5 G2 O6\""},
        {"hbm1", "channels=6", "\"R14 B2 C5 G2 % O6\""},
        {"hbm1", "rows=4096", "\"R12 B2 C5 G2 H3 O6\""},
        {"hbm1", "row_bytes=4 KiB", "\"R14 B2 C6 G2 H3 O6\""},
        {"hbm1", "burst_bytes=32 B", "\"R14 B2 C6 G2 H3 O5\""},
        {"gddr5", "channels=6", "\"R12 B2 C5 % C1 G2 O5\""},
        {"gddr5", "channels=1", "\"R12 B2 C5 % C1 G2 O5\""},
        {"gddr5", "row_bytes=1 KiB", "\"R12 B2 C4 % C1 G2 O5\""},
        {"gddr5", "row_bytes=64 B", "\"R12 B2 % C1 G2 O5\""},
        {"gddr5", "row_bytes=32 B", "\"R12 B2 % G2 O5\""},
        {"ddr3_1600k", "channels=2", "\"R16 B3 C7 H1 O6\""},
        {"ddr3_1600k", "channels=3", "\"R16 B3 C7 % O6\""},
        {"ddr3_1600k", "ranks=2", "\"R16 K1 B3 C7 O6\""},
        {"ddr3_1600k", "groups=2", "\"R16 G1 B3 C7 O6\""},
    };
    for (size_t i = 0; i < sizeof maps / sizeof *maps; i++) {
        struct machine_config config;
        char text[128], set[64];
        const char *sets[] = {set, NULL};
        (void)snprintf(text, sizeof text, "memory: {size: 16 MiB}\ndram: {standard: %s}\n", maps[i][0]);
        (void)snprintf(set, sizeof set, "dram.%s", maps[i][1]);
        must_load(*state, &config, text, sets);
        assert_value(&config, "dram", "map", maps[i][2]);
        machine_free(&config);
    }
}

/* A map that its user has written stays, and is refused when it does not fit. */
static void a_map_that_is_given_stays(void **state)
{
    struct machine_config config;
    struct error err;
    static const char text[] = "host: {core: inorder}\nmemory: {size: 16 MiB}\n"
                               "dram: {standard: hbm1, map: R14 H3 B2 C5 G2 O6}\n";
    must_load(*state, &config, text, NULL);
    assert_value(&config, "dram", "map", "\"R14 H3 B2 C5 G2 O6\"");
    machine_free(&config);
    assert_false(try_load(*state, &config, text, SETS("dram.channels=4"), &err));
    assert_non_null(strstr(err.text, "/m.yaml:3: dram.map: "));
}

/* Memory has twice the room of the stacks: threads * bytes each, in a power of two of at least 1 GiB, as far as the DRAM
 * goes. Stacks that are not given shrink when that is too little. 15 * 48 * 32 threads; six channels have 1536 MiB. */
static void memory_follows_the_stacks(void **state)
{
    static const struct {
        const char *sets[3], *memory, *stack;
    } cases[] = {
        {{NULL}, "1 GiB", "16 KiB"},                                 /* 360 MiB of stacks */
        {{"simt.stack=64 KiB"}, "1536 MiB", "64 KiB"},               /* 1440 MiB */
        {{"simt.count=32"}, "1536 MiB", "16 KiB"},                   /* 768 MiB */
        {{"simt.count=33"}, "1536 MiB", "8 KiB"},                    /* 792 MiB are more than half */
        {{"simt.count=68", "dram.channels=64"}, "4 GiB", "16 KiB"},  /* 1632 MiB */
        {{"simt.count=128", "dram.channels=64"}, "8 GiB", "16 KiB"}, /* 3 GiB */
        {{"simt.count=68", "memory.size=1 GiB"}, "1 GiB", "4 KiB"},  /* a size that is given stays */
        {{"simt.count=68", "simt.stack=1 KiB"}, "1 GiB", "1 KiB"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct machine_config config;
        must_load(*state, &config,
                  "host: {core: inorder}\nsimt: {count: 15}\n"
                  "dram: {standard: gddr5, devices: 2, burst_bytes: 64 B, row_bytes: 4 KiB}\n",
                  cases[i].sets);
        assert_value(&config, "memory", "size", cases[i].memory);
        assert_value(&config, "simt", "stack", cases[i].stack);
        machine_free(&config);
    }
}

/* A value of an inherited memory that does not hold: the message leads to the setting that is wrong, which is the
 * parent's, or to the child's setting that makes the parent's value or a default wrong. */
static void inherited_values_are_blamed_where_they_become_wrong(void **state)
{
    static const struct {
        const char *parent, *child, *at, *why;
    } cases[] = {
        {"dram:\n\n  write_high: 20\n  write_queue: 8\n", "extends: base.yaml\ndram: {channels: 1}\n",
         "/base.yaml:4: dram.write_high: 20 is not allowed", "at most write_queue"},
        {"dram:\n\n  write_high: 20\n",
         "extends: base.yaml\ndram:\n  channels: 1\n  write_queue: 8\n  page: open\n",
         "/m.yaml:4: dram.write_queue does not fit dram.write_high: 20 is not allowed", "/base.yaml:4)"},
        {"dram: {standard: ddr3_1600k}\n", "extends: base.yaml\ndram:\n  page: open\n  write_queue: 8\n",
         "/m.yaml:4: dram.write_queue does not fit dram.write_high: 26 is not allowed",
         "(dram.write_high: ddr3_1600k)"},
        {"dram: {standard: ddr3_1600k}\n", "extends: base.yaml\ndram:\n  page: open\n  tRFC: 10 us\n",
         "/m.yaml:4: dram.tRFC does not fit dram.tREFI: ", "(dram.tREFI: ddr3_1600k"},
        {"dram:\n  standard: ddr3_1600k\n  map: R16 B3 C7 O6\n",
         "extends: base.yaml\ndram:\n\n  channels: 2\n",
         "/m.yaml:4: dram.channels does not fit dram.map: ", "/base.yaml:4)"},
        {"memory: {size: 256 MiB}\n", "extends: base.yaml\n\ndram.rows: 256\n",
         "/base.yaml:2: memory.size: 256 MiB is not allowed", "/m.yaml:3)"},
        {"dram: none\ncrossbar: {out: 'stack.*.dram'}\nstack:\n  kind: group\n  count: 2\n  dram: {standard: "
         "hmc_tom}\n",
         "extends: base.yaml\n\nstack.1.dram.standard: ddr3_1600k\n",
         "/m.yaml:3: stack.1.dram.channels is 1, stack.0.dram.channels is 16", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct machine_config config;
        struct error err = {""};
        char base[512];
        (void)snprintf(base, sizeof base, "host: {core: inorder}\n%s", cases[i].parent);
        folder_write(*state, "base.yaml", base, strlen(base));
        if (try_load(*state, &config, cases[i].child, NULL, &err)) {
            assert_false(plan_check(&config, &err));
            machine_free(&config);
        }
        if (!strstr(err.text, cases[i].at) || !strstr(err.text, cases[i].why))
            fail_msg("%s: %s, not %s ... %s", cases[i].child, err.text, cases[i].at, cases[i].why);
    }
}

#define FOLDER_TEST(test) cmocka_unit_test_setup_teardown(test, folder_make, folder_remove)

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(inherited_values_are_blamed_where_they_become_wrong),
        FOLDER_TEST(memory_follows_the_stacks),
        FOLDER_TEST(places_have_defaults_of_their_own),
        FOLDER_TEST(windows_and_ways_follow_in_each_copy),
        FOLDER_TEST(the_map_follows_the_organisation),
        FOLDER_TEST(fitted_maps_by_hand),
        FOLDER_TEST(a_map_that_is_given_stays),
    };
    return cmocka_run_group_tests_name("derived values", tests, NULL, NULL);
}
