/* Where AxRAM's bytes lie (PACT 2018, section 6): pure functions, shared by the units and their tests.
 *
 * Accelerator memory is a range of physical memory with a map of its own (axram.h). A block is 128 bytes: the same column of
 * the same row of the same bank in all four bank groups, 32 bytes in each, 16 in each half of a group. One RD4 or WR4 moves
 * a block. Word u of a block (32 bits) belongs to unit u: units 0 to 7 are those of group 0, four in each half, and so on.
 *
 *   address in a chip's piece:  row | bank, high bit | column | bank, low bit | group (2 bits) | byte (5 bits)
 *
 * So the words of a neuron for the 8 threads of a partition are consecutive, those of the four partitions have the same row
 * and column, and the blocks of different neurons are in different banks: those of one 16 KiB half-page alternate between two
 * banks, those of the other half between the other two. Pieces of 256 KiB take turns among the chips. A region lies in one
 * piece.
 *
 * A memory without bank groups (HMC) has 8 units, and a block is four columns that follow each other in a bank: its four parts, one
 * for each partition of 8 threads. The units evaluate the network for one part after the other, with this part's columns only:
 *
 *   address in a vault's piece: row (3 bits) | bank, high bit | row (3 bits) | column, high bit | bank (3 bits) | part (2 bits) | byte
 *
 * Where chips are split in halves (axram.halves), a half is two bank groups with their 16 units, and to programs and to the controller's
 * queues a chip of its own: number half * chips + chip. A block is two neighbouring columns of its two groups, one for each 16 threads:
 *
 *   address in a half's piece:  row (3 bits) | bank, high bit | row (1 bit) | column | bank, low bit | part | group in the half | byte (5 bits)
 *
 * A region of data: block i holds input or output number i of all 32 threads. A thread's part of the region runs from the
 * thread's word in the first block to the end of its word in the last.
 *
 * A region of configuration, in blocks:
 *   1              the header, NETWORK_HEADER words (emu/neural/network.h), in group 0
 *   0 or 1         with a bias: 32 data words that are 1
 *   weights / 4    rounded up: four weights, once for each half group (16 bytes, eight times)
 *   hidden neurons temporary results
 *   2              the accumulators during a suspension: low halves, then high halves
 * where chips work together (share.h), then:
 *   inputs         copies of those that other chips have
 *   results        those that belong to other chips */
#ifndef EMU_AXRAM_LAYOUT_H
#define EMU_AXRAM_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/neural/network.h"

enum {
    AXRAM_UNITS = 32,      /* words of a block */
    AXRAM_HALVES = 8,      /* half groups that hold a block */
    AXRAM_HALF_UNITS = 4,  /* units of a half group */
    AXRAM_BLOCK = 128,     /* bytes */
    AXRAM_ENTRIES = 8,     /* entries of a half group's weight register */
    AXRAM_REFILL = 4,      /* weights that a block brings */
    AXRAM_PIECE = 1 << 18, /* contiguous bytes of a chip */
    AXRAM_HALF_PAGE = 1 << 14,
    AXRAM_SAVED = 2, /* blocks of accumulators */
};

/* Returns the parts of a block: 1; 2 where two bank groups hold it; or 4 where a column is a quarter of it. */
static inline unsigned axram_parts(uint32_t groups, uint32_t halves)
{
    return groups == 4 ? halves : 4;
}

/* A network without its weights. */
struct axram_topology {
    enum arith_kind kind;
    unsigned layers;
    unsigned size[NETWORK_LAYERS + 1];
    bool bias;
};

/* A region of configuration: the number of the first block of each kind, and the number of all blocks of a chip that works alone,
 * behind which the copies of chips that work together begin; and the number with these. */
struct axram_layout {
    uint32_t ones, weights, temporary, saved, blocks, shared_blocks;
};

/* Returns the topology of a network. */
struct axram_topology axram_topology_of(const struct network *network);

/* Returns the inputs of each neuron of a layer, the bias included; layers count from 1. */
unsigned axram_fan_in(const struct axram_topology *topology, unsigned layer);

/* Returns the number of weights. */
uint32_t axram_weight_count(const struct axram_topology *topology);

/* Return the blocks of weights, and the neurons of all layers. */
uint32_t axram_refill_count(const struct axram_topology *topology);
uint32_t axram_neuron_count(const struct axram_topology *topology);

struct axram_layout axram_layout_of(const struct axram_topology *topology);

/* Reads and checks a header. Returns false with err set if it is not valid or the network is too large. */
bool axram_read_header(struct axram_topology *topology, const uint32_t header[NETWORK_HEADER],
                       struct error *err);

/* Writes the words of a region of configuration, blocks * AXRAM_BLOCK / 4 of them, from a network. */
void axram_write_configuration(const struct network *network, uint32_t *words);

/* A region as a thread or a hart names it. */
struct axram_part {
    uint64_t base;   /* address of its first block */
    uint32_t blocks; /* 1 or more */
    uint32_t units;  /* set of the units whose words it has */
};

/* Splits [start, end) into its blocks and its units: in each block, the words from the one at `start` to the last one before
 * `end`. Returns false with err set if the region is empty or not of whole words, if its last word is before its first one in
 * the block, or if it crosses from the pieces of one team to those of another; `space` is the address of the first piece, and
 * `together` chips are a team. */
bool axram_split(struct axram_part *part, uint64_t start, uint64_t end, uint64_t space, uint32_t together,
                 struct error *err);

/* The inverse of axram_split() for one unit: stores the region of its words in `blocks` blocks from `base` on. */
void axram_unit_region(uint64_t base, uint32_t blocks, unsigned unit, uint64_t *start, uint64_t *end);

#endif
