/* The arithmetic of AxRAM's units (PACT 2018, section 5), to the bit: weights, multiply-accumulate steps and their clocks,
 * the sigmoid table, conversions. The functions are pure and accept any word, because memory may hold any bytes.
 *
 * The paper gives no binary points, no width of the accumulator, no coding of negative weights and no size of the sigmoid
 * table; these are ours:
 *
 *                 data word (32 bits)      weight word (32 bits)                                 accumulator (64 bits)
 *   ARITH_SHA     two's complement, /2^24  [4:0] [9:5] [14:10] [19:15] [24:20] shifts, leading   two's complement, /2^40
 *                                          one first; [27:25] their number, 6 and 7 mean 5;
 *                                          [28] sign; [31:29] ignored. Magnitude in 1/2^16
 *   ARITH_FXP     two's complement, /2^24  two's complement, /2^16                               two's complement, /2^40
 *   ARITH_FP      IEEE 754 single          IEEE 754 single                                       [31:0] single, [63:32] 0
 *
 * Both fixed-point accumulators saturate at each addition: in FXP once for a weight, in SHA once for a shift. FP rounds the
 * product and then the sum to the nearest, ties to even; NaNs are 0x7fc00000. The host's rounding mode must be to nearest.
 */
#ifndef EMU_NEURAL_ARITH_H
#define EMU_NEURAL_ARITH_H

#include <stddef.h>
#include <stdint.h>

enum arith_kind { ARITH_SHA, ARITH_FXP, ARITH_FP, ARITH_KINDS };

enum {
    ARITH_SHIFTS = 5, /* shifts in a SHA weight; the most iterations of a multiplication */
    ARITH_DATA_POINT =
        24, /* bits after the binary point of fixed-point data: values from -128 to below 128 */
    ARITH_WEIGHT_POINT = 16, /* of a fixed-point weight: below 2^16 in SHA, from -2^15 to below 2^15 in FXP */
    ARITH_SUM_POINT = ARITH_DATA_POINT + ARITH_WEIGHT_POINT, /* of an accumulator: from -2^23 to below 2^23 */
    ARITH_SIGMOID_ENTRIES =
        2048,               /* the table covers [-8, 8) in steps of 1/128; beyond it, its end entries apply */
    ARITH_SIGMOID_STEP = 7, /* log2 of the number of steps in an interval of length 1 */
    /* An entry is the sigmoid at the step's middle, rounded to 24 bits after the point; it differs from the sigmoid by at
     * most 2^-ARITH_SIGMOID_ERROR anywhere. */
    ARITH_SIGMOID_ERROR = 10,
};

/* Returns "SHA", "FxP" or "FP". */
const char *arith_name(enum arith_kind kind);

/* Returns the word of a weight. SHA: the magnitude is rounded to nearest (ties to even) in 1/2^16, and its `iterations`
 * (1 to ARITH_SHIFTS) leading ones are kept; other kinds ignore `iterations`. In fixed point, values out of range become the
 * nearest in range, and NaN becomes 0. */
uint32_t arith_weight(enum arith_kind kind, unsigned iterations, double weight);

/* Returns the value that a weight word stands for. */
double arith_weight_value(enum arith_kind kind, uint32_t weight);

/* Returns the clocks that a unit takes to multiply by the weight and accumulate: SHA the number of shifts, 0 for a weight of
 * zero; otherwise 1. */
unsigned arith_clocks(enum arith_kind kind, uint32_t weight);

/* Returns the data word of a value: fixed point rounds to nearest, ties to even, and takes the nearest value in range, the
 * largest for NaN, as the instruction fcvt.w.s does on the value times 2^24. */
uint32_t arith_data(enum arith_kind kind, double value);

/* Returns the value that a data word stands for. */
double arith_value(enum arith_kind kind, uint32_t data);

/* Returns the accumulator `sum` after data * weight was added. An accumulator starts at 0 in all kinds. */
uint64_t arith_accumulate(enum arith_kind kind, uint64_t sum, uint32_t data, uint32_t weight);

/* The same for `count` units that share a weight; data[i] goes to sums[i]. */
void arith_accumulate_units(enum arith_kind kind, uint64_t *sums, const uint32_t *data, size_t count,
                            uint32_t weight);

/* Returns the data word of the sigmoid of an accumulator. */
uint32_t arith_sigmoid(enum arith_kind kind, uint64_t sum);

/* Returns the value that an accumulator stands for, rounded to double. */
double arith_sum_value(enum arith_kind kind, uint64_t sum);

#endif
