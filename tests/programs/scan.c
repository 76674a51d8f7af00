/* Reading numbers back: strtol, strtoul, strtod, sscanf, and round trips through printf. */
#include <errno.h>
#include <float.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void scan_longs(void)
{
    static const char *const texts[] = {
        "0",
        "-1",
        "  42xyz",
        "0x7f",
        "0777",
        "+99",
        "9223372036854775807",
        "9223372036854775808",
        "-9223372036854775809",
        "zz",
        "",
        "-0x",
        "0b101",
        "18446744073709551616",
    };
    static const int bases[] = {0, 2, 8, 10, 16, 36};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        for (size_t b = 0; b < sizeof bases / sizeof *bases; b++) {
            char *end, *uend;
            errno = 0;
            long value = strtol(texts[i], &end, bases[b]);
            int error = errno;
            errno = 0;
            unsigned long uvalue = strtoul(texts[i], &uend, bases[b]);
            printf("%s base %d: %ld +%td e%d, %lu +%td e%d\n", texts[i], bases[b], value, end - texts[i],
                   error, uvalue, uend - texts[i], errno);
        }
}

static void scan_doubles(void)
{
    static const char *const texts[] = {
        "1",
        "-.5",
        "1e400",
        "-1e400",
        "1e-400",
        "4.9e-324",
        "2.4e-324",
        "2.5e-324",
        "0x1.8p3",
        "0x.1p-1070",
        "inf",
        "-Infinity",
        "nan",
        "1.7976931348623157e308",
        "1.7976931348623159e308",
        "9007199254740993",
        "9007199254740992.99999999999999999999",
        "9007199254740993.00000000000000000001",
        "1e23",
        "8.5e22x",
        "3.14159265358979323846264338327950288",
        "2.2250738585072011e-308",
        "1.",
        ".",
        "e5",
        "1e+",
        "0x1p",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        char *end;
        errno = 0;
        double value = strtod(texts[i], &end);
        printf("%s: %a +%td e%d, float %a\n", texts[i], value, end - texts[i], errno,
               (double)strtof(texts[i], NULL));
    }
}

static void scan_fields(void)
{
    int a = 0, b = 0, count = 0;
    unsigned x = 0;
    double d = 0;
    char word[16] = "", set[16] = "", c = 0;
    int n = sscanf("12 -34 0xff 6.5e2 hello:abc123", "%d %d %x %lf %15[a-z]:%15[^0-9]%c%n", &a, &b, &x, &d,
                   word, set, &c, &count);
    printf("%d: %d %d %u %g %s %s %c %d\n", n, a, b, x, d, word, set, c, count);
    n = sscanf("2026-11-20", "%4d-%2d-%2d", &a, &b, &count);
    printf("%d: %d %d %d\n", n, a, b, count);
    n = sscanf("7 apples", "%d %d", &a, &b);
    printf("%d: %d\n", n, a);
    printf("%d\n", sscanf("", "%d", &a));
    long long wide;
    short narrow;
    signed char tiny;
    n = sscanf("-9000000000 40000 300", "%lld %hd %hhd", &wide, &narrow, &tiny);
    printf("%d: %lld %d %d\n", n, wide, narrow, tiny);
    n = sscanf("skip 5 0755 0x1F", "%*s %i %i %i", &a, &b, &count);
    printf("%d: %d %d %d\n", n, a, b, count);
}

static void round_trips(void)
{
    uint64_t state = 88172645463325252u;
    int wrong = 0;
    for (int i = 0; i < 3000; i++) {
        state ^= state << 13, state ^= state >> 7, state ^= state << 17;
        double value, decimal, hex;
        memcpy(&value, &state, sizeof value);
        if (value != value)
            continue;
        char text[64];
        snprintf(text, sizeof text, "%.17g", value);
        decimal = strtod(text, NULL);
        snprintf(text, sizeof text, "%a", value);
        sscanf(text, "%lf", &hex);
        wrong += memcmp(&decimal, &value, sizeof value) != 0 || memcmp(&hex, &value, sizeof value) != 0;
        if (i % 200 == 0)
            printf("%s %.17g\n", text, decimal);
    }
    printf("wrong round trips: %d\n", wrong);
}

int main(void)
{
    scan_longs();
    scan_doubles();
    scan_fields();
    round_trips();
    return 0;
}
