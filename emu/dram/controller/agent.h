/* Agents compete for the command slots of a channel. */
#ifndef EMU_DRAM_CONTROLLER_AGENT_H
#define EMU_DRAM_CONTROLLER_AGENT_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/dram/command.h"

/* Every channel has two agents, the refresh (refresh.c) and the queued requests (scheduler.c). Others can be
 * added, such as accelerators in the devices. In each slot, the channel asks all agents that want a command
 * for their best next one, and grants the slot to the command that may come first; of those in the same
 * cycle, to the one with the least merit. All agents use the same timing state and issue commands by
 * dram_channel_issue(), so they follow the same rules.
 *
 * An agent can hold a bank; agents of lower precedence then do not use it. Refresh has the highest precedence
 * and the requests the lowest; the others rank in the order in which they were added. An agent that claims a
 * bank held by an agent of lower precedence asks it to suspend, and waits until it has yielded. When the bank
 * is released, the other agent holds it again. The requests are not asked, because they hold no banks.
 *
 * Time: a channel runs lazily, so cycles are those of the channel (channel->floor), which may be behind the
 * event queue's time. An agent that neither wants a command nor waits for a wake costs nothing. */

struct dram_channel;
struct dram_agent;

enum { DRAM_AGENTS = 8 }; /* agents of a channel, including refresh and requests */

/* The best next command found so far. */
struct dram_choice {
    uint64_t cycle; /* CLOCK_NEVER: none */
    uint64_t merit; /* smaller is better: dram_merit() */
    uint32_t command, bank;
    struct dram_agent *agent; /* the agent that offers it */
};

/* Operations of an agent, called with its owner. They must not change the fields of another agent. */
struct dram_agent_ops {
    /* Offers the agent's best next command by dram_choice_offer(): not before channel->floor or
     * dram_timing_ready(), and not for a bank of dram_agent_barred(). Changes nothing, and may be called any
     * number of times while `wants` is true. Must not be NULL. */
    void (*propose)(void *owner, struct dram_choice *best);

    /* The choice was granted its slot, at channel->floor. The agent issues the command, or one that is timed
     * as it, by dram_channel_issue(), and updates its own state. Must not be NULL. */
    void (*grant)(void *owner, const struct dram_choice *choice);

    /* The channel has reached the cycle `wake`. The agent must set `wake` to a later cycle. Nothing outside
     * the channel reads the channel's state before cycle `limit`. NULL if `wake` is always CLOCK_NEVER. */
    void (*wake)(void *owner, uint64_t limit);

    /* These banks, which the agent holds, are claimed by another agent. The agent finishes what it cannot
     * interrupt, and gives the banks back by dram_agent_yield(), at once or later. Afterwards it must not
     * depend on the banks' open rows, because refresh closes them. While it delays, the banks are not
     * refreshed. NULL for agents that claim no banks. */
    void (*suspend)(void *owner, uint64_t banks);

    /* The agent holds these banks again. NULL for agents that claim no banks. */
    void (*resume)(void *owner, uint64_t banks);
};

/* The agent's owner sets `wants`, `wake`, `notice` and `age`, and then calls dram_agent_changed(). */
struct dram_agent {
    const struct dram_agent_ops *ops; /* NULL for the requests, which the channel calls by name */
    void *owner;
    struct dram_channel *channel;
    bool wants;    /* it must be asked for a command */
    uint64_t wake; /* next cycle at which ops->wake is called; CLOCK_NEVER: none */
    /* clocks, at least 1, from the next command or wake of the agent to its first effect outside the channel;
     * the channel is run before that effect. CLOCK_NEVER: no effect */
    uint64_t notice;
    uint64_t age;   /* age of its command, from dram_agent_renew(); smaller is older */
    uint64_t banks; /* set of banks that it holds */
    /* set of claimed banks that it does not hold or must yield, because of an agent of higher precedence */
    uint64_t lost;
    uint32_t index; /* its index in the channel: its precedence, 0 is the highest */
};

/* Of commands that may come in the same cycle, the one with the smallest order goes first; within an order,
 * the one of the oldest burst. Column and row commands of other agents have the same orders as those of the
 * requests. With activate_first, activates of the requests have the order DRAM_ORDER_ACTIVATE. */
enum dram_order {
    DRAM_ORDER_REFRESH,
    DRAM_ORDER_ACTIVATE,
    DRAM_ORDER_COLUMN,
    DRAM_ORDER_ROW,
    DRAM_ORDER_TIMEOUT,
};

/* The requests put their bank into the bits below the age, which is less than 2^32. */
enum { DRAM_MERIT_BANK_BITS = 6, DRAM_MERIT_ORDER_SHIFT = 38, DRAM_MERIT_BITS = 41 };

static inline uint64_t dram_merit(enum dram_order order, uint64_t age)
{
    return (uint64_t)order << DRAM_MERIT_ORDER_SHIFT | age << DRAM_MERIT_BANK_BITS;
}

/* Replaces *best if the command comes earlier, or at the same time with a better merit. */
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

/* Adds an agent of lower precedence than those added before. It wants nothing and holds no banks. The caller
 * owns the agent, which must outlive the use of the channel and cannot be removed. `ops` and `owner` must
 * also outlive it. */
void dram_agent_add(struct dram_agent *agent, struct dram_channel *channel, const struct dram_agent_ops *ops,
                    void *owner);

/* Updates the channel after fields have changed. Outside ops, also follow dram_memory_changed()
 * (memory.h). */
void dram_agent_changed(struct dram_agent *agent);

/* The part of dram_channel_issue() (channel.h) for a command that affects several banks, of which `bank` is one: applies
 * the command to them. */
void dram_agent_change(struct dram_channel *channel, enum dram_command command, uint32_t bank, uint32_t row);

/* Gives the agent a new age, which makes its command younger than all queued bursts and stays comparable with
 * their ages. Call it when `wants` becomes true, and for each new command. */
void dram_agent_renew(struct dram_agent *agent);

/* Claims banks. Returns those that the agent holds at once. It gets the others by ops->resume when agents of
 * higher precedence release them. Asks agents of lower precedence that hold some to suspend. */
uint64_t dram_agent_claim(struct dram_agent *agent, uint64_t banks);

/* Gives back banks that ops->suspend has asked for. The agent gets them again by ops->resume. */
void dram_agent_yield(struct dram_agent *agent, uint64_t banks);

/* Gives up held or claimed banks for good. */
void dram_agent_release(struct dram_agent *agent, uint64_t banks);

/* Returns the banks that the agent must not use because agents of higher precedence hold or have claimed
 * them. Banks that the agent was asked to yield, and has not yielded yet, are not among them. */
uint64_t dram_agent_barred(const struct dram_agent *agent);

/* Returns those of the agent's banks that an agent of lower precedence has not yielded yet. The agent must
 * not use them either. */
uint64_t dram_agent_pending(const struct dram_agent *agent);

#endif
