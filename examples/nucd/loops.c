/* Plain loops for croft cc -foffload-loops: some become tasks of accelerators, some do not. Each is a region of interest. */
#include "kernel.h"

enum { N = 16384, ROWS = 256, COLUMNS = 64, WEIGHTS = 1024 };

static _Alignas(KERNEL_LINE) double x[N], y[N], z[N], weights[WEIGHTS];
static _Alignas(KERNEL_LINE) int32_t kind[N];

struct particle {
    double mass, place[3], speed[3], charge;
};
static _Alignas(KERNEL_LINE) struct particle particles[N];

/* z = a x + y */
static __attribute__((noipa)) void add_scaled(long n, double a)
{
    for (long i = 0; i < n; i++)
        z[i] = a * x[i] + y[i];
}

/* Data decide what is loaded, from an array of known size. */
static __attribute__((noipa)) void look_up(int n)
{
    for (int i = 0; i < n; i++)
        y[i] = weights[kind[i]] * x[i];
}

/* Each round stores to its own row. */
static __attribute__((noipa)) void scale_rows(long rows, double (*to)[COLUMNS], double a)
{
    for (long i = 0; i < rows; i++)
        for (long j = 0; j < COLUMNS; j++)
            to[i][j] *= a;
}

/* Structures of a line: a round changes its own. */
static __attribute__((noipa)) void move(struct particle *first, long count, double time)
{
    for (long i = 0; i < count; i++)
        for (int k = 0; k < 3; k++)
            first[i].place[k] += time * first[i].speed[k];
}

/* A sum goes from round to round: no tasks. */
static __attribute__((noipa)) double sum_of(const double *of, long n)
{
    double sum = 0;
    for (long i = 0; i < n; i++)
        sum += of[i];
    return sum;
}

/* Data decide where it stores: no tasks. */
static __attribute__((noipa)) void scatter(long n)
{
    for (long i = 0; i < n; i++)
        weights[kind[i]] += x[i];
}

int main(int argc, char **argv)
{
    uint64_t random = 4;
    double sum = 0;
    for (long i = 0; i < N; i++) {
        x[i] = (double)(i % 101) / 7;
        y[i] = 1.0 / (double)(i + 1);
        z[i] = 0;
        kind[i] = (int32_t)kernel_random(&random, WEIGHTS);
        particles[i] = (struct particle){1, {(double)i}, {1, 2, (double)(i % 5)}, -1};
        weights[i % WEIGHTS] = (double)(i % 17);
    }
    kernel_start(argc, argv);
    croft_roi_begin("add_scaled");
    add_scaled(N, 1.5);
    croft_roi_end("add_scaled");
    kernel_start(argc, argv);
    croft_roi_begin("look_up");
    look_up(N);
    croft_roi_end("look_up");
    kernel_start(argc, argv);
    croft_roi_begin("scale_rows");
    scale_rows(ROWS, (double(*)[COLUMNS])z, 0.5);
    croft_roi_end("scale_rows");
    kernel_start(argc, argv);
    croft_roi_begin("move");
    move(particles, N, 0.25);
    croft_roi_end("move");
    kernel_start(argc, argv);
    croft_roi_begin("scatter");
    scatter(N);
    croft_roi_end("scatter");
    for (long i = 0; i < N; i++)
        sum += particles[i].place[i % 3];
    printf("%.17g %.17g %.17g %.17g\n", sum_of(y, N), sum_of(z, N), sum_of(weights, WEIGHTS), sum);
    return 0;
}
