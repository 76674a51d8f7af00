/* Every rule of every standard: allowed at t, refused at t - 1; the numbers against the datasheets', by hand;
 * and the two statements of the rules, tables and checker, against each other. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "emu/dram/controller/timing.h"
#include "emu/dram/observers/check.h"
#include "emu/dram/standard.h"

enum { START = 1000, NUMBERS = 29 };

/* In the order of param.def, in clocks, computed by hand from ns / tCK if the standard gives ns. */
static const uint32_t by_hand[DRAM_STANDARDS][NUMBERS] = {
    [DRAM_STANDARD_gddr5] = {12, 4, 2, 12, 10, 12, 28, 40, 6,  6,    23, 184, 2,
                             3,  5, 5, 12, 2,  2,  0,  1,  65, 3900, 0,  0,   0},
    [DRAM_STANDARD_hmc_2500] = {13, 4, 4, 13, 13, 10, 27, 37, 4,  4,    24, 0, 4,
                                4,  7, 7, 10, 7,  1,  0,  0,  74, 4875, 0,  0, 0},
    [DRAM_STANDARD_hmc_tom] = {9, 7, 4, 9,  9, 9, 22, 31, 4,   4,    19, 0, 4,
                               4, 5, 5, 10, 5, 1, 0,  0,  163, 4875, 0,  0, 0},
    [DRAM_STANDARD_hbm1] = {7, 4, 2, 7, 6, 7, 17, 24, 4,   5,    20, 0, 2,
                            3, 2, 4, 8, 7, 2, 0,  0,  130, 1950, 80, 5, 0},
    [DRAM_STANDARD_ddr3_1600k] = {11, 8, 4, 11, 11, 11, 28, 39, 5,   5,    24, 0, 4,
                                  4,  6, 6, 12, 6,  2,  2,  0,  208, 6240, 0,  0, 0},
    [DRAM_STANDARD_gddr5_axram] = {12, 4, 2, 12, 10, 12, 28, 40, 6,  6,    23, 184, 2,
                                   3,  5, 5, 12, 2,  2,  0,  1,  65, 3900, 0,  0,   0},
    /* as hbm1, but a burst takes one clock, and so does the next one */
    [DRAM_STANDARD_hbm1_axram] = {7, 4, 1, 7, 6, 7, 17, 24, 4,   5,    20, 0, 1,
                                  3, 2, 4, 8, 7, 2, 0,  0,  130, 1950, 80, 5, 0},
    [DRAM_STANDARD_hmc_axram] = {13, 4, 4, 13, 13, 10, 27, 37, 4,  4,    24, 0, 4,
                                 4,  7, 7, 10, 7,  1,  0,  0,  74, 4875, 0,  0, 0},
    [DRAM_STANDARD_ddr4_3200] = {22, 16, 4,  22, 22, 22, 52, 74, 4,   8,     34, 0, 4,
                                 8,  4,  12, 24, 12, 2,  0,  0,  560, 12480, 0,  0, 0},
    [DRAM_STANDARD_ddr5_4800] = {34, 32, 8,  34, 34, 34, 77, 111, 8,    12, 32, 0, 8, 12,
                                 6,  24, 72, 18, 4,  0,  2,  710, 9375, 0,  0,  0, 24},
    [DRAM_STANDARD_lpddr5_6400] = {17, 9,  2, 15, 15, 15, 34,  49,   4,  4, 16, 0, 2,  4, 5,
                                   12, 28, 8, 2,  0,  2,  168, 3124, 96, 6, 0,  0, 17, 72},
    [DRAM_STANDARD_gddr6_14] = {24, 6, 2,  27, 16, 27, 53, 79, 8,   8,    29,  0,  2,
                                4,  9, 11, 27, 4,  5,  0,  1,  211, 3333, 106, 15, 0},
    [DRAM_STANDARD_hbm2] = {14, 5, 2, 14, 12, 14, 34, 48, 4,   4,    15,  0, 2,
                            4,  6, 8, 16, 5,  2,  0,  0,  260, 3900, 160, 8, 0},
    [DRAM_STANDARD_hbm3] = {20, 10, 2,  31, 15, 26, 45, 72, 4,   5,    24,  0,  2,
                            4,  7,  10, 34, 10, 8,  0,  2,  560, 6240, 320, 13, 0},
};

/* Distances that consist of several parameters, by hand: RD-WR, WR-RD (other and same group), WR-PRE,
 * RDA-ACT, WRA-ACT. */
static const uint32_t sums_by_hand[DRAM_STANDARDS][6] = {
    [DRAM_STANDARD_gddr5] = {12, 11, 11, 18, 14, 30}, /* GPGPU-Sim's RTW, WTR, WTP are 12, 11, 18 */
    [DRAM_STANDARD_hmc_2500] = {14, 15, 15, 18, 17, 28},
    [DRAM_STANDARD_hmc_tom] = {7, 16, 16, 21, 14, 30},
    [DRAM_STANDARD_hbm1] = {7, 8, 10, 14, 14, 21},
    [DRAM_STANDARD_ddr3_1600k] = {9, 18, 18, 24, 17, 35},
    [DRAM_STANDARD_gddr5_axram] = {12, 11, 11, 18, 14, 30},
    [DRAM_STANDARD_hbm1_axram] = {6, 7, 9, 13, 14, 20},
    [DRAM_STANDARD_hmc_axram] = {14, 15, 15, 18, 17, 28},
    [DRAM_STANDARD_ddr4_3200] = {12, 24, 32, 44, 34, 66},
    [DRAM_STANDARD_ddr5_4800] = {14, 46, 64, 113, 52, 146},
    [DRAM_STANDARD_lpddr5_6400] = {12, 16, 23, 39, 23, 54},
    [DRAM_STANDARD_gddr6_14] = {25, 17, 19, 35, 31, 62},
    [DRAM_STANDARD_hbm2] = {13, 13, 15, 23, 18, 36},
    [DRAM_STANDARD_hbm3] = {20, 19, 22, 46, 35, 71},
};

struct place {
    enum dram_relation relation;
    uint32_t bank; /* relative to bank 0 */
};

/* Finds a bank in each relation to bank 0 that this memory has. Returns their number. */
static unsigned places(const struct dram_config *config, struct place found[5])
{
    unsigned count = 0;
    found[count++] = (struct place){DRAM_SAME_BANK, 0};
    if (config->banks > 1)
        found[count++] = (struct place){DRAM_SAME_GROUP, 1};
    if (config->groups > 1)
        found[count++] = (struct place){DRAM_SAME_RANK, config->banks};
    if (config->groups > dram_config_wide(config)) /* in the other half */
        found[count++] = (struct place){DRAM_SAME_RANK, dram_config_wide(config) * config->banks};
    if (config->ranks > 1)
        found[count++] = (struct place){DRAM_OTHER_RANK, dram_config_rank_banks(config)};
    return count;
}

static struct dram_config config_of(enum dram_standard standard)
{
    struct dram_config config;
    struct error err;
    dram_config_default(&config, standard);
    if (standard == DRAM_STANDARD_ddr3_1600k) { /* the only standard with ranks */
        config.ranks = 2;
        (void)strcpy(config.map, "R16 K1 B3 C7 O6");
    }
    if (!part_check(&dram_kind, &config, &err))
        fail_msg("%s: %s", dram_standard_name(standard), err.text);
    return config;
}

/* Returns whether commands for a bank of each group can be for those of a half. */
static bool can_split(enum dram_standard standard)
{
    return standard == DRAM_STANDARD_gddr5_axram || standard == DRAM_STANDARD_hbm1_axram;
}

static void numbers_by_hand(void **state)
{
    (void)state;
    for (enum dram_standard standard = 0; standard < DRAM_STANDARDS; standard++) {
        struct dram_config config = config_of(standard);
        struct dram_clocks clocks = dram_config_clocks(&config);
        const uint32_t *expected = by_hand[standard];
#define DRAM_PARAM(name, rounding, meaning)                                                                  \
    if (clocks.name != *expected)                                                                            \
        fail_msg("%s: " #name " is %u clocks, not %u", dram_standard_name(standard), clocks.name,            \
                 *expected);                                                                                 \
    expected++;
#include "emu/dram/param.def"
#undef DRAM_PARAM
        assert_ptr_equal(expected, by_hand[standard] + NUMBERS);
    }
}

/* Returns the cycle from which `later` may come at `bank`, if only `earlier` came, at bank 0 in cycle
 * START. */
static uint64_t ready_after(const struct dram_rules *rules, enum dram_command earlier,
                            enum dram_command later, uint32_t bank)
{
    struct dram_timing *timing = malloc(sizeof *timing);
    dram_timing_init(timing, rules);
    dram_timing_issue(timing, earlier, 0, START);
    if (rules->extent[earlier] == DRAM_EXTENT_ALIKE)
        dram_timing_spread(timing, earlier, 0, START);
    uint64_t ready = dram_timing_ready(timing, later, bank);
    free(timing);
    return ready;
}

static void sums_by_hand_hold(void **state)
{
    (void)state;
    struct dram_rules *rules = malloc(sizeof *rules);
    for (enum dram_standard standard = 0; standard < DRAM_STANDARDS; standard++) {
        struct dram_config config = config_of(standard);
        uint32_t other = config.groups > 1 ? config.banks : 1;
        const uint32_t *expected = sums_by_hand[standard];
        dram_rules_init(rules, &config);
        assert_int_equal(ready_after(rules, DRAM_RD, DRAM_WR, other) - START, expected[0]);
        assert_int_equal(ready_after(rules, DRAM_WR, DRAM_RD, other) - START, expected[1]);
        assert_int_equal(ready_after(rules, DRAM_WR, DRAM_RD, 1) - START, expected[2]);
        assert_int_equal(ready_after(rules, DRAM_WR, DRAM_PRE, 0) - START, expected[3]);
        assert_int_equal(ready_after(rules, DRAM_RDA, DRAM_ACT, 0) - START, expected[4]);
        assert_int_equal(ready_after(rules, DRAM_WRA, DRAM_ACT, 0) - START, expected[5]);
    }
    free(rules);
}

/* Returns the clocks for which the earlier command occupies the bus of the later one. */
static uint32_t bus_clocks(const struct dram_config *config, enum dram_command earlier,
                           enum dram_command later)
{
    const struct dram_command_row *rows = dram_commands(config);
    if (config->dual_command && rows[earlier].bus != rows[later].bus)
        return 0;
    return dram_command_clocks(config, earlier);
}

static bool exists(const struct dram_config *config, enum dram_command command)
{
    return dram_commands(config)[command].name && (command != DRAM_REFB || config->tRFCB);
}

static bool is_for_rank(const struct dram_config *config, enum dram_command command)
{
    return dram_commands(config)[command].extent >= DRAM_EXTENT_RANK;
}

static bool is_alike(const struct dram_config *config, enum dram_command command)
{
    return dram_commands(config)[command].extent == DRAM_EXTENT_ALIKE;
}

/* Returns the relation of two commands at bank 0 and at the place: a command for a bank of each group meets another one in
 * every group, or in every one of its half. */
static enum dram_relation relation_at(const struct dram_config *config, enum dram_command earlier,
                                      enum dram_command later, const struct place *place)
{
    if (place->relation == DRAM_OTHER_RANK || (!is_alike(config, earlier) && !is_alike(config, later)))
        return place->relation;
    if (place->bank / config->banks >= dram_config_wide(config))
        return DRAM_SAME_RANK;
    return place->bank % config->banks ? DRAM_SAME_GROUP : DRAM_SAME_BANK;
}

/* All pairs of commands in all relations: tables and checker require the same distance. */
static void tables_equal_checker(void **state)
{
    (void)state;
    struct dram_rules *rules = malloc(sizeof *rules);
    for (unsigned i = 0; i < 16 * DRAM_STANDARDS; i++) {
        struct dram_config config = config_of(i / 16);
        if (i / 8 % 2 && !can_split(config.standard))
            continue;
        config.wide = i / 8 % 2 ? 2 : 0;
        config.inside = i / 4 % 2 ? DRAM_INSIDE_CLOCK : DRAM_INSIDE_GROUP;
        config.bank_groups = i % 2; /* both ways for all */
        config.act_last_clock = i / 2 % 2;
        config.act_clocks += config.act_last_clock;
        config.column_clocks = i / 2 % 2 + 1;
        config.tACT4 = i / 2 % 2 * 18 * config.tCK;
        dram_rules_init(rules, &config);
        rules->window_count = 0; /* one ACT4 fills a window */
        struct place found[5];
        unsigned count = places(&config, found);
        for (enum dram_command earlier = 0; earlier < DRAM_COMMANDS; earlier++)
            for (enum dram_command later = 0; later < DRAM_COMMANDS; later++)
                for (unsigned j = 0; j < count && exists(&config, earlier) && exists(&config, later); j++) {
                    uint64_t ready = ready_after(rules, earlier, later, found[j].bank);
                    uint32_t gap = dram_checker_gap(&config, earlier, later,
                                                    relation_at(&config, earlier, later, &found[j]));
                    uint32_t bus = bus_clocks(&config, earlier, later);
                    if (ready != (gap > bus ? START + gap : bus ? START + bus : 0))
                        fail_msg("%s: %s to %s, relation %u: table %d, checker %u",
                                 dram_standard_name(config.standard), dram_commands(&config)[earlier].name,
                                 dram_commands(&config)[later].name, found[j].relation, (int)(ready - START),
                                 gap);
                }
    }
    free(rules);
}

/* Returns whether the row determines the distance of its commands for some pair of places in its scope. */
static bool row_decides(const struct dram_config *config, const struct dram_rules *rules,
                        const struct dram_rule *rule, enum dram_command earlier, enum dram_command later)
{
    static const enum dram_relation relations[] = {DRAM_SAME_BANK, DRAM_SAME_GROUP, DRAM_SAME_RANK,
                                                   DRAM_OTHER_RANK};
    struct place found[5];
    unsigned count = places(config, found);
    bool decides = false;
    for (unsigned i = 0; i < count; i++) {
        bool whole = is_for_rank(config, earlier) || is_for_rank(config, later);
        const enum dram_relation relation = relation_at(config, earlier, later, &found[i]);
        bool within = rule->scope == DRAM_SCOPE_OTHER ? found[i].relation == DRAM_OTHER_RANK
                                                      : relation <= relations[rule->scope] ||
                                                            (whole && found[i].relation != DRAM_OTHER_RANK);
        if (!within)
            continue;
        uint64_t ready = ready_after(rules, earlier, later, found[i].bank);
        const uint64_t kept =
            START + rule->clocks + dram_command_shift(config, earlier) - dram_command_shift(config, later);
        assert_true(ready >= kept); /* the row's distance is kept */
        decides |= ready == kept;   /* and no other rule requires more */
    }
    return decides;
}

static bool row_is_felt(const struct dram_config *config, const struct dram_rules *rules,
                        const struct dram_rule *rule)
{
    bool decides = false;
    for (enum dram_command earlier = 0; earlier < DRAM_COMMANDS; earlier++)
        for (enum dram_command later = 0; later < DRAM_COMMANDS; later++)
            if (rule->earlier >> earlier & 1 && rule->later >> later & 1)
                decides |= row_decides(config, rules, rule, earlier, later);
    return decides;
}

static void every_row_is_felt(void **state)
{
    (void)state;
    struct dram_rules *rules = malloc(sizeof *rules);
    struct dram_table *table = malloc(sizeof *table);
    unsigned rows = 0;
    for (enum dram_standard standard = 0; standard < DRAM_STANDARDS; standard++) {
        struct dram_config config = config_of(standard);
        dram_rules_init(rules, &config);
        rules->window_count = 0;
        dram_table_init(table, &config);
        assert_true(table->rule_count >= 15);
        for (size_t i = 0; i < table->rule_count; i++, rows++) {
            bool decides = row_is_felt(&config, rules, &table->rules[i]);
            if (can_split(standard)) {
                config.wide = 2;
                dram_rules_init(rules, &config);
                rules->window_count = 0;
                decides |= row_is_felt(&config, rules, &table->rules[i]);
                config.wide = 0;
                dram_rules_init(rules, &config);
                rules->window_count = 0;
            }
            if (!decides)
                fail_msg("%s: row %zu, %s, never decides", dram_standard_name(standard), i,
                         table->rules[i].text);
        }
    }
    print_message("%u rows\n", rows);
    free(table);
    free(rules);
}

static struct dram_record record_of(const struct dram_config *config, enum dram_command command,
                                    uint32_t bank, uint64_t cycle)
{
    bool whole = is_for_rank(config, command);
    const uint32_t group = bank / config->banks % config->groups;
    return (struct dram_record){.cycle = cycle,
                                .command = command,
                                .rank = bank / dram_config_rank_banks(config),
                                .group = whole ? 0
                                         : is_alike(config, command)
                                             ? group / dram_config_wide(config) * dram_config_wide(config)
                                             : group,
                                .bank = whole ? 0 : bank % config->banks};
}

/* The checker accepts each pair of commands at its distance t, and refuses it at t - 1. */
static void checker_at_the_edge(void **state)
{
    (void)state;
    unsigned edges = 0;
    for (unsigned standard = 0; standard < 2 * DRAM_STANDARDS; standard++) {
        struct dram_config config = config_of(standard / 2);
        if (standard % 2 && !can_split(config.standard))
            continue;
        config.wide = standard % 2 ? 2 : 0;
        struct place found[5];
        unsigned count = places(&config, found);
        for (unsigned i = 0; i < DRAM_COMMANDS * DRAM_COMMANDS * count; i++) {
            enum dram_command earlier = i / count / DRAM_COMMANDS, later = i / count % DRAM_COMMANDS;
            struct place place = found[i % count];
            uint32_t gap =
                dram_checker_gap(&config, earlier, later, relation_at(&config, earlier, later, &place));
            if (!exists(&config, earlier) || !exists(&config, later) ||
                gap <= bus_clocks(&config, earlier, later))
                continue;
            for (unsigned early = 0; early < 2; early++) {
                struct dram_checker checker;
                dram_checker_init(&checker, &config);
                struct dram_record first = record_of(&config, earlier, 0, START);
                struct dram_record second = record_of(&config, later, place.bank, START + gap - early);
                (void)dram_checker_command(&checker, &first);
                checker.violations = 0; /* the banks' states do not fit: only the distance is checked here */
                checker.first.text[0] = '\0';
                (void)dram_checker_command(&checker, &second);
                assert_true((strstr(checker.first.text, "clocks after") != NULL) == early);
                dram_checker_free(&checker);
            }
            edges++;
        }
    }
    assert_true(edges > 150);
}

/* Activates as early as the table allows: the windows delay the fifth and the 33rd, by hand. */
static void windows(void **state)
{
    (void)state;
    static const uint32_t fifth[DRAM_STANDARDS] = {
        [DRAM_STANDARD_gddr5] = 24, /* 4 tRRD = 24 > tFAW = 23 */
        [DRAM_STANDARD_hmc_2500] = 24,    [DRAM_STANDARD_hmc_tom] = 19,
        [DRAM_STANDARD_hbm1] = 20,        [DRAM_STANDARD_ddr3_1600k] = 24,
        [DRAM_STANDARD_gddr5_axram] = 24, [DRAM_STANDARD_hbm1_axram] = 20,
        [DRAM_STANDARD_hmc_axram] = 24,   [DRAM_STANDARD_ddr4_3200] = 34,
        [DRAM_STANDARD_ddr5_4800] = 32,   [DRAM_STANDARD_lpddr5_6400] = 16,
        [DRAM_STANDARD_gddr6_14] = 32,    [DRAM_STANDARD_hbm2] = 16, /* 4 tRRD = 16 > tFAW = 15 */
        [DRAM_STANDARD_hbm3] = 24};
    struct dram_rules *rules = malloc(sizeof *rules);
    struct dram_timing *timing = malloc(sizeof *timing);
    for (enum dram_standard standard = 0; standard < DRAM_STANDARDS; standard++) {
        struct dram_config config = config_of(standard);
        dram_rules_init(rules, &config);
        dram_timing_init(timing, rules);
        for (uint32_t i = 0; i < 4; i++) { /* in different groups, if there are several */
            uint32_t bank = config.groups > 1 ? i * config.banks : i;
            uint64_t ready = dram_timing_ready(timing, DRAM_ACT, bank);
            dram_timing_issue(timing, DRAM_ACT, bank, i ? ready : START);
        }
        uint32_t bank = config.groups > 1 ? 1 : 4;
        assert_int_equal(dram_timing_ready(timing, DRAM_ACT, bank) - START, fifth[standard]);
        if (config.ranks > 1) /* the other rank has its own window */
            assert_true(dram_timing_ready(timing, DRAM_ACT, dram_config_rank_banks(&config)) <
                        dram_timing_ready(timing, DRAM_ACT, bank));
    }
    struct dram_config config = config_of(DRAM_STANDARD_gddr5);
    config.t32AW = 300 * config.tCK; /* the standard's own window never delays: 32 * tRRD = 192 > 184 */
    dram_rules_init(rules, &config);
    dram_timing_init(timing, rules);
    for (uint32_t i = 0; i < 32; i++)
        dram_timing_issue(timing, DRAM_ACT, i % 16, START + 8 * i);
    assert_int_equal(dram_timing_ready(timing, DRAM_ACT, 3) - START, 300);
    free(timing);
    free(rules);
}

static void issue4(struct dram_timing *timing, enum dram_command command, uint32_t bank, uint64_t cycle)
{
    dram_timing_issue(timing, command, bank, cycle);
    dram_timing_spread(timing, command, bank, cycle);
}

/* By hand: an ACT4 fills tFAW, so that the next one, or an ACT, comes 23 clocks later although tRRD is 6; after an ACT, it
 * waits until the window is empty; eight of them fill t32AW. The checker refuses each a clock earlier. */
static void wide_windows(void **state)
{
    (void)state;
    const enum dram_command act4 = (enum dram_command)DRAM_OWN;
    struct dram_rules *rules = malloc(sizeof *rules);
    struct dram_timing *timing = malloc(sizeof *timing);
    struct dram_config config = config_of(DRAM_STANDARD_gddr5_axram);
    assert_string_equal(dram_commands(&config)[act4].name, "ACT4");
    dram_rules_init(rules, &config);
    dram_timing_init(timing, rules);
    issue4(timing, act4, 0, START);
    assert_int_equal(dram_timing_ready(timing, act4, 1) - START, 23);
    assert_int_equal(dram_timing_ready(timing, DRAM_ACT, 1) - START, 23);
    dram_timing_init(timing, rules);
    dram_timing_issue(timing, DRAM_ACT, 0, START);
    assert_int_equal(dram_timing_ready(timing, act4, 1) - START, 23);
    assert_int_equal(dram_timing_ready(timing, DRAM_ACT, 1) - START, 6);

    config.t32AW = 300 * config.tCK;
    dram_rules_init(rules, &config);
    dram_timing_init(timing, rules);
    for (uint32_t i = 0; i < 8; i++)
        issue4(timing, act4, i % 4, START + 23 * i);
    assert_int_equal(dram_timing_ready(timing, act4, 0) - START, 300);

    config.tACT4 = 18 * config.tCK; /* the last part counts */
    dram_rules_init(rules, &config);
    dram_timing_init(timing, rules);
    issue4(timing, act4, 0, START);
    assert_int_equal(dram_timing_ready(timing, act4, 1) - START, 18 + 23);
    assert_int_equal(dram_timing_ready(timing, DRAM_RD, 12) - START, 18 + 12);
    assert_int_equal(dram_timing_ready(timing, DRAM_PRE, 4) - START, 18 + 28);

    for (unsigned early = 0; early < 2; early++) {
        struct dram_checker checker;
        config = config_of(DRAM_STANDARD_gddr5_axram);
        dram_checker_init(&checker, &config);
        const uint64_t cycles[] = {START, START + 23 - early, START + 60};
        for (uint32_t i = 0; i < 3; i++)
            (void)dram_checker_command(&checker,
                                       &(struct dram_record){.cycle = cycles[i], .command = act4, .bank = i});
        assert_int_equal(checker.violations, early);
        assert_true(!early || strstr(checker.first.text, "tFAW"));
        dram_checker_free(&checker);
    }
    free(timing);
    free(rules);
}

/* Auto-precharge may be chosen when the command is issued, so both forms of a command must be allowed at the
 * same time. */
static void auto_precharge_is_as_early(void **state)
{
    (void)state;
    struct dram_rules *rules = malloc(sizeof *rules);
    for (enum dram_standard standard = 0; standard < DRAM_STANDARDS; standard++) {
        struct dram_config config = config_of(standard);
        dram_rules_init(rules, &config);
        for (enum dram_command earlier = 0; earlier < DRAM_COMMANDS; earlier++)
            for (uint32_t bank = 0; bank < dram_config_channel_banks(&config); bank++) {
                assert_true(ready_after(rules, earlier, DRAM_RD, bank) ==
                            ready_after(rules, earlier, DRAM_RDA, bank));
                assert_true(ready_after(rules, earlier, DRAM_WR, bank) ==
                            ready_after(rules, earlier, DRAM_WRA, bank));
            }
    }
    free(rules);
}

static void every_value_has_a_source(void **state)
{
    (void)state;
    for (enum dram_standard standard = 0; standard < DRAM_STANDARDS; standard++) {
        struct dram_config config = config_of(standard);
        assert_non_null(dram_standard_source(standard, "map"));
#define DRAM_PARAM(name, rounding, meaning)                                                                  \
    if (config.name && !dram_standard_source(standard, #name))                                               \
        fail_msg("%s: " #name " has no source", dram_standard_name(standard));
#include "emu/dram/param.def"
#undef DRAM_PARAM
    }
    assert_null(dram_standard_source(0, "no such field"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_by_hand),
        cmocka_unit_test(sums_by_hand_hold),
        cmocka_unit_test(tables_equal_checker),
        cmocka_unit_test(every_row_is_felt),
        cmocka_unit_test(checker_at_the_edge),
        cmocka_unit_test(windows),
        cmocka_unit_test(wide_windows),
        cmocka_unit_test(auto_precharge_is_as_early),
        cmocka_unit_test(every_value_has_a_source),
    };
    return cmocka_run_group_tests_name("DRAM rules", tests, NULL, NULL);
}
