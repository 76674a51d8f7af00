/* Strided access: y += t x over every eighth element, eight times, each time shifted by one element. */
#include "kernel.h"

enum { N = 4096, DISTANCE = 8, STEPS = N / DISTANCE };

struct part {
    int32_t offset, steps;
};

/* x and y point to whole cache lines, and each task uses one element of each line, so that the ranges of
 * different tasks do not overlap. */
CROFT_REGION(add_scaled, CROFT_IN(const double *, x, (unsigned)part.steps *DISTANCE * sizeof *x),
             CROFT_INOUT(double *, y, (unsigned)part.steps *DISTANCE * sizeof *y), CROFT_VALUE(double, t),
             CROFT_VALUE(struct part, part))
{
    for (long i = part.offset; i < (long)part.steps * DISTANCE; i += DISTANCE)
        y[i] += t * x[i];
}

static _Alignas(KERNEL_PAGE) double x[N], y[N], expected[N];

int main(int argc, char **argv)
{
    long tasks = kernel_tasks(argc, argv), grain = kernel_grain(STEPS, tasks, DISTANCE * sizeof *y);
    for (long i = 0; i < N; i++) {
        x[i] = (double)(i % 101) / 7;
        y[i] = expected[i] = (double)i / 16;
    }

    for (int offset = 0; offset < DISTANCE; offset++) {
        kernel_start(argc,
                     argv); /* the paper's program executes 183,000 instructions between calls (Table II) */
        croft_roi_begin("stride");
        CROFT_FOR_TASKS(part, STEPS, tasks, grain)
        add_scaled(x + DISTANCE * part.first, y + DISTANCE * part.first, 0.75,
                   (struct part){offset, (int32_t)part.count});
        croft_roi_end("stride");
    }

    for (long i = 0; i < N; i++)
        expected[i] += 0.75 * x[i];
    return kernel_report("stride", tasks, N, y, expected, 1e-14);
}
