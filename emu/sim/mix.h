/* Mixing of 64-bit numbers for hash tables and repeatable random sequences: splitmix64 (Steele, Lea and Flood, "Fast
 * splittable pseudorandom number generators", OOPSLA 2014). */
#ifndef EMU_SIM_MIX_H
#define EMU_SIM_MIX_H

#include <stdint.h>

/* 2^64 divided by the golden ratio, made odd: the upper bits of a product with it depend on all lower bits of the factor. */
#define MIX_FACTOR UINT64_C(0x9e3779b97f4a7c15)

/* Returns a number of which each bit depends on all bits of `value`; a different one for each value. */
static inline uint64_t mix(uint64_t value)
{
    value = (value ^ value >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    value = (value ^ value >> 27) * UINT64_C(0x94d049bb133111eb);
    return value ^ value >> 31;
}

/* Returns the next number of the random sequence. Any state is a seed. */
static inline uint64_t mix_next(uint64_t *state)
{
    return mix(*state += MIX_FACTOR);
}

#endif
