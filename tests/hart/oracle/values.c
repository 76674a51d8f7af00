#include "tests/hart/oracle/values.h"

const uint64_t values_integer[VALUES_INTEGER] = {
    0,
    1,
    2,
    3,
    7,
    31,
    32,
    63,
    64,
    0x7f,
    0x80,
    0x7fff,
    0x8000,
    0x7fffffff,
    0x80000000,
    0xffffffff,
    0x100000000,
    0x7fffffffffffffff,
    0x8000000000000000,
    0x8000000000000001,
    UINT64_MAX,
    UINT64_MAX - 1,
    0xffffffff80000000,
    0xffffffff7fffffff,
    0x0123456789abcdef,
    0x5555555555555555,
};

const uint64_t values_f64[VALUES_F64] = {
    0x0000000000000000,
    0x8000000000000000, /* zeros */
    0x3ff0000000000000,
    0xbff0000000000000, /* 1, -1 */
    0x3fe0000000000000,
    0xbfe0000000000000, /* 0.5, -0.5 */
    0x3ff8000000000000,
    0x4004000000000000, /* 1.5, 2.5 */
    0x7ff0000000000000,
    0xfff0000000000000, /* infinities */
    0x7ff8000000000000,
    0x7ff0000000000001, /* quiet and signalling NaN */
    0xfff8000000000123,
    0xfff4000000000000, /* the same with sign and payload */
    0x0000000000000001,
    0x8000000000000001, /* smallest subnormals */
    0x000fffffffffffff,
    0x800fffffffffffff, /* largest subnormals */
    0x0010000000000000,
    0x8010000000000000, /* smallest normals */
    0x7fefffffffffffff,
    0xffefffffffffffff, /* largest normals */
    0x41dfffffffc00000,
    0x41e0000000000000, /* 2^31 - 1, 2^31 */
    0xc1e0000000000000,
    0xc1e0000000100000, /* -2^31, a little less */
    0x41efffffffe00000,
    0x41f0000000000000, /* 2^32 - 1, 2^32 */
    0x43e0000000000000,
    0xc3e0000000000000, /* 2^63, -2^63 */
    0x43f0000000000000,
    0x43dfffffffffffff, /* 2^64, just below 2^63 */
    0x47efffffe0000000,
    0x47efffffefffffff, /* FLT_MAX, just below the tie above it */
    0x380fffffffffffff,
    0x3690000000000000, /* around the smallest float: rounding into and out of subnormals */
};

const uint32_t values_f32[VALUES_F32] = {
    0x00000000, 0x80000000, 0x3f800000, 0xbf800000, 0x3f000000, 0xbf000000, 0x3fc00000, 0x40200000,
    0x7f800000, 0xff800000, 0x7fc00000, 0x7f800001, 0xffc00123, 0xffa00000, 0x00000001, 0x80000001,
    0x007fffff, 0x807fffff, 0x00800000, 0x80800000, 0x7f7fffff, 0xff7fffff, 0x4effffff, 0x4f000000,
    0xcf000000, 0xcf000001, 0x4f7fffff, 0x4f800000, 0x5f000000, 0xdf000000, 0x5f800000, 0x5effffff,
    0x3f800001, 0x3f7fffff, 0x4b000001, 0x00ffffff,
};

const uint16_t values_f16[VALUES_F16] = {
    0x0000, 0x8000, 0x3c00, 0xbc00, 0x3800, 0xb800, 0x3e00, 0x4100, 0x7c00, 0xfc00, 0x7e00, 0x7c01,
    0xfe12, 0xfd00, 0x0001, 0x8001, 0x0002, 0x03ff, 0x83ff, 0x0400, 0x8400, 0x0401, 0x7bff, 0xfbff,
    0x7800, 0x77ff, 0x3c01, 0x3bff, 0x6401, 0xe401, 0x0801, 0x1400, 0x13ff, 0x5bf8,
};

uint64_t value_integer(struct random *random)
{
    uint64_t any = random_next(random);
    switch (random_below(random, 6)) {
    case 0: return values_integer[any % VALUES_INTEGER];
    case 1: return UINT64_C(1) << (any & 63);
    case 2: return ~(UINT64_C(1) << (any & 63));
    case 3: return (uint64_t)(int64_t)(int32_t)(uint32_t)any;
    case 4: return any & 0xff;
    default: return any;
    }
}

uint64_t value_f64(struct random *random)
{
    uint64_t any = random_next(random);
    uint64_t fraction = any & 0xfffffffffffff, sign = any & UINT64_C(1) << 63;
    switch (random_below(random, 8)) {
    case 0:
    case 1: return values_f64[any % VALUES_F64];
    case 2: return sign | (uint64_t)(1023 - 8 + random_below(random, 17)) << 52 | fraction;
    case 3: return sign | (uint64_t)(1023 + random_below(random, 70)) << 52 | fraction;
    case 4: return sign | (uint64_t)random_below(random, 60) << 52 | fraction;
    case 5: return sign | (uint64_t)(2046 - random_below(random, 60)) << 52 | fraction;
    /* Few significant bits: exact results and ties. */
    case 6:
        return sign | (uint64_t)(1023 - 30 + random_below(random, 60)) << 52 |
               (fraction & UINT64_C(0x1f) << 47);
    default: return any;
    }
}

uint32_t value_f32(struct random *random)
{
    uint32_t any = (uint32_t)random_next(random);
    uint32_t fraction = any & 0x7fffff, sign = any & 0x80000000;
    switch (random_below(random, 8)) {
    case 0:
    case 1: return values_f32[any % VALUES_F32];
    case 2: return sign | (127 - 4 + random_below(random, 9)) << 23 | fraction;
    case 3: return sign | (127 + random_below(random, 70)) << 23 | fraction;
    case 4: return sign | random_below(random, 30) << 23 | fraction;
    case 5: return sign | (254 - random_below(random, 30)) << 23 | fraction;
    case 6: return sign | (127 - 15 + random_below(random, 30)) << 23 | (fraction & 0x7c0000);
    default: return any;
    }
}

uint64_t value_fp_register(struct random *random, unsigned float_percent)
{
    if (!random_chance(random, float_percent))
        return value_f64(random);
    uint64_t value = value_f32(random);
    if (random_chance(random, 94))
        return UINT64_C(0xffffffff00000000) | value;
    return random_chance(random, 50) ? value : UINT64_C(0xfffffffe00000000) | value;
}

static uint16_t value_f16(struct random *random)
{
    uint32_t any = (uint32_t)random_next(random);
    uint32_t fraction = any & 0x3ff, sign = any & 0x8000;
    switch (random_below(random, 8)) {
    case 0:
    case 1: return values_f16[any % VALUES_F16];
    case 2:
    case 3: return (uint16_t)(sign | (15 - 4 + random_below(random, 9)) << 10 | fraction);
    case 4: return (uint16_t)(sign | random_below(random, 10) << 10 | fraction);
    case 5: return (uint16_t)(sign | (15 - 8 + random_below(random, 16)) << 10 | (fraction & 0x3e0));
    default: return (uint16_t)any;
    }
}

uint64_t value_half_register(struct random *random)
{
    uint64_t half = value_f16(random);
    if (random_chance(random, 15)) /* a float whose exponent is a half's, or a little beyond */
        return UINT64_C(0xffffffff00000000) | (uint64_t)(127 - 28 + random_below(random, 48)) << 23 |
               (random_next(random) & (random_chance(random, 50) ? 0x807fffffU : 0x807fe000U));
    if (random_chance(random, 94))
        return UINT64_C(0xffffffffffff0000) | half;
    return random_chance(random, 50) ? half : UINT64_C(0xfffffffffffe0000) | half;
}
