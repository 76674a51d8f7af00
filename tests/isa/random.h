/* Small deterministic generators of random numbers for tests, and a digest of what happens. */
#ifndef TESTS_ISA_RANDOM_H
#define TESTS_ISA_RANDOM_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/sim/mix.h"

/* splitmix64 */
struct random {
    uint64_t state;
};

static inline uint64_t random_next(struct random *random)
{
    return mix_next(&random->state);
}

/* A number from 0 to limit - 1; limit must not be 0. */
static inline uint32_t random_below(struct random *random, uint32_t limit)
{
    return (uint32_t)((random_next(random) >> 32) * limit >> 32);
}

/* True in `percent` of 100 cases. */
static inline bool random_chance(struct random *random, uint32_t percent)
{
    return random_below(random, 100) < percent;
}

/* Steps a linear congruential generator (MMIX; Knuth) and returns its state, whose upper bits are random. */
static inline uint64_t random_step(uint64_t *state)
{
    return *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
}

/* Steps xorshift64 (Marsaglia 2003) and returns its state, which must not be 0. */
static inline uint64_t random_shift(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    return *state ^= *state << 17;
}

/* Returns the digest with another value (a step of FNV-1a on a whole word). */
static inline uint64_t random_digest(uint64_t digest, uint64_t value)
{
    return (digest ^ value) * UINT64_C(0x100000001b3);
}

#endif
