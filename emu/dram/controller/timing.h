/* The timing state of a channel: the earliest cycle of each command, computed from a standard's rules. */
#ifndef EMU_DRAM_CONTROLLER_TIMING_H
#define EMU_DRAM_CONTROLLER_TIMING_H

#include "emu/dram/standard.h"
#include "emu/sim/inline.h"

/* The rules, compiled: the later commands that a command delays, and for how long. All channels of a memory
 * share them. */
struct dram_effect {
    uint16_t target; /* enum dram_target */
    uint16_t place;  /* index of the later command's time, from that of command 0 in the target's row */
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

/* More than any delay in clocks; the key of the requests has 23 bits for delays. */
enum { DRAM_DELAY = 1 << 23 };

/* Each target has one time per command, arranged in planes: the time of command c is at place
 * c % DRAM_PLACES of the rows of plane c / DRAM_PLACES. A row is a cache line of the host. Plane 0 has all
 * commands that queued requests need. */
enum { DRAM_PLACES = 8, DRAM_PLANES = DRAM_COMMANDS / DRAM_PLACES, DRAM_LINE = 64 };
_Static_assert((int)DRAM_COMMANDS % (int)DRAM_PLACES == 0, "every command has a place");
_Static_assert((DRAM_ACT | DRAM_PRE | DRAM_RD | DRAM_WR) < (int)DRAM_PLACES, "requests need plane 0 only");

struct dram_rules {
    struct dram_effect effects[DRAM_COMMANDS][DRAM_EFFECTS];
    uint8_t near_ends[DRAM_COMMANDS];  /* end of the effects on its own bank and group, which come first */
    uint8_t ends[DRAM_COMMANDS];       /* end of the effects on its own bank, group and rank */
    uint8_t other_ends[DRAM_COMMANDS]; /* end of the effects on other ranks, which follow */
    struct dram_window windows[DRAM_WINDOWS];
    uint32_t window_count;
    uint8_t bus[DRAM_COMMANDS];        /* its command bus: enum dram_bus, or 0 if there is only one */
    uint8_t bus_clocks[DRAM_COMMANDS]; /* clocks for which it occupies the bus */
    /* the command whose times of banks also delay it (take_bank_times()), or itself */
    uint8_t bank_as[DRAM_COMMANDS];
    uint8_t timed_as[DRAM_COMMANDS]; /* this and the next two: columns of struct dram_command_row */
    uint8_t extent[DRAM_COMMANDS];
    uint8_t change[DRAM_COMMANDS];
    uint16_t counter[DRAM_COMMANDS]; /* offset in struct dram_counters */
    const struct dram_command_row *commands;
    uint32_t ranks, groups, banks; /* ranks of the channel, groups of a rank, banks of a group */
    uint8_t group_of[DRAM_BANKS];  /* by bank: its group's number in the channel */
    uint8_t rank_of[DRAM_BANKS];
    uint64_t rank_banks[DRAM_RANKS]; /* by rank: set of its banks */
    uint32_t wide;                   /* groups that a command for a bank of each group reaches */
    uint64_t firsts;              /* set of the first banks of the first so many groups of the first rank */
    uint32_t grouped;             /* set of the commands that delay others of their bank group */
    uint8_t shift[DRAM_COMMANDS]; /* clocks from a command's first to the one that its times count from */
    uint32_t wide_open;           /* the command that opens a bank of each group, or 0 */
    uint32_t act4;                /* clocks from its first activate to its last */
};

/* Cycles from which each command may come. A command for a bank may come from the latest of the cycles of its
 * bank, group, rank and bus on. For a command for a group, those of its group, rank and bus count; for a rank,
 * those of its rank and bus; for the channel, those of all ranks and of the bus. */
struct dram_timing {
    _Alignas(DRAM_LINE) uint64_t bank[DRAM_PLANES][DRAM_BANKS][DRAM_PLACES];
    uint64_t group[DRAM_PLANES][DRAM_GROUPS][DRAM_PLACES];
    uint64_t rank[DRAM_PLANES][DRAM_RANKS][DRAM_PLACES];
    const struct dram_rules *rules;
    uint64_t bus[DRAM_BUSES];
    struct dram_past {
        uint32_t next;
        uint64_t ends[DRAM_WINDOW_COUNT]; /* ends of the windows of the last activates, or 0; a ring */
    } past[DRAM_RANKS][DRAM_WINDOWS];
};

/* Compile the rules of the configuration's standard, or those of a given table. */
void dram_rules_init(struct dram_rules *rules, const struct dram_config *config);
void dram_rules_compile(struct dram_rules *rules, const struct dram_config *config,
                        const struct dram_table *table);

/* Sets the state before any command. The rules must outlive it. */
void dram_timing_init(struct dram_timing *timing, const struct dram_rules *rules);

/* Returns the first cycle at which all banks of a rank have reached their times of a command. */
uint64_t dram_timing_rank_banks(const struct dram_timing *timing, enum dram_command command, uint32_t rank);

/* Returns the first cycle at which the banks of dram_rules_alike(), and their groups, have reached their times of a command. */
uint64_t dram_timing_alike(const struct dram_timing *timing, enum dram_command command, uint32_t bank);

/* Returns the first cycle at which timing allows the command. For a command that affects several banks,
 * `bank` is any of them. */
static inline uint64_t dram_timing_ready(const struct dram_timing *timing, enum dram_command command,
                                         uint32_t bank)
{
    const struct dram_rules *rules = timing->rules;
    const enum dram_extent extent = rules->extent[command];
    const uint32_t kind = rules->timed_as[command], plane = kind / DRAM_PLACES, place = kind % DRAM_PLACES;
    uint64_t ready = timing->bus[rules->bus[command]],
             time = timing->rank[plane][rules->rank_of[bank]][place];
    ready = ready > time ? ready : time;
    for (uint32_t rank = 0; extent == DRAM_EXTENT_CHANNEL && rank < rules->ranks; rank++) {
        time = timing->rank[plane][rank][place];
        ready = ready > time ? ready : time;
    }
    if (extent <= DRAM_EXTENT_GROUP) {
        time = timing->group[plane][rules->group_of[bank]][place];
        ready = ready > time ? ready : time;
    }
    if (extent <= DRAM_EXTENT_ALIKE) {
        time = timing->bank[plane][bank][place];
        ready = ready > time ? ready : time;
    }
    if (extent == DRAM_EXTENT_ALIKE) {
        time = dram_timing_alike(timing, command, bank);
        ready = ready > time ? ready : time;
    }
    const enum dram_command as = (enum dram_command)rules->bank_as[kind];
    if (as != (enum dram_command)kind) {
        time = extent == DRAM_EXTENT_BANK ? timing->bank[0][bank][as]
                                          : dram_timing_rank_banks(timing, as, rules->rank_of[bank]);
        ready = ready > time ? ready : time;
    }
    return ready;
}

/* Returns the set of the banks of a bank's group. */
static inline uint64_t dram_rules_group(const struct dram_rules *rules, uint32_t bank)
{
    return UINT64_MAX >> (64 - rules->banks) << (bank & ~(rules->banks - 1));
}

/* Returns the set of the banks that have this bank's number within their group, in the groups that a wide command reaches with
 * it. */
static inline uint64_t dram_rules_alike(const struct dram_rules *rules, uint32_t bank)
{
    const uint32_t reached = rules->banks * rules->wide; /* a power of two, because all factors are */
    return rules->firsts << (bank % rules->banks + (bank & ~(reached - 1)));
}

/* Returns the set of the banks that a command affects; `bank` is any of them. */
static inline uint64_t dram_timing_banks(const struct dram_rules *rules, enum dram_command command,
                                         uint32_t bank)
{
    const uint32_t ranked = rules->banks * rules->groups; /* a power of two, because all factors are */
    switch ((enum dram_extent)rules->extent[command]) {
    case DRAM_EXTENT_BANK: return UINT64_C(1) << bank;
    case DRAM_EXTENT_ALIKE: return dram_rules_alike(rules, bank);
    case DRAM_EXTENT_GROUP: return dram_rules_group(rules, bank);
    case DRAM_EXTENT_RANK: return UINT64_MAX >> (64 - ranked) << (bank & ~(ranked - 1));
    default: return UINT64_MAX >> (64 - ranked * rules->ranks);
    }
}

/* Parts of dram_timing_issue(): delay commands of the other ranks; begin the windows of an activate in its
 * rank. */
void dram_timing_delay_others(struct dram_timing *timing, enum dram_command command, uint32_t rank,
                              uint64_t cycle);
void dram_timing_pass_windows(struct dram_timing *timing, uint32_t rank, uint64_t cycle);

/* After dram_timing_issue() of a command for a bank of each group: records it for the other groups. */
void dram_timing_spread(struct dram_timing *timing, enum dram_command command, uint32_t bank, uint64_t cycle);

/* Records that the command comes at `cycle`. Does not check whether it may. For a command for a bank of each
 * group, records only the part of the given bank; dram_timing_spread() records the rest. Inline because most
 * callers know the command. */
static FORCE_INLINE void dram_timing_issue(struct dram_timing *timing, enum dram_command command,
                                           uint32_t bank, uint64_t cycle)
{
    const struct dram_rules *rules = timing->rules;
    uint64_t *const rows[] = {timing->bank[0][bank], timing->group[0][rules->group_of[bank]],
                              timing->rank[0][rules->rank_of[bank]]};
    const struct dram_effect *effect = rules->effects[command], *end = effect + rules->ends[command];

    timing->bus[rules->bus[command]] = cycle + rules->bus_clocks[command];
    for (; effect < end; effect++) {
        uint64_t at = cycle + effect->clocks, *slot = &rows[effect->target][effect->place];
        *slot = *slot > at ? *slot : at;
    }
    if (rules->ranks > 1)
        dram_timing_delay_others(timing, command, rules->rank_of[bank], cycle);
    if (rules->change[command] == DRAM_CHANGE_OPENS)
        dram_timing_pass_windows(timing, rules->rank_of[bank], cycle);
}

#endif
