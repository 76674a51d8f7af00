#include "emu/dram/controller/timing.h"

#include <assert.h>
#include <string.h>

/* Returns where a rule between two commands takes effect. A command that affects several banks is delayed,
 * and delays others, as a whole. */
static enum dram_target target_of(const struct dram_rules *rules, enum dram_scope scope,
                                  enum dram_command earlier, enum dram_command later)
{
    const uint8_t extent =
        rules->extent[earlier] > rules->extent[later] ? rules->extent[earlier] : rules->extent[later];
    assert(scope != DRAM_SCOPE_OTHER || extent < DRAM_EXTENT_CHANNEL);
    if (scope == DRAM_SCOPE_OTHER)
        return DRAM_TARGET_OTHER;
    if (scope == DRAM_SCOPE_RANK || extent >= DRAM_EXTENT_RANK)
        return DRAM_TARGET_RANK;
    return scope == DRAM_SCOPE_GROUP || extent == DRAM_EXTENT_GROUP ? DRAM_TARGET_GROUP : DRAM_TARGET_BANK;
}

/* Returns a rule's delay from the first clock of one command to the first clock of the other. */
static uint32_t from_first_clock(const struct dram_rules *rules, enum dram_command earlier,
                                 enum dram_command later, uint32_t clocks)
{
    clocks += rules->shift[earlier];
    const uint32_t less = rules->shift[later];
    return clocks > less ? clocks - less : 0;
}

/* Returns the longest delay between two commands that takes effect at the target; 0 if there is none. */
static uint32_t longest(const struct dram_rules *rules, const struct dram_table *table,
                        enum dram_command earlier, enum dram_command later, enum dram_target target)
{
    uint32_t clocks = 0;
    for (size_t i = 0; i < table->rule_count; i++) {
        const struct dram_rule *rule = &table->rules[i];
        if (!(rule->earlier >> earlier & 1) || !(rule->later >> later & 1))
            continue;
        const uint32_t delay = from_first_clock(rules, earlier, later, rule->clocks);
        if (target_of(rules, rule->scope, earlier, later) == target && delay > clocks)
            clocks = delay;
    }
    return clocks;
}

/* Returns the place of a command's time, relative to that of command 0 in the same row of a target. */
static uint16_t place_of(enum dram_target target, enum dram_command command)
{
    static const uint16_t rows[] = {[DRAM_TARGET_BANK] = DRAM_BANKS,
                                    [DRAM_TARGET_GROUP] = DRAM_GROUPS,
                                    [DRAM_TARGET_RANK] = DRAM_RANKS,
                                    [DRAM_TARGET_OTHER] = DRAM_RANKS};
    return (uint16_t)(command / DRAM_PLACES * rows[target] * DRAM_PLACES + command % DRAM_PLACES);
}

/* Returns the delay that takes effect at the bank, unless the whole rank has a longer one. */
static uint32_t of_bank(const struct dram_rules *rules, const struct dram_table *table,
                        enum dram_command earlier, enum dram_command later)
{
    const uint32_t clocks = longest(rules, table, earlier, later, DRAM_TARGET_BANK);
    return clocks > longest(rules, table, earlier, later, DRAM_TARGET_RANK) ? clocks : 0;
}

/* Returns the target at which a command for one bank delays `later`, a refresh or a precharge. */
static enum dram_target target_at(const struct dram_rules *rules, enum dram_command later)
{
    return rules->extent[later] == DRAM_EXTENT_BANK ? DRAM_TARGET_BANK : DRAM_TARGET_RANK;
}

/* Refreshes and precharges of all banks are rare, but nearly every command delays them, mostly by as much as it delays
 * an activate or a precharge of its own bank. So these delays are not recorded at each command. When the rare command
 * is due, its time is computed from the banks' times of `as`. That is right only if no command delays `as` in its bank
 * for longer than the rare command; else the rare command keeps times of its own. */
static void take_bank_times(struct dram_rules *rules, const struct dram_table *table, enum dram_command rare,
                            enum dram_command as)
{
    for (enum dram_command earlier = 0; earlier < DRAM_COMMANDS && rules->commands[earlier].name; earlier++)
        if (rules->extent[earlier] <= DRAM_EXTENT_ALIKE &&
            of_bank(rules, table, earlier, as) > longest(rules, table, earlier, rare, target_at(rules, rare)))
            return;
    rules->bank_as[rare] = (uint8_t)as;
}

/* Returns whether `later` shares another command's bank times, and is delayed as long as that command. */
static bool is_shared(const struct dram_rules *rules, const struct dram_table *table,
                      enum dram_command earlier, enum dram_command later, enum dram_target target,
                      uint32_t clocks)
{
    const enum dram_command as = (enum dram_command)rules->bank_as[later];
    return as != later && rules->extent[earlier] == DRAM_EXTENT_BANK && target == target_at(rules, later) &&
           of_bank(rules, table, earlier, as) == clocks;
}

/* Adds the delays after `earlier` that take effect at the target, except those that are no longer than the
 * delay of the whole rank. */
static void compile(struct dram_rules *rules, const struct dram_table *table, enum dram_command earlier,
                    enum dram_target target)
{
    uint32_t count = rules->other_ends[earlier];
    const uint32_t before = count;
    for (enum dram_command later = 0; later < DRAM_COMMANDS && rules->commands[later].name; later++) {
        uint32_t clocks = longest(rules, table, earlier, later, target);
        assert(clocks == longest(rules, table, earlier, rules->timed_as[later], target));
        assert(clocks < DRAM_DELAY);
        bool narrow = target == DRAM_TARGET_BANK || target == DRAM_TARGET_GROUP;
        if (clocks == 0 || later != rules->timed_as[later] ||
            is_shared(rules, table, earlier, later, target, clocks) ||
            (narrow && longest(rules, table, earlier, later, DRAM_TARGET_RANK) >= clocks))
            continue;
        assert(count < DRAM_EFFECTS);
        rules->effects[earlier][count++] =
            (struct dram_effect){(uint16_t)target, place_of(target, later), clocks};
    }
    rules->other_ends[earlier] = (uint8_t)count;
    if (target != DRAM_TARGET_OTHER)
        rules->ends[earlier] = (uint8_t)count;
    if (target == DRAM_TARGET_GROUP) {
        rules->near_ends[earlier] = (uint8_t)count;
        if (count > before && rules->extent[earlier] != DRAM_EXTENT_ALIKE)
            rules->grouped |= 1U << earlier;
    }
}

/* Copies the columns of the commands that every command needs. */
static void take_commands(struct dram_rules *rules, const struct dram_config *config)
{
    rules->commands = dram_commands(config);
    for (enum dram_command command = 0; command < DRAM_COMMANDS; command++) {
        const struct dram_command_row *row = &rules->commands[command];
        assert(row->change != DRAM_CHANGE_OPENS || row->extent <= DRAM_EXTENT_ALIKE);
        if (row->change == DRAM_CHANGE_OPENS && row->extent == DRAM_EXTENT_ALIKE)
            rules->wide_open = command;
        rules->bus[command] = config->dual_command && row->bus == DRAM_BUS_COLUMN;
        rules->bus_clocks[command] = (uint8_t)dram_command_clocks(config, command);
        rules->shift[command] = (uint8_t)dram_command_shift(config, command);
        rules->timed_as[command] = (uint8_t)row->timed_as;
        rules->bank_as[command] = (uint8_t)command;
        rules->extent[command] = (uint8_t)row->extent;
        rules->change[command] = (uint8_t)row->change;
        rules->counter[command] = (uint16_t)row->counter;
    }
}

void dram_rules_compile(struct dram_rules *rules, const struct dram_config *config,
                        const struct dram_table *table)
{
    memset(rules, 0, sizeof *rules);
    rules->act4 = dram_config_clocks(config).tACT4;
    take_commands(rules, config);
    take_bank_times(rules, table, DRAM_PREA, DRAM_PRE);
    take_bank_times(rules, table, DRAM_REF, DRAM_ACT);
    take_bank_times(rules, table, DRAM_REFB, DRAM_ACT);
    for (enum dram_command earlier = 0; earlier < DRAM_COMMANDS && rules->commands[earlier].name; earlier++)
        for (enum dram_target target = 0; target < DRAM_TARGETS; target++)
            compile(rules, table, earlier, target);
    memcpy(rules->windows, table->windows, sizeof rules->windows);
    for (size_t i = 0; i < table->window_count; i++)
        assert(table->windows[i].count <= DRAM_WINDOW_COUNT);
    rules->window_count = (uint32_t)table->window_count;
    rules->ranks = config->ranks;
    rules->groups = config->groups;
    rules->wide = dram_config_wide(config);
    rules->banks = config->banks;
    for (uint32_t group = 0; group < rules->wide; group++)
        rules->firsts |= UINT64_C(1) << group * config->banks;
    for (uint32_t bank = 0; bank < dram_config_channel_banks(config); bank++) {
        rules->group_of[bank] = (uint8_t)(bank / config->banks);
        rules->rank_of[bank] = (uint8_t)(bank / dram_config_rank_banks(config));
        rules->rank_banks[rules->rank_of[bank]] |= UINT64_C(1) << bank;
    }
}

void dram_rules_init(struct dram_rules *rules, const struct dram_config *config)
{
    struct dram_table table;
    dram_table_init(&table, config);
    dram_rules_compile(rules, config, &table);
}

void dram_timing_init(struct dram_timing *timing, const struct dram_rules *rules)
{
    memset(timing, 0, sizeof *timing);
    timing->rules = rules;
}

uint64_t dram_timing_rank_banks(const struct dram_timing *timing, enum dram_command command, uint32_t rank)
{
    uint64_t ready = 0;
    for (uint64_t left = timing->rules->rank_banks[rank]; left; left &= left - 1) {
        const uint64_t time = timing->bank[0][__builtin_ctzll(left)][command];
        ready = ready > time ? ready : time;
    }
    return ready;
}

/* Delays the command that opens a bank of each group until the window has room for so many activates. */
static void leave_room(struct dram_timing *timing, uint32_t rank, const struct dram_past *past,
                       uint32_t count)
{
    const struct dram_rules *rules = timing->rules;
    assert(rules->wide <= count);
    const uint64_t end = past->ends[(past->next + rules->wide - 1) % count];
    uint64_t *slot = &timing->rank[rules->wide_open / DRAM_PLACES][rank][rules->wide_open % DRAM_PLACES];
    *slot = *slot > end ? *slot : end;
}

/* Records an activate in each window of the rank, and delays the next one until the window has room for
 * it. */
void dram_timing_pass_windows(struct dram_timing *timing, uint32_t rank, uint64_t cycle)
{
    const struct dram_rules *rules = timing->rules;
    uint64_t *slot = &timing->rank[0][rank][DRAM_ACT];
    for (uint32_t i = 0; i < rules->window_count; i++) {
        const struct dram_window *window = &rules->windows[i];
        struct dram_past *past = &timing->past[rank][i];
        past->ends[past->next] = cycle + window->clocks;
        past->next = past->next + 1 == window->count ? 0 : past->next + 1;
        *slot = *slot > past->ends[past->next] ? *slot : past->ends[past->next];
        if (rules->wide_open)
            leave_room(timing, rank, past, window->count);
    }
}

uint64_t dram_timing_alike(const struct dram_timing *timing, enum dram_command command, uint32_t bank)
{
    const struct dram_rules *rules = timing->rules;
    const uint32_t plane = command / DRAM_PLACES, place = command % DRAM_PLACES,
                   group = rules->group_of[bank] & ~(rules->wide - 1);
    const uint64_t *own = &timing->bank[plane][group * rules->banks + bank % rules->banks][place],
                   *of_group = &timing->group[plane][group][place];
    uint64_t ready = 0;
    for (uint32_t i = 0; i < rules->wide; i++) {
        ready = ready > *own ? ready : *own;
        ready = ready > *of_group ? ready : *of_group;
        own += (size_t)rules->banks * DRAM_PLACES;
        of_group += DRAM_PLACES;
    }
    return ready;
}

static inline void delay(uint64_t *slot, uint64_t at)
{
    *slot = *slot > at ? *slot : at;
}

/* Activates in the other groups follow the first one in equal steps; the last one comes act4 clocks after it. Delays are recorded
 * for the given bank's group once more, which changes nothing. */
void dram_timing_spread(struct dram_timing *timing, enum dram_command command, uint32_t bank, uint64_t cycle)
{
    const struct dram_rules *rules = timing->rules;
    const struct dram_effect *end = rules->effects[command] + rules->near_ends[command];
    const uint32_t group = rules->group_of[bank] & ~(rules->wide - 1);
    uint64_t *const rows[] = {timing->bank[0][group * rules->banks + bank % rules->banks],
                              timing->group[0][group]};
    const size_t steps[] = {(size_t)rules->banks * DRAM_PLACES, DRAM_PLACES};
    for (const struct dram_effect *effect = rules->effects[command]; effect < end; effect++) {
        const uint64_t at = cycle + effect->clocks;
        const size_t step = steps[effect->target];
        uint64_t *slot = &rows[effect->target][effect->place];
        if (rules->wide == 4) { /* as in most memories with groups: four steps without a loop */
            delay(slot, at);
            delay(slot + step, at);
            delay(slot + 2 * step, at);
            delay(slot + 3 * step, at);
            continue;
        }
        for (uint32_t i = 0; i < rules->wide; i++, slot += step)
            delay(slot, at);
    }
    for (uint32_t nth = 1; rules->change[command] == DRAM_CHANGE_OPENS && nth < rules->wide; nth++)
        dram_timing_pass_windows(timing, rules->rank_of[bank],
                                 cycle + (uint64_t)rules->act4 * nth / (rules->wide - 1));
}

/* Applies a command's delays to the other ranks. A command for the channel delays each rank as its own. */
void dram_timing_delay_others(struct dram_timing *timing, enum dram_command command, uint32_t rank,
                              uint64_t cycle)
{
    const struct dram_rules *rules = timing->rules;
    const uint32_t first = rules->extent[command] == DRAM_EXTENT_CHANNEL ? 0 : rules->ends[command];
    for (uint32_t other = 0; other < rules->ranks; other++) {
        uint64_t *row = timing->rank[0][other]; /* effect->place counts from here, in all planes */
        for (uint32_t i = first; other != rank && i < rules->other_ends[command]; i++) {
            const struct dram_effect *effect = &rules->effects[command][i];
            uint64_t at = cycle + effect->clocks, *slot = &row[effect->place];
            *slot = *slot > at ? *slot : at;
        }
    }
}
