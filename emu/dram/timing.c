#include "emu/dram/timing.h"

#include <assert.h>
#include <string.h>

/* Where a rule between two commands takes effect. A rank command stands for all banks of the rank. */
static enum dram_target target_of(enum dram_scope scope, enum dram_command earlier, enum dram_command later)
{
    if (scope == DRAM_SCOPE_OTHER)
        return DRAM_TARGET_OTHER;
    if (scope == DRAM_SCOPE_RANK || dram_command_is_rank(earlier) || dram_command_is_rank(later))
        return DRAM_TARGET_RANK;
    return scope == DRAM_SCOPE_GROUP ? DRAM_TARGET_GROUP : DRAM_TARGET_BANK;
}

/* The longest delay between two commands that takes effect at target; 0 if there is none. */
static uint32_t longest(const struct dram_table *table, enum dram_command earlier, enum dram_command later,
                        enum dram_target target)
{
    uint32_t clocks = 0;
    for (size_t i = 0; i < table->rule_count; i++) {
        const struct dram_rule *rule = &table->rules[i];
        if (!(rule->earlier >> earlier & 1) || !(rule->later >> later & 1))
            continue;
        if (target_of(rule->scope, earlier, later) == target && rule->clocks > clocks)
            clocks = rule->clocks;
    }
    return clocks;
}

/* Adds the delays after earlier that take effect at target, without those that the whole rank has anyway. */
static void compile(struct dram_rules *rules, const struct dram_table *table, enum dram_command earlier,
                    enum dram_target target)
{
    uint32_t count = rules->other_ends[earlier];
    const uint32_t before = count;
    for (enum dram_command later = 0; later < DRAM_COMMANDS; later++) {
        uint32_t clocks = longest(table, earlier, later, target);
        assert(later == dram_timing_kind(later) ||
               clocks == longest(table, earlier, dram_timing_kind(later), target));
        bool narrow = target == DRAM_TARGET_BANK || target == DRAM_TARGET_GROUP;
        if (clocks == 0 || later != dram_timing_kind(later) ||
            (narrow && longest(table, earlier, later, DRAM_TARGET_RANK) >= clocks))
            continue;
        assert(count < DRAM_EFFECTS);
        rules->effects[earlier][count++] = (struct dram_effect){(uint8_t)target, (uint8_t)later, clocks};
    }
    rules->other_ends[earlier] = (uint8_t)count;
    if (target != DRAM_TARGET_OTHER)
        rules->ends[earlier] = (uint8_t)count;
    if (target == DRAM_TARGET_GROUP && count > before)
        rules->grouped |= 1U << earlier;
}

void dram_rules_init(struct dram_rules *rules, const struct dram_config *config)
{
    struct dram_table table;
    dram_table_init(&table, config);
    memset(rules, 0, sizeof *rules);
    for (enum dram_command earlier = 0; earlier < DRAM_COMMANDS; earlier++) {
        for (enum dram_target target = 0; target < DRAM_TARGETS; target++)
            compile(rules, &table, earlier, target);
        rules->bus[earlier] = config->dual_command && dram_command_is_column(earlier);
        rules->bus_clocks[earlier] = earlier == DRAM_ACT ? (uint8_t)config->act_clocks : 1;
    }
    memcpy(rules->windows, table.windows, sizeof rules->windows);
    rules->window_count = (uint32_t)table.window_count;
    rules->ranks = config->ranks;
    rules->groups = config->groups;
    rules->banks = config->banks;
    for (uint32_t bank = 0; bank < dram_config_channel_banks(config); bank++) {
        rules->group_of[bank] = (uint8_t)(bank / config->banks);
        rules->rank_of[bank] = (uint8_t)(bank / dram_config_rank_banks(config));
    }
}

void dram_timing_init(struct dram_timing *timing, const struct dram_rules *rules)
{
    memset(timing, 0, sizeof *timing);
    timing->rules = rules;
}

/* An activate is the newest of each window; the one that was `count` ago opens the next gap. */
static void pass_windows(struct dram_timing *timing, uint32_t rank, uint64_t cycle)
{
    const struct dram_rules *rules = timing->rules;
    for (uint32_t i = 0; i < rules->window_count; i++) {
        const struct dram_window *window = &rules->windows[i];
        struct dram_past *past = &timing->past[rank][i];
        past->cycles[past->next] = cycle;
        past->next = past->next + 1 == window->count ? 0 : past->next + 1;
        if (past->filled < window->count && ++past->filled < window->count)
            continue;
        uint64_t free = past->cycles[past->next] + window->clocks;
        if (timing->rank[rank][DRAM_ACT] < free)
            timing->rank[rank][DRAM_ACT] = free;
    }
}

/* What a command forbids other ranks. */
static void delay_others(struct dram_timing *timing, enum dram_command command, uint32_t rank, uint64_t cycle)
{
    const struct dram_rules *rules = timing->rules;
    for (uint32_t other = 0; other < rules->ranks; other++) {
        for (uint32_t i = rules->ends[command]; other != rank && i < rules->other_ends[command]; i++) {
            const struct dram_effect *effect = &rules->effects[command][i];
            uint64_t at = cycle + effect->clocks, *slot = &timing->rank[other][effect->later];
            *slot = *slot > at ? *slot : at;
        }
    }
}

void dram_timing_issue(struct dram_timing *timing, enum dram_command command, uint32_t bank, uint64_t cycle)
{
    const struct dram_rules *rules = timing->rules;
    const uint32_t rank = rules->rank_of[bank];
    uint64_t *const rows[] = {timing->bank[bank], timing->group[rules->group_of[bank]], timing->rank[rank]};
    const struct dram_effect *effect = rules->effects[command], *end = effect + rules->ends[command];

    timing->bus[rules->bus[command]] = cycle + rules->bus_clocks[command];
    for (; effect < end; effect++) {
        uint64_t at = cycle + effect->clocks, *slot = &rows[effect->target][effect->later];
        *slot = *slot > at ? *slot : at;
    }
    if (rules->ranks > 1)
        delay_others(timing, command, rank, cycle);
    if (command == DRAM_ACT)
        pass_windows(timing, rank, cycle);
}
