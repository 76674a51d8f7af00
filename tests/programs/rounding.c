/* Arithmetic, conversions and rounding functions in every rounding mode, with the accrued exception flags. */
#include <fenv.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>

struct mode {
    const char *name;
    int value;
};

static const struct mode modes[] = {
    {"nearest-even", FE_TONEAREST},    {"to-zero", FE_TOWARDZERO}, {"down", FE_DOWNWARD}, {"up", FE_UPWARD},
#ifdef FE_TONEAREST_MM
    {"nearest-away", FE_TONEAREST_MM},
#endif
};

/* Volatile operands keep the compiler from computing at build time, where there is only one mode. */
static const volatile double values[] = {
    0.0,  -0.0,  1.0,      -1.0,  1.0 / 3,    2.5,         -2.5,
    3.5,  0.5,   -0.5,     1e308, 1e-308,     5e-324,      4503599627370495.5,
    1e19, -1e19, INFINITY, NAN,   16777217.0, 4294967295.5};
enum { VALUES = sizeof values / sizeof *values };

static void print_flags(void)
{
    int flags = fetestexcept(FE_ALL_EXCEPT);
    printf(" %c%c%c%c%c\n", flags & FE_INVALID ? 'V' : '-', flags & FE_DIVBYZERO ? 'Z' : '-',
           flags & FE_OVERFLOW ? 'O' : '-', flags & FE_UNDERFLOW ? 'U' : '-', flags & FE_INEXACT ? 'X' : '-');
    feclearexcept(FE_ALL_EXCEPT);
}

/* The volatile result keeps the operation before the look at its flags. */
#define SHOW(what, type, format, expression)                                                                 \
    do {                                                                                                     \
        feclearexcept(FE_ALL_EXCEPT);                                                                        \
        volatile type result = (expression);                                                                 \
        printf("  %s " format, what, result);                                                                \
        print_flags();                                                                                       \
    } while (0)

#define CONVERT(instruction, type, format, operand)                                                          \
    do {                                                                                                     \
        type converted;                                                                                      \
        feclearexcept(FE_ALL_EXCEPT);                                                                        \
        __asm__ volatile(instruction " %0, %1, dyn" : "=r"(converted) : "f"(operand) : "memory");            \
        printf("  %s " format, instruction, converted);                                                      \
        print_flags();                                                                                       \
    } while (0)

static void print_arithmetic(const volatile double *a, const volatile double *b)
{
    volatile float x = (float)*a, y = (float)*b;
    SHOW("add", double, "%a", *a + *b);
    SHOW("sub", double, "%a", *a - *b);
    SHOW("mul", double, "%a", *a **b);
    SHOW("div", double, "%a", *a / *b);
    SHOW("fma", double, "%a", __builtin_fma(*a, *b, 1e-20));
    SHOW("float add", float, "%a", x + y);
    SHOW("float mul", float, "%a", x *y);
    SHOW("float div", float, "%a", x / y);
    SHOW("float fma", float, "%a", __builtin_fmaf(x, y, -x));
}

static void print_conversions(const volatile double *a)
{
    volatile float x = (float)*a;
    SHOW("sqrt", double, "%a", __builtin_sqrt(*a));
    SHOW("float sqrt", float, "%a", __builtin_sqrtf(x));
    SHOW("rint", double, "%a", rint(*a));
    SHOW("nearbyint", double, "%a", nearbyint(*a));
    SHOW("to float", float, "%a", (float)*a);
    SHOW("lrint", long, "%ld", lrint(*a));
    SHOW("llround", long long, "%lld", llround(*a));
    CONVERT("fcvt.w.d", int, "%d", *a);
    CONVERT("fcvt.wu.d", int, "%d", *a);
    CONVERT("fcvt.l.d", long, "%ld", *a);
    CONVERT("fcvt.lu.d", unsigned long, "%lu", *a);
    CONVERT("fcvt.w.s", int, "%d", x);
    CONVERT("fcvt.lu.s", unsigned long, "%lu", x);
}

static void print_mode(const struct mode *mode)
{
    printf("mode %s: set %d, reads back %d\n", mode->name, fesetround(mode->value),
           fegetround() == mode->value);
    for (int i = 0; i < VALUES; i++) {
        printf(" %a\n", values[i]);
        print_conversions(&values[i]);
        print_arithmetic(&values[i], &values[(i * 3 + 1) % VALUES]);
    }
    volatile int64_t big = 9007199254740993;
    volatile uint64_t huge = UINT64_MAX - 1024;
    SHOW("from int64", double, "%a", (double)big);
    SHOW("from uint64", double, "%a", (double)huge);
    SHOW("from int64 to float", float, "%a", (float)-big);
}

int main(void)
{
    for (size_t m = 0; m < sizeof modes / sizeof *modes; m++)
        print_mode(&modes[m]);
    fesetround(FE_TONEAREST);
    fenv_t saved;
    feraiseexcept(FE_DIVBYZERO);
    printf("feholdexcept %d", feholdexcept(&saved));
    print_flags();
    feraiseexcept(FE_OVERFLOW);
    printf("feupdateenv %d", feupdateenv(&saved));
    print_flags();
    return 0;
}
