/* The timing state of one channel: when each command may come next, kept by walking a standard's rows. */
#ifndef EMU_DRAM_TIMING_H
#define EMU_DRAM_TIMING_H

#include "emu/dram/standard.h"

/* The rows, compiled: for each earlier command, what it forbids for how long. Shared by the channels of a
 * memory. */
struct dram_effect {
    uint8_t target; /* enum dram_target */
    uint8_t later;
    uint32_t clocks;
};

enum dram_target {
    DRAM_TARGET_BANK,  /* bank[] of the command's bank */
    DRAM_TARGET_GROUP, /* group[] of its bank group */
    DRAM_TARGET_RANK,  /* rank[] of its rank */
    DRAM_TARGET_OTHER, /* rank[] of the other ranks */
    DRAM_TARGETS
};

enum { DRAM_EFFECTS = 64, DRAM_WINDOW_COUNT = 32 };

/* Commands for which times are kept: all in front of RDA. A row of them is a cache line of the host. */
enum { DRAM_KINDS = 8, DRAM_LINE = 64 };

struct dram_rules {
    struct dram_effect effects[DRAM_COMMANDS][DRAM_EFFECTS];
    uint8_t ends[DRAM_COMMANDS];       /* end of the effects here: on the bank, its group and its rank */
    uint8_t other_ends[DRAM_COMMANDS]; /* end of those on other ranks, which follow */
    struct dram_window windows[DRAM_WINDOWS];
    uint32_t window_count;
    uint8_t bus[DRAM_COMMANDS];        /* which command bus */
    uint8_t bus_clocks[DRAM_COMMANDS]; /* for how long */
    uint32_t ranks, groups, banks;     /* of the channel, of a rank, of a group */
    uint8_t group_of[DRAM_BANKS];      /* of the channel */
    uint8_t rank_of[DRAM_BANKS];
    uint32_t grouped; /* set of commands that delay others of their bank group */
};

/* Cycle numbers; a command may come at the greatest of the values for its bank, its group, its rank and its
 * bus; one for the rank at that of rank and bus. */
struct dram_timing {
    _Alignas(DRAM_LINE) uint64_t bank[DRAM_BANKS][DRAM_KINDS];
    uint64_t group[DRAM_GROUPS][DRAM_KINDS];
    uint64_t rank[DRAM_RANKS][DRAM_KINDS];
    const struct dram_rules *rules;
    uint64_t bus[2];
    struct dram_past {
        uint32_t next;
        uint32_t filled;
        uint64_t cycles[DRAM_WINDOW_COUNT]; /* when the last activates came; a ring */
    } past[DRAM_RANKS][DRAM_WINDOWS];
};

void dram_rules_init(struct dram_rules *rules, const struct dram_config *config);

/* Nothing has happened yet. The rules must outlive the state. */
void dram_timing_init(struct dram_timing *timing, const struct dram_rules *rules);

/* A command with auto-precharge may come when the plain one may, so times are kept for the latter only. */
static inline enum dram_command dram_timing_kind(enum dram_command command)
{
    return command == DRAM_RDA ? DRAM_RD : command == DRAM_WRA ? DRAM_WR : command;
}

/* The first cycle at which the command may come, as far as times are concerned. For rank commands any bank of
 * the rank may be named. */
static inline uint64_t dram_timing_ready(const struct dram_timing *timing, enum dram_command command,
                                         uint32_t bank)
{
    const struct dram_rules *rules = timing->rules;
    command = dram_timing_kind(command);
    uint64_t bus = timing->bus[rules->bus[command]], rank = timing->rank[rules->rank_of[bank]][command];
    rank = rank > bus ? rank : bus;
    if (dram_command_is_rank(command))
        return rank;
    uint64_t here = timing->bank[bank][command], group = timing->group[rules->group_of[bank]][command];
    here = here > group ? here : group;
    return here > rank ? here : rank;
}

/* The command comes at cycle, which is not checked. */
void dram_timing_issue(struct dram_timing *timing, enum dram_command command, uint32_t bank, uint64_t cycle);

#endif
