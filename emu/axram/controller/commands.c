/* The commands that a chip's state needs. */
#include <assert.h>
#include <string.h>

#include "emu/axram/controller/state.h"

static const struct axram_spot *spot_of(struct axram_chip *chip, uint64_t address)
{
    struct axram_spot *spot = &chip->spots[address / (AXRAM_BLOCK / chip->shared->parts) % AXRAM_SPOTS];
    struct home home;
    if (spot->address != address) {
        home_resolve(chip->shared->homes, address, &home);
        assert(home.controller == chip->channel && axram_banks_of(chip) >> home.bank & 1);
        *spot = (struct axram_spot){address, home.bank, home.row, home.column};
    }
    return spot;
}

/* Returns the banks that a column command for a place, wide or not, reaches. */
static uint64_t banks_of(const struct dram_channel *channel, uint32_t bank, bool wide)
{
    return wide ? dram_rules_alike(channel->timing.rules, bank) : UINT64_C(1) << bank;
}

/* Returns whether all these banks have the row open. */
static bool is_open(const struct dram_channel *channel, uint64_t banks, uint32_t row)
{
    if ((channel->open & banks) != banks)
        return false;
    for (; banks; banks &= banks - 1)
        if (channel->banks[__builtin_ctzll(banks)].row != row)
            return false;
    return true;
}

/* Returns a column command for a block, not before clock `earliest`, or the command that the bank needs first. */
static struct axram_wanted column(struct axram_chip *chip, uint32_t command, uint64_t address,
                                  uint64_t earliest)
{
    const struct dram_channel *channel = axram_channel_of(chip);
    const bool wide = command >= DRAM_OWN;
    const struct axram_spot *spot = spot_of(chip, address);
    const uint64_t banks = banks_of(channel, spot->bank, wide);
    struct axram_wanted wanted = {.bank = spot->bank, .row = spot->row, .column = spot->column};
    if (is_open(channel, banks, spot->row)) {
        wanted.command = command;
        wanted.earliest = earliest;
    } else if (channel->open & banks) {
        wanted.command = wide ? PRE4 : DRAM_PRE;
    } else {
        wanted.command = wide ? ACT4 : DRAM_ACT;
    }
    return wanted;
}

static uint64_t less(uint64_t time, uint32_t clocks)
{
    return time > clocks ? time - clocks : 0;
}

/* Returns the clock from which a column may be read: its data must not come before the units are ready. */
static uint64_t read_from(const struct axram_chip *chip)
{
    return less(chip->work_end, axram_clocks_of(chip)->tCL);
}

static uint64_t write_from(const struct axram_chip *chip, uint32_t clocks)
{
    return less(chip->work_end + clocks, axram_clocks_of(chip)->tCWL);
}

/* Returns the address of a block's part. */
static uint64_t part_at(const struct axram_chip *chip, uint64_t block, unsigned part)
{
    return block + part * (AXRAM_BLOCK / chip->shared->parts);
}

uint64_t axram_saved_at(const struct axram_chip *chip)
{
    const struct axram_sequence *sequence = &chip->sequence;
    return sequence->configuration + (uint64_t)(sequence->layout.saved + chip->part) * AXRAM_BLOCK;
}

uint64_t axram_moved_at(const struct axram_chip *chip)
{
    return axram_share_place(&chip->team->sharing, axram_member(chip), chip->layer, chip->value) +
           (uint64_t)chip->burst * (AXRAM_BLOCK / AXRAM_BURSTS);
}

/* The sequence, and the commands beside it. */

static uint64_t op_at(const struct axram_chip *chip, const struct axram_op *op)
{
    return part_at(chip, op->address, op->part);
}

static uint32_t bank_of(struct axram_chip *chip, const struct axram_op *op)
{
    return spot_of(chip, op_at(chip, op))->bank;
}

static bool holds(const struct axram_chip *chip)
{
    return chip->held.step == AXRAM_OUTPUT;
}

void axram_look_from_here(struct axram_chip *chip)
{
    memset(chip->uses, 0, sizeof chip->uses);
    chip->ahead = chip->sequence;
    chip->ahead_op = chip->op;
    if (holds(chip))
        chip->uses[bank_of(chip, &chip->held)]++;
}

void axram_go_on(struct axram_chip *chip)
{
    const bool passed = chip->ahead.done > chip->sequence.done, output = chip->op.step == AXRAM_OUTPUT;
    uint16_t *uses = &chip->uses[bank_of(chip, &chip->op)], none = 1;
    if (chip->op.held)
        uses = &none;
    if (!passed && output) /* until the result is written */
        ++*uses;
    else if (passed && !output)
        --*uses;
    axram_sequence_step(&chip->sequence);
    chip->op = axram_sequence_next(&chip->sequence);
    if (!passed) {
        chip->ahead = chip->sequence;
        chip->ahead_op = chip->op;
    }
}

void axram_let_go(struct axram_chip *chip)
{
    chip->uses[bank_of(chip, &chip->held)]--;
    chip->held.step = AXRAM_END;
}

/* Returns the command that opens the first row of the sequence that is not open; or none, if the bank's row is still in use. */
static struct axram_wanted row_ahead(struct axram_chip *chip)
{
    const struct dram_channel *channel = axram_channel_of(chip);
    while (chip->ahead_op.step != AXRAM_END) {
        const struct axram_spot *spot = spot_of(chip, op_at(chip, &chip->ahead_op));
        if (!chip->ahead_op.held && !is_open(channel, banks_of(channel, spot->bank, true), spot->row))
            break;
        chip->uses[spot->bank] += !chip->ahead_op.held;
        axram_sequence_step(&chip->ahead);
        chip->ahead_op = axram_sequence_next(&chip->ahead);
    }
    if (chip->ahead_op.step == AXRAM_END || chip->uses[bank_of(chip, &chip->ahead_op)])
        return (struct axram_wanted){.cycle = CLOCK_NEVER};
    return column(chip, RD4, op_at(chip, &chip->ahead_op), 0);
}

/* Returns the sequence's next column command, or the one that its bank needs first; or none, if it must wait for a result to be
 * written. */
static struct axram_wanted next_step(struct axram_chip *chip)
{
    const struct axram_op *op = &chip->op, *held = &chip->held;
    const bool depends = op->step == AXRAM_INPUT && !held->result && chip->sequence.layer != chip->held_layer;
    if (op->step == AXRAM_END || (holds(chip) && (depends || chip->asked || op->step == AXRAM_OUTPUT)))
        return (struct axram_wanted){.cycle = CLOCK_NEVER};
    const uint64_t earliest = op->step == AXRAM_INPUT
                                  ? read_from(chip)
                                  : less(chip->weights_end[op->number % 2], axram_clocks_of(chip)->tCL);
    struct axram_wanted wanted = column(chip, RD4, op_at(chip, op), earliest);
    if (wanted.command != RD4 && holds(chip) && wanted.bank == bank_of(chip, held))
        wanted.cycle = CLOCK_NEVER;
    return wanted;
}

static struct axram_wanted held_result(struct axram_chip *chip)
{
    if (!holds(chip))
        return (struct axram_wanted){.cycle = CLOCK_NEVER};
    return column(chip, WR4, op_at(chip, &chip->held), less(chip->held_ready, axram_clocks_of(chip)->tCWL));
}

/* Returns the command that the state is there for, other than AXRAM_RUN. */
static struct axram_wanted plain(struct axram_chip *chip)
{
    const uint64_t saved = part_at(chip, axram_saved_at(chip), chip->sequence.part);
    switch (chip->state) {
    case AXRAM_CLOSE: return (struct axram_wanted){.command = DRAM_PREA};
    case AXRAM_GIVE: return column(chip, DRAM_RD, axram_moved_at(chip), 0);
    case AXRAM_TAKE: return column(chip, DRAM_WR, axram_moved_at(chip), 0);
    case AXRAM_HEADER: return column(chip, DRAM_RD, chip->request->configuration, 0);
    case AXRAM_SEND: return (struct axram_wanted){.command = chip->words ? AXCF : AXCT};
    case AXRAM_SAVE:
        return chip->begun ? column(chip, WR4, saved, write_from(chip, 0))
                           : (struct axram_wanted){.command = AXCT};
    case AXRAM_RESTORE:
        return chip->begun ? column(chip, RD4, saved, 0) : (struct axram_wanted){.command = AXCT};
    default: return (struct axram_wanted){.command = AXMR, .earliest = chip->poll_at};
    }
}

/* Replaces *best if the command may come earlier. */
static void offer(struct axram_chip *chip, struct axram_wanted *best, struct axram_wanted wanted)
{
    const struct dram_channel *channel = axram_channel_of(chip);
    if (wanted.cycle == CLOCK_NEVER)
        return;
    uint64_t cycle = dram_timing_ready(&channel->timing, (enum dram_command)wanted.command, wanted.bank);
    cycle = cycle > wanted.earliest ? cycle : wanted.earliest;
    wanted.cycle = cycle > channel->floor ? cycle : channel->floor;
    if (wanted.cycle < best->cycle)
        *best = wanted;
}

struct axram_wanted axram_wanted_of(struct axram_chip *chip)
{
    struct axram_wanted best = {.cycle = CLOCK_NEVER};
    if (chip->state != AXRAM_RUN) {
        offer(chip, &best, plain(chip));
        if (chip->state == AXRAM_SEND && chip->request->invokes)
            offer(chip, &best, row_ahead(chip));
        return best;
    }
    offer(chip, &best, held_result(chip));
    offer(chip, &best, next_step(chip));
    if (!chip->asked)
        offer(chip, &best, row_ahead(chip));
    if (chip->shared->notify == AXRAM_POLL)
        offer(chip, &best, (struct axram_wanted){.command = AXMR, .earliest = chip->poll_at});
    return best;
}
