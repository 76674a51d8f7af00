/* Operand values for tests: corner cases first, then random ones. */
#ifndef TESTS_HART_ORACLE_VALUES_H
#define TESTS_HART_ORACLE_VALUES_H

#include <stdint.h>

#include "tests/isa/random.h"

/* Corner cases of integers, and of doubles, floats and halves (raw bits). */
enum { VALUES_INTEGER = 26, VALUES_F64 = 36, VALUES_F32 = 36, VALUES_F16 = 34 };
extern const uint64_t values_integer[VALUES_INTEGER];
extern const uint64_t values_f64[VALUES_F64];
extern const uint32_t values_f32[VALUES_F32];
extern const uint16_t values_f16[VALUES_F16];

/* A 64-bit integer: a corner case, a single bit, a short number, or anything. */
uint64_t value_integer(struct random *random);

/* The bits of a double or a float: a corner case, a value near 1 or near an integer limit, or anything. */
uint64_t value_f64(struct random *random);
uint32_t value_f32(struct random *random);

/* The contents of a floating-point register; `float_percent` of them hold a boxed float, a few of those badly
 * boxed. */
uint64_t value_fp_register(struct random *random, unsigned float_percent);

/* The same with a half, some of them badly boxed, or a float near the halves. */
uint64_t value_half_register(struct random *random);

#endif
