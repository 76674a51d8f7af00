/* Nests of loops for croft cc -foffload-loops. Functions that must become tasks have names that begin with take_; whether tasks may
 * run is decided when they are entered: the calls vary bounds, places, and what overlaps. Prints sums of all results. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define SEPARATE __attribute__((noipa))
enum { N = 48, ROOM = 3 * N * N };

static _Alignas(64) double a[ROOM], b[ROOM], c[ROOM];

/* Row pointers, and an inner loop of an invariant number of rounds. */
SEPARATE static void take_product(double (*to)[N], double (*x)[N], double (*y)[N], int n, int m)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            double sum = 0;
            for (int k = 0; k < N; k++)
                sum += x[i][k] * y[k][j];
            to[i][j] = sum + to[i][j] / 2;
        }
}

/* A sum within a round. */
SEPARATE static void take_row_sums(double *to, double (*x)[N], long n, long m)
{
    for (long i = 0; i < n; i++)
        for (long j = 0; j < m; j++)
            to[i] += x[i][j];
}

/* Triangular bounds. */
SEPARATE static void take_lower(double (*to)[N], double (*x)[N], long n)
{
    for (long i = 0; i < n; i++)
        for (long j = 0; j <= i; j++)
            to[i][j] = x[j][i] + to[i][j];
}
SEPARATE static void take_strict(double (*to)[N], double (*x)[N], int n)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++)
            to[i][j] += x[i][j] * x[j][j];
}
SEPARATE static void take_upper(double (*to)[N], double (*x)[N], long n)
{
    for (long i = 0; i < n; i++)
        for (long j = i; j < n; j++)
            to[i][j] = 3 * x[j][i];
}

/* Negative steps, of both loops. */
SEPARATE static void take_down(double (*to)[N], double (*x)[N], long n)
{
    for (long i = n - 1; i >= 0; i--)
        for (long j = i; j >= 0; j--)
            to[i][j] = x[i][j] - x[j][0];
}

/* More values than registers: the compiler spills some within a round. */
typedef double planes[12][N];
SEPARATE static void take_spilled(planes *to, planes *x, planes *y, planes *z, planes *v, planes *w, int n)
{
    for (int i = 1; i < n; i++)
        for (int j = 1; j < 11; j++)
            for (int k = 1; k < N - 1; k++)
                to[i][j][k] = 0.125 * (x[i + 1][j][k] - 2 * x[i][j][k] + x[i - 1][j][k]) +
                              0.25 * (y[i][j + 1][k] - 2 * y[i - 1][j][k] + y[i + 1][j - 1][k]) +
                              0.5 * (z[i][j][k + 1] - z[i + 1][j][k] + z[i - 1][j][k - 1]) +
                              v[i + 1][j + 1][k + 1] * v[i - 1][j - 1][k - 1] +
                              w[i + 1][j][k] * w[i - 1][j][k];
}

/* A row that all rounds read, and one of them writes. */
SEPARATE static void take_pivot(double (*to)[N], long n, long k)
{
    for (long i = 0; i < n; i++)
        for (long j = 0; j < N; j++)
            to[i][j] = to[i][j] / 2 + to[k][j];
}

/* Neighbours, in planes. */
SEPARATE static void take_planes(double (*to)[12][12], double (*x)[12][12], long n)
{
    for (long i = 1; i < n - 1; i++)
        for (long j = 1; j < 11; j++)
            for (long k = 1; k < 11; k++)
                to[i][j][k] = x[i - 1][j][k] + x[i + 1][j][k] + x[i][j - 1][k] + x[i][j][k + 1];
}

/* Counters of 32 bits, whose ends are near the largest number. */
SEPARATE static void take_words(double (*to)[N], int from, int end, int columns)
{
    for (int i = from; i < end; i++, to++)
        for (int j = 0; j < columns; j++)
            (*to)[j] += i + j;
}

static void fill(int seed)
{
    for (int i = 0; i < ROOM; i++) {
        a[i] = (i * 7 + seed) % 101 / 4.0;
        b[i] = (i * 5 + seed) % 103 / 8.0;
        c[i] = (i * 3 + seed) % 107 / 16.0;
    }
}

/* Stores behind the exit: each round but the last one executes them, also the last one of a task. */
SEPARATE static void behind_exit(double *to, const double *x, long n, long m)
{
    long i = 0;
    for (;;) {
        for (long j = 0; j < m; j++)
            to[i * N + j] = x[j] + (double)i;
        i++;
        if (i == n)
            break;
        to[i * N - 1] = 7;
    }
}

static void print(const char *name, long n, long shift)
{
    double sum = 0;
    for (int i = 0; i < ROOM; i++)
        sum += a[i] * (i % 13 + 1) + b[i] * (i % 11 + 1) + c[i] * (i % 17 + 1);
    printf("%s %ld %ld: %.17g\n", name, n, shift, sum);
}

#define AT(array, shift) ((double(*)[N])(array + (shift)))

/* Calls all with n rounds, and arrays that begin `shift` elements behind a line; others: where the second array begins in the first. */
static void call_all(long n, long shift)
{
    fill((int)(n + shift));
    take_product(AT(c, shift), AT(a, 0), AT(b, shift), (int)n, (int)n);
    print("product", n, shift);
    take_row_sums(c + shift, AT(a, shift), n, n);
    print("row sums", n, shift);
    take_lower(AT(c, shift), AT(b, 0), n);
    print("lower", n, shift);
    take_strict(AT(c, 0), AT(a, shift), (int)n);
    print("strict", n, shift);
    take_upper(AT(b, shift), AT(a, 0), n);
    print("upper", n, shift);
    take_down(AT(b, shift), AT(c, 0), n);
    print("down", n, shift);
    for (long k = 0; k < n; k += 11)
        take_pivot(AT(a, shift), n, k);
    print("pivot", n, shift);
    take_planes((double(*)[12][12])(c + shift), (double(*)[12][12])a, n);
    print("planes", n, shift);
    take_words(AT(b, shift), 5, 5 + (int)n, N);
    take_spilled((planes *)c, (planes *)(a + shift), (planes *)b, (planes *)(b + shift), (planes *)a,
                 (planes *)(b + 8), n < 10 ? (int)n : 10);
    print("spilled", n, shift);
    take_words(AT(b, 0), INT32_MAX - N - (int)n, INT32_MAX - N, N / 2);
    print("words", n, shift);
    if (n > 0)
        behind_exit(c, a + shift, n, N - 1);
    print("behind an exit", n, shift);
}

/* The same array, shifted by less than a row, a row, and more: results are those of the program's order. */
static void call_overlapping(long distance)
{
    double *other = a + N * N / 2;
    fill((int)distance);
    take_product(AT(a, 0), AT(other, distance), AT(b, 0), N, N);
    print("product overlaps", distance, 0);
    take_lower(AT(other, 0), AT(other, distance), N);
    print("lower overlaps", distance, 0);
    take_upper(AT(other, distance), AT(other, 0), N);
    print("upper overlaps", distance, 0);
    take_down(AT(other, 0), AT(other, distance), N);
    print("down overlaps", distance, 0);
    take_strict(AT(other, distance), AT(other, 0), N);
    print("strict overlaps", distance, 0);
    take_row_sums(other + distance, AT(other, 0), N, N);
    print("row sums overlap", distance, 0);
    take_planes((double(*)[12][12])(other + distance), (double(*)[12][12])other, 8);
    print("planes overlap", distance, 0);
}

int main(void)
{
    static const long counts[] = {0, 1, 2, 9, 17, 48},
                      distances[] = {0, 1, -1, 8, N, -N, N + 1, 4 * N, -4 * N, N * N + 3, -N * N / 2};
    for (unsigned i = 0; i < sizeof counts / sizeof *counts; i++)
        for (long shift = 0; shift < 9; shift += 3)
            call_all(counts[i], shift);
    for (unsigned i = 0; i < sizeof distances / sizeof *distances; i++)
        call_overlapping(distances[i]);
    return 0;
}
