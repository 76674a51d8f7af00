/* setjmp and longjmp: nesting, restored callee-saved registers, exceptions by hand, coroutine-like loops. */
#include <setjmp.h>
#include <stdio.h>

enum { DEPTH = 12 };

static jmp_buf levels[DEPTH];

static void dive(int level, int target, int code)
{
    if (level == DEPTH) {
        printf("bottom, jump to %d with %d\n", target, code);
        longjmp(levels[target], code);
    }
    int caught = setjmp(levels[level]);
    if (caught == 0) {
        dive(level + 1, target, code);
        printf("never reached\n");
    }
    printf("level %d caught %d\n", level, caught);
    if (level > 0 && caught > 1)
        longjmp(levels[level - 1], caught - 1);
}

/* Twelve integer and twelve floating-point values stay alive across the jump, in s0-s11 and fs0-fs11 as far
 * as the compiler has its way. */
static void __attribute__((noinline)) clobber(jmp_buf where, long n)
{
    volatile double x = 0;
    for (long i = 0; i < n; i++)
        x += (double)i * 1.5;
    longjmp(where, (int)x);
}

static void keep_registers(long n)
{
    jmp_buf here;
    const long a = n + 1, b = n * 3, c = n ^ 5, d = n << 4, e = ~n, f = n % 7, g = n | 64, h = n - 99;
    const double p = (double)n / 3, q = p * p, r = q + 1, s = r / 7, t = s - p, u = t * 5, v = u / q,
                 w = v + r;
    int got = setjmp(here);
    if (got == 0)
        clobber(here, n);
    printf("%d: %ld %ld %ld %ld %ld %ld %ld %ld %a %a %a %a %a %a %a %a\n", got, a, b, c, d, e, f, g, h, p, q,
           r, s, t, u, v, w);
}

static jmp_buf handler;

static double divide(double a, double b)
{
    if (b == 0)
        longjmp(handler, 33);
    return a / b;
}

static void try_divisions(void)
{
    static const double divisors[] = {2, 0, 3, 0, 4};
    for (volatile int i = 0; i < 5; i++) {
        int error = setjmp(handler);
        if (error)
            printf("division %d failed: %d\n", i, error);
        else
            printf("division %d: %.17g\n", i, divide(10, divisors[i]));
    }
}

int main(void)
{
    for (int target = 0; target < DEPTH; target += 3)
        dive(0, target, target + 2);
    for (long n = 3; n < 200; n = n * 3 + 1)
        keep_registers(n);
    try_divisions();
    jmp_buf zero;
    volatile int rounds = 0;
    int value = setjmp(zero);
    printf("longjmp with 0 gives %d\n", value);
    if (rounds++ == 0)
        longjmp(zero, 0);
    volatile long loops = 0;
    if (setjmp(zero) < 1000) {
        loops++;
        longjmp(zero, (int)loops);
    }
    printf("%ld loops\n", loops);
    return 0;
}
