/* Stateless arithmetic for the meanings of rows. All functions are total: no operand traps. */
#ifndef ISA_DECODER_MEANING_H
#define ISA_DECODER_MEANING_H

#include <stdint.h>

#define SIGN16 0x8000
#define SIGN32 UINT32_C(0x80000000)
#define SIGN64 UINT64_C(0x8000000000000000)

static inline uint64_t sext8(uint64_t v)
{
    return (uint64_t)(int64_t)(int8_t)v;
}

static inline uint64_t sext16(uint64_t v)
{
    return (uint64_t)(int64_t)(int16_t)v;
}

static inline uint64_t sext32(uint64_t v)
{
    return (uint64_t)(int64_t)(int32_t)v;
}

/* NaN boxing (unprivileged specification, "NaN Boxing of Narrower Values"): a float in a 64-bit register has all upper
 * bits set; any other value reads as the canonical NaN. */
static inline uint64_t box(uint32_t v)
{
    return UINT64_C(0xffffffff00000000) | v;
}

static inline uint32_t unbox(uint64_t v)
{
    return __builtin_expect(v >> 32 == 0xffffffff, 1) ? (uint32_t)v : UINT32_C(0x7fc00000);
}

static inline uint64_t box16(uint16_t v)
{
    return UINT64_C(0xffffffffffff0000) | v;
}

static inline uint16_t unbox16(uint64_t v)
{
    return v >> 16 == UINT64_C(0xffffffffffff) ? (uint16_t)v : 0x7e00;
}

__extension__ typedef __int128 int128;
__extension__ typedef unsigned __int128 uint128;

static inline uint64_t mulhu64(uint64_t a, uint64_t b)
{
    return (uint64_t)((uint128)a * b >> 64);
}

static inline uint64_t mulh64(uint64_t a, uint64_t b)
{
    return (uint64_t)((uint128)((int128)(int64_t)a * (int64_t)b) >> 64);
}

static inline uint64_t mulhsu64(uint64_t a, uint64_t b)
{
    return mulhu64(a, b) - ((int64_t)a < 0 ? b : 0);
}

/* Division by zero gives all ones, and the dividend as remainder; the overflow MIN / -1 gives MIN and remainder 0. */
static inline uint64_t div64(uint64_t a, uint64_t b)
{
    if (b == 0)
        return UINT64_MAX;
    if (b == UINT64_MAX)
        return -a;
    return (uint64_t)((int64_t)a / (int64_t)b);
}

static inline uint64_t rem64(uint64_t a, uint64_t b)
{
    if (b == 0)
        return a;
    if (b == UINT64_MAX)
        return 0;
    return (uint64_t)((int64_t)a % (int64_t)b);
}

static inline uint64_t divu64(uint64_t a, uint64_t b)
{
    return b == 0 ? UINT64_MAX : a / b;
}

static inline uint64_t remu64(uint64_t a, uint64_t b)
{
    return b == 0 ? a : a % b;
}

static inline uint32_t div32(uint32_t a, uint32_t b)
{
    if (b == 0)
        return UINT32_MAX;
    if (b == UINT32_MAX)
        return -a;
    return (uint32_t)((int32_t)a / (int32_t)b);
}

static inline uint32_t rem32(uint32_t a, uint32_t b)
{
    if (b == 0)
        return a;
    if (b == UINT32_MAX)
        return 0;
    return (uint32_t)((int32_t)a % (int32_t)b);
}

static inline uint32_t divu32(uint32_t a, uint32_t b)
{
    return b == 0 ? UINT32_MAX : a / b;
}

static inline uint32_t remu32(uint32_t a, uint32_t b)
{
    return b == 0 ? a : a % b;
}

/* Zbb. */
static inline uint64_t clz64(uint64_t v)
{
    return v ? (uint64_t)__builtin_clzll(v) : 64;
}

static inline uint64_t ctz64(uint64_t v)
{
    return v ? (uint64_t)__builtin_ctzll(v) : 64;
}

static inline uint64_t clz32(uint32_t v)
{
    return v ? (uint64_t)__builtin_clz(v) : 32;
}

static inline uint64_t ctz32(uint32_t v)
{
    return v ? (uint64_t)__builtin_ctz(v) : 32;
}

static inline uint64_t popcount64(uint64_t v)
{
    return (uint64_t)__builtin_popcountll(v);
}

static inline uint64_t rotate_right64(uint64_t v, uint64_t by)
{
    return v >> (by & 63) | v << (-by & 63);
}

static inline uint64_t rotate_left64(uint64_t v, uint64_t by)
{
    return v << (by & 63) | v >> (-by & 63);
}

static inline uint32_t rotate_right32(uint32_t v, uint64_t by)
{
    return v >> (by & 31) | v << (-by & 31);
}

static inline uint32_t rotate_left32(uint32_t v, uint64_t by)
{
    return v << (by & 31) | v >> (-by & 31);
}

/* orc.b: every byte that is not 0 becomes 0xff. */
static inline uint64_t or_combine_bytes(uint64_t v)
{
    const uint64_t low7 = UINT64_C(0x7f7f7f7f7f7f7f7f);
    uint64_t top = (((v & low7) + low7) | v) & ~low7;
    return (top >> 7) * 0xff;
}

/* Zbc: the low half of the carry-less product, the high half, and the 64 bits above its lowest 63. */
static inline uint64_t clmul64(uint64_t a, uint64_t b)
{
    uint64_t sum = 0;
    for (; b; b &= b - 1)
        sum ^= a << __builtin_ctzll(b);
    return sum;
}

static inline uint64_t clmulr64(uint64_t a, uint64_t b)
{
    uint64_t sum = 0;
    for (; b; b &= b - 1)
        sum ^= a >> (63 - __builtin_ctzll(b));
    return sum;
}

static inline uint64_t clmulh64(uint64_t a, uint64_t b)
{
    return clmulr64(a, b) >> 1;
}

/* The value that an AMO stores, from the old value and rs2. */
#define ATOMIC(suffix, type, signed_type)                                                                    \
    static inline type atomic_swap##suffix(type old, type value)                                             \
    {                                                                                                        \
        (void)old;                                                                                           \
        return value;                                                                                        \
    }                                                                                                        \
    static inline type atomic_add##suffix(type old, type value)                                              \
    {                                                                                                        \
        return old + value;                                                                                  \
    }                                                                                                        \
    static inline type atomic_xor##suffix(type old, type value)                                              \
    {                                                                                                        \
        return old ^ value;                                                                                  \
    }                                                                                                        \
    static inline type atomic_and##suffix(type old, type value)                                              \
    {                                                                                                        \
        return old & value;                                                                                  \
    }                                                                                                        \
    static inline type atomic_or##suffix(type old, type value)                                               \
    {                                                                                                        \
        return old | value;                                                                                  \
    }                                                                                                        \
    static inline type atomic_min##suffix(type old, type value)                                              \
    {                                                                                                        \
        return (signed_type)old < (signed_type)value ? old : value;                                          \
    }                                                                                                        \
    static inline type atomic_max##suffix(type old, type value)                                              \
    {                                                                                                        \
        return (signed_type)old > (signed_type)value ? old : value;                                          \
    }                                                                                                        \
    static inline type atomic_minu##suffix(type old, type value)                                             \
    {                                                                                                        \
        return old < value ? old : value;                                                                    \
    }                                                                                                        \
    static inline type atomic_maxu##suffix(type old, type value)                                             \
    {                                                                                                        \
        return old > value ? old : value;                                                                    \
    }
ATOMIC(32, uint32_t, int32_t)
ATOMIC(64, uint64_t, int64_t)
#undef ATOMIC

#endif
