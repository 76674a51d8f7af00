#include "emu/dram/controller/agent.h"

#include <assert.h>

#include "emu/dram/controller/channel.h"

void dram_agent_add(struct dram_agent *agent, struct dram_channel *channel, const struct dram_agent_ops *ops,
                    void *owner)
{
    assert(channel->agent_count < DRAM_AGENTS);
    *agent = (struct dram_agent){
        .ops = ops, .owner = owner, .channel = channel, .wake = CLOCK_NEVER, .notice = CLOCK_NEVER};
    uint32_t index = channel->agent_count++;
    for (; index > 0 && channel->agents[index - 1] == &channel->requests; index--)
        channel->agents[index] = channel->agents[index - 1]; /* the requests stay last */
    channel->agents[index] = agent;
    for (uint32_t i = 0; i < channel->agent_count; i++)
        channel->agents[i]->index = i;
    dram_agent_changed(agent);
}

void dram_agent_changed(struct dram_agent *agent)
{
    struct dram_channel *channel = agent->channel;
    const uint64_t taken = channel->taken;
    channel->wanting = 0;
    channel->frozen = channel->taken = 0;
    channel->wake = channel->stir = channel->notice = CLOCK_NEVER;
    for (uint32_t i = 0; i < channel->agent_count; i++) {
        const struct dram_agent *each = channel->agents[i];
        channel->wanting |= (uint32_t)(each->wants && each != &channel->requests) << i;
        channel->frozen |= each->banks; /* the requests hold no banks */
        channel->wake = channel->wake < each->wake ? channel->wake : each->wake;
        if (each == &channel->refresh)
            continue;
        channel->taken |= each->banks;
        channel->stir = channel->stir < each->wake ? channel->stir : each->wake;
        channel->notice = channel->notice < each->notice ? channel->notice : each->notice;
    }
    if (channel->taken == taken)
        return;
    if (channel->stale && channel->taken != channel->all) {
        channel->stale = false;
        for (uint64_t left = channel->all; left; left &= left - 1)
            dram_requests_bank(channel, (uint32_t)__builtin_ctzll(left));
    }
    (void)dram_requests_turn(channel);
}

void dram_agent_change(struct dram_channel *channel, enum dram_command command, uint32_t bank, uint32_t row)
{
    const struct dram_rules *rules = &channel->common->rules;
    const uint64_t banks = dram_timing_banks(rules, command, bank);
    const bool alike = rules->extent[command] == DRAM_EXTENT_ALIKE;
    /* without bursts there are no candidates to update: one that arrives gets its own */
    const bool waiting =
        channel->busy || channel->queue.count[DRAM_READS] || channel->queue.count[DRAM_WRITES];
    const bool later = channel->taken == channel->all;
    channel->stale = channel->stale || later;
    if (alike)
        dram_timing_spread(&channel->timing, command, bank, channel->floor);
    if (later && rules->change[command] == DRAM_CHANGE_KEEPS)
        return;
    for (uint32_t rank = 0; rank < rules->ranks; rank++)
        if (rules->change[command] == DRAM_CHANGE_CLOSES)
            dram_channel_close(channel, rank, banks);
    for (uint64_t left = banks; left; left &= left - 1) {
        const uint32_t each = (uint32_t)__builtin_ctzll(left);
        if (rules->change[command] == DRAM_CHANGE_OPENS)
            dram_channel_open(channel, each, row);
        if (later && rules->change[command] == DRAM_CHANGE_CLOSES)
            channel->banks[each].owed = NULL;
        if (later || (alike && !waiting))
            continue;
        if (alike)
            dram_requests_group(channel, each);
        dram_requests_bank(channel, each);
    }
}

void dram_agent_renew(struct dram_agent *agent)
{
    agent->age = dram_requests_age(agent->channel);
}

/* Returns the banks that agents of higher precedence hold or have claimed. */
static uint64_t claimed_before(const struct dram_agent *agent)
{
    uint64_t banks = 0;
    for (uint32_t i = 0; i < agent->index; i++)
        banks |= agent->channel->agents[i]->banks;
    return banks;
}

uint64_t dram_agent_barred(const struct dram_agent *agent)
{
    return claimed_before(agent) & ~agent->banks;
}

uint64_t dram_agent_pending(const struct dram_agent *agent)
{
    uint64_t banks = 0;
    for (uint32_t i = agent->index + 1; i < agent->channel->agent_count; i++)
        banks |= agent->channel->agents[i]->banks;
    return banks & agent->banks;
}

uint64_t dram_agent_claim(struct dram_agent *agent, uint64_t banks)
{
    struct dram_channel *channel = agent->channel;
    const uint64_t barred = claimed_before(agent), held = banks & ~barred;
    agent->banks |= held;
    agent->lost |= banks & barred;
    for (uint32_t i = agent->index + 1; i < channel->agent_count; i++) {
        struct dram_agent *other = channel->agents[i];
        const uint64_t asked = other->banks & ~other->lost & held;
        other->lost |= asked;
        if (asked)
            other->ops->suspend(other->owner, asked);
    }
    dram_agent_changed(agent);
    return held;
}

void dram_agent_yield(struct dram_agent *agent, uint64_t banks)
{
    assert((banks & ~(agent->banks & agent->lost)) == 0);
    agent->banks &= ~banks;
    dram_agent_changed(agent);
}

/* An agent that has not yielded a bank when it is released keeps the bank; its ops->resume is called
 * nevertheless. */
void dram_agent_release(struct dram_agent *agent, uint64_t banks)
{
    struct dram_channel *channel = agent->channel;
    agent->banks &= ~banks;
    agent->lost &= ~banks;
    for (uint32_t i = agent->index + 1; i < channel->agent_count; i++) {
        struct dram_agent *other = channel->agents[i];
        const uint64_t again = other->lost & banks & ~claimed_before(other);
        other->lost &= ~again;
        other->banks |= again;
        if (again)
            other->ops->resume(other->owner, again);
    }
    dram_agent_changed(agent);
}
