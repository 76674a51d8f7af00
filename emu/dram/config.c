#include "emu/dram/config.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/dram/map.h"

#define DRAM_STANDARD(name, meaning) #name,
const char *const dram_standard_names[] = {
#include "emu/dram/standards/standard.def"
    NULL};
#undef DRAM_STANDARD
const char *const dram_page_names[] = {"open", "closed", "timeout", NULL};
const char *const dram_refresh_names[] = {"none", "all", "bank", NULL};

const char *dram_standard_name(enum dram_standard standard)
{
    return dram_standard_names[standard];
}

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
        clocks.tCCDLWR = 0;
        clocks.tWTRL = clocks.tWTRS;
    }
    const bool each = config->inside == DRAM_INSIDE_CLOCK;
    clocks.tCCD4 = each ? 1 : clocks.tCCDL;
    clocks.tWTR4 = clocks.tCWL + (each ? 1 : clocks.tWTRL);
    clocks.tWTR4S = each ? 1 : clocks.tWTR4;
    return clocks;
}

uint32_t dram_config_refresh_clocks(const struct dram_config *config)
{
    if (config->refresh == DRAM_REFRESH_NONE)
        return 0;
    uint32_t interval = dram_config_clocks(config).tREFI;
    return config->refresh == DRAM_REFRESH_ALL ? interval : interval / dram_config_rank_banks(config);
}

/* Checks that a value is within limits that other fields or a computation define. */
static bool between(const char *name, uint64_t value, uint64_t least, uint64_t most, const char *limit,
                    struct error *err)
{
    return (value >= least && value <= most) ||
           error_set(err, "%s: %" PRIu64 " is not allowed: a number from %" PRIu64 " to %" PRIu64 " (%s)",
                     name, value, least, most, limit);
}

/* A time in fs with its limits; messages print it in ns. */
struct span {
    const char *name;
    uint64_t value, least, most;
    const char *limit; /* origin of least or most */
};

static bool check_spans(const struct span *spans, size_t count, struct error *err)
{
    for (size_t i = 0; i < count; i++) {
        const struct span *span = &spans[i];
        if (span->value < span->least || span->value > span->most)
            return error_set(err, "%s: %.12g ns is not allowed: %.12g ns to %.12g ns (%s)", span->name,
                             (double)span->value / 1e6, (double)span->least / 1e6, (double)span->most / 1e6,
                             span->limit);
    }
    return true;
}

#define SPAN(field, least, limit)                                                                            \
    {                                                                                                        \
#field, config->field, least, most, limit                                                            \
    }

static bool check_organisation(const struct dram_config *config, struct error *err)
{
    if (config->burst_bytes > config->row_bytes)
        return error_set(err, "burst_bytes: %" PRIu32 " is more than row_bytes, %" PRIu32,
                         config->burst_bytes, config->row_bytes);
    uint64_t banks = (uint64_t)config->ranks * config->groups * config->banks;
    if (banks > DRAM_BANKS)
        return error_set(err, "ranks * groups * banks: %" PRIu64 " banks per channel; at most %d are allowed",
                         banks, DRAM_BANKS);
    if (config->ranks > 1 && config->standard != DRAM_STANDARD_ddr3_1600k)
        return error_set(err, "ranks: %s has one rank per channel", dram_standard_name(config->standard));
    return true;
}

/* A refresh takes its banks from the requests as soon as it is due. So the interval between two refreshes of a
 * bank must be longer than a precharge, the refresh and tRCD, or no column command could come in between. */
static bool check_progress(const struct dram_config *config, const struct dram_clocks *clocks,
                           struct error *err)
{
    const bool all = config->refresh == DRAM_REFRESH_ALL;
    const uint64_t rounds = all ? 1 : dram_config_rank_banks(config),
                   interval = rounds * dram_config_refresh_clocks(config),
                   taken = (all && clocks->tRPAB > clocks->tRP ? clocks->tRPAB : clocks->tRP) +
                           (all ? clocks->tRFC : clocks->tRFCB);
    const struct {
        const char *name;
        uint32_t clocks;
    } opening[] = {{"tRCDRD", clocks->tRCDRD}, {"tRCDWR", clocks->tRCDWR}};
    for (size_t i = 0; i < sizeof opening / sizeof *opening; i++)
        if (taken + opening[i].clocks >= interval)
            return error_set(err,
                             "%s: no column command would come between two refreshes of a bank, %" PRIu64
                             " clocks apart, of which tRP, %s and %s take %" PRIu64,
                             opening[i].name, interval, all ? "tRFC" : "tRFCB", opening[i].name,
                             taken + opening[i].clocks);
    return true;
}

static bool check_times(const struct dram_config *config, struct error *err)
{
    const uint64_t most = 20000 * config->tCK;
    const struct span spans[] = {
#define DRAM_PARAM(name, rounding, meaning) SPAN(name, 0, "20000 tCK"),
#include "emu/dram/param.def"
#undef DRAM_PARAM
        SPAN(tCCDS, config->tBURST, "at least tBURST"), /* or data would collide */
        SPAN(tCCDL, config->tCCDS, "at least tCCDS"),   SPAN(tRRDL, config->tRRDS, "at least tRRDS"),
        SPAN(tWTRL, config->tWTRS, "at least tWTRS"),   SPAN(tRC, config->tRAS, "at least tRAS"),
    };
    if (!check_spans(spans, sizeof spans / sizeof *spans, err))
        return false;
    struct dram_clocks clocks = dram_config_clocks(config);
    if (clocks.tCL + clocks.tBURST <= clocks.tCWL)
        return error_set(err, "tCWL: %.12g ns must be below tCL + tBURST, or writes would overtake reads",
                         (double)config->tCWL / 1e6);
    uint32_t interval = dram_config_refresh_clocks(config);
    const uint32_t next = clocks.tRREFB > clocks.tRREFD ? clocks.tRREFB : clocks.tRREFD; /* of another bank */
    uint32_t needed = clocks.tRC + (config->refresh == DRAM_REFRESH_BANK ? next : clocks.tRFC);
    if (config->refresh != DRAM_REFRESH_NONE && interval <= needed)
        return error_set(err,
                         "tREFI: a refresh every %" PRIu32
                         " clocks leaves no time for accesses, because each takes tRC + tRFC (of one bank: "
                         "tRREFD or tRREFB), %" PRIu32,
                         interval, needed);
    if (config->refresh == DRAM_REFRESH_BANK && clocks.tRFCB == 0)
        return error_set(err, "refresh: %s has no refresh of single banks",
                         dram_standard_name(config->standard));
    return config->refresh == DRAM_REFRESH_NONE || check_progress(config, &clocks, err);
}

bool dram_config_check(const void *part, struct error *err)
{
    const struct dram_config *config = part;
    struct home_bits map;
    return check_organisation(config, err) &&
           between("write_high", config->write_high, 1, config->write_queue, "at most write_queue", err) &&
           between("write_low", config->write_low, 0, config->write_high - 1, "below write_high", err) &&
           check_times(config, err) && dram_map_init(&map, config, err);
}

uint64_t dram_config_bandwidth(const struct dram_config *config)
{
    const struct dram_clocks clocks = dram_config_clocks(config);
    return (uint64_t)(CLOCK_SECOND * (double)config->channels * config->burst_bytes /
                      ((double)clocks.tBURST * (double)config->tCK));
}
