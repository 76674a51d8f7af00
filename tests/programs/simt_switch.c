/* Threads that go through jump tables and function pointers: an interpreter in which each runs a program of its own, state
 * machines, tables of functions, newlib's qsort() and bsearch() with different comparisons. */
#include "simt_check.h"

enum { CODE = 24 };

/* A machine with a register and a counter; jumps go forward, so that every program ends. */
static uint64_t interpret(uint64_t i)
{
    uint64_t a = i, b = 1, steps = 0;
    for (unsigned pc = 0; pc < CODE && steps < 100; steps++) {
        uint64_t code = check_random(i * CODE + pc++);
        uint64_t operand = code >> 8 & 0xff;
        switch (code % 12) {
        case 0: a += operand; break;
        case 1: a -= b; break;
        case 2: a *= operand | 1; break;
        case 3: a ^= b << operand % 13; break;
        case 4: b = a >> operand % 17; break;
        case 5: b += a; /* fall through */
        case 6: a = a << 7 | a >> 57; break;
        case 7: pc += (unsigned)(a % 3); break;
        case 8: pc = a % 2 ? pc + 1 : pc; break;
        case 9: a /= b | 1; break;
        case 10: return a * 31 + b;
        default: b = b * 5 + operand; break;
        }
    }
    return a + b + (steps << 56);
}

static uint64_t twice(uint64_t x)
{
    return 2 * x;
}
static uint64_t square(uint64_t x)
{
    return x * x;
}
static uint64_t turn(uint64_t x)
{
    return x << 11 | x >> 53;
}
static uint64_t count_bits(uint64_t x)
{
    uint64_t bits = 0;
    for (; x; x &= x - 1)
        bits++;
    return bits;
}
static uint64_t hash(uint64_t x)
{
    return check_random(x) >> 3;
}

static uint64_t (*const functions[])(uint64_t) = {twice, square, turn, count_bits, hash};

static uint64_t called(uint64_t i)
{
    uint64_t x = i + 1;
    for (unsigned k = 0; k < 12; k++)
        x += functions[(check_random(i) >> 5 * k) % 5](x);
    return x;
}

static int ascending(const void *a, const void *b)
{
    uint16_t x = *(const uint16_t *)a, y = *(const uint16_t *)b;
    return (x > y) - (x < y);
}
static int descending(const void *a, const void *b)
{
    return ascending(b, a);
}
static int low_bytes(const void *a, const void *b)
{
    uint16_t x = *(const uint16_t *)a, y = *(const uint16_t *)b;
    uint16_t p = (uint16_t)(x << 8 | x >> 8), q = (uint16_t)(y << 8 | y >> 8);
    return (p > q) - (p < q);
}

static uint64_t library(uint64_t i)
{
    int (*const comparisons[])(const void *, const void *) = {ascending, descending, low_bytes};
    int (*compare)(const void *, const void *) = comparisons[i % 3];
    uint16_t values[20];
    unsigned count = (unsigned)(check_random(i) % 20) + 1;
    for (unsigned k = 0; k < count; k++)
        values[k] = (uint16_t)check_random(i * 32 + k);
    uint16_t wanted = values[i % count];
    qsort(values, count, sizeof *values, compare);
    const uint16_t *found = bsearch(&wanted, values, count, sizeof *values, compare);
    uint64_t digest = found ? *found : 0;
    for (unsigned k = 0; k < count; k++)
        digest = digest * 31 + values[k];
    return digest;
}

static void run_interpret(uint64_t *results)
{
    results[thread_id()] = interpret(thread_id());
}
static void run_called(uint64_t *results)
{
    results[thread_id()] = called(thread_id());
}
static void run_library(uint64_t *results)
{
    results[thread_id()] = library(thread_id());
}

int main(void)
{
    CHECK_FUNCTION("interpreter", run_interpret, interpret, 3, 100);
    CHECK_FUNCTION("pointers", run_called, called, 3, 100);
    CHECK_FUNCTION("qsort", run_library, library, 2, 70);
}
