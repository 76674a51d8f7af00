/* The timing state of one channel: when each command may come next, kept by walking a standard's rows. */
#ifndef EMU_DRAM_TIMING_H
#define EMU_DRAM_TIMING_H

#include "emu/dram/standard.h"
#include "emu/sim/inline.h"

/* The rows, compiled: for each earlier command, what it forbids for how long. Shared by the channels of a
 * memory. */
struct dram_effect {
    uint16_t target; /* enum dram_target */
    uint16_t place;  /* of the later command's time, counted from that of command 0 in the target's row */
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

/* Above all delays in clocks: the choice among requests has 24 bits for them. */
enum { DRAM_DELAY = 1 << 24 };

/* Times are kept for each command, in planes: those of command c are at place c % DRAM_PLACES of the rows of
 * plane c / DRAM_PLACES. A row is a cache line of the host; plane 0 has all commands that queued requests
 * need. */
enum { DRAM_PLACES = 8, DRAM_PLANES = DRAM_COMMANDS / DRAM_PLACES, DRAM_LINE = 64 };
_Static_assert((int)DRAM_COMMANDS % (int)DRAM_PLACES == 0, "every command has a place");
_Static_assert((DRAM_ACT | DRAM_PRE | DRAM_RD | DRAM_WR) < (int)DRAM_PLACES, "requests need plane 0 only");

struct dram_rules {
    struct dram_effect effects[DRAM_COMMANDS][DRAM_EFFECTS];
    uint8_t ends[DRAM_COMMANDS];       /* end of the effects here: on the bank, its group and its rank */
    uint8_t other_ends[DRAM_COMMANDS]; /* end of those on other ranks, which follow */
    struct dram_window windows[DRAM_WINDOWS];
    uint32_t window_count;
    uint8_t bus[DRAM_COMMANDS];        /* which command bus: enum dram_bus, or the only one */
    uint8_t bus_clocks[DRAM_COMMANDS]; /* for how long */
    uint8_t timed_as[DRAM_COMMANDS];   /* the columns of struct dram_command_row of that name */
    uint8_t extent[DRAM_COMMANDS];
    uint8_t change[DRAM_COMMANDS];
    uint16_t counter[DRAM_COMMANDS]; /* offset in struct dram_counters */
    const struct dram_command_row *commands;
    uint32_t ranks, groups, banks; /* of the channel, of a rank, of a group */
    uint8_t group_of[DRAM_BANKS];  /* of the channel */
    uint8_t rank_of[DRAM_BANKS];
    uint64_t rank_banks[DRAM_RANKS]; /* set of the banks of a rank */
    uint32_t grouped;                /* set of commands that delay others of their bank group */
};

/* Cycle numbers; a command may come at the greatest of the values for its bank, its group, its rank and its
 * bus; one for the group at that of group, rank and bus; one for the rank at that of rank and bus, and one for
 * the channel at that of all ranks and bus. */
struct dram_timing {
    _Alignas(DRAM_LINE) uint64_t bank[DRAM_PLANES][DRAM_BANKS][DRAM_PLACES];
    uint64_t group[DRAM_PLANES][DRAM_GROUPS][DRAM_PLACES];
    uint64_t rank[DRAM_PLANES][DRAM_RANKS][DRAM_PLACES];
    const struct dram_rules *rules;
    uint64_t bus[DRAM_BUSES];
    struct dram_past {
        uint32_t next;
        uint64_t ends[DRAM_WINDOW_COUNT]; /* when the windows of the last activates end, or 0; a ring */
    } past[DRAM_RANKS][DRAM_WINDOWS];
};

/* Compiles the rows of the configuration's standard, or those of a table that is given instead. */
void dram_rules_init(struct dram_rules *rules, const struct dram_config *config);
void dram_rules_compile(struct dram_rules *rules, const struct dram_config *config,
                        const struct dram_table *table);

/* Nothing has happened yet. The rules must outlive the state. */
void dram_timing_init(struct dram_timing *timing, const struct dram_rules *rules);

/* The first cycle at which the command may come, as far as times are concerned. For a command that concerns
 * several banks any one of them may be named. */
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
    if (extent == DRAM_EXTENT_BANK) {
        time = timing->bank[plane][bank][place];
        ready = ready > time ? ready : time;
    }
    return ready;
}

/* The set of the banks of a bank's group. */
static inline uint64_t dram_rules_group(const struct dram_rules *rules, uint32_t bank)
{
    return UINT64_MAX >> (64 - rules->banks) << (bank & ~(rules->banks - 1));
}

/* The set of the banks that a command at bank concerns. */
static inline uint64_t dram_timing_banks(const struct dram_rules *rules, enum dram_command command,
                                         uint32_t bank)
{
    const uint32_t ranked = rules->banks * rules->groups; /* a power of two, as all of them */
    switch ((enum dram_extent)rules->extent[command]) {
    case DRAM_EXTENT_BANK: return UINT64_C(1) << bank;
    case DRAM_EXTENT_GROUP: return dram_rules_group(rules, bank);
    case DRAM_EXTENT_RANK: return UINT64_MAX >> (64 - ranked) << (bank & ~(ranked - 1));
    default: return UINT64_MAX >> (64 - ranked * rules->ranks);
    }
}

/* Parts of dram_timing_issue(): delays commands of other ranks than that of the command's bank; begins the
 * windows of an activate in its rank. */
void dram_timing_delay_others(struct dram_timing *timing, enum dram_command command, uint32_t rank,
                              uint64_t cycle);
void dram_timing_pass_windows(struct dram_timing *timing, uint32_t rank, uint64_t cycle);

/* The command comes at cycle, which is not checked. Part of its callers because most of them know the
 * command. */
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
