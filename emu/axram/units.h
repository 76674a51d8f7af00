/* The units of a chip: weight registers, 32 multiply-accumulate and sigmoid units (PACT 2018, section 4.2). They know blocks of
 * bytes, and neither addresses nor time. */
#ifndef EMU_AXRAM_UNITS_H
#define EMU_AXRAM_UNITS_H

#include "emu/axram/layout.h"

struct axram_units {
    enum arith_kind kind;
    uint64_t sums[AXRAM_UNITS];
    uint32_t weights[AXRAM_HALVES][AXRAM_ENTRIES];
};

/* Blocks are words as in memory: little-endian, AXRAM_BLOCK bytes. */

/* Takes the refill of that number from a block of weights. */
void axram_units_refill(struct axram_units *units, uint32_t number, const uint8_t *block);

/* Sets all accumulators to zero: a neuron begins. */
void axram_units_clear(struct axram_units *units);

/* Each unit adds its input, from the block, times the weight of that number. */
void axram_units_add(struct axram_units *units, uint32_t number, const uint8_t *block);

/* Returns the clocks that this takes: of the half group that needs the most. */
unsigned axram_units_clocks(const struct axram_units *units, uint32_t number);

/* Writes the results of the units in the set into a block. */
void axram_units_write(const struct axram_units *units, uint32_t set, uint8_t *block);

/* Write the accumulators to the two blocks of a suspension, and read them back. */
void axram_units_save(const struct axram_units *units, unsigned part, uint8_t *block);
void axram_units_load(struct axram_units *units, unsigned part, const uint8_t *block);

#endif
