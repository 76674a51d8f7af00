/* Offloads y = 2x as 16 tasks, each on a part of the vectors. */
#include <croft/nucd.h>
#include <stdio.h>

CROFT_REGION(scale, CROFT_IN(const double *, x, n * sizeof *x), CROFT_OUT(double *, y, n * sizeof *y),
             CROFT_VALUE(long, n))
{
    for (long i = 0; i < n; i++)
        y[i] = 2 * x[i];
}

enum { N = 65536 };
static _Alignas(4096) double x[N], y[N];

int main(void)
{
    for (long i = 0; i < N; i++)
        x[i] = (double)i;
    CROFT_FOR_TASKS(part, N, 16, 512)
    scale(x + part.first, y + part.first, part.count);

    double sum = 0;
    for (long i = 0; i < N; i++)
        sum += y[i];
    printf("sum %.0f, expected %.0f\n", sum, (double)N * (N - 1));
    return sum == (double)N * (N - 1) ? 0 : 1;
}
