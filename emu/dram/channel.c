#include "emu/dram/channel.h"

#include <string.h>

void dram_channel_init(struct dram_channel *channel, const struct dram_common *common, uint32_t index)
{
    memset(channel, 0, sizeof *channel);
    channel->common = common;
    channel->index = index;
    channel->turn = UINT32_MAX / 2; /* no turn of writes is owed to reads */
    dram_queue_init(&channel->queue, &common->config);
    dram_timing_init(&channel->timing, &common->rules);
    dram_refresh_init(channel);
    dram_choose(channel);
}

void dram_channel_free(struct dram_channel *channel)
{
    dram_queue_free(&channel->queue);
}

static void tell(const struct dram_channel *channel, enum dram_command command, uint32_t index,
                 uint64_t cycle, const struct dram_burst *burst)
{
    const struct dram_common *common = channel->common;
    bool whole = dram_command_is_rank(command);
    uint32_t group = common->rules.group_of[index];
    struct dram_record record = {.cycle = cycle,
                                 .command = command,
                                 .channel = channel->index,
                                 .rank = common->rules.rank_of[index],
                                 .group = whole ? 0 : group % common->config.groups,
                                 .bank = whole ? 0 : index % common->config.banks,
                                 .row = burst ? burst->row : 0,
                                 .column = burst && command != DRAM_ACT ? burst->column : 0};
    OBSERVER_TELL(&common->observers, struct dram_observer, command, &record);
}

static inline void observe(const struct dram_channel *channel, enum dram_command command, uint32_t index,
                           uint64_t cycle, const struct dram_burst *burst)
{
    if (channel->common->observers.first)
        tell(channel, command, index, cycle, burst);
}

static uint64_t rank_mask(const struct dram_channel *channel, uint32_t rank)
{
    uint32_t banks = dram_config_rank_banks(&channel->common->config);
    return (banks >= 64 ? UINT64_MAX : (UINT64_C(1) << banks) - 1) << (rank * banks);
}

static void open_bank(struct dram_channel *channel, uint32_t index, uint64_t cycle)
{
    uint32_t rank = channel->common->rules.rank_of[index];
    struct dram_bank *bank = &channel->banks[index];
    if (!(channel->open & rank_mask(channel, rank)))
        channel->open_since[rank] = cycle;
    channel->open |= UINT64_C(1) << index;
    bank->row = bank->burst->row;
    bank->burst->opened = true;
    bank->streak = 0;
    bank->used = cycle;
    channel->counters.activates++;
}

static void close_banks(struct dram_channel *channel, uint32_t rank, uint64_t banks, uint64_t cycle)
{
    uint64_t mask = rank_mask(channel, rank);
    if (!(channel->open & mask))
        return;
    channel->open &= ~banks;
    if (!(channel->open & mask))
        channel->counters.open_clocks += cycle - channel->open_since[rank];
}

/* With the closed-page policy the last burst that is queued for a row closes it. */
static bool closes(const struct dram_channel *channel, uint32_t index, const struct dram_burst *burst)
{
    if (channel->common->config.page != DRAM_PAGE_CLOSED)
        return false;
    for (enum dram_direction direction = 0; direction < DRAM_DIRECTIONS; direction++) {
        const struct dram_burst *hit = dram_queue_hit(&channel->queue, direction, index, burst->row);
        while (hit && (hit == burst || hit->row != burst->row))
            hit = hit->next;
        if (hit)
            return false;
    }
    return true;
}

/* Issues RD or WR, or their kin with auto-precharge. */
static enum dram_command move_data(struct dram_channel *channel, uint32_t index, uint64_t cycle)
{
    struct dram_bank *bank = &channel->banks[index];
    struct dram_burst *burst = bank->burst;
    bool read = channel->direction == DRAM_READS, last = closes(channel, index, burst);
    enum dram_command command = read ? (last ? DRAM_RDA : DRAM_RD) : (last ? DRAM_WRA : DRAM_WR);

    bank->streak = burst == channel->queue.lists[channel->direction][index].first ? 0 : bank->streak + 1;
    bank->used = cycle;
    channel->counters.row_hits += !burst->opened;
    *(read ? &channel->counters.reads : &channel->counters.writes) += 1;
    if (channel->turn < UINT32_MAX / 2)
        channel->turn++;
    observe(channel, command, index, cycle, burst);
    if (last)
        close_banks(channel, channel->common->rules.rank_of[index], UINT64_C(1) << index, cycle);
    const struct dram_clocks *clocks = &channel->common->clocks;
    if (read)
        channel->common->read_done(channel->common->context, burst->request,
                                   cycle + clocks->tCL + clocks->tBURST);
    dram_queue_remove(&channel->queue, channel->direction, burst);
    channel->freed[channel->direction] = true;
    return command;
}

/* Issues PREA, REF or REFB. */
static void refresh(struct dram_channel *channel, enum dram_command command, uint32_t index, uint64_t cycle)
{
    uint32_t rank = channel->common->rules.rank_of[index];
    observe(channel, command, index, cycle, NULL);
    dram_timing_issue(&channel->timing, command, index, cycle);
    if (command == DRAM_PREA) {
        channel->counters.precharges++;
        close_banks(channel, rank, rank_mask(channel, rank), cycle);
    } else {
        dram_refresh_done(channel, command, index);
    }
    for (uint64_t left = rank_mask(channel, rank); left; left &= left - 1)
        dram_choose_bank(channel, (uint32_t)__builtin_ctzll(left));
}

/* The command comes, and delays others. */
static void delay(struct dram_channel *channel, enum dram_command command, uint32_t index, uint64_t cycle)
{
    dram_timing_issue(&channel->timing, command, index, cycle);
    if (channel->common->rules.grouped >> command & 1)
        dram_choose_group(channel, index);
}

/* Issues the chosen command and finds the bank's next. */
static void issue(struct dram_channel *channel)
{
    enum dram_command command = (enum dram_command)channel->best.command;
    const uint32_t index = channel->best.bank, rank = channel->common->rules.rank_of[index];
    const uint64_t cycle = channel->best.cycle;
    channel->floor = cycle;
    switch (command) {
    case DRAM_RD:
    case DRAM_WR:
        command = move_data(channel, index, cycle);
        delay(channel, command, index, cycle);
        dram_choose_bank(channel, index);
        dram_choose_direction(channel);
        break;
    case DRAM_ACT:
        observe(channel, command, index, cycle, channel->banks[index].burst);
        delay(channel, command, index, cycle);
        open_bank(channel, index, cycle);
        dram_choose_bank(channel, index);
        break;
    case DRAM_PRE:
        observe(channel, command, index, cycle, NULL);
        delay(channel, command, index, cycle);
        channel->counters.precharges++;
        close_banks(channel, rank, UINT64_C(1) << index, cycle);
        dram_choose_bank(channel, index);
        break;
    default: refresh(channel, command, index, cycle); break;
    }
    dram_choose(channel);
}

void dram_channel_run(struct dram_channel *channel, uint64_t limit)
{
    for (;;) {
        uint64_t due = channel->refresh_due;
        if (due < limit && due <= channel->best.cycle) {
            dram_refresh_skip(channel, limit);
            dram_refresh_begin(channel, channel->refresh_due);
        } else if (channel->best.cycle < limit) {
            issue(channel);
        } else {
            break;
        }
    }
    if (channel->floor < limit)
        channel->floor = limit;
}

void dram_channel_settle(struct dram_channel *channel)
{
    for (uint32_t rank = 0; rank < channel->common->config.ranks; rank++) {
        if (!(channel->open & rank_mask(channel, rank)))
            continue;
        channel->counters.open_clocks += channel->floor - channel->open_since[rank];
        channel->open_since[rank] = channel->floor;
    }
}

void dram_channel_add(struct dram_channel *channel, enum dram_direction direction,
                      const struct dram_burst *burst)
{
    if (channel->queue.age == UINT32_MAX)
        dram_choose_rebase(channel);
    const struct dram_burst *added = dram_queue_add(&channel->queue, direction, burst);
    dram_choose_direction(channel);
    if (direction == channel->direction)
        dram_choose_arrival(channel, added);
    else if (channel->common->config.page == DRAM_PAGE_TIMEOUT)
        dram_choose(channel);
}

void dram_channel_press(struct dram_channel *channel, bool pressed)
{
    channel->pressed = pressed;
    dram_choose_direction(channel);
}
