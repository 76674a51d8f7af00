/* Bit manipulation: builtins against loops; with -march=..._zba_zbb_zbs they become single instructions. */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>

static int loop_leading(uint64_t value, int width)
{
    int count = 0;
    while (count < width && !(value >> (width - 1 - count) & 1))
        count++;
    return count;
}

static int loop_trailing(uint64_t value, int width)
{
    int count = 0;
    while (count < width && !(value >> count & 1))
        count++;
    return count;
}

static int loop_count(uint64_t value)
{
    int count = 0;
    for (; value; value &= value - 1)
        count++;
    return count;
}

static uint64_t loop_swap(uint64_t value)
{
    uint64_t result = 0;
    for (int i = 0; i < 8; i++)
        result = result << 8 | (value >> 8 * i & 0xff);
    return result;
}

static uint64_t rotate_left(uint64_t value, unsigned by)
{
    return value << (by & 63) | value >> (-by & 63);
}

static uint32_t rotate_right_32(uint32_t value, unsigned by)
{
    return value >> (by & 31) | value << (-by & 31);
}

static int check_counts(uint64_t v)
{
    uint32_t w = (uint32_t)v;
    int wrong = 0;
    if (v)
        wrong += __builtin_clzl(v) != loop_leading(v, 64) || __builtin_ctzl(v) != loop_trailing(v, 64);
    if (w)
        wrong += __builtin_clz(w) != loop_leading(w, 32) || __builtin_ctz(w) != loop_trailing(w, 32);
    wrong += __builtin_popcountl(v) != loop_count(v) || __builtin_popcount(w) != loop_count(w);
    wrong += __builtin_parityl(v) != (loop_count(v) & 1) || __builtin_bswap64(v) != loop_swap(v);
    wrong += __builtin_bswap32(w) != loop_swap(w) >> 32 ||
             __builtin_ffsl((long)v) != (v ? loop_trailing(v, 64) + 1 : 0);
    return wrong;
}

static uint64_t mix_shapes(uint64_t a, uint64_t b)
{
    unsigned by = (unsigned)b;
    uint64_t single = (a | 1ul << (by & 63)) ^ (a & ~(1ul << (by >> 6 & 63))) ^ (a ^ 1ul << (by >> 12 & 63));
    uint64_t tested = a >> (by & 63) & 1;
    uint64_t scaled = ((a << 1) + b) ^ ((a << 2) + b) ^ ((a << 3) + b);
    uint64_t words =
        (((uint64_t)(uint32_t)a << 1) + b) ^ (((uint64_t)(uint32_t)a << 3) + b) ^ ((uint64_t)(uint32_t)a + b);
    uint64_t logic = (a & ~b) ^ (a | ~b) ^ ~(a ^ b);
    int64_t x = (int64_t)a, y = (int64_t)b;
    uint64_t order =
        (uint64_t)(x < y ? x : y) + (uint64_t)(x > y ? x : y) * 3 + (a < b ? a : b) * 5 + (a > b ? a : b) * 7;
    uint64_t extended = (uint64_t)(int64_t)(int8_t)a + (uint64_t)(int64_t)(int16_t)b + (uint16_t)a;
    return single ^ tested ^ scaled ^ words ^ logic ^ order ^ extended ^ rotate_left(a, by) ^
           rotate_right_32((uint32_t)a, by);
}

int main(void)
{
    uint64_t state = 0x2545f4914f6cdd1d, digest = 0;
    int wrong = 0;
    for (int i = 0; i < 64; i++)
        wrong += check_counts(1ul << i) + check_counts(~0ul << i) + check_counts(~0ul >> i) +
                 check_counts(~(1ul << i));
    printf("patterns: %d wrong\n", wrong);
    for (int i = 0; i < 5000; i++) {
        state ^= state << 13, state ^= state >> 7, state ^= state << 17;
        uint64_t other = rotate_left(state * 0x9e3779b97f4a7c15, 23) >> (i & 63);
        wrong += check_counts(state) + check_counts(other) + check_counts(0);
        digest = rotate_left(digest, 5) ^ mix_shapes(state, other);
        if (i % 50 == 0)
            printf("%016" PRIx64 " %016" PRIx64 " -> %016" PRIx64 " digest %016" PRIx64 "\n", state, other,
                   mix_shapes(state, other), digest);
    }
    printf("wrong: %d\n", wrong);
    return wrong != 0;
}
