/* Bit strings: how a number, in bytes from the start of a range, is split into the fields of a home.
 *
 * Fields are written from the most to the least significant bit, each as a letter and a number of bits
 * (default 1); spaces and dots are ignored: "M2 S2 R12 B2 C5 H4 G2 O5". M module, S stack, H controller, K
 * rank, G bank group, B bank of the group, R row, C column (in bursts), O offset in the burst. A field may
 * consist of several pieces, whose bits keep their order. O must be the last piece and must not be split. If
 * the number of controllers is not a power of two, % replaces H: the number formed by the bits above the % is
 * divided by the number of controllers; the remainder is the controller, and the pieces above are taken from
 * the quotient. %S and %M do the same for stacks and modules. Divisions are also allowed for powers of two.
 *
 * Hashing: with stack_hash, controller_hash or bank_hash, the row is folded by XOR to the width of the stack
 * number, of the controller number, or of the group and bank number together, and XORed into it. The row
 * itself is unchanged, so the mapping is one to one. */
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

/* Bits that are copied from a number to one of two words: those of `mask`, in the number rotated right.
 * Number 0 is the number to map; number i is the quotient of division i - 1. Bits that are adjacent in both
 * the number and the word are one piece. */
struct home_piece {
    uint64_t mask;  /* bits of the word; 0: no piece */
    uint8_t number; /* index of the source number */
    uint8_t rotate; /* bits of rotation, below 64 */
};

/* A home is assembled in two words, which stay in registers. The first word contains module, stack,
 * controller and bank, 16 bits each from bit 0 on; the second contains row and column. */
struct home_bits {
    struct home_word {
        uint32_t count;
        struct home_piece pieces[HOME_PIECES];
    } first, second;
    uint32_t division_count;
    struct home_division {
        uint32_t divisor;
        uint8_t shift; /* low bits of the number that are not divided */
        uint8_t to;    /* lowest bit of the remainder in the first word */
    } divisions[HOME_DIVISIONS];
    bool hashed; /* any hashing */
    bool stack_hash, controller_hash, bank_hash;
    uint32_t row_bits, bank_bits, controller_bits, stack_bits; /* bank_bits includes those of the group */
    uint64_t origin; /* a first word with the first module, stack and controller */
    uint32_t offset_bits;
    uint64_t bytes; /* numbers are below this; larger ones wrap around */
};

/* Compiles a layout. An error message begins with "map", "channel_hash" or "stack_hash" and tells which
 * letter is wrong and how many bits are needed. */
bool home_bits_init(struct home_bits *bits, const struct home_layout *layout, struct error *err);

/* Fits a bit string to a geometry, for descriptions whose counts change. *text becomes like `from`, but each
 * field has the number of bits that the geometry needs. The most significant piece of a field gains or loses
 * the difference. A missing field is inserted below the row (K, G, B), above the offset (C, H) or above the
 * controllers (S, then M). If a number of controllers, stacks or modules is not a power of two, a division
 * replaces the field's least significant piece. Existing divisions stay. Fails if `from` is not a bit string,
 * a row is shorter than a burst (0 columns), or the result is too long. */
bool home_text_fit(const char *from, const struct home_geometry *geometry, char text[HOME_TEXT],
                   struct error *err);

/* Rewrites a bit string so that S, M and divisions, and with stack_hash also R, are above the bits of `bytes` (a
 * power of two): then an aligned block of `bytes` bytes is never in two stacks. `text` may be `from`. Returns
 * false with err set if the result is too long. */
bool home_text_raise(const char *from, uint32_t bytes, bool stack_hash, char text[HOME_TEXT],
                     struct error *err);

/* Rewrites a bit string so that the stack's bits are together and begin at bit `bit` of an address; all other pieces keep
 * their order. Returns false with err set if there are none, if there is a division, if the bit is within a burst, or if the
 * result is too long. */
bool home_text_stack_at(const char *from, uint32_t bit, char text[HOME_TEXT], struct error *err);

/* Returns the size of the largest aligned block (a power of two, in bytes) that is always in one stack;
 * UINT64_MAX if the bit string has no S, M or division and, with stack_hash, no R. */
uint64_t home_text_span(const char *text, bool stack_hash);

/* Sets *home, except slot and generation, to the home of a number. */
void home_bits_place(const struct home_bits *bits, uint64_t number, struct home *home);

/* Returns the number of the first byte of the burst at a home, whose fields must be in range. The inverse of
 * home_bits_place(). */
uint64_t home_bits_number(const struct home_bits *bits, const struct home *home);

#endif
