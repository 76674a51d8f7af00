#include "emu/dram/controller/channel.h"

#include <assert.h>
#include <string.h>

void dram_channel_free(struct dram_channel *channel)
{
    dram_queue_free(&channel->queue);
}

/* Wakes the agents whose `wake` is the channel's. */
static void wake_agents(struct dram_channel *channel, uint64_t limit)
{
    const uint64_t cycle = channel->wake;
    if (channel->floor < cycle)
        channel->floor = cycle;
    for (uint32_t i = 0; i < channel->agent_count; i++) {
        struct dram_agent *agent = channel->agents[i];
        if (agent->wake > cycle)
            continue;
        agent->ops->wake(agent->owner, limit);
        assert(agent->wake > cycle);
    }
    dram_agent_changed(&channel->refresh);
    dram_channel_choose(channel);
}

void dram_channel_init(struct dram_channel *channel, const struct dram_common *common, uint32_t index)
{
    memset(channel, 0, sizeof *channel);
    channel->common = common;
    channel->index = index;
    channel->turn = UINT32_MAX / 2; /* writes may take their turn at once */
    channel->all = UINT64_MAX >> (64 - dram_config_channel_banks(&common->config));
    dram_queue_init(&channel->queue, &common->config);
    dram_timing_init(&channel->timing, &common->rules);
    for (uint32_t bank = 0; bank < DRAM_BANKS; bank++) {
        channel->banks[bank].group = common->rules.group_of[bank];
        channel->banks[bank].rank = common->rules.rank_of[bank];
    }
    dram_refresh_init(channel);
    dram_agent_add(&channel->requests, channel, NULL, channel); /* called by name */
    dram_channel_choose(channel);
}

/* Grants the slot of the best command, which is not the requests'. */
static void grant(struct dram_channel *channel)
{
    const struct dram_agent *agent = channel->best.agent;
    channel->floor = channel->best.cycle;
    agent->ops->grant(agent->owner, &channel->best);
    dram_channel_choose(channel);
}

void dram_channel_advance(struct dram_channel *channel, uint64_t limit)
{
    channel->limit = limit;
    for (;;) {
        if (channel->wake < limit && channel->wake <= channel->best.cycle)
            wake_agents(channel, limit);
        else if (channel->best.cycle >= limit)
            break;
        else if (channel->best.agent == &channel->requests)
            dram_requests_serve(channel, limit);
        else
            grant(channel);
    }
}

void dram_channel_settle(struct dram_channel *channel)
{
    for (uint32_t rank = 0; rank < channel->common->config.ranks; rank++) {
        if (!(channel->open & channel->common->rules.rank_banks[rank]))
            continue;
        channel->counters.open_clocks += channel->floor - channel->open_since[rank];
        channel->open_since[rank] = channel->floor;
    }
}

void dram_channel_add(struct dram_channel *channel, enum dram_direction direction)
{
    const struct dram_burst *added = dram_queue_spare(&channel->queue);
    dram_queue_add(&channel->queue, direction, dram_requests_age(channel));
    if (dram_requests_turn(channel))
        dram_channel_choose(channel);
    if (direction == channel->direction)
        dram_requests_arrival(channel, added);
    else if (channel->common->config.page == DRAM_PAGE_TIMEOUT)
        dram_channel_choose(channel);
}

void dram_channel_press(struct dram_channel *channel, bool pressed)
{
    channel->pressed = pressed;
    if (dram_requests_turn(channel))
        dram_channel_choose(channel);
}
