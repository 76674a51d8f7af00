/* Sets of up to 64 members as the bits of a word. */
#ifndef EMU_NET_BITS_H
#define EMU_NET_BITS_H

#include <stdint.h>

#define BIT(n) (UINT64_C(1) << (n))

/* Returns the lowest bit at or above `from`, else the lowest bit; mask is not 0. */
static inline uint32_t pick_bit(uint64_t mask, uint32_t from)
{
    uint64_t high = mask >> from << from;
    return (uint32_t)__builtin_ctzll(high ? high : mask);
}

/* Removes the lowest bit and returns its number; mask is not 0. */
static inline uint32_t take_bit(uint64_t *mask)
{
    uint32_t bit = (uint32_t)__builtin_ctzll(*mask);
    *mask &= *mask - 1;
    return bit;
}

/* Returns the lowest `count` bits. */
static inline uint64_t low_bits(uint32_t count)
{
    return count >= 64 ? ~UINT64_C(0) : BIT(count) - 1;
}

#endif
