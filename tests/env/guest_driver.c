/* Regions served by a conventional driver: output and exit status must equal those under qemu-riscv64. The
 * argument is one of the names in main(). */
#include <croft/nucd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 8192, GRAIN = 512 };

static _Alignas(4096) double x[N], y[N], z[N];
static double untouched[N];

CROFT_REGION(scale, CROFT_IN(const double *, from, n * sizeof *from), CROFT_OUT(double *, to, n * sizeof *to),
             CROFT_VALUE(double, by), CROFT_VALUE(long, n))
{
    for (long i = 0; i < n; i++)
        to[i] = by * from[i];
}

CROFT_REGION(shift, CROFT_INOUT(double *, at, n * sizeof *at), CROFT_VALUE(double, by), CROFT_VALUE(long, n))
{
    for (long i = 0; i < n; i++)
        at[i] += by;
}

static __attribute__((noinline)) double add(const double *from, long n)
{
    double sum = 0;
    for (long i = 0; i < n; i++)
        sum += from[i];
    return sum;
}

CROFT_REGION_RETURNS(double, total, CROFT_IN(const double *, from, n * sizeof *from), CROFT_VALUE(long, n))
{
    return add(from, n);
}

/* Reads memory that it does not declare and that nothing has accessed before. */
CROFT_REGION_RETURNS(double, peek, CROFT_VALUE(long, n))
{
    return add(untouched, n) + (double)n;
}

CROFT_REGION_RETURNS(double, divide, CROFT_VALUE(double, a), CROFT_VALUE(double, b))
{
    return a / b;
}

CROFT_REGION(divide_to, CROFT_VALUE(double, a), CROFT_VALUE(double, b), CROFT_OUT(double *, to, sizeof *to))
{
    *to = a / b;
}

CROFT_REGION_ON(0x80, on_none, CROFT_OUT(double *, to, sizeof *to))
{
    *to += 1;
}

static void fill(void)
{
    for (long i = 0; i < N; i++) {
        x[i] = (double)(i % 37) / 3;
        y[i] = (double)i;
        z[i] = 0;
    }
}

static void show(const char *what, const double *from, long n)
{
    unsigned long digest = 0xcbf29ce484222325;
    for (long i = 0; i < n; i++) {
        unsigned long bits;
        memcpy(&bits, &from[i], sizeof bits);
        digest = (digest ^ bits) * 0x100000001b3;
    }
    printf("%s %016lx\n", what, digest);
}

/* Each task depends on the one before it: RAW, WAR and WAW. */
static void conflicts(void)
{
    fill();
    CROFT_FOR_TASKS(part, N, 16, GRAIN)
    {
        scale(x + part.first, y + part.first, 2, part.count);
        scale(y + part.first, z + part.first, 3, part.count);
        shift(y + part.first, 1, part.count);
        scale(z, x + part.first, 0.5, part.count);
    }
    show("chain x", x, N);
    show("chain y", y, N);
    show("chain z", z, N);
    CROFT_FOR_TASKS(part, 200, 200, 1)
    shift(y, (double)part.first, 100);
    show("one after the other", y, N);
    CROFT_FOR_TASKS(part, N / 8, 200, 1)
    shift(z + 8 * part.first, (double)part.first, 8 * part.count);
    show("many", z, N);
}

static void results(void)
{
    double sum = 0;
    fill();
    printf("alone %.17g\n", total(x, N));
    CROFT_FOR_TASKS(part, N, 16, GRAIN)
    {
        sum += total(y + part.first, part.count);
        shift(y + part.first, sum, part.count);
    }
    printf("in a call %.17g\n", sum);
    show("results", y, N);
    scale(y, x, 0.25, 100);
    printf("at once %.17g\n", x[99]);
}

static long leave_by_return(void)
{
    CROFT_FOR_TASKS(part, N, 16, GRAIN)
    {
        shift(x + part.first, 1, part.count);
        if (part.first >= 4 * GRAIN)
            return part.first;
    }
    return -1;
}

static void leaving(void)
{
    fill();
    CROFT_FOR_TASKS(part, N, 16, GRAIN)
    {
        scale(x + part.first, y + part.first, 5, part.count);
        if (part.first >= 6 * GRAIN)
            break;
    }
    show("break", y, N);
    printf("return %ld\n", leave_by_return());
    show("returned", x, N);
    CROFT_FOR_TASKS(part, N, 16, GRAIN)
    {
        shift(x + part.first, 2, part.count);
        if (part.first == 0)
            goto out;
    }
out:
    show("goto", x, N);
    CROFT_FOR_TASKS(outer, N, 4, GRAIN)
    {
        shift(y + outer.first, 1, outer.count);
        CROFT_FOR_TASKS(inner, outer.count, 4, GRAIN)
        shift(y + outer.first + inner.first, 1, inner.count);
        shift(y + outer.first, 1, outer.count);
    }
    show("nested", y, N);
    CROFT_FOR_TASKS(part, 0, 4, GRAIN)
    shift(y, 1, part.count);
    show("none", y, N);
    CROFT_FOR_TASKS(part, N, 4, GRAIN)
    {
        scale(x + part.first, z + part.first, 7, part.count);
        printf("part %ld\n", part.first);
    }
    show("calls", z, N);
}

static unsigned long swap_flags(void)
{
    unsigned long flags;
    __asm__ volatile("fsflags %0, zero" : "=r"(flags) : : "memory");
    return flags;
}

static void floating(void)
{
    double to[2 * 8];
    (void)swap_flags();
    printf("%g", divide(1, 0));
    printf(" flags %lx\n", swap_flags());
    CROFT_FOR_TASKS(part, 2, 2, 1)
    divide_to(part.first ? 1 : 1e-300, part.first ? 3 : 1e300, to + 8 * part.first);
    unsigned long flags = swap_flags();
    printf("%g %g flags %lx\n", to[0], to[8], flags);
    __asm__ volatile("fsrmi 3" : : : "memory"); /* round up */
    double third = divide(1, 3);
    __asm__ volatile("fsrmi 0" : : : "memory");
    printf("%.17g\n", third);
}

static void memory(void)
{
    fill();
    double *new = malloc(40 * 4096);
    printf("peek %g\n", peek(N));
    scale(x, new, 2, N);
    show("new", new, N);
    scale(x, new + N, 3, 8);
    show("further", new + N, 8);
    free(new);
    on_none(z);
    on_none(z);
    printf("capability %g\n", z[0]);
}

CROFT_REGION(load_from, CROFT_VALUE(const double *, from), CROFT_OUT(double *, to, 8))
{
    *to = *from;
}

CROFT_REGION(store_to, CROFT_VALUE(double *, to))
{
    *to = 1;
}

CROFT_REGION(jump_to, CROFT_VALUE(unsigned long, at))
{
    ((void (*)(void))at)();
}

CROFT_REGION(no_instruction, CROFT_VALUE(long, n))
{
    __asm__ volatile("unimp" : : "r"(n));
}

CROFT_REGION(system_call, CROFT_VALUE(long, n))
{
    printf("%ld\n", n);
    fflush(stdout);
}

CROFT_REGION(endless, CROFT_VALUE(long, n))
{
    for (;;)
        __asm__ volatile("" : : "r"(n));
}

int main(int argc, char **argv)
{
    static const double constant = 1;
    const char *what = argc > 1 ? argv[1] : "";
    printf("%s\n", what);
    fflush(stdout);
    if (strcmp(what, "load") == 0)
        load_from((const double *)8, z);
    else if (strcmp(what, "store") == 0)
        store_to((double *)&constant);
    else if (strcmp(what, "jump") == 0)
        jump_to(0x1000);
    else if (strcmp(what, "illegal") == 0)
        no_instruction(1);
    else if (strcmp(what, "call") == 0)
        system_call(1);
    else if (strcmp(what, "endless") == 0)
        endless(1);
    conflicts();
    results();
    leaving();
    floating();
    memory();
    return 0;
}
