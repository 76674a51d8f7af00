/* The configuration of a memory: standard, organisation, timings, energies and controller policies. */
#ifndef EMU_DRAM_CONFIG_H
#define EMU_DRAM_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/mem/home.h"
#include "emu/sim/part.h"

#define DRAM_STANDARD(name, meaning) DRAM_STANDARD_##name,
enum dram_standard {
#include "emu/dram/standards/standard.def"
    DRAM_STANDARDS
};
#undef DRAM_STANDARD

enum dram_page {
    DRAM_PAGE_OPEN,    /* rows stay open until another row or a refresh needs the bank */
    DRAM_PAGE_CLOSED,  /* the last access that is queued for a row closes it by auto-precharge */
    DRAM_PAGE_TIMEOUT, /* a row closes after it was not used for row_timeout */
};

enum dram_refresh {
    DRAM_REFRESH_NONE, /* unrealistic; measures the cost of refresh */
    DRAM_REFRESH_ALL,  /* all banks of a rank at once, every tREFI */
    DRAM_REFRESH_BANK, /* one bank after the other, one every tREFI divided by the banks of a rank */
};

enum {
    DRAM_BANKS = 64,  /* most banks of a channel: ranks * groups * banks; a set of them is a 64-bit word */
    DRAM_GROUPS = 64, /* most bank groups of a channel: ranks * groups */
    DRAM_RANKS = 8,
    DRAM_CHANNELS = 65536, /* most that a configuration may have; only its own number is allocated */
    DRAM_QUEUE = 1024,
};

/* The distances that columns inside a device keep among each other: those of RD4 and WR4, which leave the pins alone
 * (standards/axram_commands.def). */
enum dram_inside {
    DRAM_INSIDE_GROUP, /* those of a bank group: tCCDL, and tWTRL from a write's data to a read */
    DRAM_INSIDE_CLOCK, /* a column each clock; a bank is read a clock after its data were written */
};

extern const char *const dram_standard_names[], *const dram_page_names[],
                                                    *const dram_refresh_names[]; /* by value, then NULL */

struct dram_rows;

struct dram_config {
#include "emu/sim/fields_struct.h"

#include "emu/dram/dram.def"
    const struct dram_rows *custom; /* a standard that is not in standard.def, or NULL */
    enum dram_inside inside;        /* set by the part that issues these columns, before the memory is made */
    uint32_t
        wide; /* bank groups that a command for a bank of each group reaches, neighbours; 0: all; set as `inside` is */
};

extern const struct part_kind dram_kind; /* emu/dram/kind.c */

/* Checks constraints between fields: the kind's check(). */
bool dram_config_check(const void *config, struct error *err);

/* The timing parameters in clocks of tCK, rounded as in param.def. Without bank_groups, each L parameter
 * equals its S parameter. */
struct dram_clocks {
#define DRAM_PARAM(name, rounding, meaning) uint32_t name;
#include "emu/dram/param.def"
#undef DRAM_PARAM
    /* of columns inside a device: any to the next; a write to a read, in the same bank and in others */
    uint32_t tCCD4, tWTR4, tWTR4S;
};

struct dram_clocks dram_config_clocks(const struct dram_config *config);

/* Returns the bytes per second that all data buses together carry at most. */
uint64_t dram_config_bandwidth(const struct dram_config *config);

/* Return the banks of a rank and of a channel, and the bytes of a channel and of all channels. */
static inline uint32_t dram_config_rank_banks(const struct dram_config *config)
{
    return config->groups * config->banks;
}

static inline uint32_t dram_config_channel_banks(const struct dram_config *config)
{
    return config->ranks * dram_config_rank_banks(config);
}

static inline uint64_t dram_config_channel_bytes(const struct dram_config *config)
{
    return (uint64_t)dram_config_channel_banks(config) * config->rows * config->row_bytes;
}

static inline uint64_t dram_config_bytes(const struct dram_config *config)
{
    return config->channels * dram_config_channel_bytes(config);
}

/* Returns the bank groups that a command for a bank of each group reaches: this many, from a multiple of it on. */
static inline uint32_t dram_config_wide(const struct dram_config *config)
{
    return config->wide ? config->wide : config->groups;
}

/* Returns the clocks between refresh commands of a rank, which refresh all its banks or one after the other;
 * 0 without refresh. */
uint32_t dram_config_refresh_clocks(const struct dram_config *config);

/* Returns a standard's name ("gddr5" ...). */
const char *dram_standard_name(enum dram_standard standard);

#endif
