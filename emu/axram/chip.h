/* What the files of a chip's controller share. */
#ifndef EMU_AXRAM_CHIP_H
#define EMU_AXRAM_CHIP_H

#include "emu/axram/controller.h"
#include "emu/dram/standard.h"

/* The numbers of the commands of standards/gddr5_axram.def, in the order of its rows. */
enum {
    ACT4 = DRAM_OWN,
    PRE4,
    RD4,
    WR4,
    AXCF,
    AXCT,
    AXMR,
};

/* work.c. Returns the bytes of a block. */
uint8_t *axram_bytes_at(const struct axram_shared *shared, uint64_t address);

/* work.c. Notes that a block was stored to. */
void axram_written(const struct axram_shared *shared, uint64_t address);

/* work.c. Does and counts the units' work on a block that was read. It does not depend on time. */
void axram_do_step(struct axram_units *units, const struct axram_op *op, const uint8_t *block,
                   struct axram_counters *counters);

/* work.c. Stores the results of the request's units for one output neuron. */
void axram_put_results(const struct axram_shared *shared, const struct axram_request *request,
                       uint32_t neuron, const uint8_t *results);

/* A command that the agent wants next. */
struct axram_wanted {
    uint32_t command, bank, row, column;
    uint64_t earliest; /* clock */
};

/* commands.c. Returns the address of the block of accumulators that is next in a suspension. */
uint64_t axram_saved_at(const struct axram_chip *chip);

/* commands.c. Returns the next command of the chip's state, other than a poll. */
struct axram_wanted axram_wanted_of(struct axram_chip *chip);

static inline struct dram_channel *axram_channel_of(const struct axram_chip *chip)
{
    return chip->agent.channel;
}

static inline const struct dram_clocks *axram_clocks_of(const struct axram_chip *chip)
{
    return &chip->shared->memory->common.clocks;
}

#endif
