#include "emu/hart/fp/half.h"

#include "isa/decoder/meaning.h"

enum {
    HALF_FRACTION = 10, /* bits */
    HALF_EMIN = -14,    /* exponent of the smallest normal number */
    HALF_INFINITY = 0x7c00,
    HALF_QUIET = 0x0200,
    DOUBLE_FRACTION = 52,
    DOUBLE_BIAS = 1023,
};

static bool is_nan(uint16_t a)
{
    return (a & ~SIGN16) > HALF_INFINITY;
}

uint32_t half_widen(uint16_t a)
{
    const uint32_t sign = (uint32_t)(a & SIGN16) << 16, magnitude = a & 0x7fff;
    if (magnitude >= HALF_INFINITY)
        return sign | UINT32_C(0x7f800000) | (magnitude & 0x3ff) << 13;
    if (magnitude >= UINT32_C(1) << HALF_FRACTION)
        return sign | ((magnitude << 13) + (UINT32_C(112) << 23));
    /* 2^-24 is the unit of subnormal numbers; the product is exact. */
    return sign | f32_bits((float)magnitude * 0x1p-24F);
}

static double value_of(uint16_t a)
{
    return (double)f32_of(half_widen(a));
}

/* Returns whether the magnitude q + rest / 2^drop, q an integer, is rounded up. */
static bool rounds_up(uint64_t q, uint64_t rest, unsigned drop, bool negative, unsigned mode)
{
    const uint64_t half = UINT64_C(1) << (drop - 1);
    switch (mode) {
    case RM_RNE: return rest > half || (rest == half && (q & 1));
    case RM_RMM: return rest >= half;
    case RM_RDN: return rest && negative;
    case RM_RUP: return rest && !negative;
    default: return false;
    }
}

static uint64_t shift_rounded(uint64_t m, unsigned drop, bool negative, unsigned mode)
{
    const uint64_t q = m >> drop, rest = m & ((UINT64_C(1) << drop) - 1);
    return q + rounds_up(q, rest, drop, negative, mode);
}

/* Returns infinity, or the largest finite number in modes that round towards zero from there. */
static uint16_t overflow(uint16_t sign, unsigned mode)
{
    const bool down = mode == RM_RTZ || mode == (sign ? RM_RUP : RM_RDN);
    fp_raise(FP_OF | FP_NX);
    return (uint16_t)(sign | (HALF_INFINITY - down));
}

/* Rounds a double, which is exact or rounded to odd: 53 bits are at least two more than the 11 of a half, so this equals
 * rounding the exact value once (Boldo and Melquiond 2008). Underflow is detected after rounding. */
static uint16_t narrow(double value, unsigned mode)
{
    const uint64_t bits = f64_bits(value);
    const uint16_t sign = (uint16_t)(bits >> 48 & SIGN16);
    int exponent = (int)(bits >> DOUBLE_FRACTION & 0x7ff) - DOUBLE_BIAS;
    unsigned drop = DOUBLE_FRACTION - HALF_FRACTION;
    bool tiny = false;
    if (value != value)
        return F16_NAN;
    if (value == 0)
        return sign;
    if (exponent > 15)
        return isinf(value) ? (uint16_t)(sign | HALF_INFINITY) : overflow(sign, mode);
    /* Whatever is below half the least subnormal number, 2^-25, rounds as 2^-26 does. */
    const uint64_t fraction = exponent < -26 ? 0 : bits & ((UINT64_C(1) << DOUBLE_FRACTION) - 1);
    const uint64_t m = fraction | UINT64_C(1) << DOUBLE_FRACTION;
    exponent = exponent < -26 ? -26 : exponent;
    if (exponent < HALF_EMIN) {
        const uint64_t unbounded = shift_rounded(m, drop, sign, mode);
        tiny = exponent < HALF_EMIN - 1 || unbounded >> (HALF_FRACTION + 1) == 0;
        drop += (unsigned)(HALF_EMIN - exponent);
        exponent = HALF_EMIN;
    }
    const uint64_t q = shift_rounded(m, drop, sign, mode);
    /* Adding the significand to the exponent field lets a carry propagate. */
    const uint64_t packed = ((uint64_t)(exponent - HALF_EMIN) << HALF_FRACTION) + q;
    if (packed >= HALF_INFINITY)
        return overflow(sign, mode);
    if (m & ((UINT64_C(1) << drop) - 1))
        fp_raise(tiny ? FP_UF | FP_NX : FP_NX);
    return (uint16_t)(sign | packed);
}

static unsigned actual(unsigned mode)
{
    static const uint8_t modes[4] = {RM_RNE, RM_RDN, RM_RUP, RM_RTZ};
    return mode == RM_DYN ? modes[_mm_getcsr() >> 13 & 3] : mode;
}

enum operation { ADD, MUL, DIV, SQRT };

/* Computes with truncation and sets the last bit if the result is inexact: rounding to odd. Keeps invalid operations and
 * divisions by zero in the host's flags. */
static double compute_odd(enum operation operation, double a, double b)
{
    const uint32_t saved = _mm_getcsr();
    _mm_setcsr(MXCSR_MASKS | fp_host_rounding(RM_RTZ));
    /* The compiler must neither move the arithmetic out of this mode nor fold it. */
    __asm__ volatile("" : "+m"(a), "+m"(b));
    double v = 0;
    switch (operation) {
    case ADD: v = a + b; break;
    case MUL: v = a * b; break;
    case DIV: v = a / b; break;
    case SQRT: v = f64_host_sqrt(a); break;
    }
    __asm__ volatile("" : "+m"(v));
    const uint32_t raised = _mm_getcsr();
    _mm_setcsr(saved | (raised & (MXCSR_IE | MXCSR_ZE)));
    return raised & MXCSR_PE ? f64_of(f64_bits(v) | 1) : v;
}

/* Conversion to double does not signal, so the arithmetic on signalling NaNs must. */
static double operand(uint16_t a)
{
    if (is_nan(a) && !(a & HALF_QUIET))
        fp_raise(FP_NV);
    return is_nan(a) ? f64_of(F64_NAN) : value_of(a);
}

/* A sum of opposite values is +0, but -0 when rounding down. */
static uint16_t add(double a, double b, unsigned mode)
{
    const double v = compute_odd(ADD, a, b);
    const bool cancels = v == 0 && a == -b && signbit(a) != signbit(b);
    return cancels ? (uint16_t)(mode == RM_RDN ? SIGN16 : 0) : narrow(v, mode);
}

uint16_t half_add(uint16_t a, uint16_t b, unsigned mode)
{
    return add(operand(a), operand(b), actual(mode));
}

uint16_t half_sub(uint16_t a, uint16_t b, unsigned mode)
{
    return add(operand(a), operand((uint16_t)(b ^ SIGN16)), actual(mode));
}

uint16_t half_mul(uint16_t a, uint16_t b, unsigned mode)
{
    return narrow(compute_odd(MUL, operand(a), operand(b)), actual(mode));
}

uint16_t half_div(uint16_t a, uint16_t b, unsigned mode)
{
    return narrow(compute_odd(DIV, operand(a), operand(b)), actual(mode));
}

/* The product of two halves has 22 bits, so it is an exact double. */
uint16_t half_fma(uint16_t a, uint16_t b, uint16_t c, unsigned mode)
{
    const double product = compute_odd(MUL, operand(a), operand(b));
    return add(product, operand(c), actual(mode));
}

uint16_t half_sqrt(uint16_t a, unsigned mode)
{
    return narrow(compute_odd(SQRT, operand(a), 0), actual(mode));
}

uint32_t half_to_f32(uint16_t a)
{
    return f32_bits((float)operand(a));
}

uint64_t half_to_f64(uint16_t a)
{
    return f64_bits(operand(a));
}

/* The conversion to double raises NV for a signalling NaN. */
uint16_t half_from_f32(uint32_t a, unsigned mode)
{
    return narrow((double)f32_of(a), actual(mode));
}

uint16_t half_from_f64(uint64_t a, unsigned mode)
{
    const uint64_t magnitude = a & ~SIGN64, infinity = UINT64_C(0x7ff0000000000000);
    if (magnitude > infinity && !(magnitude >> 51 & 1))
        fp_raise(FP_NV);
    return narrow(f64_of(a), actual(mode));
}

/* Whatever is above the largest half, 65504, by so much overflows like 2^32. Converts a signed number: Clang's sequence for
 * unsigned ones yields -0 for 0 when rounding down. */
static double limited(uint64_t magnitude)
{
    return magnitude >> 32 ? 0x1p32 : (double)(int64_t)magnitude;
}

uint16_t half_from_i64(int64_t v, unsigned mode)
{
    return narrow(v < 0 ? -limited(-(uint64_t)v) : limited((uint64_t)v), actual(mode));
}

uint16_t half_from_u64(uint64_t v, unsigned mode)
{
    return narrow(limited(v), actual(mode));
}

/* The result of f32_min or f32_max is one of the operands or the canonical NaN. */
uint16_t half_min(uint16_t a, uint16_t b)
{
    return narrow((double)f32_of(host_f32_min(half_widen(a), half_widen(b))), RM_RNE);
}

uint16_t half_max(uint16_t a, uint16_t b)
{
    return narrow((double)f32_of(host_f32_max(half_widen(a), half_widen(b))), RM_RNE);
}

uint64_t half_class(uint16_t a)
{
    const unsigned magnitude = a & 0x7fff;
    if (magnitude > 0 && magnitude < 1u << HALF_FRACTION)
        return a & SIGN16 ? 1u << 2 : 1u << 5; /* normal as a float */
    return host_f32_class(half_widen(a));
}
