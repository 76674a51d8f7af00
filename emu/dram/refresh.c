/* Refresh: as soon as it is due, the banks concerned take no new commands, are closed, and refreshed. */
#include "emu/dram/channel.h"
#include "emu/dram/choose.h"

static uint64_t bits(uint32_t count)
{
    return count >= 64 ? UINT64_MAX : (UINT64_C(1) << count) - 1;
}

/* The banks that the next refresh of the rank concerns. */
static uint64_t banks_of(const struct dram_channel *channel, uint32_t rank)
{
    uint32_t banks = dram_config_rank_banks(&channel->common->config);
    if (channel->common->config.refresh == DRAM_REFRESH_BANK)
        return UINT64_C(1) << (rank * banks + channel->refresh_bank[rank]);
    return bits(banks) << (rank * banks);
}

/* Finds the earliest rank that does not refresh yet. */
static void find_due(struct dram_channel *channel)
{
    channel->refresh_due = CLOCK_NEVER;
    for (uint32_t rank = 0; rank < channel->common->config.ranks; rank++)
        if (!(channel->refreshing >> rank & 1) && channel->refresh_next[rank] < channel->refresh_due)
            channel->refresh_due = channel->refresh_next[rank];
}

void dram_refresh_init(struct dram_channel *channel)
{
    uint32_t ranks = channel->common->config.ranks, clocks = channel->common->refresh_clocks;
    for (uint32_t rank = 0; rank < ranks; rank++)
        channel->refresh_next[rank] = clocks ? (uint64_t)clocks * (rank + 1) / ranks : CLOCK_NEVER;
    find_due(channel);
}

void dram_refresh_begin(struct dram_channel *channel, uint64_t cycle)
{
    for (uint32_t rank = 0; rank < channel->common->config.ranks; rank++) {
        if (channel->refreshing >> rank & 1 || channel->refresh_next[rank] > cycle)
            continue;
        channel->refreshing |= UINT64_C(1) << rank;
        channel->frozen |= banks_of(channel, rank);
    }
    find_due(channel);
    if (channel->floor < cycle)
        channel->floor = cycle;
    dram_choose(channel);
}

void dram_refresh_offer(const struct dram_channel *channel, struct dram_choice *best)
{
    bool all = channel->common->config.refresh == DRAM_REFRESH_ALL;
    for (uint64_t left = channel->refreshing; left; left &= left - 1) {
        uint32_t rank = (uint32_t)__builtin_ctzll(left);
        uint64_t banks = banks_of(channel, rank);
        uint32_t bank = (uint32_t)__builtin_ctzll(banks);
        enum dram_command command = all ? DRAM_REF : DRAM_REFB;
        if (channel->open & banks)
            command = all ? DRAM_PREA : DRAM_PRE;
        uint64_t cycle = dram_timing_ready(&channel->timing, command, bank);
        dram_choice_offer(best, cycle > channel->floor ? cycle : channel->floor,
                          dram_merit(DRAM_ORDER_REFRESH, rank), command, bank);
    }
}

void dram_refresh_done(struct dram_channel *channel, enum dram_command command, uint32_t bank)
{
    uint32_t rank = channel->common->rules.rank_of[bank];
    channel->refreshing &= ~(UINT64_C(1) << rank);
    channel->frozen &= ~banks_of(channel, rank);
    channel->refresh_next[rank] += channel->common->refresh_clocks;
    find_due(channel);
    if (command == DRAM_REF) {
        channel->counters.refreshes++;
        return;
    }
    channel->counters.bank_refreshes++;
    uint32_t banks = dram_config_rank_banks(&channel->common->config);
    channel->refresh_bank[rank] = (channel->refresh_bank[rank] + 1) % banks;
}

/* With nothing queued and all banks closed, one refresh is like the other: only the last round before limit
 * leaves a trace in the state, so the others need only be counted. */
void dram_refresh_skip(struct dram_channel *channel, uint64_t limit)
{
    const struct dram_common *common = channel->common;
    if (common->observers.first || common->refresh_clocks == 0 || channel->open || channel->refreshing ||
        channel->queue.count[DRAM_READS] || channel->queue.count[DRAM_WRITES])
        return;
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
