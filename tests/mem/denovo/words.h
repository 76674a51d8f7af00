/* The states of a line's words, as units' holders in tests keep them; their values are copied by denovo_copy_values(). */
#ifndef TESTS_MEM_DENOVO_WORDS_H
#define TESTS_MEM_DENOVO_WORDS_H

#include "emu/mem/denovo/state.h"

/* Returns the words, of `count`, that are in a state. */
static inline uint64_t words_in(const uint8_t *states, unsigned count, enum denovo_state state)
{
    uint64_t words = 0;
    for (unsigned i = 0; i < count; i++)
        words |= (uint64_t)(states[i] == state) << i;
    return words;
}

static inline void words_set(uint8_t *states, uint64_t words, enum denovo_state state)
{
    for (; words; words &= words - 1)
        states[denovo_index(words)] = (uint8_t)state;
}

#endif
