#include "tests/neural/reference.h"

#include <math.h>
#include <stdbool.h>

typedef unsigned __int128 big;

enum { NAN_BITS = 0x7fc00000, INFINITY_BITS = 0x7f800000, LEAST_EXPONENT = -149, FIELD = 8388608 };

/* Fixed point. */

static uint64_t saturate(__int128 value)
{
    const __int128 most = ((__int128)1 << 63) - 1, least = -most - 1;
    return (uint64_t)(value > most ? most : value < least ? least : value);
}

static __int128 signed_word(uint64_t word, unsigned bits)
{
    __int128 value = word;
    return word >> (bits - 1) & 1 ? value - ((__int128)1 << bits) : value;
}

static uint64_t accumulate_shifts(uint64_t sum, uint32_t data, uint32_t weight)
{
    unsigned count = weight / (1U << 25) % 8;
    bool negative = weight / (1U << 28) % 2 != 0;
    for (unsigned i = 0; i < count && i < 5; i++) {
        __int128 term = signed_word(data, 32);
        for (unsigned shift = weight % 32; shift > 0; shift--)
            term *= 2;
        sum = saturate(signed_word(sum, 64) + (negative ? -term : term));
        weight /= 32;
    }
    return sum;
}

/* Single precision: (-1)^negative * digits * 2^exponent. */

struct number {
    bool negative, nan, infinite;
    big digits;
    int exponent;
};

static struct number decode(uint32_t bits)
{
    uint32_t field = bits >> 23 & 255, fraction = bits % FIELD;
    struct number n = {.negative = bits >> 31 != 0};
    n.nan = field == 255 && fraction != 0;
    n.infinite = field == 255 && fraction == 0;
    n.digits = field == 0 ? fraction : fraction + FIELD;
    n.exponent = field == 0 ? LEAST_EXPONENT : (int)field - 150;
    return n;
}

/* Rounds to 24 digits; no exponent is below that of the least subnormal number. */
static uint32_t encode(struct number n)
{
    uint32_t sign = (uint32_t)n.negative << 31;
    if (n.nan)
        return NAN_BITS;
    if (n.infinite)
        return sign | INFINITY_BITS;
    if (n.digits == 0)
        return sign;
    for (; n.digits < FIELD && n.exponent > LEAST_EXPONENT; n.exponent--)
        n.digits *= 2;
    bool half = false, rest = false;
    for (; n.digits >= 2 * FIELD || n.exponent < LEAST_EXPONENT; n.exponent++) {
        rest |= half;
        half = n.digits % 2 != 0;
        n.digits /= 2;
    }
    if (half && (rest || n.digits % 2 != 0))
        n.digits++;
    if (n.digits == 2 * FIELD) {
        n.digits = FIELD;
        n.exponent++;
    }
    if (n.digits < FIELD)
        return sign | (uint32_t)n.digits;
    if (n.exponent + 150 >= 255)
        return sign | INFINITY_BITS;
    return sign | (uint32_t)(n.exponent + 150) << 23 | (uint32_t)(n.digits - FIELD);
}

uint32_t reference_multiply(uint32_t a, uint32_t b)
{
    struct number x = decode(a), y = decode(b);
    struct number product = {.negative = x.negative != y.negative,
                             .infinite = x.infinite || y.infinite,
                             .digits = x.digits * y.digits,
                             .exponent = x.exponent + y.exponent};
    product.nan = x.nan || y.nan || (product.infinite && (x.digits == 0 || y.digits == 0));
    return encode(product);
}

/* x is not less than y in exponent; neither is 0. */
static struct number add_finite(struct number x, struct number y)
{
    /* So far apart, all that matters of y is that it is not 0. */
    enum { FAR = 64 };
    int apart = x.exponent - y.exponent;
    if (apart > FAR) {
        y.digits = 1;
        apart = FAR;
    }
    struct number sum = {.exponent = x.exponent - apart};
    x.digits <<= apart;
    bool more = x.digits >= y.digits;
    sum.negative = more ? x.negative : y.negative;
    sum.digits = x.negative == y.negative ? x.digits + y.digits
                 : more                   ? x.digits - y.digits
                                          : y.digits - x.digits;
    sum.negative = sum.negative && sum.digits != 0;
    return sum;
}

uint32_t reference_add(uint32_t a, uint32_t b)
{
    struct number x = decode(a), y = decode(b);
    if (x.nan || y.nan || (x.infinite && y.infinite && x.negative != y.negative))
        return NAN_BITS;
    if (x.infinite || y.infinite)
        return x.infinite ? a : b;
    if (x.digits == 0 && y.digits == 0)
        return a & b;
    if (x.digits == 0 || y.digits == 0)
        return x.digits ? a : b;
    return encode(x.exponent >= y.exponent ? add_finite(x, y) : add_finite(y, x));
}

uint64_t reference_accumulate(enum arith_kind kind, uint64_t sum, uint32_t data, uint32_t weight)
{
    switch (kind) {
    case ARITH_SHA: return accumulate_shifts(sum, data, weight);
    case ARITH_FXP: return saturate(signed_word(sum, 64) + signed_word(data, 32) * signed_word(weight, 32));
    default: return reference_add((uint32_t)sum, reference_multiply(data, weight));
    }
}

/* Sigmoid. */

/* Returns the entry for step `step`, from -1024 to 1023: 2^24 times the sigmoid at its middle. */
static uint32_t entry(int step)
{
    long double x = ((long double)step + 0.5L) / 128;
    return (uint32_t)llroundl(16777216 / (1 + expl(-x)));
}

/* Returns whether step/128 is at most the accumulator's value. */
static bool reaches(enum arith_kind kind, uint64_t sum, int step)
{
    if (kind != ARITH_FP)
        return signed_word(sum, 64) >= (__int128)step * ((__int128)1 << 33);
    struct number bound = {.negative = step < 0, .digits = (big)(step < 0 ? -step : step), .exponent = -7};
    uint32_t less = reference_add((uint32_t)sum, encode(bound) ^ UINT32_C(0x80000000));
    return (less & INT32_MAX) == 0 || less >> 31 == 0;
}

uint32_t reference_sigmoid(enum arith_kind kind, uint64_t sum)
{
    int step = -1024;
    if (kind == ARITH_FP && decode((uint32_t)sum).nan)
        return NAN_BITS;
    for (int half = 1024; half > 0; half /= 2)
        if (step + half <= 1023 && reaches(kind, sum, step + half))
            step += half;
    uint32_t value = entry(step);
    return kind == ARITH_FP ? encode((struct number){.digits = value, .exponent = -24}) : value;
}

/* Networks. */

static uint32_t one(enum arith_kind kind)
{
    return kind == ARITH_FP ? UINT32_C(0x3f800000) : UINT32_C(1) << 24;
}

/* Writes what a layer's neurons give; layer 0 is the inputs. */
static void layer_values(const struct network *n, unsigned layer, const uint32_t *inputs, uint32_t *values)
{
    uint32_t below[NETWORK_INPUTS + 1] = {0};
    unsigned first = 0;
    for (unsigned i = 0; i < n->size[0] && layer == 0; i++)
        values[i] = inputs[i];
    if (layer == 0)
        return;
    layer_values(n, layer - 1, inputs, below);
    for (unsigned i = 1; i < layer; i++)
        first += (n->size[i - 1] + n->bias) * n->size[i];
    unsigned fan = n->size[layer - 1] + n->bias;
    if (n->bias)
        below[fan - 1] = one(n->kind);
    for (unsigned neuron = 0; neuron < n->size[layer]; neuron++) {
        uint64_t sum = 0;
        for (unsigned i = 0; i < fan; i++)
            sum = reference_accumulate(n->kind, sum, below[i], n->weights[first + neuron * fan + i]);
        values[neuron] = reference_sigmoid(n->kind, sum);
    }
}

void reference_network(const struct network *n, const uint32_t *inputs, uint32_t *outputs)
{
    layer_values(n, n->layers, inputs, outputs);
}
