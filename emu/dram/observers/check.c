#include "emu/dram/observers/check.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "emu/dram/standard.h"
#include "emu/sim/alloc.h"

/* Returns the clocks of a time. Like all of this file, it is written independently of config.c, so that
 * errors in one of the two show. */
static uint32_t ck(const struct dram_config *config, uint64_t femtoseconds)
{
    uint64_t whole = femtoseconds / config->tCK;
    return (uint32_t)(femtoseconds % config->tCK ? whole + 1 : whole);
}

static uint32_t longer(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

static bool is_read(enum dram_command command)
{
    return command == DRAM_RD || command == DRAM_RDA;
}

static bool is_write(enum dram_command command)
{
    return command == DRAM_WR || command == DRAM_WRA;
}

static bool moves_data(enum dram_command command)
{
    return is_read(command) || is_write(command);
}

static bool is_for_rank(enum dram_command command)
{
    return command == DRAM_PREA || command == DRAM_REF;
}

static bool is_precharge(enum dram_command command)
{
    return command == DRAM_PRE || command == DRAM_PREA;
}

static bool is_refresh(enum dram_command command)
{
    return command == DRAM_REF || command == DRAM_REFB;
}

/* Returns the gap between two commands for the same bank. */
static uint32_t bank_gap(const struct dram_config *c, enum dram_command earlier, enum dram_command later)
{
    bool starts = later == DRAM_ACT || is_refresh(later);
    uint32_t read_to_precharge = ck(c, c->tRTP);
    uint32_t write_to_precharge = ck(c, c->tCWL) + ck(c, c->tBURST) + ck(c, c->tWR);
    switch (earlier) {
    case DRAM_ACT:
        if (is_read(later))
            return ck(c, c->tRCDRD);
        if (is_write(later))
            return ck(c, c->tRCDWR);
        return is_precharge(later) ? ck(c, c->tRAS) : ck(c, c->tRC);
    case DRAM_RD: return is_precharge(later) ? read_to_precharge : 0;
    case DRAM_WR: return is_precharge(later) ? write_to_precharge : 0;
    case DRAM_RDA: return starts ? read_to_precharge + ck(c, c->tRP) : 0;
    case DRAM_WRA: return starts ? write_to_precharge + ck(c, c->tRP) : 0;
    case DRAM_PRE: return starts ? ck(c, c->tRP) : 0;
    case DRAM_PREA: return starts ? longer(ck(c, c->tRP), ck(c, c->tRPAB)) : 0;
    case DRAM_REFB: return starts ? ck(c, c->tRFCB) : 0;
    default: return 0;
    }
}

/* Returns the gap between two commands for one rank; `near`: in the same bank group. */
static uint32_t rank_gap(const struct dram_config *c, enum dram_command earlier, enum dram_command later,
                         bool near)
{
    bool grouped = near && c->bank_groups;
    uint32_t burst = ck(c, c->tBURST);
    if (earlier == DRAM_ACT && later == DRAM_ACT)
        return ck(c, grouped ? c->tRRDL : c->tRRDS);
    if (is_write(earlier) && is_write(later) && grouped)
        return longer(ck(c, c->tCCDL), ck(c, c->tCCDLWR));
    if ((is_read(earlier) && is_read(later)) || (is_write(earlier) && is_write(later)))
        return ck(c, grouped ? c->tCCDL : c->tCCDS);
    if (is_read(earlier) && is_write(later))
        return ck(c, c->tCL) + burst + ck(c, c->tTURN) - ck(c, c->tCWL);
    if (is_write(earlier) && is_read(later))
        return ck(c, c->tCWL) + burst + ck(c, grouped ? c->tWTRL : c->tWTRS);
    if (earlier == DRAM_REF && (later == DRAM_ACT || is_refresh(later)))
        return ck(c, c->tRFC);
    if (earlier == DRAM_REFB && later == DRAM_REFB)
        return longer(ck(c, c->tRREFD), ck(c, c->tRREFB));
    if (earlier == DRAM_REFB && later == DRAM_ACT)
        return ck(c, c->tRREFD);
    if (earlier == DRAM_ACT && later == DRAM_REFB)
        return ck(c, grouped ? c->tRRDL : c->tRRDS);
    if (is_precharge(earlier) && is_precharge(later))
        return ck(c, c->tPPD);
    return 0;
}

/* Returns the gap between commands for different ranks, which share only the data bus: the later data must
 * start tRTRS after the end of the earlier data. */
static uint32_t other_rank_gap(const struct dram_config *c, enum dram_command earlier,
                               enum dram_command later)
{
    if (!moves_data(earlier) || !moves_data(later))
        return 0;
    uint32_t end = ck(c, is_read(earlier) ? c->tCL : c->tCWL) + ck(c, c->tBURST) + ck(c, c->tRTRS);
    uint32_t start = ck(c, is_read(later) ? c->tCL : c->tCWL);
    return end > start ? end - start : 0;
}

/* Returns the command of command.def that a command for one bank of each group performs in each group. It keeps
 * the distances of that command, except among its own parts. Returns other commands unchanged. */
static enum dram_command part_of(const struct dram_command_row *row, enum dram_command command)
{
    if (row->extent != DRAM_EXTENT_ALIKE)
        return command;
    if (row->change == DRAM_CHANGE_OPENS)
        return DRAM_ACT;
    if (row->change == DRAM_CHANGE_CLOSES)
        return DRAM_PRE;
    return row->data == DRAM_DATA_WRITE_INSIDE ? DRAM_WR : DRAM_RD;
}

static bool is_inside(const struct dram_command_row *row)
{
    return row->data == DRAM_DATA_READ_INSIDE || row->data == DRAM_DATA_WRITE_INSIDE;
}

/* Returns whether two commands for a bank of each group can be for different groups. */
static bool is_split(const struct dram_config *c)
{
    return dram_config_wide(c) < c->groups;
}

/* Returns the gap between two columns of a rank, at least one of which leaves the pins alone. */
static uint32_t inside_gap(const struct dram_config *c, const struct dram_command_row *earlier,
                           const struct dram_command_row *later, enum dram_relation relation)
{
    const bool written = earlier->data == DRAM_DATA_WRITE || earlier->data == DRAM_DATA_WRITE_INSIDE,
               read = later->data == DRAM_DATA_READ || later->data == DRAM_DATA_READ_INSIDE,
               each = c->inside == DRAM_INSIDE_CLOCK && is_inside(earlier) && is_inside(later);
    const uint32_t column = each ? 1 : ck(c, c->bank_groups ? c->tCCDL : c->tCCDS),
                   stored = ck(c, c->tCWL) + (is_inside(earlier) ? 0 : ck(c, c->tBURST)); /* data are in */
    if (relation == DRAM_SAME_RANK && is_split(c) && (!written || !read || is_inside(earlier)))
        return 0; /* groups of their own */
    if (!written || !read)
        return column;
    if (each)
        return relation == DRAM_SAME_BANK ? stored + 1 : 1;
    return stored + ck(c, c->bank_groups ? c->tWTRL : c->tWTRS);
}

/* Returns whether both commands affect one common `place`: a bank, a group or a rank. */
static bool meet(const struct dram_command_row *earlier, const struct dram_command_row *later,
                 enum dram_relation relation, enum dram_extent place)
{
    const bool bank = relation == DRAM_SAME_BANK, group = bank || relation == DRAM_SAME_GROUP;
    if (earlier->extent == DRAM_EXTENT_CHANNEL || later->extent == DRAM_EXTENT_CHANNEL)
        return true;
    if (relation == DRAM_OTHER_RANK)
        return false;
    if (earlier->extent == DRAM_EXTENT_RANK || later->extent == DRAM_EXTENT_RANK || place == DRAM_EXTENT_RANK)
        return true;
    if (earlier->extent == DRAM_EXTENT_GROUP || later->extent == DRAM_EXTENT_GROUP ||
        place == DRAM_EXTENT_GROUP)
        return group;
    return bank;
}

/* Returns the longest gap of the standard's rules for a pair with an additional command. */
static uint32_t own_gap(const struct dram_config *config, enum dram_command earlier, enum dram_command later,
                        enum dram_relation relation)
{
    static const enum dram_extent places[] = {[DRAM_SCOPE_BANK] = DRAM_EXTENT_BANK,
                                              [DRAM_SCOPE_GROUP] = DRAM_EXTENT_GROUP,
                                              [DRAM_SCOPE_RANK] = DRAM_EXTENT_RANK};
    const struct dram_command_row *commands = dram_commands(config);
    struct dram_table table;
    uint32_t gap = 0;
    dram_table_init(&table, config);
    for (size_t i = 0; i < table.rule_count; i++) {
        const struct dram_rule *rule = &table.rules[i];
        bool holds = rule->scope == DRAM_SCOPE_OTHER
                         ? relation == DRAM_OTHER_RANK
                         : meet(&commands[earlier], &commands[later], relation, places[rule->scope]);
        if (rule->earlier & 1U << earlier && rule->later & 1U << later && holds)
            gap = longer(gap, rule->clocks);
    }
    return gap;
}

/* Returns the gap between the clocks that the standard's times count from. */
static uint32_t stated_gap(const struct dram_config *config, enum dram_command earlier,
                           enum dram_command later, enum dram_relation relation)
{
    const struct dram_command_row *rows = dram_commands(config);
    const enum dram_command first = part_of(&rows[earlier], earlier), second = part_of(&rows[later], later);
    if (first >= DRAM_OWN || second >= DRAM_OWN)
        return own_gap(config, earlier, later, relation);
    if (relation != DRAM_OTHER_RANK && moves_data(first) && moves_data(second) &&
        (is_inside(&rows[earlier]) || is_inside(&rows[later])))
        return inside_gap(config, &rows[earlier], &rows[later], relation);
    if ((first != earlier || second != later) && relation != DRAM_OTHER_RANK) {
        /* Both commands have parts in the same group, unless a half has each. The last of several activates comes tACT4 later. */
        const enum dram_relation near =
            relation == DRAM_SAME_RANK && !is_split(config) ? DRAM_SAME_GROUP : relation;
        const uint32_t gap = longer(stated_gap(config, first, second, near),
                                    stated_gap(config, first, second, DRAM_SAME_RANK));
        return gap && first == DRAM_ACT && first != earlier ? gap + ck(config, config->tACT4) : gap;
    }
    if (relation == DRAM_OTHER_RANK)
        return other_rank_gap(config, earlier, later);
    uint32_t gap = rank_gap(config, earlier, later, relation != DRAM_SAME_RANK);
    /* A command for a rank affects each of its banks. */
    bool same_bank = relation == DRAM_SAME_BANK || is_for_rank(earlier) || is_for_rank(later);
    return same_bank ? longer(gap, bank_gap(config, earlier, later)) : gap;
}

/* Returns the clocks for which a command occupies its command bus, after the first. */
static uint32_t last_clock(const struct dram_config *config, enum dram_command command)
{
    if (command == DRAM_ACT)
        return config->act_clocks - 1;
    return moves_data(command) ? config->column_clocks - 1 : 0;
}

uint32_t dram_checker_gap(const struct dram_config *config, enum dram_command earlier,
                          enum dram_command later, enum dram_relation relation)
{
    const uint32_t gap = stated_gap(config, earlier, later, relation);
    if (gap == 0 || !config->act_last_clock)
        return gap;
    const uint32_t from = gap + last_clock(config, earlier), less = last_clock(config, later);
    return from > less ? from - less : 0;
}

void dram_checker_init(struct dram_checker *checker, const struct dram_config *config)
{
    *checker = (struct dram_checker){.config = *config, .rows = dram_commands(config)};
    for (enum dram_command earlier = 0; earlier < DRAM_COMMANDS; earlier++)
        for (enum dram_command later = 0; later < DRAM_COMMANDS; later++)
            for (enum dram_relation relation = 0; relation < DRAM_RELATIONS; relation++) {
                if (!checker->rows[earlier].name || !checker->rows[later].name)
                    continue;
                uint32_t gap = dram_checker_gap(config, earlier, later, relation);
                checker->gaps[earlier][later][relation] = gap;
                checker->reach = longer(checker->reach, gap);
            }
    checker->channels = alloc(config->channels, sizeof *checker->channels);
}

void dram_checker_free(struct dram_checker *checker)
{
    free(checker->channels);
    checker->channels = NULL;
}

static bool violation(struct dram_checker *checker, const struct dram_record *record, const char *rule)
{
    if (checker->violations++ == 0)
        (void)error_set(&checker->first,
                        "cycle %" PRIu64 ", channel %" PRIu32 ", %s of rank %" PRIu32 ", group %" PRIu32
                        ", bank %" PRIu32 ", row %" PRIu32 ": %s",
                        record->cycle, record->channel, checker->rows[record->command].name, record->rank,
                        record->group, record->bank, record->row, rule);
    return false;
}

static enum dram_relation relation_of(const struct dram_checker *checker, const struct dram_record *a,
                                      const struct dram_record *b)
{
    const bool alike = checker->rows[a->command].extent == DRAM_EXTENT_ALIKE ||
                       checker->rows[b->command].extent == DRAM_EXTENT_ALIKE;
    if (a->rank != b->rank)
        return DRAM_OTHER_RANK;
    const uint32_t wide = alike ? dram_config_wide(&checker->config) : 1;
    if (a->group / wide != b->group / wide)
        return DRAM_SAME_RANK;
    return a->bank == b->bank ? DRAM_SAME_BANK : DRAM_SAME_GROUP;
}

static bool on_column_bus(const struct dram_checker *checker, enum dram_command command)
{
    return command < DRAM_OWN ? moves_data(command) : checker->rows[command].bus == DRAM_BUS_COLUMN;
}

/* Checks the distance from each remembered command, back to the longest gap of any rule. */
static bool check_gaps(struct dram_checker *checker, const struct dram_checker_channel *channel,
                       const struct dram_record *record)
{
    const struct dram_config *c = &checker->config;
    const uint32_t reach = longer(checker->reach, longer(c->act_clocks, c->column_clocks));
    for (uint64_t age = 1; age <= channel->count && age <= DRAM_HISTORY; age++) {
        const struct dram_record *past = &channel->past[(channel->count - age) % DRAM_HISTORY];
        if (past->cycle > record->cycle)
            return violation(checker, record, "earlier than the command before it");
        uint64_t distance = record->cycle - past->cycle;
        if (distance > reach)
            break;
        bool same_bus = !c->dual_command ||
                        on_column_bus(checker, past->command) == on_column_bus(checker, record->command);
        if (same_bus && distance <= last_clock(c, past->command))
            return violation(checker, record, "the command bus is busy");
        uint32_t gap = checker->gaps[past->command][record->command][relation_of(checker, past, record)];
        if (distance < gap) {
            char rule[160];
            (void)snprintf(rule, sizeof rule,
                           "%" PRIu64 " clocks after %s of group %" PRIu32 ", bank %" PRIu32
                           "; the minimum is %" PRIu32,
                           distance, checker->rows[past->command].name, past->group, past->bank, gap);
            return violation(checker, record, rule);
        }
    }
    return true;
}

/* Checks that at most `limit` activates of the rank are within `span` (fs). The command has `together` activates.
 * With the `limit` + 1 - `together` before it they are one too many, so the first of those must be at least
 * `span` earlier than the command. */
static bool check_window(struct dram_checker *checker, const struct dram_checker_channel *channel,
                         const struct dram_record *record, uint32_t together, uint32_t limit, uint64_t span,
                         const char *rule)
{
    uint64_t count = channel->activate_count[record->rank];
    const uint32_t before = limit + 1 - together;
    if (span == 0 || count < before)
        return true;
    uint64_t past = channel->activates[record->rank][(count - before) % 32];
    return record->cycle - past >= ck(&checker->config, span) || violation(checker, record, rule);
}

/* Checks that the data of two commands do not overlap on the bus and keep the gap between ranks and from
 * reads to writes. */
static bool check_data(struct dram_checker *checker, struct dram_checker_channel *channel,
                       const struct dram_record *record)
{
    const struct dram_config *c = &checker->config;
    bool written = is_write(record->command) || checker->rows[record->command].data == DRAM_DATA_WRITE;
    uint64_t start = record->cycle + ck(c, written ? c->tCWL : c->tCL) +
                     (c->act_last_clock ? last_clock(c, record->command) : 0);
    uint64_t end = channel->data_end;
    bool fits = start >= end;
    if (end && record->rank != channel->data_rank)
        fits = start >= end + ck(c, c->tRTRS);
    else if (end && written && !channel->data_written)
        fits = start >= end + ck(c, c->tTURN);
    channel->data_end = start + ck(c, c->tBURST);
    channel->data_rank = record->rank;
    channel->data_written = written;
    return fits || violation(checker, record, "its data overlap other data on the bus");
}

/* Checks that the bank was refreshed within 9 tREFI: the average interval with 8 postponed refreshes
 * (JESD79-3). */
static bool check_refresh(struct dram_checker *checker, const struct dram_checker_channel *channel,
                          const struct dram_record *record, uint32_t bank)
{
    const struct dram_config *c = &checker->config;
    if (c->refresh == DRAM_REFRESH_NONE)
        return true;
    uint64_t late = record->cycle - channel->refreshed[bank];
    return late <= 9 * (c->tREFI / c->tCK) ||
           violation(checker, record, "the bank was not refreshed within 9 tREFI");
}

/* Returns whether an additional command affects the bank. */
static bool own_concerns(const struct dram_checker *checker, const struct dram_record *record, uint32_t bank)
{
    const struct dram_config *c = &checker->config;
    const struct dram_command_row *row = &checker->rows[record->command];
    const bool rank = bank / dram_config_rank_banks(c) == record->rank;
    const bool group = rank && bank / c->banks % c->groups == record->group;
    switch (row->extent) {
    case DRAM_EXTENT_BANK: return group && bank % c->banks == record->bank;
    case DRAM_EXTENT_ALIKE:
        return rank && bank % c->banks == record->bank &&
               bank / c->banks % c->groups / dram_config_wide(c) == record->group / dram_config_wide(c);
    case DRAM_EXTENT_GROUP: return group;
    case DRAM_EXTENT_RANK: return rank;
    default: return true;
    }
}

/* check_state() for an additional command. */
static bool check_own_state(struct dram_checker *checker, struct dram_checker_channel *channel,
                            const struct dram_record *record)
{
    const struct dram_command_row *row = &checker->rows[record->command];
    for (uint32_t bank = 0; bank < dram_config_channel_banks(&checker->config); bank++) {
        if (!own_concerns(checker, record, bank))
            continue;
        if (row->needs == DRAM_NEEDS_OPEN && !channel->open[bank])
            return violation(checker, record, "the bank is closed");
        if (row->needs == DRAM_NEEDS_CLOSED && channel->open[bank])
            return violation(checker, record, "the bank is open");
        if (row->bus == DRAM_BUS_COLUMN && row->extent <= DRAM_EXTENT_ALIKE && channel->open[bank] &&
            channel->row[bank] != record->row)
            return violation(checker, record, "another row is open");
        if (row->change == DRAM_CHANGE_KEEPS)
            continue;
        channel->open[bank] = row->change == DRAM_CHANGE_OPENS;
        channel->row[bank] = record->row;
        if (row->change == DRAM_CHANGE_OPENS && !check_refresh(checker, channel, record, bank))
            return false;
    }
    return true;
}

/* Checks that the affected banks are in the state that the command needs, and updates their state. */
static bool check_state(struct dram_checker *checker, struct dram_checker_channel *channel,
                        const struct dram_record *record)
{
    uint32_t rank_banks = dram_config_rank_banks(&checker->config);
    uint32_t bank = record->rank * rank_banks + record->group * checker->config.banks + record->bank;
    uint32_t first = record->rank * rank_banks;
    switch (record->command) {
    case DRAM_ACT:
        if (channel->open[bank])
            return violation(checker, record, "the bank is open already");
        channel->open[bank] = true;
        channel->row[bank] = record->row;
        return check_refresh(checker, channel, record, bank);
    case DRAM_PRE: channel->open[bank] = false; return true;
    case DRAM_PREA:
        for (uint32_t i = 0; i < rank_banks; i++)
            channel->open[first + i] = false;
        return true;
    case DRAM_REF:
        for (uint32_t i = 0; i < rank_banks; i++) {
            if (channel->open[first + i])
                return violation(checker, record, "a bank of the rank is open");
            channel->refreshed[first + i] = record->cycle;
        }
        return true;
    case DRAM_REFB:
        channel->refreshed[bank] = record->cycle;
        return !channel->open[bank] || violation(checker, record, "the bank is open");
    case DRAM_RD:
    case DRAM_RDA:
    case DRAM_WR:
    case DRAM_WRA:
        if (!channel->open[bank])
            return violation(checker, record, "the bank is closed");
        channel->open[bank] = record->command == DRAM_RD || record->command == DRAM_WR;
        return channel->row[bank] == record->row || violation(checker, record, "another row is open");
    default: return check_own_state(checker, channel, record);
    }
}

static bool opens(const struct dram_checker *checker, enum dram_command command)
{
    return command == DRAM_ACT || (command >= DRAM_OWN && checker->rows[command].change == DRAM_CHANGE_OPENS);
}

bool dram_checker_command(struct dram_checker *checker, const struct dram_record *record)
{
    const struct dram_config *c = &checker->config;
    checker->commands++;
    if (record->channel >= c->channels || record->rank >= c->ranks || record->group >= c->groups ||
        record->bank >= c->banks || record->row >= c->rows || record->command >= DRAM_COMMANDS ||
        !checker->rows[record->command].name)
        return violation(checker, record, "the memory has no such place or command");
    struct dram_checker_channel *channel = &checker->channels[record->channel];
    bool good = check_gaps(checker, channel, record);
    if (opens(checker, record->command)) {
        const uint32_t together =
            checker->rows[record->command].extent == DRAM_EXTENT_ALIKE ? dram_config_wide(c) : 1;
        good &= check_window(checker, channel, record, together, 4, c->tFAW, "a fifth activate within tFAW");
        good &=
            check_window(checker, channel, record, together, 32, c->t32AW, "a 33rd activate within t32AW");
        for (uint32_t i = 0; i < together; i++)
            channel->activates[record->rank][channel->activate_count[record->rank]++ % 32] =
                record->cycle + (i ? ck(c, c->tACT4) * i / (together - 1) : 0);
    }
    if (moves_data(record->command) || checker->rows[record->command].data == DRAM_DATA_READ ||
        checker->rows[record->command].data == DRAM_DATA_WRITE)
        good &= check_data(checker, channel, record);
    good &= check_state(checker, channel, record);
    channel->past[channel->count++ % DRAM_HISTORY] = *record;
    return good;
}

static void check_command(void *checker, const struct dram_record *record)
{
    (void)dram_checker_command(checker, record);
}

struct dram_observer *dram_checker_observer(struct dram_checker *checker)
{
    checker->observer = (struct dram_observer){.command = check_command, .context = checker};
    return &checker->observer;
}
