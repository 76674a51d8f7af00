/* Integer arithmetic of 32, 64 and 128 bits: division corner cases, overflow checks, shifts, conversions. */
#include <inttypes.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>

typedef __int128 int128;
typedef unsigned __int128 uint128;

static void print_128(const char *what, uint128 value)
{
    char digits[40];
    int at = sizeof digits;
    digits[--at] = 0;
    uint128 left = value;
    do
        digits[--at] = (char)('0' + (int)(left % 10));
    while (left /= 10);
    printf("  %s %016" PRIx64 "%016" PRIx64 " = %s\n", what, (uint64_t)(value >> 64), (uint64_t)value,
           digits + at);
}

/* The divisor comes from volatile memory, and 0 and -1 are left to the instruction by assembler. */
static void print_division(int64_t a, int64_t b)
{
    int64_t quotient, rest;
    uint64_t uquotient, urest;
    int32_t wquotient, wrest;
    __asm__ volatile("div %0, %1, %2" : "=r"(quotient) : "r"(a), "r"(b));
    __asm__ volatile("rem %0, %1, %2" : "=r"(rest) : "r"(a), "r"(b));
    __asm__ volatile("divu %0, %1, %2" : "=r"(uquotient) : "r"(a), "r"(b));
    __asm__ volatile("remu %0, %1, %2" : "=r"(urest) : "r"(a), "r"(b));
    __asm__ volatile("divw %0, %1, %2" : "=r"(wquotient) : "r"(a), "r"(b));
    __asm__ volatile("remuw %0, %1, %2" : "=r"(wrest) : "r"(a), "r"(b));
    printf("  div %" PRId64 " rem %" PRId64 " divu %" PRIu64 " remu %" PRIu64 " divw %" PRId32
           " remuw %" PRId32 "\n",
           quotient, rest, uquotient, urest, wquotient, wrest);
}

static void print_overflow(int64_t a, int64_t b)
{
    int64_t sum, difference, product;
    int32_t narrow;
    int carried = __builtin_add_overflow(a, b, &sum), borrowed = __builtin_sub_overflow(a, b, &difference);
    int spilled = __builtin_mul_overflow(a, b, &product), cut = __builtin_add_overflow(a, b, &narrow);
    printf("  %d %" PRId64 " %d %" PRId64 " %d %" PRId64 " %d %" PRId32 "\n", carried, sum, borrowed,
           difference, spilled, product, cut, narrow);
}

static void print_pair(int64_t a, int64_t b)
{
    printf("%" PRId64 " and %" PRId64 "\n", a, b);
    print_128("signed product", (uint128)((int128)a * b));
    print_128("unsigned product", (uint128)(uint64_t)a * (uint64_t)b);
    uint128 big = (uint128)(uint64_t)a << 64 | (uint64_t)b;
    print_128("quotient", big / ((uint64_t)b | 1));
    print_128("rest", big % (((uint128)5 << 70) + (uint64_t)b));
    print_128("signed quotient", (uint128)((int128)big / ((int128)(b >> 3) - 1000)));
    print_division(a, b);
    print_overflow(a, b);
    unsigned shift = (unsigned)b & 63;
    printf("  << %" PRIx64 " >> %" PRIx64 " sra %" PRIx64 " w %x %x\n", (uint64_t)a << shift,
           (uint64_t)a >> shift, (uint64_t)(a >> shift), (unsigned)a << (shift & 31),
           (unsigned)((int32_t)a >> (shift & 31)));
    print_128("<<", big << ((unsigned)b & 127));
    print_128("sra", (uint128)((int128)big >> ((unsigned)a & 127)));
    printf("  %d %d %d %d double %a float %a\n", (int8_t)a, (int16_t)b, (uint8_t)a, (uint16_t)b,
           (double)(int128)big, (double)(float)big);
}

static uint64_t power_modulo(uint64_t base, uint64_t exponent, uint64_t modulus)
{
    uint64_t result = 1;
    for (base %= modulus; exponent; exponent >>= 1) {
        if (exponent & 1)
            result = (uint64_t)((uint128)result * base % modulus);
        base = (uint64_t)((uint128)base * base % modulus);
    }
    return result;
}

int main(void)
{
    static const volatile int64_t values[] = {
        0, 1, -1, 2, 7, -10, INT32_MAX, INT32_MIN, 0x123456789abcdef, INT64_MAX, INT64_MIN};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        for (size_t j = 0; j < sizeof values / sizeof *values; j++)
            print_pair(values[i], values[j]);
    for (uint64_t n = 18446744073709551557u; n > 18446744073709551557u - 40; n -= 2)
        printf("%" PRIu64 ": 2^(n-1) mod n = %" PRIu64 "\n", n, power_modulo(2, n - 1, n));
    return 0;
}
