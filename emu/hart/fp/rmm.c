#include "emu/hart/fp/rmm.h"

#include <stdbool.h>

#include "emu/hart/fp.h"
#include "isa/decoder/meaning.h"

/* The exact result, or one rounded to odd at 113 bits, in the compiler's quadruple precision: wide enough that rounding
 * it again, to 53 or 24 bits, equals rounding the exact value once (Boldo and Melquiond 2008). */
__extension__ typedef __float128 quad;

enum { QUAD_FRACTION = 112, QUAD_BIAS = 16383 };

/* A format to round to. */
struct format {
    int precision; /* significant bits */
    int emin;      /* exponent of the smallest normal number */
    int emax;      /* exponent of the largest finite number */
};

static const struct format format_f64 = {53, -1022, 1023};
static const struct format format_f32 = {24, -126, 127};

static uint128 quad_bits(quad v)
{
    uint128 bits;
    memcpy(&bits, &v, sizeof bits);
    return bits;
}

static quad quad_of(uint128 bits)
{
    quad v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

/* Returns the integer significand m * 2^-drop, rounded to nearest, ties away from zero. */
static uint128 shift_rounded(uint128 m, int drop, bool *inexact)
{
    *inexact = false;
    if (drop <= 0)
        return m;
    if (drop > QUAD_FRACTION + 1) {
        *inexact = m != 0;
        return 0;
    }
    uint128 rest = m & (((uint128)1 << drop) - 1);
    *inexact = rest != 0;
    return (m >> drop) + (rest >> (drop - 1));
}

/* Rounds a finite quad to `format`; returns its sign, exponent and fraction. */
static uint64_t pack(quad value, const struct format *format)
{
    uint128 bits = quad_bits(value);
    uint64_t sign = (uint64_t)(bits >> 127);
    int fraction_bits = format->precision - 1;
    uint64_t sign_bit = sign << (fraction_bits + (format->emax == 1023 ? 11 : 8));
    int biased = (int)(bits >> QUAD_FRACTION & 0x7fff);
    if (biased == 0)
        return sign_bit; /* zero: every value of float or double is 0 or normal as a quad */
    int exponent = biased - QUAD_BIAS;
    uint128 m = (bits & (((uint128)1 << QUAD_FRACTION) - 1)) | (uint128)1 << QUAD_FRACTION;

    int drop = QUAD_FRACTION - fraction_bits;
    bool inexact;
    bool tiny = false;
    if (exponent < format->emin) {
        /* Detect tininess after rounding, as if the exponent had no lower limit. */
        uint128 unbounded = shift_rounded(m, drop, &inexact);
        tiny = exponent < format->emin - 1 || unbounded >> format->precision == 0;
        drop += format->emin - exponent;
        exponent = format->emin;
    }
    uint64_t q = (uint64_t)shift_rounded(m, drop, &inexact);
    if (inexact)
        fp_raise(tiny ? FP_UF | FP_NX : FP_NX);
    /* Adding the significand to the exponent field lets a carry propagate. */
    uint64_t field = (uint64_t)(exponent - format->emin + 1) << fraction_bits;
    uint64_t packed = field - (UINT64_C(1) << fraction_bits) + q;
    uint64_t infinity = (uint64_t)(format->emax - format->emin + 2) << fraction_bits;
    if (packed >= infinity) {
        fp_raise(FP_OF | FP_NX);
        packed = infinity;
    }
    return sign_bit | packed;
}

/* Computes with truncation, then sets the last bit if the result is inexact: rounding to odd. */
enum operation { ADD, MUL, DIV, FMA };

static quad compute_odd(enum operation operation, quad a, quad b, quad c)
{
    uint32_t saved = _mm_getcsr();
    _mm_setcsr(MXCSR_MASKS | fp_host_rounding(RM_RTZ));
    /* The compiler must neither move the arithmetic out of this mode nor fold it. */
    __asm__ volatile("" : "+m"(a), "+m"(b), "+m"(c));
    quad v = 0;
    switch (operation) {
    case ADD: v = a + b; break;
    case MUL: v = a * b; break;
    case DIV: v = a / b; break;
    case FMA: v = a * b + c; break;
    }
    __asm__ volatile("" : "+m"(v));
    bool inexact = _mm_getcsr() & MXCSR_PE;
    _mm_setcsr(saved);
    return inexact ? quad_of(quad_bits(v) | 1) : v;
}

static bool both_finite(uint64_t a, uint64_t b)
{
    return isfinite(f64_of(a)) && isfinite(f64_of(b));
}

/* For infinities, NaNs, zero divisors and zero operands the host's unit is correct, because RMM and RNE agree on them;
 * so only other operands get here. A sum that cancels exactly is +0, as in RNE. */
static uint64_t finish(enum operation operation, uint64_t a, uint64_t b, uint64_t c,
                       const struct format *format)
{
    return pack(compute_odd(operation, (quad)f64_of(a), (quad)f64_of(b), (quad)f64_of(c)), format);
}

uint64_t rmm_f64_add(uint64_t a, uint64_t b)
{
    if (!both_finite(a, b) || f64_of(a) == -f64_of(b))
        return host_f64_add(a, b);
    return finish(ADD, a, b, 0, &format_f64);
}

uint64_t rmm_f64_sub(uint64_t a, uint64_t b)
{
    return f64_is_nan(b) ? host_f64_sub(a, b) : rmm_f64_add(a, b ^ SIGN64);
}

uint64_t rmm_f64_mul(uint64_t a, uint64_t b)
{
    if (!both_finite(a, b) || f64_of(a) == 0 || f64_of(b) == 0)
        return host_f64_mul(a, b);
    return finish(MUL, a, b, 0, &format_f64);
}

uint64_t rmm_f64_div(uint64_t a, uint64_t b)
{
    if (!both_finite(a, b) || f64_of(a) == 0 || f64_of(b) == 0)
        return host_f64_div(a, b);
    return finish(DIV, a, b, 0, &format_f64);
}

uint64_t rmm_f64_fma(uint64_t a, uint64_t b, uint64_t c)
{
    if (!both_finite(a, b) || !isfinite(f64_of(c)) || f64_of(a) == 0 || f64_of(b) == 0)
        return host_f64_fma(a, b, c);
    return finish(FMA, a, b, c, &format_f64);
}

uint64_t rmm_f64_from_i64(int64_t v)
{
    return v == 0 ? 0 : pack((quad)v, &format_f64);
}

uint64_t rmm_f64_from_u64(uint64_t v)
{
    return v == 0 ? 0 : pack((quad)v, &format_f64);
}

/* Floats convert to doubles exactly, so their operations are those above with a narrower target format. */
static uint64_t widen(uint32_t a)
{
    return f64_bits((double)f32_of(a));
}

static bool plain(uint32_t a)
{
    return isfinite(f32_of(a)) && f32_of(a) != 0;
}

uint32_t rmm_f32_add(uint32_t a, uint32_t b)
{
    if (!isfinite(f32_of(a)) || !isfinite(f32_of(b)) || f32_of(a) == -f32_of(b))
        return host_f32_add(a, b);
    return (uint32_t)finish(ADD, widen(a), widen(b), 0, &format_f32);
}

uint32_t rmm_f32_sub(uint32_t a, uint32_t b)
{
    return f32_is_nan(b) ? host_f32_sub(a, b) : rmm_f32_add(a, b ^ SIGN32);
}

uint32_t rmm_f32_mul(uint32_t a, uint32_t b)
{
    if (!plain(a) || !plain(b))
        return host_f32_mul(a, b);
    return (uint32_t)finish(MUL, widen(a), widen(b), 0, &format_f32);
}

uint32_t rmm_f32_div(uint32_t a, uint32_t b)
{
    if (!plain(a) || !plain(b))
        return host_f32_div(a, b);
    return (uint32_t)finish(DIV, widen(a), widen(b), 0, &format_f32);
}

uint32_t rmm_f32_fma(uint32_t a, uint32_t b, uint32_t c)
{
    if (!plain(a) || !plain(b) || !isfinite(f32_of(c)))
        return host_f32_fma(a, b, c);
    return (uint32_t)finish(FMA, widen(a), widen(b), widen(c), &format_f32);
}

uint32_t rmm_f32_from_i32(int32_t v)
{
    return rmm_f32_from_i64(v);
}

uint32_t rmm_f32_from_u32(uint32_t v)
{
    return rmm_f32_from_u64(v);
}

uint32_t rmm_f32_from_i64(int64_t v)
{
    return v == 0 ? 0 : (uint32_t)pack((quad)v, &format_f32);
}

uint32_t rmm_f32_from_u64(uint64_t v)
{
    return v == 0 ? 0 : (uint32_t)pack((quad)v, &format_f32);
}

uint32_t rmm_f64_to_f32(uint64_t a)
{
    if (!isfinite(f64_of(a)) || f64_of(a) == 0)
        return host_f64_to_f32(a);
    return (uint32_t)pack((quad)f64_of(a), &format_f32);
}
