/* Numbers of thousands of digits: factorials, Fibonacci numbers, powers, digits of pi and e. */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { LIMBS = 400 };
static const uint64_t BASE = 1000000000000000000u; /* 10^18 to a limb */

struct big {
    int length;
    uint64_t limb[LIMBS];
};

static void big_multiply_small(struct big *a, uint64_t factor)
{
    unsigned __int128 carry = 0;
    for (int i = 0; i < a->length; i++) {
        carry += (unsigned __int128)a->limb[i] * factor;
        a->limb[i] = (uint64_t)(carry % BASE);
        carry /= BASE;
    }
    for (; carry; carry /= BASE)
        a->limb[a->length++] = (uint64_t)(carry % BASE);
}

static void big_add(struct big *a, const struct big *b)
{
    uint64_t carry = 0;
    for (int i = 0; i < b->length || carry; i++) {
        if (i == a->length)
            a->limb[a->length++] = 0;
        uint64_t sum = a->limb[i] + carry + (i < b->length ? b->limb[i] : 0);
        carry = sum >= BASE;
        a->limb[i] = sum - (carry ? BASE : 0);
    }
}

static uint64_t big_divide_small(struct big *a, uint64_t divisor)
{
    unsigned __int128 rest = 0;
    for (int i = a->length - 1; i >= 0; i--) {
        rest = rest * BASE + a->limb[i];
        a->limb[i] = (uint64_t)(rest / divisor);
        rest %= divisor;
    }
    while (a->length > 1 && a->limb[a->length - 1] == 0)
        a->length--;
    return (uint64_t)rest;
}

static void big_print(const char *what, const struct big *a)
{
    printf("%s %" PRIu64, what, a->limb[a->length - 1]);
    for (int i = a->length - 2; i >= 0; i--)
        printf("%s%018" PRIu64, (a->length - i) % 4 == 0 ? "\n  " : "", a->limb[i]);
    printf("\n");
}

static void print_factorials(void)
{
    struct big n = {1, {1}};
    for (uint64_t i = 1; i <= 300; i++) {
        big_multiply_small(&n, i);
        if (i % 60 == 0)
            big_print("factorial", &n);
    }
    for (uint64_t i = 300; i > 1; i--)
        if (big_divide_small(&n, i) != 0)
            printf("rest at %" PRIu64 "\n", i);
    big_print("divided back", &n);
}

static void print_fibonacci(void)
{
    static struct big a = {1, {0}}, b = {1, {1}};
    for (int i = 2; i <= 1000; i++) {
        struct big next = a;
        big_add(&next, &b);
        a = b, b = next;
        if (i % 250 == 0)
            big_print("fibonacci", &b);
    }
}

/* The spigot of Rabinowitz and Wagon: one decimal digit of pi at a time from integers only. */
static void print_pi(int digits)
{
    static int remainders[10 * 700 / 3 + 2];
    int length = 10 * digits / 3 + 1, nines = 0, held = 0, printed = 0;
    for (int i = 0; i < length; i++)
        remainders[i] = 2;
    for (int d = 0; d < digits; d++) {
        int carry = 0;
        for (int i = length - 1; i >= 0; i--) {
            int x = 10 * remainders[i] + carry * (i + 1);
            remainders[i] = x % (2 * i + 1);
            carry = x / (2 * i + 1);
        }
        remainders[0] = carry % 10;
        int digit = carry / 10;
        if (digit == 9) {
            nines++;
            continue;
        }
        if (d > 0)
            printf("%d%s", held + (digit == 10), ++printed % 60 == 0 ? "\n" : "");
        for (; nines > 0; nines--)
            printf("%d%s", digit == 10 ? 0 : 9, ++printed % 60 == 0 ? "\n" : "");
        held = digit == 10 ? 0 : digit;
    }
    printf("\n");
}

int main(void)
{
    print_factorials();
    print_fibonacci();
    print_pi(600);
    struct big power = {1, {1}};
    for (int i = 0; i < 1279; i++)
        big_multiply_small(&power, 2);
    big_print("2^1279", &power);
    return 0;
}
