/* Bit strings: how a number, counted in bytes from the start of a range, is cut into the parts of a home.
 *
 * Fields are written from the most to the least significant bit, each a letter and a number of bits (1 if
 * missing); spaces and dots are skipped: "M2 S2 R12 B2 C5 H4 G2 O5". M module, S stack, H controller, K rank,
 * G bank group, B bank of the group, R row, C column (in bursts), O offset in the burst. A field may come in
 * several pieces, whose bits keep their order. O comes last and once. Where a number of controllers is no
 * power of two, % stands in the place of H: the number from there on is divided by the number of controllers,
 * and the controller is the remainder. %S and %M do the same for stacks and modules. (All do for powers of two
 * as well.)
 *
 * Hashing: with stack_hash, controller_hash and bank_hash the row's number, folded by XOR to the width of the
 * number of stack, of controller, or of group and bank together, is XORed into it. As the row itself stays,
 * the mapping is one to one.
 */
#ifndef EMU_MEM_HOME_BITS_H
#define EMU_MEM_HOME_BITS_H

#include "emu/mem/home.h"

enum home_field {
    HOME_FIELD_R,
    HOME_FIELD_K,
    HOME_FIELD_G,
    HOME_FIELD_B,
    HOME_FIELD_C,
    HOME_FIELD_H,
    HOME_FIELD_S,
    HOME_FIELD_M,
    HOME_FIELDS
};

enum { HOME_PIECES = 24, HOME_DIVISIONS = 3 };

/* Bits that are cut from a number and put into one of two words: those of `mask`, in the number rotated
 * right. Each division leaves another number, its quotient: number 0 is the one that is looked up, number i
 * the quotient of division i - 1. Neighbours in both are one piece. */
struct home_piece {
    uint64_t mask;  /* of the word; 0: no piece */
    uint8_t number; /* that it is cut from */
    uint8_t rotate; /* by how many bits, below 64 */
};

/* A home is put together in two words, because that needs no memory: the first has the numbers of module,
 * stack, controller and bank, 16 bits each from the least significant on, the second row and column. */
struct home_bits {
    struct home_word {
        uint32_t count;
        struct home_piece pieces[HOME_PIECES];
    } first, second;
    uint32_t division_count;
    struct home_division {
        uint32_t divisor;
        uint8_t shift; /* bits of the number that do not take part */
        uint8_t to;    /* the remainder's place in the first word */
    } divisions[HOME_DIVISIONS];
    bool hashed; /* at all */
    bool stack_hash, controller_hash, bank_hash;
    uint32_t row_bits, bank_bits, controller_bits, stack_bits; /* bank_bits with those of the group */
    uint64_t origin; /* a first word: of the first module, stack and controller */
    uint32_t offset_bits;
    uint64_t bytes; /* numbers are below this; greater ones wrap around */
};

/* Compiles the layout. The message begins with the name "map", "channel_hash" or "stack_hash" and says which
 * letter is wrong and how many bits are needed. */
bool home_bits_init(struct home_bits *bits, const struct home_layout *layout, struct error *err);

/* Fits a bit string to a geometry, for descriptions whose counts change: *text becomes like `from`, with as many bits
 * of each field as the geometry needs. The most significant piece of a field takes or loses the difference; a field
 * that is missing goes below the row (K, G, B), above the offset (C, H) or above the controllers (S, then M); where a number of controllers, stacks or modules is no power of two, a division
 * stands in the place of the field's least significant piece. Divisions stay. Fails when `from` is no bit string, a row
 * is shorter than a burst (0 columns), or the result is too long. */
bool home_text_fit(const char *from, const struct home_geometry *geometry, char text[HOME_TEXT],
                   struct error *err);

/* Rewrites a bit string so that S, M and divisions stand above the bits of `bytes` (a power of two): then no `bytes` at a
 * multiple of their size lie in two stacks. text may be from. False with err set when the result is too long. */
bool home_text_raise(const char *from, uint32_t bytes, char text[HOME_TEXT], struct error *err);

/* Returns the largest power of two of bytes that, at a multiple of their size, lie in one stack, as the bit string stands;
 * UINT64_MAX if it names none. */
uint64_t home_text_span(const char *text);

/* Sets all of *home but slot and generation to the home of a number. */
void home_bits_place(const struct home_bits *bits, uint64_t number, struct home *home);

/* The number of the first byte of the burst at a home, whose parts must be in range: the way back. */
uint64_t home_bits_number(const struct home_bits *bits, const struct home *home);

#endif
