/* Nests whose rounds store to the same places, or to columns, for croft cc -foffload-loops: their tasks execute what a round stores along a
 * row, and then slices of the inner loop that stores along a column. Functions that must become tasks have names that begin with take_,
 * of those that begin with leave_ no task may run. Prints sums of all results, and the exceptions of floating point. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>

#define SEPARATE __attribute__((noipa))
enum { N = 72, ROOM = 4 * N * N };

static _Alignas(64) double data[ROOM];

/* y += a[i] times a sum of row i. */
SEPARATE static void take_transposed(double *y, double *sum, double (*a)[N], double *x, long n, long m)
{
    for (long i = 0; i < n; i++) {
        sum[i] = 0;
        for (long j = 0; j < m; j++)
            sum[i] += a[i][j] * x[j];
        for (long j = 0; j < m; j++)
            y[j] += a[i][j] * sum[i];
    }
}

/* Both in one loop. */
SEPARATE static void take_both(double *s, double *q, double (*a)[N], double *p, double *r, int n, int m)
{
    for (int i = 0; i < n; i++) {
        q[i] = 0;
        for (int j = 0; j < m; j++) {
            s[j] += r[i] * a[i][j];
            q[i] += a[i][j] * p[j];
        }
    }
}

/* Columns less their parts along column k. */
SEPARATE static void take_columns(double (*a)[N], double (*q)[N], double (*r)[N], long k, long n, long m)
{
    for (long j = k + 1; j < m; j++) {
        r[k][j] = 0;
        for (long i = 0; i < n; i++)
            r[k][j] += q[i][k] * a[i][j];
        for (long i = 0; i < n; i++)
            a[i][j] -= q[i][k] * r[k][j];
    }
}

/* A product with a symmetric matrix of which only one half is stored. */
SEPARATE static void take_symmetric(double (*c)[N], double (*a)[N], double (*b)[N], long i, long m)
{
    for (long j = 0; j < m; j++) {
        double sum = 0;
        for (long k = 0; k < i; k++) {
            c[k][j] += 1.5 * b[i][j] * a[i][k];
            sum += b[k][j] * a[i][k];
        }
        c[i][j] = 1.25 * c[i][j] + 1.5 * b[i][j] * a[i][i] + 1.5 * sum;
    }
}

/* Only a column. */
SEPARATE static void take_scaled(double (*to)[N], double (*x)[N], double *by, long n, long m)
{
    for (long j = 0; j < m; j++)
        for (long i = 0; i < n; i++)
            to[i][j] = x[i][j] * by[j];
}

/* Downwards, in steps of two, and words. */
SEPARATE static void try_down(float *to, float *sum, float (*x)[N], int n, int m)
{
    for (int i = n - 1; i >= 0; i--) {
        float total = 0;
        for (int j = 0; j < m; j++)
            total += x[i][j];
        sum[i] = total;
        for (int j = 0; j < m; j += 2)
            to[j] += x[i][j] / total;
    }
}
SEPARATE static void take_counts(int *to, int (*x)[N], long n, long m)
{
    for (long i = 0; i < n; i++)
        for (long j = 0; j < m; j++)
            to[j] += x[i][j] & 3;
}

/* A column's elements depend on those above. */
SEPARATE static void leave_filter(double (*to)[N], double (*x)[N], long n, long m)
{
    for (long j = 0; j < m; j++) {
        double last = 0;
        for (long i = 0; i < n; i++) {
            last = x[i][j] + 0.5 * last;
            to[i][j] = last;
        }
    }
}

/* A row's sum is that of a part of the array that earlier rounds have changed. */
SEPARATE static void leave_feedback(double *y, double *sum, double (*a)[N], long n, long m)
{
    for (long i = 0; i < n; i++) {
        double total = 0;
        for (long j = 0; j < m; j++)
            total += y[j];
        sum[i] = total;
        for (long j = 0; j < m; j++)
            y[j] += a[i][j] * total;
    }
}

static void fill(int seed)
{
    for (int i = 0; i < ROOM; i++)
        data[i] = (i * 7 + seed) % 31 / 8.0 - 1;
}

static void print(const char *name, long x, long y)
{
    double sum = 0, weighted = 0;
    unsigned flags;
    for (int i = 0; i < ROOM; i++) {
        double value = data[i] > -1e9 && data[i] < 1e9 ? data[i] : 5;
        sum += value;
        weighted += value * (i % 113);
        data[i] = value > -1e3 && value < 1e3 ? value : i % 17;
    }
    __asm__ volatile("fsflags %0, zero" : "=r"(flags));
    printf("%s %ld %ld: %.17g %.17g %x\n", name, x, y, sum, weighted, flags & 0x1e);
}

#define AT(shift) ((double(*)[N])(data + (shift)))

/* Calls all with n rounds of loops, m of the others, and arrays that begin `shift` elements behind a line. */
static void call_all(long n, long m, long shift)
{
    enum { B = N * N, C = 2 * N * N, V = 3 * N * N };
    fill((int)(n + shift));
    take_transposed(data + V + shift, data + V + 128, AT(shift), data + V + 256, n, m);
    print("transposed", n, m);
    take_both(data + V + shift, data + V + 128, AT(B), data + V + 256, data + V + 384, (int)n, (int)m);
    print("both", n, m);
    for (long k = 0; k < 3; k++)
        take_columns(AT(shift), AT(B), AT(C), k, n, m);
    print("columns", n, m);
    for (long i = 0; i < n && i < N - 1; i += 7)
        take_symmetric(AT(shift), AT(B), AT(C), i, m);
    print("symmetric", n, m);
    take_scaled(AT(shift), AT(B), data + V, n, m);
    print("scaled", n, m);
    try_down((float *)(data + V) + shift, (float *)(data + V + 128), (float(*)[N])data, (int)n, (int)m);
    take_counts((int *)(data + V) + shift, (int(*)[N])data, n, m);
    print("down, counts", n, m);
    leave_filter(AT(shift), AT(B), n, m);
    leave_feedback(data + V + shift, data + V + 128, AT(B), n, m);
    print("others", n, m);
}

/* Arrays that overlap: results are those of the program's order. */
static void call_overlapping(long distance)
{
    double *other = data + N * N;
    fill((int)distance);
    take_transposed(other, other + distance, AT(0), other + 128, N, N);
    print("sums overlap", distance, 0);
    take_transposed(other + distance, other + 512, AT(N * N), other + 1024, N, N);
    print("rows overlap", distance, 0);
    take_transposed(other + distance, other + 512, AT(0), other, N, N);
    print("vectors overlap", distance, 0);
    take_both(other, other + distance, AT(0), other + 128, other + 256, N, N);
    take_both(other, other + 128, AT(0), other + 256, other + distance, N, N);
    print("both overlap", distance, 0);
    take_columns(AT(N * N), AT(N * N + distance), AT(3 * N * N), 2, N, N);
    print("columns overlap", distance, 0);
    take_columns(AT(N * N), AT(0), AT(N * N + distance), 1, N - 8, N);
    print("sums overlap columns", distance, 0);
    take_symmetric(AT(N * N), AT(N * N + distance), AT(2 * N * N), N / 2, N);
    take_symmetric(AT(N * N), AT(2 * N * N), AT(N * N + distance), N / 2, N);
    print("symmetric overlap", distance, 0);
    take_scaled(AT(N * N), AT(N * N + distance), other + distance, N, N);
    print("scaled overlap", distance, 0);
}

int main(void)
{
    static const long counts[] = {0, 1, 2, 9, 40, N},
                      distances[] = {0, 1, -1, 8, 64, N, -N, N + 1, 4 * N, -4 * N, N * N / 2, N * N + 3};
    for (unsigned i = 0; i < sizeof counts / sizeof *counts; i++)
        for (unsigned j = i % 2; j < sizeof counts / sizeof *counts; j += 2)
            call_all(counts[i], counts[j], 3 * j % 8);
    for (unsigned i = 0; i < sizeof distances / sizeof *distances; i++)
        call_overlapping(distances[i]);
    fill(1);
    for (int i = 0; i < ROOM; i += 97)
        data[i] = i % 2 ? INFINITY : i % 3 ? NAN : 1e-310;
    take_transposed(data + 3 * N * N, data + 3 * N * N + 128, AT(0), data + 3 * N * N + 256, N, N);
    print("exceptions of sums", 0, 0);
    fill(2);
    for (int i = 0; i < ROOM; i += 131)
        data[i] = i % 2 ? -INFINITY : 1e300;
    take_columns(AT(0), AT(N * N), AT(2 * N * N), 1, N, N);
    print("exceptions of columns", 0, 0);
    fill(3);
    data[N * N + 5] = 1e-300;
    take_columns(AT(0), AT(N * N), AT(2 * N * N), 5, N, N);
    print("exceptions of round -1", 0, 0);
    return 0;
}
