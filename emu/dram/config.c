#include "emu/dram/config.h"

#include <inttypes.h>
#include <stddef.h>

#include "emu/dram/map.h"

enum { ROUND_UP, ROUND_DOWN };

static uint32_t clocks_of(uint64_t time, uint64_t tCK, int rounding)
{
    return (uint32_t)((time + (rounding == ROUND_UP ? tCK - 1 : 0)) / tCK);
}

struct dram_clocks dram_config_clocks(const struct dram_config *config)
{
    struct dram_clocks clocks;
#define DRAM_PARAM(name, rounding, meaning)                                                                  \
    clocks.name = clocks_of(config->name, config->tCK, ROUND_##rounding);
#include "emu/dram/param.def"
#undef DRAM_PARAM
    if (!config->bank_groups) {
        clocks.tRRDL = clocks.tRRDS;
        clocks.tCCDL = clocks.tCCDS;
        clocks.tWTRL = clocks.tWTRS;
    }
    return clocks;
}

uint32_t dram_config_refresh_clocks(const struct dram_config *config)
{
    if (config->refresh == DRAM_REFRESH_NONE)
        return 0;
    uint32_t interval = dram_config_clocks(config).tREFI;
    return config->refresh == DRAM_REFRESH_ALL ? interval : interval / dram_config_rank_banks(config);
}

struct range {
    const char *name;
    uint64_t value, least, most;
    bool power;        /* of two */
    const char *limit; /* what least or most come from, in brackets; or NULL */
};

static bool check_ranges(const struct range *ranges, size_t count, struct error *err)
{
    for (size_t i = 0; i < count; i++) {
        const struct range *range = &ranges[i];
        bool power = (range->value & (range->value - 1)) == 0;
        if (range->value < range->least || range->value > range->most || (range->power && !power))
            return error_set(err, "%s: %" PRIu64 " is not allowed: %s from %" PRIu64 " to %" PRIu64 "%s",
                             range->name, range->value, range->power ? "a power of two" : "a number",
                             range->least, range->most, range->limit ? range->limit : "");
    }
    return true;
}

#define CHECK(field, least, most, power)                                                                     \
    {                                                                                                        \
#field, config->field, least, most, power, NULL                                                      \
    }
#define CHECK_BY(field, least, most, limit)                                                                  \
    {                                                                                                        \
#field, config->field, least, most, false, " (" limit ")"                                            \
    }

/* The same of times in fs, with their unit. */
static bool check_spans(const struct range *ranges, size_t count, struct error *err)
{
    for (size_t i = 0; i < count; i++) {
        const struct range *range = &ranges[i];
        if (range->value < range->least || range->value > range->most)
            return error_set(err, "%s: %.12g ns is not allowed: %.12g ns to %.12g ns%s", range->name,
                             (double)range->value / 1e6, (double)range->least / 1e6,
                             (double)range->most / 1e6, range->limit ? range->limit : "");
    }
    return true;
}

static bool check_organisation(const struct dram_config *config, struct error *err)
{
    const struct range ranges[] = {
        CHECK(channels, 1, DRAM_CHANNELS, false), CHECK(ranks, 1, DRAM_RANKS, true),
        CHECK(groups, 1, DRAM_GROUPS, true),      CHECK(banks, 1, DRAM_BANKS, true),
        CHECK(rows, 1, 1U << 24, true),           CHECK(row_bytes, 32, 1U << 20, true),
        CHECK(burst_bytes, 4, 4096, true),        CHECK(devices, 1, 64, false),
        CHECK(act_clocks, 1, 8, false),
    };
    const struct range clock = CHECK(tCK, 100000, 100000000, false);
    if (!check_spans(&clock, 1, err) || !check_ranges(ranges, sizeof ranges / sizeof *ranges, err))
        return false;
    if (config->burst_bytes > config->row_bytes)
        return error_set(err, "burst_bytes: %" PRIu32 " is more than row_bytes, %" PRIu32,
                         config->burst_bytes, config->row_bytes);
    uint64_t banks = (uint64_t)config->ranks * config->groups * config->banks;
    if (banks > DRAM_BANKS)
        return error_set(err, "ranks * groups * banks: %" PRIu64 " banks a channel; at most %d are allowed",
                         banks, DRAM_BANKS);
    if (config->ranks > 1 && config->standard != DRAM_STANDARD_ddr3_1600k)
        return error_set(err, "ranks: %s has one rank a channel", dram_standard_name(config->standard));
    return true;
}

static bool check_times(const struct dram_config *config, struct error *err)
{
    const uint64_t most = 20000 * config->tCK;
    const struct range ranges[] = {
#define DRAM_PARAM(name, rounding, meaning) CHECK_BY(name, 0, most, "20000 tCK"),
#include "emu/dram/param.def"
#undef DRAM_PARAM
        CHECK(row_timeout, 0, UINT64_C(1000000000000), false),
        CHECK(front_latency, 0, UINT64_C(1000000000000), false),
        CHECK(back_latency, 0, UINT64_C(1000000000000), false),
        CHECK_BY(tCL, 1, most, "20000 tCK"),
        CHECK_BY(tBURST, 1, most, "20000 tCK"),
        CHECK_BY(tCCDS, config->tBURST, most, "at least tBURST"), /* or else data would collide */
        CHECK_BY(tCCDL, config->tCCDS, most, "at least tCCDS"),
        CHECK_BY(tRRDL, config->tRRDS, most, "at least tRRDS"),
        CHECK_BY(tWTRL, config->tWTRS, most, "at least tWTRS"),
        CHECK_BY(tRC, config->tRAS, most, "at least tRAS"),
    };
    if (!check_spans(ranges, sizeof ranges / sizeof *ranges, err))
        return false;
    struct dram_clocks clocks = dram_config_clocks(config);
    if (clocks.tCL + clocks.tBURST <= clocks.tCWL)
        return error_set(err, "tCWL: %.12g ns must be below tCL + tBURST, or writes would overtake reads",
                         (double)config->tCWL / 1e6);
    uint32_t interval = dram_config_refresh_clocks(config);
    uint32_t needed = clocks.tRC + (config->refresh == DRAM_REFRESH_BANK ? clocks.tRFCB : clocks.tRFC);
    if (config->refresh != DRAM_REFRESH_NONE && interval <= needed)
        return error_set(err,
                         "tREFI: a refresh each %" PRIu32
                         " clocks leaves no time, as one takes tRC and tRFC or tRFCB, %" PRIu32,
                         interval, needed);
    if (config->refresh == DRAM_REFRESH_BANK && clocks.tRFCB == 0)
        return error_set(err, "refresh: %s has no refresh of single banks",
                         dram_standard_name(config->standard));
    return true;
}

static bool check_policies(const struct dram_config *config, struct error *err)
{
    const struct range ranges[] = {
        CHECK(read_queue, 1, DRAM_QUEUE, false),
        CHECK(write_queue, 1, DRAM_QUEUE, false),
        CHECK_BY(write_high, 1, config->write_queue, "at most write_queue"),
        CHECK_BY(write_low, 0, config->write_high - 1, "below write_high"),
        CHECK(hit_cap, 1, UINT32_MAX, false),
        CHECK(page, 0, DRAM_PAGE_TIMEOUT, false),
        CHECK(refresh, 0, DRAM_REFRESH_BANK, false),
    };
    return check_ranges(ranges, sizeof ranges / sizeof *ranges, err);
}

bool dram_config_check(const struct dram_config *config, struct error *err)
{
    struct dram_map map;
    return check_organisation(config, err) && check_policies(config, err) && check_times(config, err) &&
           dram_map_init(&map, config, err);
}
