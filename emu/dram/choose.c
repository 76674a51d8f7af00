/* Which command comes next: first ready, first come first served, with a cap on row hits out of turn. */
#include "emu/dram/choose.h"
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

void dram_choose_bank(struct dram_channel *channel, uint32_t index)
{
    struct dram_bank *bank = &channel->banks[index];
    const uint64_t bit = UINT64_C(1) << index;
    bank->burst = channel->queue.lists[channel->direction][index].first;
    if (!bank->burst) {
        channel->busy &= ~bit;
        return;
    }
    channel->busy |= bit;
    enum dram_command command = find_burst(channel, index, &bank->burst);
    channel->closed = command == DRAM_ACT ? channel->closed | bit : channel->closed & ~bit;
    uint32_t group = channel->common->rules.group_of[index];
    bank->command = (uint8_t)command;
    channel->candidates[index] = (struct dram_candidate){
        .ready = channel->timing.bank[index][command],
        .age = (uint32_t)bank->burst->age,
        .gate = (uint16_t)(group * DRAM_COMMANDS + command),
        .rank = (uint8_t)(channel->common->rules.rank_of[index] * DRAM_COMMANDS + command),
        .order = dram_command_is_column(command) ? DRAM_ORDER_COLUMN : DRAM_ORDER_ROW};
}

/* When the bank's next command may come. */
static uint64_t cycle_of(const struct dram_channel *channel, uint32_t index)
{
    uint64_t cycle =
        dram_timing_ready(&channel->timing, (enum dram_command)channel->banks[index].command, index);
    return cycle > channel->floor ? cycle : channel->floor;
}

static uint64_t merit_of(const struct dram_channel *channel, uint32_t index)
{
    return dram_merit((enum dram_order)channel->candidates[index].order, channel->banks[index].burst->age);
}

/* When the commands that can be candidates now may come, as far as bus and rank are concerned. The return
 * value is the least time of an activate. */
static uint64_t find_earliest(const struct dram_channel *channel,
                              uint64_t earliest[DRAM_RANKS * DRAM_COMMANDS])
{
    const struct dram_timing *timing = &channel->timing;
    const enum dram_command column = channel->direction == DRAM_READS ? DRAM_RD : DRAM_WR;
    uint64_t row_bus = timing->bus[0], column_bus = timing->bus[timing->rules->bus[column]],
             activate = CLOCK_NEVER;
    row_bus = row_bus > channel->floor ? row_bus : channel->floor;
    column_bus = column_bus > channel->floor ? column_bus : channel->floor;
    for (uint32_t rank = 0; rank < timing->rules->ranks; rank++) {
        const uint64_t *from = timing->rank[rank];
        uint64_t *to = &earliest[rank * DRAM_COMMANDS];
        to[column] = from[column] > column_bus ? from[column] : column_bus;
        to[DRAM_PRE] = from[DRAM_PRE] > row_bus ? from[DRAM_PRE] : row_bus;
        to[DRAM_ACT] = from[DRAM_ACT] > row_bus ? from[DRAM_ACT] : row_bus;
        activate = activate < to[DRAM_ACT] ? activate : to[DRAM_ACT];
    }
    return activate;
}

enum { KEY_BANK_BITS = 6, KEY_ORDER_SHIFT = 38, KEY_CYCLE_SHIFT = 40 };

/* The least key of the banks, or `best` if that is less. This is the innermost loop of the model, so a
 * command's cycle, order, age and bank are one number: 24 bits of cycles after floor (no delay that
 * dram_config_check() allows is longer), 2 bits of order, 32 bits of age and 6 bits of bank. */
static uint64_t best_key(const struct dram_channel *channel, uint64_t banks, const uint64_t *earliest,
                         uint64_t best)
{
    const uint64_t *gates = channel->timing.group[0], floor = channel->floor;
    const uint32_t newest = (uint32_t)channel->queue.age;
    for (uint64_t left = banks; left; left &= left - 1) {
        uint32_t index = (uint32_t)__builtin_ctzll(left);
        const struct dram_candidate *candidate = &channel->candidates[index];
        uint64_t cycle = earliest[candidate->rank], gate = gates[candidate->gate];
        cycle = cycle > gate ? cycle : gate;
        cycle = cycle > candidate->ready ? cycle : candidate->ready;
        uint64_t key = (cycle - floor) << KEY_CYCLE_SHIFT | (uint64_t)candidate->order << KEY_ORDER_SHIFT |
                       (uint64_t)(candidate->age - newest) << KEY_BANK_BITS | index;
        best = best < key ? best : key;
    }
    return best;
}

/* The bank of `banks`, which are busy, whose command is the best choice, and its cycle. Most banks wait to
 * activate, and are not looked at while another command comes before any activate may. */
static uint32_t best_bank(const struct dram_channel *channel, uint64_t banks, uint64_t *cycle_found)
{
    uint64_t earliest[DRAM_RANKS * DRAM_COMMANDS];
    uint64_t activate = find_earliest(channel, earliest) - channel->floor;
    uint64_t best = best_key(channel, banks & ~channel->closed, earliest, UINT64_MAX);
    uint64_t least = activate << KEY_CYCLE_SHIFT | (uint64_t)DRAM_ORDER_ROW << KEY_ORDER_SHIFT;
    if (best >= least)
        best = best_key(channel, banks & channel->closed, earliest, best);
    *cycle_found = channel->floor + (best >> KEY_CYCLE_SHIFT);
    return (uint32_t)best % (1U << KEY_BANK_BITS);
}

/* Rows that have not been used for the timeout, and that no queued burst needs. */
static void offer_timeouts(const struct dram_channel *channel, struct dram_choice *best)
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
        dram_choice_offer(best, cycle > channel->floor ? cycle : channel->floor,
                          dram_merit(DRAM_ORDER_TIMEOUT, index), DRAM_PRE, index);
    }
}

void dram_choose(struct dram_channel *channel)
{
    struct dram_choice *best = &channel->best;
    uint64_t banks = channel->busy & ~channel->frozen;
    if (banks) {
        uint32_t index = best_bank(channel, banks, &best->cycle);
        best->merit = merit_of(channel, index);
        best->command = channel->banks[index].command;
        best->bank = index;
    } else {
        best->cycle = CLOCK_NEVER;
        best->merit = UINT64_MAX;
        best->command = best->bank = 0;
    }
    if (channel->frozen)
        dram_refresh_offer(channel, best);
    if (channel->common->config.page == DRAM_PAGE_TIMEOUT)
        offer_timeouts(channel, best);
}

void dram_choose_arrival(struct dram_channel *channel, const struct dram_burst *burst)
{
    const struct dram_bank *bank = &channel->banks[burst->bank];
    const struct dram_burst *before = bank->burst;
    if (before && (bank->command != DRAM_PRE || burst->row != bank->row))
        return;
    dram_choose_bank(channel, burst->bank);
    if (bank->burst == before || channel->frozen >> burst->bank & 1)
        return;
    if (channel->best.bank == burst->bank)
        dram_choose(channel);
    else
        dram_choice_offer(&channel->best, cycle_of(channel, burst->bank), merit_of(channel, burst->bank),
                          (enum dram_command)bank->command, burst->bank);
}

/* Reads go first. Writes have their turn when there are no reads or when write_high of them wait, and until
 * write_low; neither turn lasts for ever when the other direction waits. */
static enum dram_direction direction_wanted(const struct dram_channel *channel)
{
    const struct dram_config *config = &channel->common->config;
    uint32_t reads = channel->queue.count[DRAM_READS], writes = channel->queue.count[DRAM_WRITES];
    uint32_t batch = config->write_high - config->write_low;
    if (!reads || !writes)
        return writes ? DRAM_WRITES : reads ? DRAM_READS : channel->direction;
    if (channel->direction == DRAM_READS)
        return (writes >= config->write_high || channel->pressed) && channel->turn >= batch ? DRAM_WRITES
                                                                                            : DRAM_READS;
    return writes > config->write_low && channel->turn < config->write_queue ? DRAM_WRITES : DRAM_READS;
}

void dram_choose_direction(struct dram_channel *channel)
{
    enum dram_direction wanted = direction_wanted(channel);
    if (wanted == channel->direction)
        return;
    channel->direction = wanted;
    channel->turn = 0;
    if (wanted == DRAM_WRITES)
        channel->counters.drains++;
    uint32_t banks = dram_config_channel_banks(&channel->common->config);
    for (uint32_t bank = 0; bank < banks; bank++)
        dram_choose_bank(channel, bank);
    dram_choose(channel);
}
