/* The units of a chip: weight registers, multiply-accumulate and sigmoid units (PACT 2018, section 4.2): one for each word of a block,
 * or as many as a part of it has (layout.h), which then work for one part after the other. They work on blocks of bytes, without
 * addresses and time. */
#ifndef EMU_AXRAM_CONTROLLER_UNITS_H
#define EMU_AXRAM_CONTROLLER_UNITS_H

#include "emu/axram/layout.h"

struct axram_units {
    enum arith_kind kind;
    unsigned first, end; /* half groups of the part on which they work */
    uint64_t sums[AXRAM_UNITS];
    uint32_t weights[AXRAM_HALVES][AXRAM_ENTRIES];
    bool uniform[AXRAM_ENTRIES]; /* the part's half groups all have the same weight in this entry */
};

/* Blocks are words as in memory: little-endian, AXRAM_BLOCK bytes. */

/* Selects the part on which the functions below work, of 1 or 4. Registers and accumulators of others keep their values. */
void axram_units_select(struct axram_units *units, unsigned part, unsigned parts);

/* Takes refill `number`, from 0, from a block of weights. */
void axram_units_refill(struct axram_units *units, uint32_t number, const uint8_t *block);

/* Returns the first half group after `half` that has another weight `number`, or the end. All have the same one unless the
 * program has laid them out otherwise, so work for a weight is done once for all of them. */
unsigned axram_units_equal(const struct axram_units *units, uint32_t number, unsigned half);

/* Sets all accumulators to zero: a neuron begins. */
void axram_units_clear(struct axram_units *units);

/* Each unit adds its input, from the block, times weight `number`. */
void axram_units_add(struct axram_units *units, uint32_t number, const uint8_t *block);

/* Returns the units' clocks that axram_units_add() takes: those of the half group that needs the most. */
unsigned axram_units_clocks(const struct axram_units *units, uint32_t number);

/* Writes the units' results into a block. */
void axram_units_write(const struct axram_units *units, uint8_t *block);

/* Write half of each accumulator (part 0: low, 1: high) to a block of a suspension, and read it back. */
void axram_units_save(const struct axram_units *units, unsigned part, uint8_t *block);
void axram_units_load(struct axram_units *units, unsigned part, const uint8_t *block);

#endif
