/* Every conversion of printf() for doubles, over ordinary, extreme and special values. */
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static double double_from_bits(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static void print_all_formats(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    printf("%016llx\n", (unsigned long long)bits);
    printf("  a %a A %A .0a %.0a .5a %.5a\n", value, value, value, value);
    printf("  e %e E %E .0e %.0e .17e %.17e\n", value, value, value, value);
    printf("  g %g G %G .3g %.3g .17g %.17g #g %#g\n", value, value, value, value, value);
    printf("  f .0 %.0f .3 %.3f .10 %.10f\n", value, value, value);
    printf("  flags [%+.4e] [% .4g] [%020.6e] [%-20.3g] [%20.12a]\n", value, value, value, value, value);
}

static void print_rounding_ladder(void)
{
    static const double ties[] = {0.5, 1.5, 2.5, 0.125, 0.375, 2.675, 1.005, 0.045, 1e23, 9007199254740993.0};
    for (size_t i = 0; i < sizeof ties / sizeof *ties; i++)
        for (int digits = 0; digits < 5; digits++)
            printf("%.*f %.*e %.*g\n", digits, ties[i], digits, ties[i], digits, ties[i]);
}

static void print_powers(void)
{
    for (int exponent = -1074; exponent <= 1023; exponent += 61)
        printf("2^%d %.17g %.20e\n", exponent, ldexp(1, exponent), ldexp(1, exponent));
    for (int exponent = -320; exponent <= 308; exponent += 37)
        printf("1e%d %.17g %a\n", exponent, pow(10, exponent), pow(10, exponent));
}

static void print_random_bits(void)
{
    uint64_t state = 0x9e3779b97f4a7c15u;
    for (int i = 0; i < 60; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        double value = double_from_bits(state ^ state >> 29);
        printf("%.17g %a %.5e\n", value, value, value);
    }
}

int main(void)
{
    const double values[] = {
        0.0,
        -0.0,
        1.0,
        -1.0,
        0.1,
        1.0 / 3.0,
        123456.789,
        9.999999e9,
        1e100,
        5e-324,
        DBL_MIN,
        -DBL_MIN / 3,
        DBL_MAX,
        DBL_EPSILON,
        INFINITY,
        -INFINITY,
        double_from_bits(0x7ff8000000000000u),
        double_from_bits(0xfff8000000000000u),
        double_from_bits(0x7ff0000000000001u),
        M_PI,
        -M_E,
    };
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        print_all_formats(values[i]);
    print_rounding_ladder();
    print_powers();
    print_random_bits();
    return 0;
}
