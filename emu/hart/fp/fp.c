#include "emu/hart/fp.h"

static unsigned host_rounding(void)
{
    static const uint8_t modes[4] = {RM_RNE, RM_RDN, RM_RUP, RM_RTZ};
    return modes[_mm_getcsr() >> 13 & 3];
}

/* Rounds value, |value| < 2^52, to an integer in mode rm. All operations are exact except the truncation, whose flag
 * the caller discards. */
static double round_small(double value, unsigned rm)
{
    double whole = (double)_mm_cvttsd_si64(_mm_set_sd(value));
    double fraction = value - whole;
    double away = value < 0 ? -1.0 : 1.0;
    double size = fabs(fraction);
    switch (rm) {
    case RM_RDN: return fraction < 0 ? whole - 1 : whole;
    case RM_RUP: return fraction > 0 ? whole + 1 : whole;
    case RM_RMM: return size >= 0.5 ? whole + away : whole;
    case RM_RNE: {
        bool odd = (int64_t)whole & 1;
        return size > 0.5 || (size == 0.5 && odd) ? whole + away : whole;
    }
    default: return whole;
    }
}

/* Rounds to an integral value without raising flags; *inexact becomes whether that changed the value. */
static double round_integral(double value, unsigned rm, bool *inexact)
{
    uint32_t saved = _mm_getcsr();
    double rounded = fabs(value) < 0x1p52 ? round_small(value, rm == RM_DYN ? host_rounding() : rm) : value;
    _mm_setcsr(saved);
    *inexact = rounded != value;
    return rounded;
}

uint64_t fp_to_signed(double value, unsigned rm, int64_t low, int64_t high)
{
    bool inexact;
    double rounded = round_integral(value, rm, &inexact);
    /* -low is a power of two and equals high + 1, so both limits are exact doubles. */
    double limit = -(double)low;
    if (!(rounded < limit) || rounded < -limit) {
        fp_raise(FP_NV);
        return (uint64_t)(rounded < 0 ? low : high);
    }
    if (inexact)
        fp_raise(FP_NX);
    return (uint64_t)(int64_t)rounded;
}

uint64_t fp_to_unsigned(double value, unsigned rm, uint64_t high)
{
    bool inexact;
    double rounded = round_integral(value, rm, &inexact);
    double limit = 2 * (double)(high / 2 + 1);
    if (!(rounded < limit) || rounded < 0) {
        fp_raise(FP_NV);
        return rounded < 0 ? 0 : high;
    }
    if (inexact)
        fp_raise(FP_NX);
    if (rounded < 0x1p63)
        return (uint64_t)(int64_t)rounded;
    return (uint64_t)(int64_t)(rounded - 0x1p63) + (UINT64_C(1) << 63);
}
