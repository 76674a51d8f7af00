/* A channel: its banks, its agents, and the arbiter that grants them command slots.
 *
 * Its files, each of which calls only those after it: channel.c (runs the channel, grants slots), refresh.c (the refresh's
 * agent), agent.c (agents and the banks that they hold), scheduler.c (the requests' agent: which queued burst is next),
 * queue.c, timing.c (when a command may come), record.c (tells observers). tests/dram/test_traffic.c and test_latency.c
 * test the scheduler, test_agent.c the agents, test_rules.c the timing. */
#ifndef EMU_DRAM_CONTROLLER_CHANNEL_H
#define EMU_DRAM_CONTROLLER_CHANNEL_H

#include "emu/dram/controller/agent.h"
#include "emu/dram/controller/queue.h"
#include "emu/dram/controller/record.h"
#include "emu/dram/controller/timing.h"

/* The data shared by the channels of a memory. */
struct dram_common {
    struct dram_config config;
    struct dram_clocks clocks;
    struct dram_rules rules;
    uint32_t refresh_clocks, read_clocks; /* read_clocks: from a read command to the end of its data */
    struct observer_list observers;       /* struct dram_observer */
    /* Called for each read command, in the order of commands. `cycle` is the end of the burst's data. */
    void (*read_done)(void *context, struct mem_request *request, uint64_t cycle);
    void *context;
};

struct dram_bank {
    struct dram_burst *burst; /* next burst to serve, or NULL */
    struct dram_burst *owed;  /* waiting burst for which the open row was activated, or NULL */
    uint32_t row;             /* the open row */
    uint32_t streak;          /* row hits while an older burst for another row waits */
    uint64_t used;            /* cycle of the last column command or activate */
    uint8_t group, rank;      /* of the channel */
    uint8_t owed_way;         /* direction of owed */
};

/* The data for choosing the next command of the busy banks, packed for a fast scan. */
struct dram_candidates {
    _Alignas(DRAM_LINE) uint64_t ready[DRAM_BANKS]; /* earliest cycle that bank and bank group allow */
    uint64_t merit[DRAM_BANKS];                     /* dram_merit(), with the bank in it; smaller is better */
    struct dram_next {
        uint8_t gate;    /* index of the time of its bus and rank; see scheduler.c */
        uint8_t command; /* next command that the bank's burst needs */
    } next[DRAM_BANKS];
};

/* A channel runs lazily. Its actions have no visible effect before its first data, so it is brought up to
 * date only when a burst arrives, before that data is due, or when a client waits for room. It then issues
 * the same commands in the same cycles as if it had run all the time, up to `floor`. */
struct dram_channel {
    const struct dram_common *common;
    uint64_t floor; /* first cycle that is not processed */
    uint64_t limit; /* of the last dram_channel_advance() */
    struct dram_choice best;
    uint64_t wake; /* earliest `wake` of the agents */
    uint64_t stir; /* earliest `wake`, and least `notice`, of all agents but the refresh */
    uint64_t notice;
    uint32_t wanting; /* set of agents, by index, that want a command, without the requests */
    uint64_t open;    /* set of banks with an open row */

    /* Data of the requests' agent (scheduler.c). */
    uint64_t busy;   /* set of banks with a burst in the current direction, or an owed one */
    uint64_t frozen; /* set of banks that an agent holds: requests do not use them */
    uint64_t taken;  /* set of banks that an agent other than the refresh holds */
    uint64_t all;    /* set of all banks */
    bool stale;      /* while all were taken, commands came that candidates do not reflect */
    enum dram_direction direction;
    uint32_t turn;               /* column commands since the direction changed */
    bool pressed;                /* a client waits for room in the write queue */
    bool freed[DRAM_DIRECTIONS]; /* queue entries have become free since the flag was cleared */
    uint32_t index;
    struct dram_queue queue;
    struct dram_candidates candidates;
    struct dram_bank banks[DRAM_BANKS];
    struct dram_timing timing;
    struct dram_counters counters;

    /* Data of the refresh agent (refresh.c). */
    uint64_t refresh_next[DRAM_RANKS]; /* cycle at which the next or pending refresh is due */
    uint32_t refresh_bank[DRAM_RANKS]; /* next bank to refresh */
    uint64_t refreshing;               /* set of ranks with a pending refresh */

    uint64_t open_since[DRAM_RANKS];

    struct dram_agent *agents[DRAM_AGENTS]; /* in order of precedence */
    uint32_t agent_count;
    struct dram_agent refresh, requests;
};

/* Initializes a channel at cycle 0 with closed banks. common must outlive it. Release it with
 * dram_channel_free(). */
void dram_channel_init(struct dram_channel *channel, const struct dram_common *common, uint32_t index);
void dram_channel_free(struct dram_channel *channel);

/* The part of dram_channel_run() for commands or wakes of cycles before `limit`. */
void dram_channel_advance(struct dram_channel *channel, uint64_t limit);

/* Issues all commands of the cycles before `limit`. */
static inline void dram_channel_run(struct dram_channel *channel, uint64_t limit)
{
    if (channel->best.cycle < limit || channel->wake < limit)
        dram_channel_advance(channel, limit);
    if (channel->floor < limit)
        channel->floor = limit;
}

/* Brings counters that grow with time (open_clocks) up to floor. */
void dram_channel_settle(struct dram_channel *channel);

/* Queues the burst of dram_queue_spare() at the current floor. There must be room. */
void dram_channel_add(struct dram_channel *channel, enum dram_direction direction);

/* Sets whether a client waits for room in the write queue. */
void dram_channel_press(struct dram_channel *channel, bool pressed);

/* The requests' agent, which is the scheduler of the queued bursts (scheduler.c). It has no ops: the channel calls it by name.
 * Sets `best` to the next command of the requests. */
void dram_requests_propose(struct dram_channel *channel);
/* Grants slots to the requests while theirs is the best command and comes before `limit` and the next wake. */
void dram_requests_serve(struct dram_channel *channel, uint64_t limit);
/* Updates the candidate of a bank. */
void dram_requests_bank(struct dram_channel *channel, uint32_t bank);
/* Updates the candidates of a bank's group after a command that delays the group. */
void dram_requests_group(struct dram_channel *channel, uint32_t bank);
/* Considers a burst that was just queued. */
void dram_requests_arrival(struct dram_channel *channel, const struct dram_burst *burst);
/* The slow parts of dram_requests_turn() and dram_requests_age(). */
bool dram_requests_redirect(struct dram_channel *channel);
void dram_requests_rebase(struct dram_channel *channel);

/* Chooses the direction and returns whether it has changed; then the channel must choose again. The direction stays as
 * long as nothing is queued in the other. */
static inline bool dram_requests_turn(struct dram_channel *channel)
{
    return channel->queue.count[channel->direction == DRAM_READS ? DRAM_WRITES : DRAM_READS] > 0 &&
           dram_requests_redirect(channel);
}

/* Returns the next age. All ages are reduced when they reach 2^32. */
static inline uint64_t dram_requests_age(struct dram_channel *channel)
{
    if (channel->queue.age == UINT32_MAX)
        dram_requests_rebase(channel);
    return channel->queue.age++;
}

/* refresh.c: initializes the refresh agent. */
void dram_refresh_init(struct dram_channel *channel);

/* Asks the agents that want a command, except the requests, for their next commands. */
static inline void dram_channel_ask(struct dram_channel *channel)
{
    for (uint32_t left = channel->wanting; left; left &= left - 1) {
        const struct dram_agent *agent = channel->agents[__builtin_ctz(left)];
        agent->ops->propose(agent->owner, &channel->best);
    }
}

/* Sets `best`. Asks the requests first and without their ops, because they nearly always want a command. */
static inline void dram_channel_choose(struct dram_channel *channel)
{
    dram_requests_propose(channel);
    if (channel->wanting)
        dram_channel_ask(channel);
}

/* Parts of dram_channel_issue(): open a bank; close banks of a rank. */
static inline void dram_channel_open(struct dram_channel *channel, uint32_t index, uint32_t row)
{
    struct dram_bank *bank = &channel->banks[index];
    if (!(channel->open & channel->common->rules.rank_banks[bank->rank]))
        channel->open_since[bank->rank] = channel->floor;
    channel->open |= UINT64_C(1) << index;
    bank->row = row;
    bank->streak = 0;
    bank->used = channel->floor;
}

static inline void dram_channel_close(struct dram_channel *channel, uint32_t rank, uint64_t banks)
{
    const uint64_t mask = channel->common->rules.rank_banks[rank];
    if (!(channel->open & mask))
        return;
    channel->open &= ~(banks & mask);
    if (!(channel->open & mask))
        channel->counters.open_clocks += channel->floor - channel->open_since[rank];
}

/* The part of dram_channel_issue() that is common to all commands. The command comes at floor. */
static FORCE_INLINE void dram_channel_send(struct dram_channel *channel, enum dram_command command,
                                           uint32_t bank, uint32_t row, uint32_t column)
{
    const struct dram_rules *rules = &channel->common->rules;
    if (channel->common->observers.first)
        dram_record_tell(channel, command, bank, row, column);
    dram_timing_issue(&channel->timing, command, bank, channel->floor);
    *(uint64_t *)(void *)((char *)&channel->counters + rules->counter[command]) += 1;
    if (rules->grouped >> command & 1)
        dram_requests_group(channel, bank);
}

/* Issues a command for one bank at floor, and applies `change` to the bank. The caller must update the bank's
 * candidate. Inline because most commands come from the requests, which know what each command changes. */
static FORCE_INLINE void dram_channel_issue_bank(struct dram_channel *channel, enum dram_command command,
                                                 enum dram_change change, uint32_t bank, uint32_t row,
                                                 uint32_t column)
{
    dram_channel_send(channel, command, bank, row, column);
    if (change == DRAM_CHANGE_OPENS)
        dram_channel_open(channel, bank, row);
    else if (change == DRAM_CHANGE_CLOSES)
        dram_channel_close(channel, channel->banks[bank].rank, UINT64_C(1) << bank);
}

/* Issues a command at floor; for agents, in ops->grant. The command must be legal. It is reported to
 * observers, counted, and applied to banks and timing. `bank` is any of the affected banks. Traces show row
 * and column (in bursts); a bank that is opened gets the row. */
static inline void dram_channel_issue(struct dram_channel *channel, enum dram_command command, uint32_t bank,
                                      uint32_t row, uint32_t column)
{
    const struct dram_rules *rules = &channel->common->rules;
    if (rules->extent[command] == DRAM_EXTENT_BANK) {
        dram_channel_issue_bank(channel, command, rules->change[command], bank, row, column);
        dram_requests_bank(channel, bank);
        return;
    }
    dram_channel_send(channel, command, bank, row, column);
    dram_agent_change(channel, command, bank, row);
}

/* For ops->grant of an agent that holds all banks: returns whether it may issue its next command, which may come at `cycle`, in
 * the same call, after setting floor. Nobody else wants a command or wakes before it. */
static inline bool dram_agent_follows(const struct dram_agent *agent, uint64_t cycle)
{
    const struct dram_channel *channel = agent->channel;
    return channel->wanting == 1U << agent->index && cycle < channel->limit && cycle < channel->wake;
}

/* Returns a cycle before which no command of the requests or of added agents comes; CLOCK_NEVER if none comes
 * unless a burst or a change arrives. */
static inline uint64_t dram_channel_next(const struct dram_channel *channel)
{
    return channel->best.cycle < channel->stir ? channel->best.cycle : channel->stir;
}

#endif
