/* Loops that do not become tasks (their functions' names begin with leave_), each before one in which what the refusal asks for is
 * changed (take_): that becomes tasks. */
#include <math.h>
#define SEPARATE __attribute__((noipa))

enum { N = 4096, ROWS = 64 };
static _Alignas(64) double a[N], b[N], c[ROWS][ROWS], d[ROWS][ROWS], sums[N];
static _Alignas(64) long n_a[N], n_b[N];
static _Alignas(64) int places[N];

SEPARATE static double leave_float_sum(const double *from, const double *other, long n)
{
    double sum = 0;
    for (long i = 0; i < n; i++)
        sum += from[i] * other[i];
    return sum;
}
SEPARATE static void take_float_sum(const double *from, const double *other, double *to, long n)
{
    for (long i = 0; i < n; i++)
        to[i] = from[i] * other[i];
}

SEPARATE static long leave_integer_sum(const long *from, long n)
{
    long sum = 0;
    for (long i = 0; i < n; i++)
        sum += from[i] * 3;
    return sum;
}
SEPARATE static void take_integer_sum(const long *from, long *to, long n)
{
    for (long i = 0; i < n; i++)
        to[i] = from[i] * 3;
}

SEPARATE static void leave_recurrence(double *to, double factor, double x, long n)
{
    for (long i = 0; i < n; i++) {
        x = 1 - x * factor;
        to[i] = x;
    }
}
SEPARATE static void take_recurrence(double *to, double factor, double x, long n)
{
    for (long i = 0; i < n; i++)
        to[i] = 1 - x * factor * (double)i;
}

SEPARATE static void leave_step(double *to, long n, long step)
{
    for (long i = 0, j = 0; i < n; i++, j += step)
        to[i] = (double)j;
}
SEPARATE static void take_step(double *to, long n)
{
    for (long i = 0, j = 0; i < n; i++, j += 12)
        to[i] = (double)j;
}

SEPARATE static void leave_scattered(double *to, const double *from, const int *where, long n)
{
    for (long i = 0; i < n; i++)
        to[where[i]] = from[i];
}
SEPARATE static void take_scattered(double *to, const double *from, long n)
{
    for (long i = 0; i < n; i++)
        to[2 * i] = from[i];
}

SEPARATE static void leave_unnamed(double *to, const double *from, long n)
{
    for (long i = 0; i < n; i++)
        to[i] = from[places[i]];
}
SEPARATE static void take_unnamed(double *to, long n)
{
    for (long i = 0; i < n; i++)
        to[i] = b[places[i]];
}

SEPARATE static void leave_earlier(double *to, long n)
{
    for (long i = 1; i < n; i++)
        to[i] = to[i - 1] * 0.5 + to[i];
}
SEPARATE static void take_earlier(double *to, const double *from, long n)
{
    for (long i = 1; i < n; i++)
        to[i] = from[i - 1] * 0.5 + to[i];
}

SEPARATE static void leave_same_place(double *to, const double *from, long n)
{
    for (long i = 0; i < n; i++)
        *to = from[i];
}
SEPARATE static void take_same_place(double *to, const double *from, long n)
{
    for (long i = 0; i < n; i++)
        to[i] = from[i] + 1;
}

SEPARATE static long leave_search(const double *from, double wanted, long n)
{
    long i = 0;
    while (i < n && from[i] != wanted)
        i++;
    return i;
}
SEPARATE static void take_search(const double *from, double wanted, double *to, long n)
{
    for (long i = 0; i < n; i++)
        to[i] = (double)(from[i] != wanted);
}

SEPARATE static double called(double x)
{
    return x * 3;
}
static inline double inlined(double x)
{
    return x * 3;
}
SEPARATE static void leave_call(double *to, const double *from, long n)
{
    for (long i = 0; i < n; i++)
        to[i] = called(from[i]);
}
SEPARATE static void take_call(double *to, const double *from, long n)
{
    for (long i = 0; i < n; i++)
        to[i] = inlined(from[i]);
}

/* With -fno-math-errno, the square root is one instruction. */
SEPARATE static void leave_square_root(double *to, const double *from, long n)
{
    for (long i = 0; i < n; i++)
        to[i] = sqrt(from[i]);
}

SEPARATE static void leave_volatile(volatile double *to, long n)
{
    for (long i = 0; i < n; i++)
        to[i] = (double)i;
}
SEPARATE static void take_volatile(double *to, long n)
{
    for (long i = 0; i < n; i++)
        to[i] = (double)i;
}

SEPARATE static void leave_statement(double *to, long n)
{
    for (long i = 0; i < n; i++) {
        __asm__ volatile("nop" : : : "memory");
        to[i] += 1;
    }
}
SEPARATE static void take_statement(double *to, long n)
{
    for (long i = 0; i < n; i++)
        to[i] += 1;
}

SEPARATE static void leave_limit(long *to, const long *limit)
{
    for (long i = 0; i < *limit; i++)
        to[i] = i;
}
SEPARATE static void take_limit(long *to, const long *limit)
{
    const long n = *limit;
    for (long i = 0; i < n; i++)
        to[i] = i;
}

/* Rows that are not apart, and rows that are. */
SEPARATE static void leave_rows(double (*x)[ROWS])
{
    for (int i = 1; i < ROWS; i++)
        for (int j = 0; j < ROWS; j++)
            x[i][j] = x[i - 1][j] * 0.5 + x[i][j];
}
SEPARATE static void take_rows(double (*x)[ROWS], double (*y)[ROWS])
{
    for (int i = 1; i < ROWS; i++)
        for (int j = 0; j < ROWS; j++)
            x[i][j] = y[i - 1][j] * 0.5 + x[i][j];
}

int main(void)
{
    double s = leave_float_sum(a, b, N) + (double)leave_integer_sum(n_a, N);
    long limit = 9;
    take_float_sum(a, b, sums, N);
    take_integer_sum(n_a, n_b, N);
    leave_recurrence(a, 0.5, 1, N);
    take_recurrence(a, 0.5, 1, N);
    leave_step(a, N, 5);
    take_step(a, N);
    leave_scattered(a, b, places, N);
    take_scattered(a, b, N / 2);
    leave_unnamed(a, b, N);
    take_unnamed(a, N);
    leave_earlier(a, N);
    take_earlier(a, b, N);
    leave_same_place(a, b, N);
    take_same_place(a, b, N);
    s += (double)leave_search(a, 3, N);
    take_search(a, 3, b, N);
    leave_call(a, b, N);
    take_call(a, b, N);
    leave_square_root(a, b, N);
    leave_volatile(a, N);
    take_volatile(a, N);
    leave_statement(a, N);
    take_statement(a, N);
    leave_limit(n_a, &limit);
    take_limit(n_a, &limit);
    leave_rows(c);
    take_rows(c, d);
    return s != s;
}
