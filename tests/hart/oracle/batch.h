/* Batches: blocks of code with their initial states, exchanged between generators, oracles and the hart. */
#ifndef TESTS_HART_ORACLE_BATCH_H
#define TESTS_HART_ORACLE_BATCH_H

#define BATCH_BLOCKS      3072
#define BATCH_CODE_BYTES  320 /* size of a block's slot */
#define BATCH_STATE_BYTES 1024

#ifndef __ASSEMBLER__
#include <stdint.h>

/* Guest addresses; tests.mk links tests/hart/oracle/runner.S there. A block runs at its slot's address with tp pointing to its
 * state, and ends with a jump to BATCH_END, which saves everything to the state. x3 holds the block's address at its
 * start. */
enum { BATCH_WINDOW = 496 }; /* size of the memory window that a block may access */
#define BATCH_END    UINT64_C(0x80000000)
#define BATCH_CODE   UINT64_C(0x80001000)
#define BATCH_STATES UINT64_C(0x80100000)
#define BATCH_LIMIT  UINT64_C(0x80500000)

struct state {
    uint64_t x[32]; /* x[0] is not used */
    uint64_t f[32];
    uint64_t fcsr;
    uint64_t filler;
    uint8_t window[BATCH_WINDOW];
};

struct batch {
    uint64_t count;
    uint8_t code[BATCH_BLOCKS][BATCH_CODE_BYTES];
    struct state states[BATCH_BLOCKS];
};

_Static_assert(sizeof(struct state) == BATCH_STATE_BYTES, "the runner relies on it");

static inline uint64_t batch_code_at(uint64_t block)
{
    return BATCH_CODE + block * BATCH_CODE_BYTES;
}

static inline uint64_t batch_state_at(uint64_t block)
{
    return BATCH_STATES + block * sizeof(struct state);
}

#endif

#endif
