/* Every conversion of printf() for integers, characters and strings, with widths, flags and lengths. */
#include <inttypes.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

static void print_ints(int value)
{
    printf("d %d i %i u %u x %x X %X o %o\n", value, value, (unsigned)value, (unsigned)value, (unsigned)value,
           (unsigned)value);
    printf("[%8d] [%-8d] [%08d] [%+d] [% d] [%.5d] [%12.7d] [%-12.7d]\n", value, value, value, value, value,
           value, value, value);
    printf("[%#x] [%#X] [%#o] [%#010x] [%-#10x]\n", (unsigned)value, (unsigned)value, (unsigned)value,
           (unsigned)value, (unsigned)value);
    printf("hh %hhd %hhu h %hd %hu\n", (signed char)value, (unsigned char)value, (short)value,
           (unsigned short)value);
}

static void print_longs(int64_t value)
{
    printf("ld %ld lu %lu lx %lx lo %lo\n", (long)value, (unsigned long)value, (unsigned long)value,
           (unsigned long)value);
    printf("%" PRId64 " %" PRIu64 " %" PRIx64 " %" PRIo64 "\n", value, (uint64_t)value, (uint64_t)value,
           (uint64_t)value);
    printf("j %jd z %zu t %td\n", (intmax_t)value, (size_t)value, (ptrdiff_t)value);
    printf("[%22lld] [%-22lld] [%022lld] [%+.20lld]\n", (long long)value, (long long)value, (long long)value,
           (long long)value);
}

static void print_text(void)
{
    static const char *const words[] = {"", "a", "under", "undercroft", "a longer line of text"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        for (int precision = 0; precision < 12; precision += 3)
            printf("[%s] [%15s] [%-15s] [%.*s] [%*.*s]\n", words[i], words[i], words[i], precision, words[i],
                   precision * 2, precision, words[i]);
    for (int c = ' '; c < 127; c++)
        printf("%c%3c%-3c|%s", c, c, c, c % 8 == 7 ? "\n" : "");
    printf("100%%\n");
}

static void print_counts(void)
{
    char buffer[32];
    for (size_t size = 0; size < sizeof buffer; size += 5) {
        memset(buffer, '#', sizeof buffer);
        /* Volatile, so that the compiler does not complain of the truncation that is wanted. */
        char *volatile where = size ? buffer : NULL;
        volatile size_t room = size;
        int length = snprintf(where, room, "%d-%s-%x", 1234567, "croft", 0xbeefu);
        buffer[sizeof buffer - 1] = 0;
        printf("snprintf %zu: %d [%s]\n", size, length, buffer);
    }
    int seen = 0;
    printf("position%n of this\n", &seen);
    printf("%d\n", seen);
    printf("%2$s %1$d %2$s\n", 42, "positional");
    printf("p %p %p\n", (void *)0x1234abcd, (void *)NULL);
}

int main(void)
{
    const int ints[] = {0, 1, -1, 9, 10, -10, 255, 256, 65535, 123456789, -123456789, INT_MAX, INT_MIN};
    for (size_t i = 0; i < sizeof ints / sizeof *ints; i++)
        print_ints(ints[i]);
    const int64_t longs[] = {0,         1,        -1, INT_MAX, (int64_t)INT_MAX + 1, 1000000007LL * 998244353,
                             INT64_MAX, INT64_MIN};
    for (size_t i = 0; i < sizeof longs / sizeof *longs; i++)
        print_longs(longs[i]);
    print_text();
    print_counts();
    return 0;
}
