/* Loops that must become tasks (their functions' names begin with take_), and loops that must not (leave_). Arguments choose what
 * can be known at run time only: whether arrays overlap. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define SEPARATE __attribute__((noipa))
enum { N = 4000 };

static _Alignas(64) double a[N + 64], b[N + 64], c[N + 64];
static int32_t places[N];
static const double fixed[8] = {1, 2, 3, 4, 5, 6, 7, 8};
static volatile long zero;

SEPARATE static void take_plain(double *to, const double *from, long n)
{
    for (long i = 0; i < n; i++)
        to[i] = 2 * from[i];
}
SEPARATE static void take_down(double *to, const double *from, long n)
{
    for (long i = n - 1; i >= 0; i--)
        to[i] = from[i] + (double)i;
}
SEPARATE static void take_structures(double (*to)[8], long n)
{
    for (long i = 0; i < n; i++)
        to[i][3] += to[i][1] * to[i][5];
}
SEPARATE static void take_gather(double *to, long n)
{
    for (long i = 0; i < n; i++)
        to[i] = b[places[i]] * fixed[i & 7];
}
SEPARATE static void take_rows(double (*to)[16], long n, double factor)
{
    for (long i = 0; i < n; i++)
        for (long j = 0; j < 16; j++)
            to[i][j] *= factor;
}
SEPARATE static void take_bytes(uint8_t *to, const uint8_t *from, int n, int step)
{
    for (int i = 0; i < n; i++)
        to[i] = (uint8_t)(from[i] + step);
}
SEPARATE static double leave_sum(const double *from, long n)
{
    double sum = 0;
    for (long i = 0; i < n; i++)
        sum += from[i];
    return sum;
}
SEPARATE static void leave_scatter(long n)
{
    for (long i = 0; i < n; i++)
        c[places[i]] += a[i];
}
SEPARATE static long leave_search(const double *from, double wanted)
{
    long i = 0;
    while (from[i] != wanted)
        i++;
    return i;
}
SEPARATE static void leave_before(double *to, long n)
{
    for (long i = 1; i < n; i++)
        to[i] = to[i - 1] * 0.5 + to[i];
}
SEPARATE static void leave_unknown_array(double *to, const double *from, long n)
{
    for (long i = 0; i < n; i++)
        to[i] = from[places[i]];
}
SEPARATE static void leave_assembler(double *to, long n)
{
    for (long i = 0; i < n; i++) {
        __asm__ volatile("nop" : : : "memory");
        to[i] += 1;
    }
}
SEPARATE static void leave_volatile(volatile double *to, long n)
{
    for (long i = 0; i < n; i++)
        to[i] = (double)i;
}

SEPARATE static void leave_volatile_read(double *to, const volatile double *from, long n)
{
    for (long i = 0; i < n; i++)
        to[i] = from[i] * 3;
}

SEPARATE static void leave_same_place(double *to, const double *from, long n)
{
    for (long i = 0; i < n; i++)
        *to = from[i]; /* which may be *to */
}

static void show(const char *name)
{
    uint64_t digest = 0;
    const double *const all[] = {a, b, c};
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < N + 64; j++) {
            uint64_t bits;
            memcpy(&bits, &all[i][j], 8);
            digest = digest * 1000003 + bits;
        }
    printf("%s %016lx\n", name, (unsigned long)digest);
}

/* A triangular system: a row needs what the rows before it have stored. */
SEPARATE static void leave_solved(double *x, double (*l)[40])
{
    for (int i = 0; i < 40; i++) {
        x[i] = l[i][39];
        for (int j = 0; j < i; j++)
            x[i] -= l[i][j] * x[j];
        x[i] = x[i] / (2 + l[i][i]);
    }
}

int main(void)
{
    for (int i = 0; i < N; i++) {
        a[i] = i % 17;
        b[i] = i % 19 + 0.5;
        places[i] = (i * 7919) % N;
    }
    take_plain(a, b, N);
    show("plain");
    take_plain(a + 3, b + 1, N - 5);
    show("plain, not aligned");
    take_plain(a + 1, a, N - 1);
    show("plain, over itself");
    take_plain(a, a + 700, N - 700);
    show("plain, from behind");
    for (long n = 0; n < 40; n++)
        take_plain(c, b, n + zero);
    show("plain, short");
    take_down(a + 5, b, N - 5);
    show("down");
    take_structures((double(*)[8])a, N / 8);
    show("structures");
    take_structures((double(*)[8])(a + 3), N / 8);
    show("structures across lines");
    take_gather(c, N);
    show("gather");
    take_gather(b, N);
    show("gather from what it writes");
    take_rows((double(*)[16])b, N / 16, 1.5);
    show("rows");
    take_bytes((uint8_t *)a + 5, (const uint8_t *)c, 30000, 3);
    show("bytes");
    for (int i = 0; i < N; i++)
        a[i] = b[i] = c[i] = i % 5;
    printf("%g %ld\n", leave_sum(b, N), leave_search(b, 4));
    leave_scatter(N);
    leave_before(c, N);
    leave_unknown_array(a, b, N);
    leave_assembler(b, N);
    leave_volatile(c, N);
    leave_volatile_read(a, b, N);
    leave_same_place(a, b, N);
    leave_solved(c, (double(*)[40])b);
    show("others");
    return 0;
}
