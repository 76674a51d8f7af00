/* Agents: what competes for the command slots of a channel. */
#ifndef EMU_DRAM_AGENT_H
#define EMU_DRAM_AGENT_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/dram/command.h"

/* Every channel has two agents, the refresh (refresh.c) and the queued requests (requests.c); others, such as
 * accelerators in the devices, can be added. In each slot the channel asks all agents that want something for
 * their best next command and grants the slot to the one that may come first; of those of the same cycle, to
 * the one with the least merit. All of them find out from the same timing state when their commands may come,
 * and issue them by dram_channel_issue(), so they are bound by the same rules.
 *
 * A bank can be held by an agent: agents of less precedence leave it alone. Refresh has the highest precedence
 * and the requests the least; the others have theirs in the order in which they were added. Whoever claims a
 * bank that an agent of less precedence holds asks that agent to suspend, and waits until it has yielded; when
 * the bank is released, the agent has it again. Requests are not asked: they hold nothing.
 *
 * Time: a channel runs lazily, so cycles are those of the channel (channel->floor) and lie behind the event
 * queue's time. Nothing is done in a channel for an agent that neither wants a command nor waits for a wake:
 * an idle agent costs nothing. */

struct dram_channel;
struct dram_agent;

enum { DRAM_AGENTS = 8 }; /* of a channel, these two included */

/* The next command, as far as is known. */
struct dram_choice {
    uint64_t cycle; /* CLOCK_NEVER: none */
    uint64_t merit; /* less is better: dram_merit() */
    uint32_t command, bank;
    struct dram_agent *agent; /* whose it is */
};

/* Operations of an agent; they get its owner. None may change the fields of another agent. */
struct dram_agent_ops {
    /* Offers the agent's best next command by dram_choice_offer(), not before channel->floor and not before
     * dram_timing_ready(), for no bank of dram_agent_barred(). Changes nothing: it may be called any number of
     * times, and is called only while `wants` is true. NULL for the requests alone, whose choice the channel
     * calls by name (dram_channel_choose()). */
    void (*propose)(void *owner, struct dram_choice *best);

    /* The slot is granted to the choice, at channel->floor: the agent issues the command by
     * dram_channel_issue(), or one that is timed as it, and brings itself up to date. Must not be NULL. */
    void (*grant)(void *owner, const struct dram_choice *choice);

    /* The channel has come to the cycle `wake`, which the agent now sets to a later one. Nobody looks at the
     * channel before cycle `limit`. NULL if wake always is CLOCK_NEVER. */
    void (*wake)(void *owner, uint64_t limit);

    /* These banks, which the agent holds, are claimed: it brings to an end what cannot be interrupted and
     * gives them back by dram_agent_yield(), at once or later. It must not depend on the banks' rows
     * afterwards: refresh closes them. While it delays, no bank is refreshed. NULL for agents that claim
     * nothing. */
    void (*suspend)(void *owner, uint64_t banks);

    /* The agent holds these banks again. NULL likewise. */
    void (*resume)(void *owner, uint64_t banks);
};

/* The agent's owner sets `wants`, `wake`, `notice` and `age`, and calls dram_agent_changed() after it has. */
struct dram_agent {
    const struct dram_agent_ops *ops;
    void *owner;
    struct dram_channel *channel;
    bool wants;      /* to be asked for a command */
    uint64_t wake;   /* next cycle at which ops->wake is called; CLOCK_NEVER: none */
    uint64_t notice; /* clocks, at least 1, from the agent's next command or wake to the first effect that is
                      * seen outside the channel, by when the channel must have been run; CLOCK_NEVER: none */
    uint64_t age;    /* of what it wants, from dram_agent_renew(); less is older */
    uint64_t banks;  /* held; set of bits */
    uint64_t lost;   /* claimed, but held or claimed by an agent of more precedence */
    uint32_t index;  /* in the channel: precedence, 0 is first */
};

/* Of commands that may come in the same cycle, those of lesser order go first; within one, those for older
 * bursts. Other agents' column and row commands have the same orders as the requests'. */
enum dram_order { DRAM_ORDER_REFRESH, DRAM_ORDER_COLUMN, DRAM_ORDER_ROW, DRAM_ORDER_TIMEOUT };

/* The requests put their bank into the bits below the age, which is less than 2^32. */
enum { DRAM_MERIT_BANK_BITS = 6, DRAM_MERIT_ORDER_SHIFT = 38, DRAM_MERIT_BITS = 40 };

static inline uint64_t dram_merit(enum dram_order order, uint64_t age)
{
    return (uint64_t)order << DRAM_MERIT_ORDER_SHIFT | age << DRAM_MERIT_BANK_BITS;
}

/* Replaces *best if the command comes earlier, or as early with better merit. */
static inline void dram_choice_offer(struct dram_choice *best, struct dram_agent *agent, uint64_t cycle,
                                     uint64_t merit, enum dram_command command, uint32_t bank)
{
    if (cycle > best->cycle || (cycle == best->cycle && merit >= best->merit))
        return;
    best->cycle = cycle;
    best->merit = merit;
    best->command = (uint32_t)command;
    best->bank = bank;
    best->agent = agent;
}

/* Adds an agent behind those that were added before, wanting and holding nothing. The agent stays the
 * caller's, must outlive the channel's use, and cannot be taken out. `ops` and `owner` are kept. */
void dram_agent_add(struct dram_agent *agent, struct dram_channel *channel, const struct dram_agent_ops *ops,
                    void *owner);

/* Lets the channel know of changed fields. From outside ops, see dram_memory_changed() (memory.h) too. */
void dram_agent_changed(struct dram_agent *agent);

/* Makes what the agent wants from now on younger than all bursts that are queued: a new age, which is
 * comparable with theirs and kept so. To be called when `wants` becomes true, and then for each new want. */
void dram_agent_renew(struct dram_agent *agent);

/* Claims banks. Returns those of them that the agent holds from now on; it gets the others by ops->resume when
 * their present claimants release them. Agents of less precedence that hold some are asked to suspend. */
uint64_t dram_agent_claim(struct dram_agent *agent, uint64_t banks);

/* Gives back banks that ops->suspend asked for. The agent gets them again by ops->resume. */
void dram_agent_yield(struct dram_agent *agent, uint64_t banks);

/* Gives up banks, held or claimed, for good. */
void dram_agent_release(struct dram_agent *agent, uint64_t banks);

/* Banks that the agent must leave alone because agents of more precedence hold them or wait for them. Those that
 * it has been asked for and has not yielded are not among them. */
uint64_t dram_agent_barred(const struct dram_agent *agent);

/* Of banks that the agent has claimed, those that an agent of less precedence has still to yield: it must
 * leave these alone too. */
uint64_t dram_agent_pending(const struct dram_agent *agent);

#endif
