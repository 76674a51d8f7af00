/* The agent that serves the queued requests: first ready, first come first served, with a cap on row hits out of
 * turn, reads and writes in turns. It has the most to choose from, so what its choice depends on is kept up to
 * date command by command (dram_requests_issued()) and not worked out when the channel asks. */
#include "emu/dram/channel.h"

/* The command that the bank's next burst needs, which is found here too. */
static enum dram_command find_burst(const struct dram_channel *channel, uint32_t index,
                                    struct dram_burst **burst)
{
    const struct dram_bank *bank = &channel->banks[index];
    struct dram_burst *oldest = *burst, *hit = oldest;
    if (!(channel->open >> index & 1))
        return DRAM_ACT;
    if (hit->row != bank->row && bank->streak < channel->common->config.hit_cap)
        hit = dram_queue_hit(&channel->queue, channel->direction, index, bank->row);
    if (!hit || hit->row != bank->row)
        return DRAM_PRE;
    *burst = hit;
    return channel->direction == DRAM_READS ? DRAM_RD : DRAM_WR;
}

/* What has to be compared is one number, the key: 24 bits of cycles after floor (no delay that
 * part_check(&dram_kind, ) allows is longer), then the merit: 2 bits of order, 32 bits of age and 6 bits of bank.
 */
enum { MERIT_BANK_BITS = 6, MERIT_ORDER_SHIFT = 38, KEY_CYCLE_SHIFT = 40 };

/* Gates: the kinds of commands that can be candidates, for each rank. */
enum gate { GATE_COLUMN, GATE_PRE, GATE_ACT, GATE_KINDS = 4 };

static uint64_t later_of(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* The time of the bank's next command for itself and its group. */
static uint64_t bank_ready(const struct dram_channel *channel, uint32_t index)
{
    const struct dram_timing *timing = &channel->timing;
    uint32_t command = channel->candidates.command[index];
    return later_of(timing->bank[0][index][command],
                    timing->group[0][timing->rules->group_of[index]][command]);
}

/* Times only grow, so those of the banks themselves need not be looked at again. The loop is over a set because
 * GCC 12 takes the same loop over bank numbers for one without effects, and drops calls of it. */
void dram_requests_group(struct dram_channel *channel, uint32_t index)
{
    const struct dram_rules *rules = channel->timing.rules;
    const uint64_t *group = channel->timing.group[0][rules->group_of[index]];
    struct dram_candidates *candidates = &channel->candidates;
    for (uint64_t left = dram_rules_group(rules, index); left; left &= left - 1) {
        uint32_t bank = (uint32_t)__builtin_ctzll(left);
        candidates->ready[bank] = later_of(candidates->ready[bank], group[candidates->command[bank]]);
    }
}

void dram_requests_bank(struct dram_channel *channel, uint32_t index)
{
    struct dram_bank *bank = &channel->banks[index];
    struct dram_candidates *candidates = &channel->candidates;
    const uint64_t bit = UINT64_C(1) << index;
    bank->burst = channel->queue.lists[channel->direction][index].first;
    if (!bank->burst) {
        channel->busy &= ~bit;
        return;
    }
    channel->busy |= bit;
    enum dram_command command = find_burst(channel, index, &bank->burst);
    bool column = dram_command_is_column(command);
    uint64_t order = column ? DRAM_ORDER_COLUMN : DRAM_ORDER_ROW;
    enum gate gate = column ? GATE_COLUMN : command == DRAM_PRE ? GATE_PRE : GATE_ACT;
    candidates->command[index] = (uint8_t)command;
    candidates->gate[index] = (uint8_t)(channel->common->rules.rank_of[index] * GATE_KINDS + gate);
    candidates->ready[index] = bank_ready(channel, index);
    candidates->merit[index] = order << MERIT_ORDER_SHIFT | bank->burst->age << MERIT_BANK_BITS | index;
}

void dram_requests_rebase(struct dram_channel *channel)
{
    uint64_t oldest = UINT64_MAX;
    for (uint32_t i = 0; i < channel->agent_count; i++) {
        const struct dram_agent *agent = channel->agents[i];
        if (agent->wants && agent != &channel->refresh && agent != &channel->requests)
            oldest = oldest < agent->age ? oldest : agent->age;
    }
    const uint64_t years = dram_queue_rebase(&channel->queue, oldest);
    for (uint32_t i = 0; i < channel->agent_count; i++)
        channel->agents[i]->age -= years;
    for (uint64_t left = channel->busy; left; left &= left - 1)
        channel->candidates.merit[__builtin_ctzll(left)] -= years << MERIT_BANK_BITS;
    dram_channel_choose(channel);
}

/* When the bank's next command may come. */
static uint64_t cycle_of(const struct dram_channel *channel, uint32_t index)
{
    uint64_t cycle =
        dram_timing_ready(&channel->timing, (enum dram_command)channel->candidates.command[index], index);
    return cycle > channel->floor ? cycle : channel->floor;
}

static uint64_t merit_of(const struct dram_channel *channel, uint32_t index)
{
    const struct dram_bank *bank = &channel->banks[index];
    bool column = dram_command_is_column((enum dram_command)channel->candidates.command[index]);
    return dram_merit(column ? DRAM_ORDER_COLUMN : DRAM_ORDER_ROW, bank->burst->age);
}

/* Rows that have not been used for the timeout, and that no queued burst needs. */
static void offer_timeouts(struct dram_channel *channel, struct dram_choice *best)
{
    const struct dram_config *config = &channel->common->config;
    uint64_t timeout = (config->row_timeout + config->tCK - 1) / config->tCK;
    for (uint64_t left = channel->open & ~channel->frozen; left; left &= left - 1) {
        uint32_t index = (uint32_t)__builtin_ctzll(left);
        const struct dram_bank *bank = &channel->banks[index];
        if (channel->queue.lists[DRAM_READS][index].first || channel->queue.lists[DRAM_WRITES][index].first)
            continue;
        uint64_t cycle = dram_timing_ready(&channel->timing, DRAM_PRE, index);
        cycle = cycle > bank->used + timeout ? cycle : bank->used + timeout;
        dram_choice_offer(best, &channel->requests, cycle > channel->floor ? cycle : channel->floor,
                          dram_merit(DRAM_ORDER_TIMEOUT, index), DRAM_PRE, index);
    }
}

/* When the commands that can be candidates now may come, as far as floor, bus and rank are concerned. */
static void find_gates(const struct dram_channel *channel, uint64_t gates[DRAM_RANKS * GATE_KINDS])
{
    const struct dram_timing *timing = &channel->timing;
    const enum dram_command column = channel->direction == DRAM_READS ? DRAM_RD : DRAM_WR;
    uint64_t row_bus = later_of(timing->bus[0], channel->floor);
    uint64_t column_bus = later_of(timing->bus[timing->rules->bus[column]], channel->floor);
    for (uint32_t rank = 0; rank < timing->rules->ranks; rank++) {
        const uint64_t *from = timing->rank[0][rank];
        uint64_t *to = &gates[rank * GATE_KINDS];
        to[GATE_COLUMN] = later_of(from[column], column_bus);
        to[GATE_PRE] = later_of(from[DRAM_PRE], row_bus);
        to[GATE_ACT] = later_of(from[DRAM_ACT], row_bus);
    }
}

/* The least key of the banks. This is the innermost loop of the model. */
static uint64_t least_key(const struct dram_channel *channel, uint64_t banks)
{
    const struct dram_candidates *candidates = &channel->candidates;
    const uint64_t floor = channel->floor;
    uint64_t gates[DRAM_RANKS * GATE_KINDS], best = UINT64_MAX;
    find_gates(channel, gates);
    for (uint64_t left = banks; left; left &= left - 1) {
        uint32_t bank = (uint32_t)__builtin_ctzll(left);
        uint64_t cycle = later_of(candidates->ready[bank], gates[candidates->gate[bank]]);
        uint64_t key = (cycle - floor) << KEY_CYCLE_SHIFT | candidates->merit[bank];
        best = best < key ? best : key;
    }
    return best;
}

void dram_requests_propose(struct dram_channel *channel)
{
    struct dram_choice *best = &channel->best;
    const uint64_t banks = channel->busy & ~channel->frozen;
    best->agent = &channel->requests;
    if (banks) {
        uint64_t key = least_key(channel, banks);
        best->cycle = channel->floor + (key >> KEY_CYCLE_SHIFT);
        best->merit =
            dram_merit((enum dram_order)(key >> MERIT_ORDER_SHIFT & 3), (uint32_t)(key >> MERIT_BANK_BITS));
        best->bank = (uint32_t)key % (1U << MERIT_BANK_BITS);
        best->command = channel->candidates.command[best->bank];
    } else {
        best->cycle = CLOCK_NEVER;
        best->merit = UINT64_MAX;
        best->command = best->bank = 0;
    }
    if (channel->common->config.page == DRAM_PAGE_TIMEOUT)
        offer_timeouts(channel, best);
}

void dram_requests_arrival(struct dram_channel *channel, const struct dram_burst *burst)
{
    const struct dram_bank *bank = &channel->banks[burst->bank];
    const struct dram_burst *before = bank->burst;
    if (before && (channel->candidates.command[burst->bank] != DRAM_PRE || burst->row != bank->row))
        return;
    dram_requests_bank(channel, burst->bank);
    if (bank->burst == before || channel->frozen >> burst->bank & 1)
        return;
    if (channel->best.bank == burst->bank)
        dram_channel_choose(channel);
    else
        dram_choice_offer(&channel->best, &channel->requests, cycle_of(channel, burst->bank),
                          merit_of(channel, burst->bank),
                          (enum dram_command)channel->candidates.command[burst->bank], burst->bank);
}

/* All bursts of the direction are for banks that an agent other than the refresh holds. */
static bool is_stuck(const struct dram_channel *channel, enum dram_direction direction)
{
    const uint32_t banks = dram_config_channel_banks(&channel->common->config);
    for (uint32_t bank = 0; bank < banks; bank++)
        if (!(channel->taken >> bank & 1) && channel->queue.lists[direction][bank].first)
            return false;
    return true;
}

/* Reads go first. Writes have their turn when there are no reads or when write_high of them wait, and until
 * write_low; neither turn lasts for ever when the other direction waits. */
static enum dram_direction direction_wanted(const struct dram_channel *channel)
{
    const struct dram_config *config = &channel->common->config;
    uint32_t reads = channel->queue.count[DRAM_READS], writes = channel->queue.count[DRAM_WRITES];
    uint32_t batch = config->write_high - config->write_low;
    if (channel->taken) {
        reads = is_stuck(channel, DRAM_READS) ? 0 : reads;
        writes = is_stuck(channel, DRAM_WRITES) ? 0 : writes;
    }
    if (!reads || !writes)
        return writes ? DRAM_WRITES : reads ? DRAM_READS : channel->direction;
    if (channel->direction == DRAM_READS)
        return (writes >= config->write_high || channel->pressed) && channel->turn >= batch ? DRAM_WRITES
                                                                                            : DRAM_READS;
    return writes > config->write_low && channel->turn < config->write_queue ? DRAM_WRITES : DRAM_READS;
}

bool dram_requests_turn(struct dram_channel *channel)
{
    enum dram_direction wanted = direction_wanted(channel);
    if (wanted == channel->direction)
        return false;
    dram_channel_direct(channel, wanted);
    return true;
}
