/* The description of a memory: standard, organisation, timings, energies and the controllers' policies. */
#ifndef EMU_DRAM_CONFIG_H
#define EMU_DRAM_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/mem/home.h"
#include "emu/sim/part.h"

#define DRAM_STANDARD(name, meaning) DRAM_STANDARD_##name,
enum dram_standard {
#include "emu/dram/standard.def"
    DRAM_STANDARDS
};
#undef DRAM_STANDARD

enum dram_page {
    DRAM_PAGE_OPEN,    /* rows stay open until another row or a refresh needs the bank */
    DRAM_PAGE_CLOSED,  /* the last access that is queued for a row closes it by auto-precharge */
    DRAM_PAGE_TIMEOUT, /* a row closes when it was not used for row_timeout */
};

enum dram_refresh {
    DRAM_REFRESH_NONE, /* unreal; to find out what refresh costs */
    DRAM_REFRESH_ALL,  /* all banks of a rank at once, each tREFI */
    DRAM_REFRESH_BANK, /* one bank in turn, each tREFI divided by the banks of a rank */
};

enum {
    DRAM_BANKS = 64, /* most banks of a channel, ranks * groups * banks: sets of them are a word of 64 bits */
    DRAM_GROUPS = 64, /* most bank groups of a channel: ranks * groups */
    DRAM_RANKS = 8,
    DRAM_CHANNELS =
        65536, /* most that a description may ask for; nothing is allocated for more than it has */
    DRAM_QUEUE = 1024,
};

extern const char *const dram_standard_names[], *const dram_page_names[],
                                                    *const dram_refresh_names[]; /* by value, then NULL */

struct dram_rows;

struct dram_config {
#include "emu/sim/fields_struct.h"

#include "emu/dram/dram.def"
    const struct dram_rows *custom; /* a standard that is not listed in standard.def, or NULL */
};

extern const struct part_kind dram_kind; /* dram_kind.c */

/* What fields must fulfil together: the kind's check. */
bool dram_config_check(const void *config, struct error *err);

/* The parameters in clocks of tCK, rounded as param.def says; with bank_groups false, L is S. */
struct dram_clocks {
#define DRAM_PARAM(name, rounding, meaning) uint32_t name;
#include "emu/dram/param.def"
#undef DRAM_PARAM
};

/* Sets every field to the default of the standard. */
void dram_config_default(struct dram_config *config, enum dram_standard standard);

struct dram_clocks dram_config_clocks(const struct dram_config *config);

/* Banks of a rank and of a channel, bytes of a channel and of all. */
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

/* Clocks between the refresh commands of a rank (or of a bank, in turn); 0 when there are none. */
uint32_t dram_config_refresh_clocks(const struct dram_config *config);

/* "gddr5" ..., its meaning, and back: DRAM_STANDARDS when there is none of that name. */
const char *dram_standard_name(enum dram_standard standard);
const char *dram_standard_meaning(enum dram_standard standard);
enum dram_standard dram_standard_find(const char *name);

#endif
