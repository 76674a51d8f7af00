#include "emu/dram/channel.h"

#include <assert.h>
#include <string.h>

void dram_channel_free(struct dram_channel *channel)
{
    dram_queue_free(&channel->queue);
}

void dram_channel_tell(const struct dram_channel *channel, enum dram_command command, uint32_t index,
                       uint32_t row, uint32_t column)
{
    const struct dram_common *common = channel->common;
    const struct dram_rules *rules = &common->rules;
    const enum dram_extent extent = rules->extent[command];
    struct dram_record record = {.cycle = channel->floor,
                                 .command = command,
                                 .channel = channel->index,
                                 .rank = extent == DRAM_EXTENT_CHANNEL ? 0 : rules->rank_of[index],
                                 .group = extent == DRAM_EXTENT_ALIKE || extent >= DRAM_EXTENT_RANK
                                              ? 0
                                              : rules->group_of[index] % common->config.groups,
                                 .bank = extent <= DRAM_EXTENT_ALIKE ? index % common->config.banks : 0,
                                 .row = row,
                                 .column = column};
    OBSERVER_TELL(&common->observers, struct dram_observer, command, &record);
}

void dram_channel_change(struct dram_channel *channel, enum dram_command command, uint32_t bank, uint32_t row)
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

void dram_channel_ask(struct dram_channel *channel)
{
    for (uint32_t left = channel->wanting; left; left &= left - 1) {
        const struct dram_agent *agent = channel->agents[__builtin_ctz(left)];
        agent->ops->propose(agent->owner, &channel->best);
    }
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
    dram_requests_init(channel);
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
