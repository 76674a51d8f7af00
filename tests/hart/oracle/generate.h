/* Random blocks of instructions that always end, and access no memory outside their window. */
#ifndef TESTS_HART_ORACLE_GENERATE_H
#define TESTS_HART_ORACLE_GENERATE_H

#include <stdint.h>

#include "isa/decode.h"
#include "tests/hart/oracle/batch.h"
#include "tests/isa/random.h"

/* The contents of generated blocks. */
struct suite {
    const char *name;
    uint64_t own;     /* bit per enum insn_extension: the extensions under test; C is for compressed ones */
    uint64_t support; /* the extensions of the other instructions */
    unsigned own_percent;   /* share of instructions under test */
    unsigned float_percent; /* share of floating-point registers that start with a float */
    bool for_unicorn;       /* leaves out cases in which libunicorn 2.0.1, which is QEMU 5.0, is wrong */
};

/* Fills block `index` of the batch: code, and initial state. Returns the number of instructions under test in its
 * code. */
unsigned generate_block(struct random *random, const struct decoder *decoder, const struct suite *suite,
                        struct batch *batch, uint64_t index);

#endif
