/* The agent of the queued requests: first ready, first come first served (FR-FCFS), with a cap on row hits
 * that overtake, and with reads and writes in turns. It usually has the most candidates, so the data for its
 * choice are updated at each command (find_candidate()) and not computed at each choice. */
#include "emu/dram/controller/channel.h"

/* Candidates are compared by one number, the key: 23 bits of cycles after floor (part_check(&dram_kind, )
 * allows no longer delay), then the merit, which contains the bank's number. */
enum { KEY_CYCLE_SHIFT = DRAM_MERIT_BITS };

/* Gates: for each rank, the kinds of commands that can be candidates. */
enum gate { GATE_READ, GATE_WRITE, GATE_PRE, GATE_ACT, GATE_KINDS };

static uint64_t later_of(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* Only the group's times have grown, so the banks' own times need not be read again. The loop is over a set
 * because GCC 12 considers the same loop over bank numbers free of side effects and drops calls of it. */
void dram_requests_group(struct dram_channel *channel, uint32_t index)
{
    const struct dram_rules *rules = channel->timing.rules;
    const uint64_t *group = channel->timing.group[0][channel->banks[index].group];
    struct dram_candidates *candidates = &channel->candidates;
    for (uint64_t left = dram_rules_group(rules, index); left; left &= left - 1) {
        uint32_t bank = (uint32_t)__builtin_ctzll(left);
        candidates->ready[bank] = later_of(candidates->ready[bank], group[candidates->next[bank].command]);
    }
}

/* The burst of an open bank that is served next without another row: the oldest one if it is for the open
 * row, or the oldest for that row as long as the cap on hits allows; else NULL. */
static inline struct dram_burst *find_hit(const struct dram_channel *channel, const struct dram_bank *bank,
                                          struct dram_burst *oldest)
{
    if (oldest->row == bank->row)
        return oldest;
    if (bank->streak >= channel->common->config.hit_cap)
        return NULL;
    while (oldest && oldest->row != bank->row)
        oldest = oldest->next;
    return oldest;
}

/* Sets the command that the bank's burst needs next, its earliest cycle and its merit. */
static inline void set_candidate(struct dram_channel *channel, uint32_t index, enum dram_command command,
                                 enum gate gate, enum dram_order order)
{
    const struct dram_bank *bank = &channel->banks[index];
    const struct dram_timing *timing = &channel->timing;
    struct dram_candidates *candidates = &channel->candidates;
    candidates->next[index].command = (uint8_t)command;
    candidates->next[index].gate = (uint8_t)(bank->rank * GATE_KINDS + gate);
    candidates->ready[index] =
        later_of(timing->bank[0][index][command], timing->group[0][bank->group][command]);
    candidates->merit[index] = dram_merit(order, bank->burst->age) | index;
}

static inline void set_column(struct dram_channel *channel, uint32_t index, struct dram_burst *burst,
                              enum dram_direction way)
{
    const bool read = way == DRAM_READS;
    channel->busy |= UINT64_C(1) << index;
    channel->banks[index].burst = burst;
    set_candidate(channel, index, read ? DRAM_RD : DRAM_WR, read ? GATE_READ : GATE_WRITE, DRAM_ORDER_COLUMN);
}

/* Finds the candidate of a bank; `open`: the bank has an open row. A row that was activated for a burst stays open
 * until that burst is served, even if the direction has changed; other bursts of the bank wait for it. */
static FORCE_INLINE void find_candidate(struct dram_channel *channel, uint32_t index, bool open)
{
    struct dram_bank *bank = &channel->banks[index];
    const uint64_t bit = UINT64_C(1) << index;
    struct dram_burst *oldest = channel->queue.lists[channel->direction][index].first, *hit;
    if (!open) {
        bank->owed = NULL;
    } else if (bank->owed) {
        set_column(channel, index, bank->owed, (enum dram_direction)bank->owed_way);
        return;
    }
    bank->burst = oldest;
    if (!oldest) {
        channel->busy &= ~bit;
        return;
    }
    channel->busy |= bit;
    if (!open)
        set_candidate(channel, index, DRAM_ACT, GATE_ACT,
                      channel->common->config.activate_first ? DRAM_ORDER_ACTIVATE : DRAM_ORDER_ROW);
    else if ((hit = find_hit(channel, bank, oldest)))
        set_column(channel, index, hit, channel->direction);
    else
        set_candidate(channel, index, DRAM_PRE, GATE_PRE, DRAM_ORDER_ROW);
}

void dram_requests_bank(struct dram_channel *channel, uint32_t index)
{
    find_candidate(channel, index, channel->open >> index & 1);
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
        channel->candidates.merit[__builtin_ctzll(left)] -= years << DRAM_MERIT_BANK_BITS;
    dram_channel_choose(channel);
}

/* Returns the earliest cycle of the bank's next command: dram_timing_ready() of a candidate. */
static inline uint64_t cycle_of(const struct dram_channel *channel, uint32_t index)
{
    const struct dram_timing *timing = &channel->timing;
    const uint8_t command = channel->candidates.next[index].command;
    const uint64_t shared = later_of(timing->rank[0][channel->banks[index].rank][command],
                                     timing->bus[timing->rules->bus[command]]);
    return later_of(later_of(channel->candidates.ready[index], shared), channel->floor);
}

/* Offers to close rows that were not used for the timeout and that no queued burst needs. */
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

/* Computes the earliest cycle that floor, bus and rank allow for each gate. */
static inline void find_gates(const struct dram_channel *channel, uint64_t *gates)
{
    const struct dram_timing *timing = &channel->timing;
    uint64_t row_bus = later_of(timing->bus[0], channel->floor);
    uint64_t column_bus = later_of(timing->bus[timing->rules->bus[DRAM_RD]], channel->floor);
    const uint64_t *from = timing->rank[0][0], *end = timing->rank[0][timing->rules->ranks];
    do {
        gates[GATE_READ] = later_of(from[DRAM_RD], column_bus);
        gates[GATE_WRITE] = later_of(from[DRAM_WR], column_bus);
        gates[GATE_PRE] = later_of(from[DRAM_PRE], row_bus);
        gates[GATE_ACT] = later_of(from[DRAM_ACT], row_bus);
        gates += GATE_KINDS;
        from += DRAM_PLACES;
    } while (from != end);
}

/* Returns the smallest key of the banks. This is the innermost loop of the model. */
static inline uint64_t least_key(const struct dram_channel *channel, uint64_t banks)
{
    const struct dram_candidates *candidates = &channel->candidates;
    const uint64_t floor = channel->floor;
    uint64_t gates[DRAM_RANKS * GATE_KINDS], best = UINT64_MAX;
    find_gates(channel, gates);
    for (uint64_t left = banks; left; left &= left - 1) {
        uint32_t bank = (uint32_t)__builtin_ctzll(left);
        uint64_t cycle = later_of(candidates->ready[bank], gates[candidates->next[bank].gate]);
        uint64_t key = (cycle - floor) << KEY_CYCLE_SHIFT | candidates->merit[bank];
        best = best < key ? best : key;
    }
    return best;
}

/* Returns the best next command of the requests. */
static FORCE_INLINE struct dram_choice propose(struct dram_channel *channel)
{
    struct dram_choice best = {.cycle = CLOCK_NEVER, .merit = UINT64_MAX, .agent = &channel->requests};
    const uint64_t banks = channel->busy & ~channel->frozen;
    if (banks) {
        uint64_t key = least_key(channel, banks);
        best.cycle = channel->floor + (key >> KEY_CYCLE_SHIFT);
        best.merit = key & ((UINT64_C(1) << KEY_CYCLE_SHIFT) - 1);
        best.bank = (uint32_t)key % (1U << DRAM_MERIT_BANK_BITS);
        best.command = channel->candidates.next[best.bank].command;
    }
    return best;
}

void dram_requests_propose(struct dram_channel *channel)
{
    channel->best = propose(channel);
    if (channel->common->config.page == DRAM_PAGE_TIMEOUT)
        offer_timeouts(channel, &channel->best);
}

void dram_requests_arrival(struct dram_channel *channel, const struct dram_burst *burst)
{
    const struct dram_bank *bank = &channel->banks[burst->bank];
    const struct dram_burst *before = bank->burst;
    if (before && (channel->candidates.next[burst->bank].command != DRAM_PRE || burst->row != bank->row))
        return;
    dram_requests_bank(channel, burst->bank);
    if (bank->burst == before || channel->frozen >> burst->bank & 1)
        return;
    if (channel->best.bank == burst->bank)
        dram_channel_choose(channel);
    else
        dram_choice_offer(&channel->best, &channel->requests, cycle_of(channel, burst->bank),
                          channel->candidates.merit[burst->bank],
                          (enum dram_command)channel->candidates.next[burst->bank].command, burst->bank);
}

/* Returns whether all bursts of the direction are for banks that an agent other than the refresh holds. */
static bool is_stuck(const struct dram_channel *channel, enum dram_direction direction)
{
    const uint32_t banks = dram_config_channel_banks(&channel->common->config);
    for (uint32_t bank = 0; bank < banks; bank++)
        if (!(channel->taken >> bank & 1) && channel->queue.lists[direction][bank].first)
            return false;
    return true;
}

/* Reads have precedence. Writes get their turn when there are no reads, when write_high of them are queued or
 * when a client waits for room, and keep it until write_low remain. Either turn is limited while the other
 * direction waits. */
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

/* Serves requests of this direction from now on. */
static void direct(struct dram_channel *channel, enum dram_direction direction)
{
    channel->direction = direction;
    channel->turn = 0;
    if (direction == DRAM_WRITES)
        channel->counters.drains++;
    uint32_t banks = dram_config_channel_banks(&channel->common->config);
    for (uint32_t bank = 0; bank < banks; bank++)
        dram_requests_bank(channel, bank);
}

bool dram_requests_redirect(struct dram_channel *channel)
{
    enum dram_direction wanted = direction_wanted(channel);
    if (wanted == channel->direction)
        return false;
    direct(channel, wanted);
    return true;
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

/* Removes from the queue a burst that was granted a slot. Returns the column command that moves it. */
static enum dram_command take(struct dram_channel *channel, uint32_t index, struct dram_burst *burst)
{
    const bool last = closes(channel, index, burst);
    struct dram_bank *bank = &channel->banks[index];
    const enum dram_direction direction =
        bank->owed ? (enum dram_direction)bank->owed_way : channel->direction;
    bank->owed = NULL;
    bank->streak = burst == channel->queue.lists[direction][index].first ? 0 : bank->streak + 1;
    bank->used = channel->floor;
    channel->counters.row_hits += !burst->opened;
    if (channel->turn < UINT32_MAX / 2)
        channel->turn++;
    dram_queue_remove(&channel->queue, direction, burst);
    channel->freed[direction] = true;
    return direction == DRAM_READS ? (last ? DRAM_RDA : DRAM_RD) : (last ? DRAM_WRA : DRAM_WR);
}

/* Issues a command whose change of the bank is known, and finds the bank's next candidate. */
static FORCE_INLINE void issue(struct dram_channel *channel, enum dram_command command,
                               enum dram_change change, uint32_t bank, uint32_t row, uint32_t column)
{
    dram_channel_issue_bank(channel, command, change, bank, row, column);
    find_candidate(channel, bank, change != DRAM_CHANGE_CLOSES);
}

/* Issues the chosen command, which is ACT, PRE, RD or WR; or RDA or WRA, which precharge automatically. Returns the
 * request for which it reads, or NULL. */
static FORCE_INLINE struct mem_request *grant(struct dram_channel *channel, enum dram_command chosen,
                                              uint32_t index)
{
    struct dram_burst *burst = channel->banks[index].burst;
    switch (chosen) {
    case DRAM_PRE: issue(channel, DRAM_PRE, DRAM_CHANGE_CLOSES, index, 0, 0); return NULL;
    case DRAM_ACT:
        burst->opened = true;
        channel->banks[index].owed = burst;
        channel->banks[index].owed_way = (uint8_t)channel->direction;
        issue(channel, DRAM_ACT, DRAM_CHANGE_OPENS, index, burst->row, 0);
        return NULL;
    default: break;
    }
    const uint32_t row = burst->row, column = burst->column;
    struct mem_request *request = burst->request; /* NULL for writes; take() releases the burst */
    const enum dram_command command = take(channel, index, burst);
    const bool closed = command == DRAM_RDA || command == DRAM_WRA;
    issue(channel, command, closed ? DRAM_CHANGE_CLOSES : DRAM_CHANGE_KEEPS, index, row, column);
    (void)dram_requests_turn(channel);
    return request;
}

/* Adds the commands of rows' timeouts and of other agents to the requests' best one. Returns the best of all. */
static struct dram_choice with_others(struct dram_channel *channel, struct dram_choice best)
{
    channel->best = best;
    if (channel->common->config.page == DRAM_PAGE_TIMEOUT)
        offer_timeouts(channel, &channel->best);
    if (channel->wanting)
        dram_channel_ask(channel);
    return channel->best;
}

/* The choice is copied, so that it stays in registers while only queued bursts have commands: the next one depends on it.
 * Nobody waits for the end of a read, which is told when the next command is chosen. */
void dram_requests_serve(struct dram_channel *channel, uint64_t limit)
{
    const struct dram_common *common = channel->common;
    const bool timeouts = channel->common->config.page == DRAM_PAGE_TIMEOUT;
    struct dram_choice best = channel->best;
    do {
        channel->floor = best.cycle;
        const uint64_t end = best.cycle + common->read_clocks;
        struct mem_request *request = grant(channel, (enum dram_command)best.command, best.bank);
        best = propose(channel);
        if (request)
            common->read_done(common->context, request, end);
        if (timeouts || channel->wanting)
            best = with_others(channel, best);
    } while (best.agent == &channel->requests && best.cycle < limit && best.cycle < channel->wake);
    channel->best = best;
}
