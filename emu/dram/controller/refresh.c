/* The agent that refreshes. When a refresh is due, it claims the affected banks, closes them and refreshes
 * them. */
#include "emu/dram/controller/channel.h"

static uint64_t bits(uint32_t count)
{
    return count >= 64 ? UINT64_MAX : (UINT64_C(1) << count) - 1;
}

/* Returns the banks that the next refresh of the rank affects. */
static uint64_t banks_of(const struct dram_channel *channel, uint32_t rank)
{
    uint32_t banks = dram_config_rank_banks(&channel->common->config);
    if (channel->common->config.refresh == DRAM_REFRESH_BANK)
        return UINT64_C(1) << (rank * banks + channel->refresh_bank[rank]);
    return bits(banks) << (rank * banks);
}

/* Sets `wake` to the earliest refresh that is due in a rank without a pending refresh. */
static void find_due(struct dram_channel *channel)
{
    channel->refresh.wake = CLOCK_NEVER;
    for (uint32_t rank = 0; rank < channel->common->config.ranks; rank++)
        if (!(channel->refreshing >> rank & 1) && channel->refresh_next[rank] < channel->refresh.wake)
            channel->refresh.wake = channel->refresh_next[rank];
}

/* Claims the banks of the refreshes that are due. */
static void begin(struct dram_channel *channel)
{
    const uint64_t cycle = channel->refresh.wake;
    if (channel->floor < cycle)
        channel->floor = cycle;
    for (uint32_t rank = 0; rank < channel->common->config.ranks; rank++) {
        if (channel->refreshing >> rank & 1 || channel->refresh_next[rank] > cycle)
            continue;
        channel->refreshing |= UINT64_C(1) << rank;
        channel->refresh.wants = true;
        (void)dram_agent_claim(&channel->refresh, banks_of(channel, rank));
    }
    find_due(channel);
}

static void propose(void *owner, struct dram_choice *best)
{
    struct dram_channel *channel = owner;
    const bool all = channel->common->config.refresh == DRAM_REFRESH_ALL;
    const uint64_t pending = dram_agent_pending(&channel->refresh);
    for (uint64_t left = channel->refreshing; left; left &= left - 1) {
        uint32_t rank = (uint32_t)__builtin_ctzll(left);
        uint64_t banks = banks_of(channel, rank);
        uint32_t bank = (uint32_t)__builtin_ctzll(banks);
        enum dram_command command = all ? DRAM_REF : DRAM_REFB;
        if (banks & pending)
            continue;
        if (channel->open & banks)
            command = all ? DRAM_PREA : DRAM_PRE;
        uint64_t cycle = dram_timing_ready(&channel->timing, command, bank);
        dram_choice_offer(best, &channel->refresh, cycle > channel->floor ? cycle : channel->floor,
                          dram_merit(DRAM_ORDER_REFRESH, rank), command, bank);
    }
}

static void grant(void *owner, const struct dram_choice *choice)
{
    struct dram_channel *channel = owner;
    const uint32_t rank = channel->common->rules.rank_of[choice->bank];
    const uint32_t banks = dram_config_rank_banks(&channel->common->config);
    const uint64_t refreshed = banks_of(channel, rank);
    dram_channel_issue(channel, (enum dram_command)choice->command, choice->bank, 0, 0);
    if (choice->command != DRAM_REF && choice->command != DRAM_REFB)
        return;
    channel->refreshing &= ~(UINT64_C(1) << rank);
    channel->refresh.wants = channel->refreshing != 0;
    channel->refresh_next[rank] += channel->common->refresh_clocks;
    find_due(channel);
    if (choice->command == DRAM_REFB)
        channel->refresh_bank[rank] = (channel->refresh_bank[rank] + 1) % banks;
    dram_agent_release(&channel->refresh, refreshed);
}

/* Returns whether an agent other than the refresh may act before a burst is queued or the agent is woken. */
static bool is_active(const struct dram_channel *channel)
{
    if (channel->queue.count[DRAM_READS] || channel->queue.count[DRAM_WRITES] || channel->open)
        return true;
    for (uint32_t i = 0; i < channel->agent_count; i++) {
        const struct dram_agent *agent = channel->agents[i];
        if (agent != &channel->requests && (agent->wants || agent->banks || agent->lost))
            return true;
    }
    return false;
}

/* With empty queues and closed banks, all refreshes are alike: only the last round before `limit` affects the
 * state, so earlier rounds are only counted. */
static void skip(struct dram_channel *channel, uint64_t limit)
{
    const struct dram_common *common = channel->common;
    if (common->observers.first || common->refresh_clocks == 0 || is_active(channel))
        return;
    limit = limit < channel->stir ? limit : channel->stir;
    bool all = common->config.refresh == DRAM_REFRESH_ALL;
    uint32_t round = all ? 1 : dram_config_rank_banks(&common->config);
    uint64_t span = (uint64_t)round * common->refresh_clocks;
    for (uint32_t rank = 0; rank < common->config.ranks; rank++) {
        uint64_t next = channel->refresh_next[rank];
        if (limit <= next + 2 * span)
            continue;
        uint64_t rounds = (limit - next) / span - 1;
        channel->refresh_next[rank] += rounds * span;
        *(all ? &channel->counters.refreshes : &channel->counters.bank_refreshes) += rounds * round;
    }
    find_due(channel);
}

static void wake(void *owner, uint64_t limit)
{
    struct dram_channel *channel = owner;
    skip(channel, limit);
    begin(channel);
}

void dram_refresh_init(struct dram_channel *channel)
{
    static const struct dram_agent_ops ops = {.propose = propose, .grant = grant, .wake = wake};
    uint32_t ranks = channel->common->config.ranks, clocks = channel->common->refresh_clocks;
    dram_agent_add(&channel->refresh, channel, &ops, channel);
    for (uint32_t rank = 0; rank < ranks; rank++)
        channel->refresh_next[rank] = clocks ? (uint64_t)clocks * (rank + 1) / ranks : CLOCK_NEVER;
    find_due(channel);
    dram_agent_changed(&channel->refresh);
}
