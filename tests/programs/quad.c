/* long double (128-bit IEEE, in software): arithmetic, comparison, conversion, printing. */
#include <float.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static void print_quad(const char *what, long double value)
{
    uint64_t halves[2];
    memcpy(halves, &value, sizeof halves);
    printf("%s %016" PRIx64 "%016" PRIx64 " %.34Lg as double %a\n", what, halves[1], halves[0], value,
           (double)value);
}

static long double root(long double x)
{
    long double guess = (long double)__builtin_sqrt((double)x);
    for (int i = 0; i < 4; i++)
        guess = (guess + x / guess) / 2;
    return guess;
}

/* Machin's formula: pi = 16 atan(1/5) - 4 atan(1/239). */
static long double arc_tangent_of_inverse(long n)
{
    long double term = 1.0L / (long double)n, sum = 0;
    for (int k = 0; k < 60; k++) {
        sum += (k % 2 ? -term : term) / (2 * k + 1);
        term /= (long double)n * (long double)n;
    }
    return sum;
}

int main(void)
{
    static const volatile long double values[] = {
        0.0L,     -0.0L,    1.0L,     -1.0L / 3,    1e100L,
        1e-4940L, LDBL_MAX, LDBL_MIN, LDBL_EPSILON, 123456789012345678901234567890.0L};
    enum { VALUES = sizeof values / sizeof *values };
    for (int i = 0; i < VALUES; i++) {
        print_quad("value", values[i]);
        for (int j = 0; j < VALUES; j++) {
            long double a = values[i], b = values[j];
            printf("%d %d: < %d == %d\n", i, j, a < b, a == b);
            print_quad("+", a + b);
            print_quad("*", a * b);
            if (b != 0)
                print_quad("/", a / b);
        }
    }
    print_quad("pi", 16 * arc_tangent_of_inverse(5) - 4 * arc_tangent_of_inverse(239));
    print_quad("root of 2", root(2));
    for (int64_t n = 1; n < INT64_MAX / 37; n *= -37)
        printf("%" PRId64 " %" PRId64 " %" PRIu64 "\n", n, (int64_t)((long double)n * 1.25L),
               (uint64_t)((long double)(n < 0 ? -n : n) / 3));
    return 0;
}
