/* What the files of a chip's controller share. */
#ifndef EMU_AXRAM_CONTROLLER_STATE_H
#define EMU_AXRAM_CONTROLLER_STATE_H

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

enum { AXRAM_BURSTS = 4 }; /* of a block */

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

/* work.c. Returns how the chips of a request share it. The request and `shared` must outlive the result. */
struct axram_sharing axram_sharing_of(const struct axram_shared *shared, const struct axram_request *request);

/* A command that the agent wants next. */
struct axram_wanted {
    uint32_t command, bank, row, column;
    uint64_t earliest; /* clock */
    uint64_t cycle;    /* at which it may come; CLOCK_NEVER: there is none */
};

/* What a chip tells its team. arrived() comes at the end of a phase, at `time`, with the time that a message to the other controllers
 * takes if they need one; finished() when the chip has done its request, or its share of a layer. */
struct axram_chip_ops {
    void (*arrived)(struct axram_chip *chip, uint64_t time, uint64_t message);
    void (*finished)(struct axram_chip *chip, uint64_t now);
};

/* controller.c. Initializes a chip of a team, and frees it. */
void axram_chip_init(struct axram_chip *chip, struct axram_team *team, struct dram_memory *memory,
                     uint32_t channel, uint32_t half, const struct axram_chip_ops *ops);
void axram_chip_free(struct axram_chip *chip);

/* controller.c. Prepares the chip for a request, and claims its banks; `behind` is the state behind AXRAM_CLOSE. */
void axram_chip_begin(struct axram_chip *chip, struct axram_request *request, enum axram_state behind);

/* controller.c. Returns whether the ordinary bursts that have waited for the last request have been served. */
bool axram_has_had_turn(const struct axram_chip *chip);

/* controller.c. Begins to give the values of the chip's layer to the others. */
void axram_chip_give(struct axram_chip *chip);

/* controller.c. Begins to take the layer's values from the others, then computes the chip's share of the next layer. */
void axram_chip_take(struct axram_chip *chip);

/* controller.c. Gives the banks back. */
void axram_chip_release(struct axram_chip *chip);

/* controller.c. Returns whether a block that the chip has read has changed. */
bool axram_chip_is_torn(struct axram_chip *chip);

/* commands.c. Returns the address of the burst that is next in AXRAM_GIVE and AXRAM_TAKE. */
uint64_t axram_moved_at(const struct axram_chip *chip);

/* commands.c. Returns the address of the block of accumulators that is next in a suspension. */
uint64_t axram_saved_at(const struct axram_chip *chip);

/* commands.c. Returns the command of the chip's state that may come first. */
struct axram_wanted axram_wanted_of(struct axram_chip *chip);

/* commands.c. Looks for rows to open ahead from the sequence's next command on. */
void axram_look_from_here(struct axram_chip *chip);

/* commands.c. Goes on to the sequence's next command. */
void axram_go_on(struct axram_chip *chip);

/* commands.c. Notes that the result that was held has been written. */
void axram_let_go(struct axram_chip *chip);

/* Returns the chip's number in its team. */
static inline unsigned axram_member(const struct axram_chip *chip)
{
    return (unsigned)(chip - chip->team->chips);
}

static inline struct dram_channel *axram_channel_of(const struct axram_chip *chip)
{
    return chip->agent.channel;
}

/* Returns the chip's banks: all of its channel's, or those of its half. */
static inline uint64_t axram_banks_of(const struct axram_chip *chip)
{
    const uint32_t count = dram_config_channel_banks(chip->shared->dram) / chip->shared->halves;
    return UINT64_MAX >> (64 - count) << chip->half * count;
}

static inline const struct dram_clocks *axram_clocks_of(const struct axram_chip *chip)
{
    return &chip->memory->common.clocks;
}

#endif
