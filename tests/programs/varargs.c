/* Variable arguments: mixed integers and doubles beyond the registers, va_copy, own formatters, large
 * structs. */
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

struct pair {
    double x;
    long n;
};

struct big {
    long parts[5];
};

static double sum_typed(const char *types, ...)
{
    va_list arguments;
    double sum = 0;
    va_start(arguments, types);
    for (; *types; types++)
        switch (*types) {
        case 'i': sum += va_arg(arguments, int); break;
        case 'l': sum += (double)va_arg(arguments, long); break;
        case 'd': sum += va_arg(arguments, double); break;
        case 's': sum += va_arg(arguments, const char *)[0]; break;
        case 'p': {
            struct pair pair = va_arg(arguments, struct pair);
            sum += pair.x * (double)pair.n;
            break;
        }
        case 'b': {
            struct big big = va_arg(arguments, struct big);
            sum += (double)(big.parts[0] + 2 * big.parts[4]);
            break;
        }
        case 'L': sum += (double)va_arg(arguments, long double); break;
        }
    va_end(arguments);
    return sum;
}

static void print_twice(const char *format, ...)
{
    va_list arguments, copy;
    va_start(arguments, format);
    va_copy(copy, arguments);
    char text[200];
    int length = vsnprintf(text, sizeof text, format, arguments);
    printf("%d [%s] ", length, text);
    vprintf(format, copy);
    putchar('\n');
    va_end(copy);
    va_end(arguments);
}

static int largest(int count, ...)
{
    va_list arguments;
    va_start(arguments, count);
    int best = va_arg(arguments, int);
    for (int i = 1; i < count; i++) {
        int next = va_arg(arguments, int);
        best = next > best ? next : best;
    }
    va_end(arguments);
    return best;
}

static long nested(int depth, va_list *arguments)
{
    if (depth == 0)
        return 0;
    long first = va_arg(*arguments, long);
    return first + 10 * nested(depth - 1, arguments);
}

static long digits(int depth, ...)
{
    va_list arguments;
    va_start(arguments, depth);
    long value = nested(depth, &arguments);
    va_end(arguments);
    return value;
}

int main(void)
{
    struct pair pair = {1.25, 8};
    struct big big = {{1, 2, 3, 4, 50}};
    printf("%.17g\n", sum_typed("iiiiiiiiii", 1, 2, 3, 4, 5, 6, 7, 8, 9, 10));
    printf("%.17g\n", sum_typed("dddddddddddd", .1, .2, .3, .4, .5, .6, .7, .8, .9, 1.0, 1.1, 1.2));
    printf("%.17g\n", sum_typed("idldsdi", -5, 2.5, 1L << 40, 1e-3, "A", 1e10, 7));
    printf("%.17g\n", sum_typed("pbpip", pair, big, pair, 3, pair));
    printf("%.17g\n", sum_typed("iLiLdL", 1, 2.5L, 3, -4.25L, .5, 1e20L));
    printf("%.17g\n", sum_typed("iiiiiipbL", 1, 2, 3, 4, 5, 6, pair, big, 7.0L));
    print_twice("%d %s %.3f %lld %c %x", -1, "two", 3.14159, 4LL << 33, '5', 0x66u);
    print_twice("%*d|%-*s|%.*f", 8, 42, 6, "ab", 2, 2.71828);
    print_twice("%Lf %Lg %s %d %d %d %d", 1.5L, 1e300L, "tail", 1, 2, 3, 4);
    for (int i = 1; i <= 9; i++)
        printf("largest of %d: %d\n", i, largest(i, 3, -1, 4, 1, -5, 9, 2, 6, 535));
    for (int i = 0; i <= 9; i++)
        printf("digits %ld\n", digits(i, 1L, 2L, 3L, 4L, 5L, 6L, 7L, 8L, 9L));
    return 0;
}
