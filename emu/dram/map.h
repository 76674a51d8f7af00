/* Address mapping: which channel, bank, row and column hold the burst at an address. */
#ifndef EMU_DRAM_MAP_H
#define EMU_DRAM_MAP_H

#include "emu/dram/config.h"

/* A mapping is written as fields from the most to the least significant bit, each a letter and a number of
 * bits (1 if missing); spaces and dots are skipped: "R12 B2 C5 % C1 G2 O5". R row, K rank, G bank group, B
 * bank of the group, C column (in bursts), H channel, O offset in the burst A field may come in several
 * pieces, whose bits keep their order. O comes last and once. When the number of channels is no power of two,
 * % stands in the place of H: the address from there on is divided by the number of channels, and the channel
 * is the remainder. (% does for powers of two as well.) Hashing: with channel_hash and bank_hash, the row
 * number, folded by XOR to the width of the channel number or of group and bank together, is XORed into it.
 * As the row itself stays, the mapping is one to one. */
struct dram_place {
    uint32_t channel;
    uint32_t bank; /* of the channel: (rank * groups + group) * banks + bank */
    uint32_t row;
    uint32_t column; /* in bursts */
};

enum dram_field {
    DRAM_FIELD_R,
    DRAM_FIELD_K,
    DRAM_FIELD_G,
    DRAM_FIELD_B,
    DRAM_FIELD_C,
    DRAM_FIELD_H,
    DRAM_FIELDS
};

enum { DRAM_PIECES = 24 };

struct dram_map {
    struct dram_piece {
        uint32_t mask;     /* of the bits that the piece has, at the right end */
        uint8_t field;     /* enum dram_field */
        uint8_t from;      /* its place in the number that it is cut from */
        uint8_t to;        /* its place in the field */
    } pieces[DRAM_PIECES]; /* the first are cut from the address, those from remainder_before on from the
                              quotient */
    uint32_t piece_count;
    uint32_t remainder_before; /* % stands below this piece; DRAM_PIECES: there is none */
    uint32_t remainder_bits;   /* of the address below % */
    uint32_t offset_bits;
    uint32_t channels;
    uint32_t group_bits, bank_bits, channel_bits; /* widths of the numbers */
    bool channel_hash, bank_hash;
};

/* Compiles config->map; the message says which letter is wrong and how many bits are needed. */
bool dram_map_init(struct dram_map *map, const struct dram_config *config, struct error *err);

/* The place of the burst that holds the byte at address, which is counted from the start of this memory and
 * below dram_config_bytes(). */
struct dram_place dram_map_place(const struct dram_map *map, uint64_t address);

/* The address of the first byte of the burst at a place. */
uint64_t dram_map_address(const struct dram_map *map, const struct dram_place *place);

#endif
