/* IEEE 754 arithmetic on raw bits by the host's SSE unit, with RISC-V's NaNs, flags and saturation.
 *
 * While guest code runs, between fp_begin() and fp_end(), the host's MXCSR holds the guest's rounding mode and
 * accumulates its exceptions. x86-64 detects tininess after rounding, as RISC-V does; a host that detects it before
 * rounding would wrongly raise UF. Round to nearest, ties to max magnitude, which SSE lacks, is in emu/hart/fp/rmm.h. */
#ifndef EMU_HART_FP_H
#define EMU_HART_FP_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#ifndef __x86_64__
#error                                                                                                       \
    "the floating-point unit is written for x86-64 hosts: see emu/hart/fp.h for what another host must provide"
#endif
#include <immintrin.h>

#include "isa/insn.h"

enum fp_flag { FP_NX = 1, FP_UF = 2, FP_OF = 4, FP_DZ = 8, FP_NV = 16 };

#define F16_NAN 0x7e00
#define F32_NAN UINT32_C(0x7fc00000)
#define F64_NAN UINT64_C(0x7ff8000000000000)

/* MXCSR bits (Intel SDM volume 1, section 10.2.3): exceptions in 5:0, masks in 12:7, rounding control in
 * 14:13. */
enum {
    MXCSR_IE = 1,
    MXCSR_ZE = 4,
    MXCSR_OE = 8,
    MXCSR_UE = 16,
    MXCSR_PE = 32,
    MXCSR_EXCEPTIONS = 63,
    MXCSR_MASKS = 0x1f80
};

/* Returns the MXCSR rounding control of RM_RNE .. RM_RUP. */
static inline uint32_t fp_host_rounding(unsigned rm)
{
    static const uint16_t control[4] = {0x0000, 0x6000, 0x2000, 0x4000};
    return control[rm & 3];
}

/* Returns whether the host has the rounding mode. */
static inline bool fp_host_can(unsigned rm)
{
    return rm <= RM_RUP;
}

/* Sets the host's rounding mode (RM_RNE for modes that it lacks) and clears its flags. Returns a value for fp_end(). */
static inline uint32_t fp_begin(unsigned rm)
{
    uint32_t saved = _mm_getcsr();
    _mm_setcsr(MXCSR_MASKS | fp_host_rounding(fp_host_can(rm) ? rm : RM_RNE));
    return saved;
}

/* RISC-V's flags for exceptions in MXCSR; constant for a constant. */
#define FP_FLAGS_OF(csr)                                                                                     \
    (((csr)&MXCSR_IE ? FP_NV : 0) | ((csr)&MXCSR_ZE ? FP_DZ : 0) | ((csr)&MXCSR_OE ? FP_OF : 0) |            \
     ((csr)&MXCSR_UE ? FP_UF : 0) | ((csr)&MXCSR_PE ? FP_NX : 0))

/* Returns the exceptions that the host has accumulated, as RISC-V flags. */
static inline unsigned fp_flags(void)
{
    const uint32_t csr = _mm_getcsr();
    return FP_FLAGS_OF(csr);
}

/* Restores the host's own mode. Returns the flags that guest code has raised. */
static inline unsigned fp_end(uint32_t saved)
{
    unsigned flags = fp_flags();
    _mm_setcsr(saved);
    return flags;
}

/* Raises flags that the host's operation would not. */
static inline void fp_raise(unsigned flags)
{
    _mm_setcsr(_mm_getcsr() | (flags & FP_NV ? MXCSR_IE : 0) | (flags & FP_DZ ? MXCSR_ZE : 0) |
               (flags & FP_OF ? MXCSR_OE : 0) | (flags & FP_UF ? MXCSR_UE : 0) |
               (flags & FP_NX ? MXCSR_PE : 0));
}

/* Converts to an integer in [low, high] with rounding mode rm (RM_DYN: the host's current one). Values out of range
 * saturate and raise only NV; a NaN counts as too large. The slow path of the host_f*_to_* functions, correct for every
 * value. */
uint64_t fp_to_signed(double value, unsigned rm, int64_t low, int64_t high);
uint64_t fp_to_unsigned(double value, unsigned rm, uint64_t high);

static inline double f64_of(uint64_t bits)
{
    double v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

static inline uint64_t f64_bits(double v)
{
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    return bits;
}

static inline float f32_of(uint32_t bits)
{
    float v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

static inline uint32_t f32_bits(float v)
{
    uint32_t bits;
    memcpy(&bits, &v, sizeof bits);
    return bits;
}

/* Every operation with a NaN result returns the canonical NaN. */
static inline uint64_t f64_canonical(double v)
{
    return __builtin_expect(v != v, 0) ? F64_NAN : f64_bits(v);
}

static inline uint32_t f32_canonical(float v)
{
    return __builtin_expect(v != v, 0) ? F32_NAN : f32_bits(v);
}

static inline double f64_host_sqrt(double v)
{
    return _mm_cvtsd_f64(_mm_sqrt_sd(_mm_setzero_pd(), _mm_set_sd(v)));
}

static inline float f32_host_sqrt(float v)
{
    return _mm_cvtss_f32(_mm_sqrt_ss(_mm_set_ss(v)));
}

/* Infinity times zero is invalid even if the addend is a quiet NaN, for which hosts differ. */
static inline double f64_host_fma(double a, double b, double c)
{
    double v = __builtin_fma(a, b, c);
    if (__builtin_expect(v != v, 0) && ((isinf(a) && b == 0) || (a == 0 && isinf(b))))
        fp_raise(FP_NV);
    return v;
}

static inline float f32_host_fma(float a, float b, float c)
{
    float v = __builtin_fmaf(a, b, c);
    if (__builtin_expect(v != v, 0) && ((isinf(a) && b == 0) || (a == 0 && isinf(b))))
        fp_raise(FP_NV);
    return v;
}

/* Comparisons use intrinsics, because compilers may turn ordered comparisons into quiet ones, and fold those with a
 * known NaN, such as unbox() returns, though the other operand may be signalling. */
#define FP_COMPARISONS(n, bits_type, set)                                                                    \
    static inline uint64_t host_f##n##_eq(bits_type a, bits_type b)                                          \
    {                                                                                                        \
        return 1 & (uint64_t)_mm_cvtsi128_si64(_mm_castp##set##_si128(                                       \
                       _mm_cmpeq_s##set(_mm_set_s##set(f##n##_of(a)), _mm_set_s##set(f##n##_of(b)))));       \
    }                                                                                                        \
    static inline uint64_t host_f##n##_lt(bits_type a, bits_type b)                                          \
    {                                                                                                        \
        return (uint64_t)_mm_comigt_s##set(_mm_set_s##set(f##n##_of(b)), _mm_set_s##set(f##n##_of(a)));      \
    }                                                                                                        \
    static inline uint64_t host_f##n##_le(bits_type a, bits_type b)                                          \
    {                                                                                                        \
        return (uint64_t)_mm_comige_s##set(_mm_set_s##set(f##n##_of(b)), _mm_set_s##set(f##n##_of(a)));      \
    }
FP_COMPARISONS(64, uint64_t, d)
FP_COMPARISONS(32, uint32_t, s)
#undef FP_COMPARISONS

/* fmin and fmax follow the F and D extensions 2.2 (IEEE 754-2019 minimumNumber): a number wins over a NaN, two NaNs
 * give the canonical NaN, -0 is less than +0, only a signalling NaN raises NV. fclass follows the specification's
 * table. */
#define FP_OPERATIONS(n, bits_type, type, sign, infinity, quiet, fraction)                                   \
    static inline bits_type host_f##n##_add(bits_type a, bits_type b)                                        \
    {                                                                                                        \
        return f##n##_canonical(f##n##_of(a) + f##n##_of(b));                                                \
    }                                                                                                        \
    static inline bits_type host_f##n##_sub(bits_type a, bits_type b)                                        \
    {                                                                                                        \
        return f##n##_canonical(f##n##_of(a) - f##n##_of(b));                                                \
    }                                                                                                        \
    static inline bits_type host_f##n##_mul(bits_type a, bits_type b)                                        \
    {                                                                                                        \
        return f##n##_canonical(f##n##_of(a) * f##n##_of(b));                                                \
    }                                                                                                        \
    static inline bits_type host_f##n##_div(bits_type a, bits_type b)                                        \
    {                                                                                                        \
        return f##n##_canonical(f##n##_of(a) / f##n##_of(b));                                                \
    }                                                                                                        \
    static inline bits_type host_f##n##_sqrt(bits_type a)                                                    \
    {                                                                                                        \
        return f##n##_canonical(f##n##_host_sqrt(f##n##_of(a)));                                             \
    }                                                                                                        \
    static inline bits_type host_f##n##_fma(bits_type a, bits_type b, bits_type c)                           \
    {                                                                                                        \
        return f##n##_canonical(f##n##_host_fma(f##n##_of(a), f##n##_of(b), f##n##_of(c)));                  \
    }                                                                                                        \
    static inline bool f##n##_is_nan(bits_type a)                                                            \
    {                                                                                                        \
        return (a & ~(sign)) > (infinity);                                                                   \
    }                                                                                                        \
    static inline bool f##n##_is_signalling(bits_type a)                                                     \
    {                                                                                                        \
        return f##n##_is_nan(a) && !(a & (quiet));                                                           \
    }                                                                                                        \
    static inline bits_type f##n##_pick(bits_type a, bits_type b, bool first)                                \
    {                                                                                                        \
        if (f##n##_is_signalling(a) || f##n##_is_signalling(b))                                              \
            fp_raise(FP_NV);                                                                                 \
        if (f##n##_is_nan(a))                                                                                \
            return f##n##_is_nan(b) ? F##n##_NAN : b;                                                        \
        return f##n##_is_nan(b) || first ? a : b;                                                            \
    }                                                                                                        \
    /* Compares as sign and magnitude, so that -0 < +0; not for NaNs. */                                     \
    static inline bool f##n##_below(bits_type a, bits_type b)                                                \
    {                                                                                                        \
        if ((a ^ b) & (sign))                                                                                \
            return a & (sign);                                                                               \
        return a & (sign) ? a > b : a < b;                                                                   \
    }                                                                                                        \
    static inline bits_type host_f##n##_min(bits_type a, bits_type b)                                        \
    {                                                                                                        \
        return f##n##_pick(a, b, f##n##_below(a, b));                                                        \
    }                                                                                                        \
    static inline bits_type host_f##n##_max(bits_type a, bits_type b)                                        \
    {                                                                                                        \
        return f##n##_pick(a, b, f##n##_below(b, a));                                                        \
    }                                                                                                        \
    static inline uint64_t host_f##n##_class(bits_type a)                                                    \
    {                                                                                                        \
        bool negative = a & (sign);                                                                          \
        bits_type magnitude = a & ~(sign);                                                                   \
        if (magnitude > (infinity))                                                                          \
            return magnitude & (quiet) ? 1u << 9 : 1u << 8;                                                  \
        if (magnitude == (infinity))                                                                         \
            return negative ? 1u << 0 : 1u << 7;                                                             \
        if (magnitude > (fraction))                                                                          \
            return negative ? 1u << 1 : 1u << 6;                                                             \
        if (magnitude != 0)                                                                                  \
            return negative ? 1u << 2 : 1u << 5;                                                             \
        return negative ? 1u << 3 : 1u << 4;                                                                 \
    }                                                                                                        \
    static inline bits_type host_f##n##_from_i32(int32_t v)                                                  \
    {                                                                                                        \
        return f##n##_bits((type)v);                                                                         \
    }                                                                                                        \
    static inline bits_type host_f##n##_from_u32(uint32_t v)                                                 \
    {                                                                                                        \
        return f##n##_bits((type)(int64_t)v);                                                                \
    }                                                                                                        \
    static inline bits_type host_f##n##_from_i64(int64_t v)                                                  \
    {                                                                                                        \
        return f##n##_bits((type)v);                                                                         \
    }                                                                                                        \
    /* Halves with a sticky low bit and doubles: one rounding, correct in every mode. */                     \
    static inline bits_type host_f##n##_from_u64(uint64_t v)                                                 \
    {                                                                                                        \
        if ((int64_t)v >= 0)                                                                                 \
            return f##n##_bits((type)(int64_t)v);                                                            \
        type half = (type)(int64_t)(v >> 1 | (v & 1));                                                       \
        return f##n##_bits(half + half);                                                                     \
    }                                                                                                        \
    /* The fast path requires that rounding cannot leave the range. */                                       \
    static inline uint64_t host_f##n##_to_i32(bits_type a, unsigned rm)                                      \
    {                                                                                                        \
        double v = (double)f##n##_of(a);                                                                     \
        if (rm == RM_RTZ && v > -2147483647.0 && v < 2147483647.0)                                           \
            return (uint64_t)_mm_cvttsd_si64(_mm_set_sd(v));                                                 \
        return fp_to_signed(v, rm, INT32_MIN, INT32_MAX);                                                    \
    }                                                                                                        \
    static inline uint64_t host_f##n##_to_u32(bits_type a, unsigned rm)                                      \
    {                                                                                                        \
        double v = (double)f##n##_of(a);                                                                     \
        if (rm == RM_RTZ && v >= 0 && v < 4294967295.0)                                                      \
            return (uint64_t)_mm_cvttsd_si64(_mm_set_sd(v));                                                 \
        return fp_to_unsigned(v, rm, UINT32_MAX);                                                            \
    }                                                                                                        \
    static inline uint64_t host_f##n##_to_i64(bits_type a, unsigned rm)                                      \
    {                                                                                                        \
        double v = (double)f##n##_of(a);                                                                     \
        if (rm == RM_RTZ && v > -0x1p62 && v < 0x1p62)                                                       \
            return (uint64_t)_mm_cvttsd_si64(_mm_set_sd(v));                                                 \
        return fp_to_signed(v, rm, INT64_MIN, INT64_MAX);                                                    \
    }                                                                                                        \
    static inline uint64_t host_f##n##_to_u64(bits_type a, unsigned rm)                                      \
    {                                                                                                        \
        double v = (double)f##n##_of(a);                                                                     \
        if (rm == RM_RTZ && v >= 0 && v < 0x1p62)                                                            \
            return (uint64_t)_mm_cvttsd_si64(_mm_set_sd(v));                                                 \
        return fp_to_unsigned(v, rm, UINT64_MAX);                                                            \
    }
FP_OPERATIONS(64, uint64_t, double, UINT64_C(1) << 63, UINT64_C(0x7ff0000000000000), UINT64_C(1) << 51,
              UINT64_C(0x000fffffffffffff))
FP_OPERATIONS(32, uint32_t, float, UINT32_C(1) << 31, UINT32_C(0x7f800000), UINT32_C(1) << 22,
              UINT32_C(0x007fffff))
#undef FP_OPERATIONS

static inline uint32_t host_f64_to_f32(uint64_t a)
{
    return f32_canonical((float)f64_of(a));
}

static inline uint64_t host_f32_to_f64(uint32_t a)
{
    return f64_canonical((double)f32_of(a));
}

#endif
