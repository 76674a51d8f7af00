#include "emu/neural/arith.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

enum {
    SHIFT_BITS = 5,
    COUNT_AT = ARITH_SHIFTS * SHIFT_BITS,
    COUNT_MASK = 7,
    SIGN_AT = COUNT_AT + 3,
    HALF_TABLE = ARITH_SIGMOID_ENTRIES / 2,
};

#define NAN_WORD UINT32_C(0x7fc00000)

static const uint32_t upper_sigmoid[HALF_TABLE] = {
#include "isa/include/croft/sigmoid_table.h"
};

const char *arith_name(enum arith_kind kind)
{
    static const char *const names[ARITH_KINDS] = {
        [ARITH_SHA] = "SHA", [ARITH_FXP] = "FxP", [ARITH_FP] = "FP"};
    return names[kind];
}

static uint32_t float_word(float value)
{
    uint32_t word;
    memcpy(&word, &value, sizeof word);
    return isnan(value) ? NAN_WORD : word;
}

static float word_float(uint32_t word)
{
    float value;
    memcpy(&value, &word, sizeof value);
    return value;
}

/* Rounds to an integer from least to most. */
static int64_t round_within(double value, double least, double most)
{
    return value <= least ? (int64_t)least : value >= most ? (int64_t)most : (int64_t)nearbyint(value);
}

static uint32_t sha_weight(unsigned iterations, double weight)
{
    uint32_t ones = (uint32_t)round_within(ldexp(fabs(weight), ARITH_WEIGHT_POINT), 0, UINT32_MAX);
    uint32_t word = 0, count = 0;
    while (ones && count < iterations) {
        uint32_t shift = 31 - (uint32_t)__builtin_clz(ones);
        word |= shift << (count++ * SHIFT_BITS);
        ones &= ~(UINT32_C(1) << shift);
    }
    return count == 0 ? 0 : word | count << COUNT_AT | (uint32_t)(signbit(weight) != 0) << SIGN_AT;
}

uint32_t arith_weight(enum arith_kind kind, unsigned iterations, double weight)
{
    if (kind == ARITH_FP)
        return float_word((float)weight);
    if (isnan(weight))
        return 0;
    if (kind == ARITH_SHA)
        return sha_weight(iterations, weight);
    return (uint32_t)(int32_t)round_within(ldexp(weight, ARITH_WEIGHT_POINT), INT32_MIN, INT32_MAX);
}

static unsigned sha_count(uint32_t weight)
{
    unsigned count = weight >> COUNT_AT & COUNT_MASK;
    return count < ARITH_SHIFTS ? count : ARITH_SHIFTS;
}

/* Returns the integer by which a fixed-point weight multiplies: the sum of SHA's powers of two, with the sign. */
static int64_t multiplier(enum arith_kind kind, uint32_t weight)
{
    if (kind == ARITH_FXP)
        return (int32_t)weight;
    int64_t sum = 0;
    for (unsigned i = 0; i < sha_count(weight); i++)
        sum += INT64_C(1) << (weight >> (i * SHIFT_BITS) & 31);
    return weight >> SIGN_AT & 1 ? -sum : sum;
}

double arith_weight_value(enum arith_kind kind, uint32_t weight)
{
    return kind == ARITH_FP ? (double)word_float(weight)
                            : ldexp((double)multiplier(kind, weight), -ARITH_WEIGHT_POINT);
}

unsigned arith_clocks(enum arith_kind kind, uint32_t weight)
{
    return kind == ARITH_SHA ? sha_count(weight) : 1;
}

uint32_t arith_data(enum arith_kind kind, double value)
{
    if (kind == ARITH_FP)
        return float_word((float)value);
    if (isnan(value))
        return INT32_MAX;
    return (uint32_t)(int32_t)round_within(ldexp(value, ARITH_DATA_POINT), INT32_MIN, INT32_MAX);
}

double arith_value(enum arith_kind kind, uint32_t data)
{
    return kind == ARITH_FP ? (double)word_float(data) : ldexp((int32_t)data, -ARITH_DATA_POINT);
}

double arith_sum_value(enum arith_kind kind, uint64_t sum)
{
    return kind == ARITH_FP ? (double)word_float((uint32_t)sum)
                            : ldexp((double)(int64_t)sum, -ARITH_SUM_POINT);
}

/* Adds data * by, saturating. All shifts of a weight add terms of one sign, so that one of these additions saturates exactly
 * if their sum does, with the same result. */
static inline uint64_t add_fixed(uint64_t sum, uint32_t data, int64_t by)
{
    int64_t product, result;
    if (__builtin_mul_overflow((int64_t)(int32_t)data, by, &product) ||
        __builtin_add_overflow((int64_t)sum, product, &result)) {
        __int128 exact = (__int128)(int64_t)sum + (__int128)(int32_t)data * by;
        result = exact < INT64_MIN ? INT64_MIN : exact > INT64_MAX ? INT64_MAX : (int64_t)exact;
    }
    return (uint64_t)result;
}

/* add_fixed() with a multiplier whose products need no check. Stops at the first sum that saturates; returns its index, or
 * count. */
static inline size_t add_small(uint64_t *sums, const uint32_t *data, size_t count, int64_t by)
{
    for (size_t i = 0; i < count; i++) {
        int64_t result;
        if (__builtin_add_overflow((int64_t)sums[i], (int32_t)data[i] * by, &result))
            return i;
        sums[i] = (uint64_t)result;
    }
    return count;
}

static inline uint64_t add_float(uint64_t sum, uint32_t data, float weight)
{
    float product = word_float(data) * weight;
    return float_word(word_float((uint32_t)sum) + product);
}

void arith_accumulate_units(enum arith_kind kind, uint64_t *sums, const uint32_t *data, size_t count,
                            uint32_t weight)
{
    if (kind == ARITH_FP) {
        float by = word_float(weight);
        for (size_t i = 0; i < count; i++)
            sums[i] = add_float(sums[i], data[i], by);
        return;
    }
    int64_t by = multiplier(kind, weight);
    for (size_t i = by >= INT32_MIN && by <= INT32_MAX ? add_small(sums, data, count, by) : 0; i < count; i++)
        sums[i] = add_fixed(sums[i], data[i], by);
}

uint64_t arith_accumulate(enum arith_kind kind, uint64_t sum, uint32_t data, uint32_t weight)
{
    arith_accumulate_units(kind, &sum, &data, 1, weight);
    return sum;
}

/* Returns 2^24 times the sigmoid in step `step` of the table, counted from the step that begins at 0. */
static uint32_t look_up(int64_t step)
{
    if (step >= 0)
        return upper_sigmoid[step < HALF_TABLE ? step : HALF_TABLE - 1];
    return (UINT32_C(1) << ARITH_DATA_POINT) -
           upper_sigmoid[step >= -HALF_TABLE ? -step - 1 : HALF_TABLE - 1];
}

uint32_t arith_sigmoid(enum arith_kind kind, uint64_t sum)
{
    if (kind != ARITH_FP)
        return look_up((int64_t)sum >> (ARITH_SUM_POINT - ARITH_SIGMOID_STEP));
    float x = word_float((uint32_t)sum);
    if (isnan(x))
        return NAN_WORD;
    x = x < -8 ? -8 : x > 8 ? 8 : x;
    return float_word((float)look_up((int64_t)floorf(x * (1 << ARITH_SIGMOID_STEP))) /
                      (1 << ARITH_DATA_POINT));
}
