/* Address mappings: computed by hand, one to one, and invalid texts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "emu/dram/map.h"
#include "emu/dram/standard.h"

static struct home_bits map_of(const struct dram_config *config)
{
    struct home_bits map;
    struct error err;
    if (!dram_map_init(&map, config, &err))
        fail_msg("%s", err.text);
    return map;
}

static void by_hand(void **state)
{
    (void)state;
    struct dram_config config;
    dram_config_default(&config, DRAM_STANDARD_hbm1); /* R14 B2 C5 G2 H3 O6 */
    struct home_bits map = map_of(&config);
    uint64_t address = UINT64_C(0x2abc) << 18 | 3 << 16 | 21 << 11 | 2 << 9 | 5 << 6 | 17;
    struct home place = {0};
    home_bits_place(&map, address, &place);
    assert_int_equal(place.controller, 5);
    assert_int_equal(place.bank, 2 * 4 + 3);
    assert_int_equal(place.row, 0x2abc);
    assert_int_equal(place.column, 21);
    assert_true(home_bits_number(&map, &place) == (address & ~UINT64_C(63)));

    (void)strcpy(config.map, "R10.C2 B2 R4 C3 G2 H3 O6"); /* several pieces, whose bits keep their order */
    map = map_of(&config);
    address = UINT64_C(0x155) << 22 | 2 << 20 | 1 << 18 | 9 << 14 | 6 << 11;
    home_bits_place(&map, address, &place);
    assert_int_equal(place.row, 0x155 << 4 | 9);
    assert_int_equal(place.column, 2 << 3 | 6);
    assert_int_equal(place.bank, 1);

    dram_config_default(&config, DRAM_STANDARD_gddr5); /* R12 B2 C5 % C1 G2 O5, 6 channels */
    map = map_of(&config);
    address = (UINT64_C(6004) << 3 | 5) << 5;
    home_bits_place(&map, address, &place);
    assert_int_equal(place.controller, 4);
    assert_int_equal(place.column, (1000 % 32) << 1 | 1);
    assert_int_equal(place.bank, 1 * 4 + 1000 / 32 % 4);
    assert_int_equal(place.row, 1000 / 128);
    assert_true(home_bits_number(&map, &place) == address);
}

/* The row, folded, is XORed in: row 0xb of 16 banks and 4 channels. */
static void hashes_by_hand(void **state)
{
    (void)state;
    struct dram_config config;
    dram_config_default(&config, DRAM_STANDARD_hbm1);
    config.bank_hash = config.channel_hash = true;
    struct home_bits map = map_of(&config);
    struct home place = {0};
    home_bits_place(&map, UINT64_C(0x2abc) << 18, &place);
    /* 0x2abc = 10 1010 1011 1100: in fours 1100 ^ 1011 ^ 1010 ^ 10 = 1111; in threes 100 ^ 111 ^ 010 ^ 101 ^
     * 10 = 110 */
    assert_int_equal(place.bank, 15);
    assert_int_equal(place.controller, 6);
    assert_int_equal(place.row, 0x2abc);
}

/* Every burst of a small memory has its own place, and the inverse returns its address. */
static void one_to_one(void **state)
{
    (void)state;
    static const char *const texts[] = {"R3 K G1 B2 C2 H2 O6", "C1 R2 H1 B1 K1 G R1 C1 B1 H1 O6",
                                        "R3 B2 % K G C2 O6", "% R3 B2 K G C2 O6", "R3 B2 K G C2 % O6"};
    for (unsigned i = 0; i < 5 * 4; i++) {
        struct dram_config config;
        dram_config_default(&config, DRAM_STANDARD_ddr3_1600k);
        config.channels = i / 4 < 2 ? 4 : 5;
        config.ranks = 2;
        config.groups = 2;
        config.banks = 4;
        config.rows = 8;
        config.row_bytes = 256;
        config.burst_bytes = 64;
        config.bank_hash = i & 1;
        config.channel_hash = i & 2 && config.channels == 4;
        (void)snprintf(config.map, sizeof config.map, "%s", texts[i / 4]);
        struct home_bits map = map_of(&config);
        static bool seen[5][16][8][4];
        memset(seen, 0, sizeof seen);
        for (uint64_t address = 0; address < dram_config_bytes(&config); address += 64) {
            struct home place = {0};
            home_bits_place(&map, address + address / 64 % 64, &place);
            assert_true(place.controller < config.channels && place.bank < 16 && place.row < 8 &&
                        place.column < 4);
            bool *here = &seen[place.controller][place.bank][place.row][place.column];
            assert_false(*here);
            *here = true;
            assert_true(home_bits_number(&map, &place) == address);
        }
    }
}

static void refused(const char *text, const char *complaint)
{
    struct dram_config config;
    struct home_bits map;
    struct error err = {""};
    dram_config_default(&config, DRAM_STANDARD_hbm1);
    (void)snprintf(config.map, sizeof config.map, "%s", text);
    if (dram_map_init(&map, &config, &err))
        fail_msg("\"%s\" was accepted", text);
    if (!strstr(err.text, complaint))
        fail_msg("\"%s\" was refused with: %s", text, err.text);
}

static void hostile_texts(void **state)
{
    (void)state;
    refused("", "needs 14");
    refused("R14 B2 C5 G2 H3", "has 0 bits of O, but this memory needs 6");
    refused("R14 B2 C5 G2 H3 O5", "has 5 bits of O");
    refused("O6 R14 B2 C5 G2 H3", "must end in O6");
    refused("R14 B2 C5 O3 G2 H3 O3", "O twice");
    refused("R13 B2 C5 G2 H3 O6", "has 13 bits of R, but this memory needs 14");
    refused("R14 B2 C5 G2 H3 X O6", "'X'");
    refused("r14 B2 C5 G2 H3 O6", "'r'");
    refused("R99999999999999999999 O6", "1 to 32");
    refused("R0 B2", "0 bits");
    refused("R14 B2 C5 G2 H3 % O6", "has 3 bits of H, but this memory needs 0");
    refused("R14 B2 C5 G2 % % O6", "one %");
    refused("\xff", "'?'");
    refused("RRRRRRRRRRRRRRBBCCCCCGGHHHOOOOOO", "O twice");
    struct dram_config config;
    struct home_bits map;
    struct error err;
    dram_config_default(&config, DRAM_STANDARD_gddr5); /* 6 channels */
    (void)strcpy(config.map, "R12 B2 C6 G2 H3 O5");
    assert_false(dram_map_init(&map, &config, &err));
    assert_non_null(strstr(err.text, "H"));
    (void)strcpy(config.map, "R12 B2 C6 % G2 O5");
    config.channel_hash = true;
    assert_false(dram_map_init(&map, &config, &err));
    assert_non_null(strstr(err.text, "channel_hash: 6 channels"));
}

/* Configurations that must be refused, each with the name at the beginning of its message. */
static void hostile_configurations(void **state)
{
    (void)state;
#define CASE(name, change)                                                                                   \
    do {                                                                                                     \
        struct dram_config config;                                                                           \
        struct error err = {""};                                                                             \
        dram_config_default(&config, DRAM_STANDARD_ddr3_1600k);                                              \
        assert_true(part_check(&dram_kind, &config, &err));                                                  \
        change;                                                                                              \
        assert_false(part_check(&dram_kind, &config, &err));                                                 \
        if (strncmp(err.text, name, strlen(name)) != 0)                                                      \
            fail_msg("%s: %s", name, err.text);                                                              \
    } while (0)
    CASE("tCK:", config.tCK = 0);
    CASE("channels:", config.channels = 0);
    CASE("ranks:", config.ranks = 3);
    CASE("ranks:", config.standard = DRAM_STANDARD_hbm1; config.ranks = 2);
    CASE("banks:", config.banks = 12);
    CASE("ranks * groups * banks:", config.banks = 64; config.groups = 2);
    CASE("rows:", config.rows = 0);
    CASE("burst_bytes:", config.burst_bytes = 96);
    CASE("burst_bytes:", config.row_bytes = 32);
    CASE("tCL:", config.tCL = UINT64_MAX);
    CASE("tCL:", config.tCL = 0);
    CASE("tBURST:", config.tBURST = 0);
    CASE("tCCDS:", config.tCCDS = 1);
    CASE("tCWL:", config.tCWL = config.tCL + config.tBURST);
    CASE("tRC:", config.tRC = config.tRAS - 1);
    CASE("tREFI:", config.tREFI = config.tRFC);
    CASE("tRCDRD:", config.tRCDRD = config.tREFI - config.tRP - config.tRFC);
    CASE("tRCDWR:", config.tRCDWR = config.tREFI - config.tRP - config.tRFC);
    CASE("refresh:", config.refresh = DRAM_REFRESH_BANK);
    CASE("read_queue:", config.read_queue = 0);
    CASE("write_high:", config.write_high = 33);
    CASE("write_low:", config.write_low = config.write_high);
    CASE("hit_cap:", config.hit_cap = 0);
    CASE("page:", config.page = (enum dram_page)9);
    CASE("map:", config.channels = 3);
#undef CASE
    for (enum dram_standard standard = 0; standard < DRAM_STANDARDS; standard++) {
        struct dram_config config;
        struct error err;
        dram_config_default(&config, standard);
        if (!part_check(&dram_kind, &config, &err))
            fail_msg("%s: %s", dram_standard_name(standard), err.text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_hand),
        cmocka_unit_test(hashes_by_hand),
        cmocka_unit_test(one_to_one),
        cmocka_unit_test(hostile_texts),
        cmocka_unit_test(hostile_configurations),
    };
    return cmocka_run_group_tests_name("DRAM configuration and mapping", tests, NULL, NULL);
}
