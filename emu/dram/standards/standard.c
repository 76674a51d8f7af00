#include "emu/dram/standard.h"

#include <string.h>

#define DRAM_ROWS         "emu/dram/standards/gddr5.def"
#define DRAM_NAME(prefix) prefix##gddr5
#include "emu/dram/standards/rows.h"

#define DRAM_ROWS         "emu/dram/standards/hmc_2500.def"
#define DRAM_NAME(prefix) prefix##hmc_2500
#include "emu/dram/standards/rows.h"

#define DRAM_ROWS         "emu/dram/standards/hmc_tom.def"
#define DRAM_NAME(prefix) prefix##hmc_tom
#include "emu/dram/standards/rows.h"

#define DRAM_ROWS         "emu/dram/standards/hbm1.def"
#define DRAM_NAME(prefix) prefix##hbm1
#include "emu/dram/standards/rows.h"

#define DRAM_ROWS         "emu/dram/standards/ddr3_1600k.def"
#define DRAM_NAME(prefix) prefix##ddr3_1600k
#include "emu/dram/standards/rows.h"

#define DRAM_ROWS         "emu/dram/standards/gddr5_axram.def"
#define DRAM_NAME(prefix) prefix##gddr5_axram
#include "emu/dram/standards/rows.h"

#define DRAM_ROWS         "emu/dram/standards/hbm1_axram.def"
#define DRAM_NAME(prefix) prefix##hbm1_axram
#include "emu/dram/standards/rows.h"

#define DRAM_ROWS         "emu/dram/standards/hmc_axram.def"
#define DRAM_NAME(prefix) prefix##hmc_axram
#include "emu/dram/standards/rows.h"

#define DRAM_ROWS         "emu/dram/standards/jedec/ddr4_3200.def"
#define DRAM_NAME(prefix) prefix##ddr4_3200
#include "emu/dram/standards/rows.h"

#define DRAM_ROWS         "emu/dram/standards/jedec/ddr5_4800.def"
#define DRAM_NAME(prefix) prefix##ddr5_4800
#include "emu/dram/standards/rows.h"

#define DRAM_ROWS         "emu/dram/standards/jedec/lpddr5_6400.def"
#define DRAM_NAME(prefix) prefix##lpddr5_6400
#include "emu/dram/standards/rows.h"

#define DRAM_ROWS         "emu/dram/standards/jedec/gddr6_14.def"
#define DRAM_NAME(prefix) prefix##gddr6_14
#include "emu/dram/standards/rows.h"

#define DRAM_ROWS         "emu/dram/standards/jedec/hbm2.def"
#define DRAM_NAME(prefix) prefix##hbm2
#include "emu/dram/standards/rows.h"

#define DRAM_ROWS         "emu/dram/standards/jedec/hbm3.def"
#define DRAM_NAME(prefix) prefix##hbm3
#include "emu/dram/standards/rows.h"

static const struct dram_rows standards[DRAM_STANDARDS] = {
#define DRAM_STANDARD(name, meaning) {#name, commands_##name, config_##name, table_##name, source_##name},
#include "emu/dram/standards/standard.def"
#undef DRAM_STANDARD
};

void dram_config_default(struct dram_config *config, enum dram_standard standard)
{
    *config = (struct dram_config){
        .standard = standard,
        .ranks = 1,
        .devices = 1,
        .act_clocks = 1,
        .column_clocks = 1,
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
    dram_rows(config)->table(table, &clocks);
}

const struct dram_rows *dram_rows(const struct dram_config *config)
{
    return config->custom ? config->custom : &standards[config->standard];
}

const struct dram_command_row *dram_commands(const struct dram_config *config)
{
    return dram_rows(config)->commands;
}

const char *dram_standard_source(enum dram_standard standard, const char *field)
{
    return standards[standard].source(field);
}

uint32_t dram_command_clocks(const struct dram_config *config, enum dram_command command)
{
    if (command == DRAM_ACT)
        return config->act_clocks;
    return command < DRAM_OWN && dram_command_is_column(command) ? config->column_clocks : 1;
}

uint32_t dram_command_shift(const struct dram_config *config, enum dram_command command)
{
    return config->act_last_clock ? dram_command_clocks(config, command) - 1 : 0;
}
