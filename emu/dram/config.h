/* The description of a memory: standard, organisation, timings, energies and the controllers' policies. */
#ifndef EMU_DRAM_CONFIG_H
#define EMU_DRAM_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/sim/error.h"

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
    DRAM_BANKS = 64,  /* most banks of a channel: ranks * groups * banks */
    DRAM_GROUPS = 64, /* most bank groups of a channel: ranks * groups */
    DRAM_RANKS = 8,
    DRAM_CHANNELS = 256,
    DRAM_QUEUE = 1024,
    DRAM_MAP_TEXT = 96,
};

/* Times in femtoseconds, energies in femtojoules, powers in microwatts. The defaults of each standard and
 * their sources are in standards/NAME.def. */
struct dram_config {
    enum dram_standard standard;
    uint64_t tCK; /* period of the command clock */

    /* Organisation. Powers of two, except channels and devices. */
    uint32_t channels;
    uint32_t ranks;       /* of a channel */
    uint32_t groups;      /* bank groups of a rank */
    uint32_t banks;       /* of a bank group */
    uint32_t rows;        /* of a bank */
    uint32_t row_bytes;   /* of a bank, over all devices of the rank */
    uint32_t burst_bytes; /* that one column command moves */
    uint32_t devices;     /* that act as one rank; multiplies the energies that are given for one device */
    bool bank_groups;     /* false: the device runs with bank groups off, and every ...L time equals ...S */
    bool dual_command;    /* row and column commands have a bus each */
    uint32_t act_clocks;  /* clocks that an activate holds the row command bus */

#define DRAM_PARAM(name, rounding, meaning) uint64_t name;
#include "emu/dram/param.def"
#undef DRAM_PARAM

    /* Address mapping; see map.h. */
    char map[DRAM_MAP_TEXT];
    bool channel_hash; /* XOR row bits into the channel number (a power of two of channels) */
    bool bank_hash;    /* XOR row bits into the numbers of bank and bank group */

    /* Controllers, one for each channel. */
    uint32_t read_queue, write_queue; /* entries of one burst each */
    uint32_t write_high;              /* queued writes at which draining begins though reads wait */
    uint32_t write_low;               /* queued writes at which it ends when reads wait */
    uint32_t hit_cap;                 /* row hits that may overtake an older access to the same bank */
    enum dram_page page;
    uint64_t row_timeout; /* for DRAM_PAGE_TIMEOUT */
    enum dram_refresh refresh;
    uint64_t front_latency; /* of the controller, before a request meets the queues */
    uint64_t back_latency;  /* of the controller, after the last data */

    /* Energies of one device (activate with its precharge; refreshes), of one bit, and powers of one device.
     */
    uint64_t energy_act, energy_ref, energy_refb;
    uint64_t energy_read_bit, energy_write_bit, energy_io_bit;
    uint64_t power_open, power_closed; /* standby with at least one bank of the rank open, and with none */
};

/* The parameters in clocks of tCK, rounded as param.def says; with bank_groups false, L is S. */
struct dram_clocks {
#define DRAM_PARAM(name, rounding, meaning) uint32_t name;
#include "emu/dram/param.def"
#undef DRAM_PARAM
};

/* Sets every field to the default of the standard. */
void dram_config_default(struct dram_config *config, enum dram_standard standard);

/* Fails when a field is out of its range or contradicts another; the message begins with the field's name.
 * Every function that takes a dram_config wants one that has passed. */
bool dram_config_check(const struct dram_config *config, struct error *err);

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
