#include "emu/dram/standard.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

/* The words of the rows. */
#define NS(x) ((uint64_t)((x)*1e6 + 0.5))
#define CK(n) ((n)*config->tCK)
enum {
    ACT = DRAM_SET(ACT),
    CLOSE = DRAM_SET(PRE) | DRAM_SET(PREA),
    RD = DRAM_SET(RD),
    RDA = DRAM_SET(RDA),
    READ = RD | RDA,
    WR = DRAM_SET(WR),
    WRA = DRAM_SET(WRA),
    WRITE = WR | WRA,
    REF = DRAM_SET(REF),
    REFB = DRAM_SET(REFB),
};

/* A row of zero clocks is a limit that the configuration has switched off. */
static void rule_add(struct dram_table *table, struct dram_rule rule)
{
    if (rule.clocks == 0)
        return;
    assert(table->rule_count < DRAM_RULES);
    table->rules[table->rule_count++] = rule;
}

static void window_add(struct dram_table *table, struct dram_window window)
{
    if (window.clocks == 0)
        return;
    assert(table->window_count < DRAM_WINDOWS);
    table->windows[table->window_count++] = window;
}

#define DRAM_ROWS         "emu/dram/standards/gddr5.def"
#define DRAM_NAME(prefix) prefix##gddr5
#include "emu/dram/standard_rows.h"

#define DRAM_ROWS         "emu/dram/standards/hmc_2500.def"
#define DRAM_NAME(prefix) prefix##hmc_2500
#include "emu/dram/standard_rows.h"

#define DRAM_ROWS         "emu/dram/standards/hmc_tom.def"
#define DRAM_NAME(prefix) prefix##hmc_tom
#include "emu/dram/standard_rows.h"

#define DRAM_ROWS         "emu/dram/standards/hbm1.def"
#define DRAM_NAME(prefix) prefix##hbm1
#include "emu/dram/standard_rows.h"

#define DRAM_ROWS         "emu/dram/standards/ddr3_1600k.def"
#define DRAM_NAME(prefix) prefix##ddr3_1600k
#include "emu/dram/standard_rows.h"

static const struct standard {
    const char *name, *meaning;
    void (*config)(struct dram_config *config);
    void (*table)(struct dram_table *table, const struct dram_clocks *clocks);
    const char *(*source)(const char *field);
} standards[DRAM_STANDARDS] = {
#define DRAM_STANDARD(name, meaning) {#name, meaning, config_##name, table_##name, source_##name},
#include "emu/dram/standard.def"
#undef DRAM_STANDARD
};

void dram_config_default(struct dram_config *config, enum dram_standard standard)
{
    *config = (struct dram_config){
        .standard = standard,
        .ranks = 1,
        .devices = 1,
        .act_clocks = 1,
        .read_queue = 32, /* as in DRAMsim3 and Ramulator 2 */
        .write_queue = 32,
        .write_high = 26, /* 0.8 and 0.2 of the queue, as in Ramulator */
        .write_low = 6,
        .hit_cap = 16, /* as in Ramulator's FRFCFS_Cap */
        .refresh = DRAM_REFRESH_ALL,
    };
    standards[standard].config(config);
    config->row_timeout = 50 * config->tCK; /* as in Ramulator */
}

void dram_table_init(struct dram_table *table, const struct dram_config *config)
{
    struct dram_clocks clocks = dram_config_clocks(config);
    memset(table, 0, sizeof *table);
    standards[config->standard].table(table, &clocks);
}

const char *dram_standard_source(enum dram_standard standard, const char *field)
{
    return standards[standard].source(field);
}

const char *dram_standard_name(enum dram_standard standard)
{
    return standards[standard].name;
}

const char *dram_standard_meaning(enum dram_standard standard)
{
    return standards[standard].meaning;
}

enum dram_standard dram_standard_find(const char *name)
{
    enum dram_standard standard = 0;
    while (standard < DRAM_STANDARDS && strcmp(standards[standard].name, name) != 0)
        standard++;
    return standard;
}
