/* The commands that a chip's state needs. */
#include <assert.h>

#include "emu/axram/controller/state.h"

static const struct axram_spot *spot_of(struct axram_chip *chip, uint64_t address)
{
    struct axram_spot *spot = &chip->spots[address / (AXRAM_BLOCK / chip->shared->parts) % AXRAM_SPOTS];
    struct home home;
    if (spot->address != address) {
        home_resolve(chip->shared->homes, address, &home);
        assert(home.controller == chip->channel);
        *spot = (struct axram_spot){address, home.bank, home.row, home.column};
    }
    return spot;
}

/* Returns a column command for a block, not before clock `earliest`, or the command that the bank needs first. */
static struct axram_wanted column(struct axram_chip *chip, uint32_t command, uint64_t address,
                                  uint64_t earliest)
{
    const struct dram_channel *channel = axram_channel_of(chip);
    const bool wide = command >= DRAM_OWN;
    const struct axram_spot *spot = spot_of(chip, address);
    struct axram_wanted wanted = {.bank = spot->bank, .row = spot->row, .column = spot->column};
    if (!(channel->open >> spot->bank & 1)) {
        wanted.command = wide ? ACT4 : DRAM_ACT;
    } else if (channel->banks[spot->bank].row != spot->row) {
        wanted.command = wide ? PRE4 : DRAM_PRE;
    } else {
        wanted.command = command;
        wanted.earliest = earliest;
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

struct axram_wanted axram_wanted_of(struct axram_chip *chip)
{
    const struct axram_op *op = &chip->op;
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
    case AXRAM_RUN:
        return op->step == AXRAM_OUTPUT
                   ? column(chip, WR4, part_at(chip, op->address, op->part),
                            write_from(chip, chip->shared->sigmoid))
                   : column(chip, RD4, part_at(chip, op->address, op->part), read_from(chip));
    default: return (struct axram_wanted){.command = AXMR, .earliest = chip->poll_at};
    }
}
