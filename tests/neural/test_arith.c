/* The arithmetic of AxRAM's units against the paper's example and an independent reference. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/isa/random.h"
#include "tests/neural/reference.h"

enum { WEIGHT_ONE = 1 << ARITH_WEIGHT_POINT, STEPS = 300000 };

static uint32_t bits_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* Figure 6: 90 * 125 after one to four iterations; a fifth changes nothing, for 90 has four ones. */
static void paper_example(void **state)
{
    static const uint64_t products[ARITH_SHIFTS] = {8000, 10000, 11000, 11250, 11250};
    static const unsigned clocks[ARITH_SHIFTS] = {1, 2, 3, 4, 4};
    (void)state;
    for (unsigned i = 0; i < ARITH_SHIFTS; i++) {
        uint32_t weight = arith_weight(ARITH_SHA, i + 1, 90.0 / WEIGHT_ONE);
        assert_int_equal(arith_accumulate(ARITH_SHA, 0, 125, weight), products[i]);
        assert_int_equal(arith_clocks(ARITH_SHA, weight), clocks[i]);
        weight = arith_weight(ARITH_SHA, i + 1, -90.0 / WEIGHT_ONE);
        assert_true(arith_accumulate(ARITH_SHA, 0, 125, weight) == -products[i]);
        assert_true(arith_accumulate(ARITH_SHA, 0, (uint32_t)-125, weight) == products[i]);
    }
    assert_int_equal(arith_weight(ARITH_SHA, 4, 90.0 / WEIGHT_ONE), 6 | 4 << 5 | 3 << 10 | 1 << 15 | 4 << 25);
}

/* Returns the number that consists of the leading `count` ones of a number. */
static uint32_t leading_ones(uint32_t number, unsigned count)
{
    uint32_t kept = 0;
    for (int bit = 31; bit >= 0 && count > 0; bit--)
        if (number & UINT32_C(1) << bit) {
            kept += UINT32_C(1) << bit;
            count--;
        }
    return kept;
}

static void check_shifts(uint32_t number, unsigned iterations)
{
    uint32_t kept = leading_ones(number, iterations);
    uint32_t weight = arith_weight(ARITH_SHA, iterations, (double)number / WEIGHT_ONE);
    uint32_t negative = arith_weight(ARITH_SHA, iterations, -(double)number / WEIGHT_ONE);
    assert_true(arith_accumulate(ARITH_SHA, 0, 1, weight) == kept);
    assert_true(arith_accumulate(ARITH_SHA, 0, 1, negative) == -(uint64_t)kept);
    assert_true(reference_accumulate(ARITH_SHA, 7, 3, weight) == 7 + 3 * (uint64_t)kept);
    assert_int_equal(arith_clocks(ARITH_SHA, weight), __builtin_popcount(kept));
    assert_true(arith_weight_value(ARITH_SHA, weight) == (double)kept / WEIGHT_ONE);
    assert_true(arith_weight_value(ARITH_SHA, negative) == -(double)kept / WEIGHT_ONE);
}

/* All magnitudes of 16 bits at both ends of a weight, and random ones of 32, with all numbers of iterations. */
static void weights_as_shifts(void **state)
{
    struct random random = {1};
    (void)state;
    for (unsigned iterations = 1; iterations <= ARITH_SHIFTS; iterations++) {
        for (uint32_t number = 0; number < 1 << 16; number++) {
            check_shifts(number, iterations);
            check_shifts(number << 16, iterations);
            check_shifts((uint32_t)random_next(&random), iterations);
        }
    }
}

/* Weights round to nearest, ties to even, and stop at the end of the range. */
static void weights_round(void **state)
{
    static const struct {
        double weight;
        uint32_t shifts, fixed; /* the magnitude of SHA, all ones kept; FXP's word */
    } cases[] = {
        {0.5 / WEIGHT_ONE, 0, 0},
        {1.5 / WEIGHT_ONE, 2, 2},
        {2.5 / WEIGHT_ONE, 2, 2},
        {-2.5 / WEIGHT_ONE, 2, (uint32_t)-2},
        {2.51 / WEIGHT_ONE, 3, 3},
        {1, 65536, 65536},
        {-1, 65536, (uint32_t)-65536},
        {32768, UINT32_C(1) << 31, INT32_MAX},
        {-32768, UINT32_C(1) << 31, UINT32_C(1) << 31},
        {-40000, UINT32_C(40000) << 16, UINT32_C(1) << 31},
        {1e9, UINT32_C(0xf8000000), INT32_MAX},
        {-1e9, UINT32_C(0xf8000000), UINT32_C(1) << 31},
        {INFINITY, UINT32_C(0xf8000000), INT32_MAX},
        {NAN, 0, 0},
        {-0.0, 0, 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint32_t weight = arith_weight(ARITH_SHA, ARITH_SHIFTS, cases[i].weight);
        double value = fabs(arith_weight_value(ARITH_SHA, weight)) * WEIGHT_ONE;
        assert_true(value == cases[i].shifts);
        assert_int_equal(arith_weight(ARITH_FXP, 1, cases[i].weight), cases[i].fixed);
    }
    assert_int_equal(arith_weight(ARITH_FP, 1, 0.1), bits_of(0.1F));
    assert_int_equal(arith_weight(ARITH_FP, 1, -NAN), 0x7fc00000);
    assert_int_equal(arith_clocks(ARITH_FXP, 0), 1);
    assert_int_equal(arith_clocks(ARITH_FP, 0), 1);
    assert_int_equal(arith_clocks(ARITH_SHA, 0), 0);
    assert_int_equal(arith_clocks(ARITH_SHA, UINT32_C(7) << 25), 5);
}

/* Conversion of inputs is fcvt.w.s's: nearest, ties to even, saturating, NaN the largest. */
static void data_rounds(void **state)
{
    static const struct {
        double scaled; /* times 2^24 */
        int32_t word;
    } cases[] = {
        {0, 0},
        {0.5, 0},
        {1.5, 2},
        {-0.5, 0},
        {-1.5, -2},
        {2.5, 2},
        {-2.5, -2},
        {0.499, 0},
        {16777216, 1 << 24},
        {-16777216, -(1 << 24)},
        {2147483646.5, 2147483646},
        {2147483647, INT32_MAX},
        {2147483648, INT32_MAX},
        {-2147483648, INT32_MIN},
        {-2147483649.0, INT32_MIN},
        {INFINITY, INT32_MAX},
        {-INFINITY, INT32_MIN},
        {NAN, INT32_MAX},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        for (int kind = ARITH_SHA; kind <= ARITH_FXP; kind++)
            assert_int_equal((int32_t)arith_data((enum arith_kind)kind, cases[i].scaled / 16777216),
                             cases[i].word);
    for (int32_t word = -70000; word < 70000; word++)
        assert_int_equal((int32_t)arith_data(ARITH_FXP, arith_value(ARITH_FXP, (uint32_t)word)), word);
    assert_int_equal(arith_data(ARITH_FP, 0.1), bits_of(0.1F));
    assert_true(arith_value(ARITH_FP, bits_of(0.1F)) == 0.1F);
    assert_true(arith_value(ARITH_SHA, UINT32_C(1) << 31) == -128);
    assert_true(arith_sum_value(ARITH_SHA, UINT64_C(1) << 63) == -8388608);
    assert_true(arith_sum_value(ARITH_FP, bits_of(-3.5F)) == -3.5);
}

/* A word with many zeros, many ones, or none of both. */
static uint64_t word_of(struct random *random)
{
    uint64_t word = random_next(random);
    switch (random_below(random, 5)) {
    case 0: return word & random_next(random) & random_next(random);
    case 1: return word | random_next(random) | random_next(random);
    case 2: return word >> random_below(random, 64);
    case 3: return UINT64_C(0) - (word >> random_below(random, 64));
    default: return word;
    }
}

/* Steps of any words, in four units at a time; accumulators come near their ends. */
static void steps_fixed(void **state)
{
    struct random random = {2};
    (void)state;
    for (int step = 0; step < STEPS; step++) {
        enum arith_kind kind = step & 1 ? ARITH_SHA : ARITH_FXP;
        uint32_t weight = (uint32_t)word_of(&random), data[4];
        uint64_t sums[4], expected[4];
        for (int i = 0; i < 4; i++) {
            data[i] = random_chance(&random, 5) ? UINT32_C(1) << 31 : (uint32_t)word_of(&random);
            sums[i] = word_of(&random);
            expected[i] = reference_accumulate(kind, sums[i], data[i], weight);
            assert_true(arith_accumulate(kind, sums[i], data[i], weight) == expected[i]);
        }
        arith_accumulate_units(kind, sums, data, 4, weight);
        assert_memory_equal(sums, expected, sizeof sums);
    }
}

/* Five shifts of 31, which only a damaged row holds, exceed 64 bits in one product. */
static void steps_saturate(void **state)
{
    const uint32_t largest = UINT32_MAX & ~(UINT32_C(1) << 28), negative = UINT32_MAX;
    (void)state;
    assert_true(arith_accumulate(ARITH_SHA, 0, INT32_MAX, largest) == INT64_MAX);
    assert_true(arith_accumulate(ARITH_SHA, INT64_MAX, INT32_MAX, negative) == (uint64_t)INT64_MIN);
    assert_true(arith_accumulate(ARITH_SHA, 0, UINT32_C(1) << 31, negative) == INT64_MAX);
    assert_true(arith_accumulate(ARITH_FXP, INT64_MAX, 1, 1) == INT64_MAX);
    assert_true(arith_accumulate(ARITH_FXP, (uint64_t)INT64_MIN, 1, UINT32_MAX) == (uint64_t)INT64_MIN);
    assert_true(arith_accumulate(ARITH_FXP, UINT64_C(1) << 62, UINT32_C(1) << 31, UINT32_C(1) << 31) ==
                INT64_MAX);
}

/* Single precision near what is special, and random. */
static uint32_t float_of(struct random *random)
{
    static const uint32_t special[] = {0,          0x80000000, 0x00000001, 0x807fffff, 0x00800000,
                                       0x80800001, 0x3f800000, 0xbf800000, 0x3f7fffff, 0x7f7fffff,
                                       0xff7fffff, 0x7f800000, 0xff800000, 0x7f800001, 0xffc00000,
                                       0x4b800001, 0x33800000, 0x1f800000};
    if (random_chance(random, 30))
        return special[random_below(random, sizeof special / sizeof special[0])];
    uint32_t bits = (uint32_t)random_next(random);
    return random_chance(random, 60) ? (bits & 0x80ffffff) | (120 + random_below(random, 16)) << 23 : bits;
}

static void steps_float(void **state)
{
    struct random random = {3};
    (void)state;
    for (int step = 0; step < STEPS; step++) {
        uint32_t data = float_of(&random), weight = float_of(&random);
        uint64_t sum = float_of(&random);
        if (random_chance(&random, 20))
            sum = reference_multiply(data, weight) ^ 0x80000000; /* what the product nearly cancels */
        assert_true(arith_accumulate(ARITH_FP, sum, data, weight) ==
                    reference_accumulate(ARITH_FP, sum, data, weight));
    }
}

/* Each entry at both ends of its step, and what lies beyond the table. */
static void sigmoid_table(void **state)
{
    (void)state;
    for (int step = -1100; step <= 1100; step++) {
        float edge = (float)step / 128, below = nextafterf(edge, -9);
        for (int i = -1; i <= 1; i++) {
            uint64_t sum = (uint64_t)(step * (INT64_C(1) << 33) + i);
            assert_int_equal(arith_sigmoid(ARITH_FXP, sum), reference_sigmoid(ARITH_FXP, sum));
            assert_int_equal(arith_sigmoid(ARITH_SHA, sum), reference_sigmoid(ARITH_SHA, sum));
        }
        assert_int_equal(arith_sigmoid(ARITH_FP, bits_of(edge)), reference_sigmoid(ARITH_FP, bits_of(edge)));
        assert_int_equal(arith_sigmoid(ARITH_FP, bits_of(below)),
                         reference_sigmoid(ARITH_FP, bits_of(below)));
    }
    assert_int_equal(arith_sigmoid(ARITH_FP, 0x7fc00000), 0x7fc00000);
    assert_int_equal(arith_sigmoid(ARITH_FP, 0xffc00001), 0x7fc00000);
    assert_int_equal(arith_sigmoid(ARITH_FP, 0x80000000), arith_sigmoid(ARITH_FP, 0));
    assert_int_equal(arith_sigmoid(ARITH_FP, 0x7f800000), arith_sigmoid(ARITH_FP, bits_of(7.999F)));
    assert_int_equal(arith_sigmoid(ARITH_FP, 0xff800000), arith_sigmoid(ARITH_FP, bits_of(-8)));
    assert_int_equal(arith_sigmoid(ARITH_SHA, INT64_MAX),
                     arith_sigmoid(ARITH_SHA, UINT64_C(7) << 40 | UINT64_C(255) << 32));
    assert_int_equal(arith_sigmoid(ARITH_SHA, (uint64_t)INT64_MIN),
                     arith_sigmoid(ARITH_SHA, (uint64_t)(-(INT64_C(8) << 40))));
}

/* The table's error is at most what its header says, and comes close to it. */
static void sigmoid_error(void **state)
{
    double most = 0;
    (void)state;
    for (int64_t i = -400000; i <= 400000; i++) {
        double x = (double)i / 32768;
        uint64_t sum = (uint64_t)(i * (1 << 25));
        double value = arith_value(ARITH_FXP, arith_sigmoid(ARITH_FXP, sum));
        assert_true(arith_value(ARITH_FP, arith_sigmoid(ARITH_FP, bits_of((float)x))) == value);
        most = fmax(most, fabs(value - 1 / (1 + exp(-x))));
    }
    assert_true(most <= ldexp(1, -ARITH_SIGMOID_ERROR));
    assert_true(most > 0.99 * ldexp(1, -ARITH_SIGMOID_ERROR));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paper_example), cmocka_unit_test(weights_as_shifts),
        cmocka_unit_test(weights_round), cmocka_unit_test(data_rounds),
        cmocka_unit_test(steps_fixed),   cmocka_unit_test(steps_saturate),
        cmocka_unit_test(steps_float),   cmocka_unit_test(sigmoid_table),
        cmocka_unit_test(sigmoid_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
