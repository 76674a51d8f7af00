/* A channel: its banks, its queues and the controller that chooses commands (FR-FCFS). */
#ifndef EMU_DRAM_CHANNEL_H
#define EMU_DRAM_CHANNEL_H

#include "emu/dram/queue.h"
#include "emu/dram/timing.h"
#include "emu/sim/observer.h"

/* What a channel has done; registered as statistics by the memory. */
#define DRAM_COUNTERS(row)                                                                                   \
    row(activates, "commands", "Activate commands")                                                          \
        row(precharges, "commands", "Precharge commands, of one bank or all; auto-precharges not counted")   \
            row(reads, "bursts", "Bursts read from the devices")                                             \
                row(writes, "bursts", "Bursts written to the devices")                                       \
                    row(row_hits, "bursts", "Bursts whose row was open already")                             \
                        row(refreshes, "commands", "Refreshes of all banks of a rank")                       \
                            row(bank_refreshes, "commands", "Refreshes of one bank")                         \
                                row(forwarded, "bursts", "Reads answered from the write queue")              \
                                    row(merged, "bursts", "Writes united with a queued one")                 \
                                        row(drains, "times", "Changes from reading to writing")              \
                                            row(open_clocks, "clocks",                                       \
                                                "Clocks in which a rank had a bank open, summed over ranks")

struct dram_counters {
#define DRAM_COUNTER(name, unit, meaning) uint64_t name;
    DRAM_COUNTERS(DRAM_COUNTER)
#undef DRAM_COUNTER
};

/* A command as it went over the bus. */
struct dram_record {
    uint64_t cycle; /* of tCK */
    enum dram_command command;
    uint32_t channel, rank, group, bank; /* group of the rank, bank of the group; 0 where they mean nothing */
    uint32_t row, column; /* row of an activate; row and column (in bursts) of column commands */
};

/* Sees every command; those of one channel in order of time. */
struct dram_observer {
    struct observer link;
    void (*command)(void *context, const struct dram_record *record);
    void *context;
};

/* What the channels of a memory have in common. */
struct dram_common {
    struct dram_config config;
    struct dram_clocks clocks;
    struct dram_rules rules;
    uint32_t refresh_clocks;
    struct observer_list observers; /* struct dram_observer */
    /* The last data of a read will have come at cycle; called in the order of the commands. */
    void (*read_done)(void *context, struct mem_request *request, uint64_t cycle);
    void *context;
};

/* The next command, as far as is known. Of those that may come first, one for a refresh is preferred, then a
 * column command, then the oldest burst's. */
struct dram_choice {
    uint64_t cycle; /* CLOCK_NEVER: none */
    uint64_t merit; /* less is better */
    uint32_t command, bank;
};

struct dram_bank {
    struct dram_burst *burst; /* the one that is served next in the present direction, or NULL */
    uint32_t row;             /* the open one */
    uint32_t streak;          /* row hits since an older burst for another row waits */
    uint64_t used;            /* cycle of the last column command or activate */
};

/* What decides when busy banks' next commands may come and which is preferred, packed for a quick scan. */
struct dram_candidates {
    uint64_t ready[DRAM_BANKS];  /* cycle, as far as bank and bank group are concerned */
    uint64_t merit[DRAM_BANKS];  /* less is better; see choose.c */
    uint8_t gate[DRAM_BANKS];    /* which of the times of bus and rank concerns it; likewise */
    uint8_t command[DRAM_BANKS]; /* what the bank's burst needs next */
};

/* A channel is run lazily: nobody sees what it does before its first data, so it need only be brought up to
 * date when a burst arrives, before that data is due, or when somebody waits for room. It does then exactly
 * what it would have done at the time; `floor` says how far it is. */
struct dram_channel {
    const struct dram_common *common;
    uint64_t floor; /* first cycle that has not been dealt with */
    struct dram_choice best;
    uint64_t refresh_due; /* cycle at which the next refresh begins to wait */
    uint64_t busy;        /* banks with a burst in the present direction */
    uint64_t open;        /* banks with an open row */
    uint64_t frozen;      /* banks that wait for their refresh */
    enum dram_direction direction;
    uint32_t turn;               /* column commands since the direction changed */
    bool pressed;                /* a writer waits for room */
    bool freed[DRAM_DIRECTIONS]; /* places that have become free since the flag was cleared */
    uint32_t index;
    struct dram_candidates candidates;
    struct dram_bank banks[DRAM_BANKS];
    struct dram_queue queue;
    struct dram_timing timing;
    uint64_t
        refresh_next[DRAM_RANKS]; /* cycle at which the next refresh is due; while it is late, when it was */
    uint32_t refresh_bank[DRAM_RANKS]; /* in turn */
    uint64_t refreshing;               /* ranks that wait for a refresh command */
    uint64_t open_since[DRAM_RANKS];
    struct dram_counters counters;
};

/* The channel at cycle 0, closed; common must outlive it. */
void dram_channel_init(struct dram_channel *channel, const struct dram_common *common, uint32_t index);
void dram_channel_free(struct dram_channel *channel);

/* Issues all commands of cycles before limit. */
void dram_channel_run(struct dram_channel *channel, uint64_t limit);

/* Lets counters that grow with time, open_clocks, include the time up to floor. */
void dram_channel_settle(struct dram_channel *channel);

/* Queues a burst at the present floor; there must be room, and the burst is copied. */
void dram_channel_add(struct dram_channel *channel, enum dram_direction direction,
                      const struct dram_burst *burst);

/* Somebody waits, or nobody does any more, to queue writes. */
void dram_channel_press(struct dram_channel *channel, bool pressed);

/* choose.c: the candidate of a bank; those of its group after a command that delays the group; all of them
 * when ages begin again; the best; the direction. */
void dram_choose_bank(struct dram_channel *channel, uint32_t bank);
void dram_choose_group(struct dram_channel *channel, uint32_t bank);
void dram_choose_rebase(struct dram_channel *channel);
void dram_choose(struct dram_channel *channel);
void dram_choose_arrival(struct dram_channel *channel, const struct dram_burst *burst);
void dram_choose_direction(struct dram_channel *channel);

/* refresh.c: set up; let a due refresh begin; its next command, if better than `best`; after it; and jump
 * over refreshes of an idle channel up to limit. */
void dram_refresh_init(struct dram_channel *channel);
void dram_refresh_begin(struct dram_channel *channel, uint64_t cycle);
void dram_refresh_offer(const struct dram_channel *channel, struct dram_choice *best);
void dram_refresh_done(struct dram_channel *channel, enum dram_command command, uint32_t bank);
void dram_refresh_skip(struct dram_channel *channel, uint64_t limit);

#endif
