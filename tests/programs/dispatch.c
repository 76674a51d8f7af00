/* Indirect control flow: function pointer tables, dense and sparse switches, computed goto, callbacks. */
#include <stdint.h>
#include <stdio.h>

typedef long (*operation)(long, long);

static long add(long a, long b)
{
    return a + b;
}
static long subtract(long a, long b)
{
    return a - b;
}
static long multiply(long a, long b)
{
    return a * b;
}
static long gcd(long a, long b)
{
    return b == 0 ? a : gcd(b, a % b);
}
static long larger(long a, long b)
{
    return a > b ? a : b;
}

static const struct {
    const char *name;
    operation run;
} operations[] = {
    {"add", add}, {"subtract", subtract}, {"multiply", multiply}, {"gcd", gcd}, {"larger", larger}};
enum { OPERATIONS = sizeof operations / sizeof *operations };

static int dense(int n)
{
    switch (n) {
    case 0: return 3;
    case 1: return n * 17;
    case 2: return -n;
    case 3:
    case 4: return n ^ 0x55;
    case 5: n += 4; /* fall through */
    case 6: return n * n;
    case 7: return 1 << n;
    case 8: return n / 3;
    case 9: return n % 4;
    case 10: return ~n;
    case 11: return 1000 - n;
    default: return -1000;
    }
}

static const char *sparse(int64_t n)
{
    switch (n) {
    case -5000000000: return "minus five milliards";
    case -1: return "minus one";
    case 0: return "zero";
    case 7: return "seven";
    case 100: return "hundred";
    case 65536: return "2^16";
    case 1LL << 40: return "2^40";
    default: return "other";
    }
}

/* Threaded code: every opcode ends in a jump of its own. */
static long threaded(const uint8_t *code, long a)
{
    static const void *const labels[] = {&&stop, &&double_it, &&increment, &&square, &&negate, &&halve};
    goto *labels[*code];
double_it:
    a *= 2;
    goto *labels[*++code];
increment:
    a++;
    goto *labels[*++code];
square:
    a = a * a % 1000003;
    goto *labels[*++code];
negate:
    a = -a;
    goto *labels[*++code];
halve:
    a >>= 1;
    goto *labels[*++code];
stop:
    return a;
}

static long fold(const long *values, int count, operation combine)
{
    long result = values[0];
    for (int i = 1; i < count; i++)
        result = combine(result, values[i]);
    return result;
}

static operation choose(unsigned n)
{
    return operations[n % OPERATIONS].run;
}

int main(void)
{
    long values[] = {360, 84, -36, 1200, 48, 7};
    for (int i = 0; i < OPERATIONS; i++)
        printf("%s: %ld\n", operations[i].name, fold(values, 6, operations[i].run));
    for (int n = -2; n < 14; n++)
        printf("dense(%d) = %d\n", n, dense(n));
    static const int64_t keys[] = {-5000000000, -1,    0,     1,         7,         8,
                                   100,         65535, 65536, 1LL << 40, INT64_MAX, INT64_MIN};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        printf("sparse(%lld) = %s\n", (long long)keys[i], sparse(keys[i]));
    uint8_t code[64];
    uint32_t seed = 5;
    for (int round = 0; round < 20; round++) {
        for (int i = 0; i < 63; i++) {
            seed = seed * 1664525u + 1013904223u;
            code[i] = (uint8_t)(1 + (seed >> 24) % 5);
        }
        code[63] = 0;
        printf("threaded %ld\n", threaded(code, round));
    }
    long value = 1;
    for (unsigned i = 0; i < 1000; i++) {
        value = choose((unsigned)value ^ i)(value, (long)i - 300) % 1000000007;
        if (i % 50 == 0)
            printf("chosen %u: %ld\n", i, value);
    }
    return 0;
}
