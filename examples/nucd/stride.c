/* Strided access: y += t x over every eighth element, eight times, each time shifted by one element. With `whole`
 * as the third argument, the region of interest also has the other instructions of the paper's program: of its
 * 1,506,743, only 40,129 are in offloaded regions (Table II). The paper does not tell what they do; here they are
 * the same computation over short vectors, which stay in the host's first-level cache. */
#include "kernel.h"

enum { N = 4096, DISTANCE = 8, STEPS = N / DISTANCE, SHORT = 512 };

/* The paper's instructions outside of regions for each of the eight calls, and those of a pass over short vectors
 * in rv64gc: 5 for each element. */
enum { OTHERS = (1506743 - 40129) / DISTANCE, PASSES = OTHERS / (5 * SHORT) };

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

static _Alignas(KERNEL_LINE) double short_x[SHORT], short_y[SHORT];

static void compute_others(void)
{
    for (int pass = 0; pass < PASSES; pass++)
        for (int i = 0; i < SHORT; i++) {
            short_y[i] += 0.75 * short_x[i];
            __asm__ volatile("" : : : "memory"); /* as the regions' loop: one element at a time */
        }
}

int main(int argc, char **argv)
{
    int whole = argc == 4 && strcmp(argv[3], "whole") == 0;
    argc -= whole;
    long tasks = kernel_tasks(argc, argv), grain = kernel_grain(STEPS, tasks, DISTANCE * sizeof *y);
    for (long i = 0; i < N; i++) {
        x[i] = (double)(i % 101) / 7;
        y[i] = expected[i] = (double)i / 16;
    }

    for (int offset = 0; offset < DISTANCE; offset++) {
        kernel_start(argc, argv);
        croft_roi_begin("stride");
        if (whole)
            compute_others();
        CROFT_FOR_TASKS(part, STEPS, tasks, grain)
        add_scaled(x + DISTANCE * part.first, y + DISTANCE * part.first, 0.75,
                   (struct part){offset, (int32_t)part.count});
        croft_roi_end("stride");
    }

    for (long i = 0; i < N; i++)
        expected[i] += 0.75 * x[i];
    return kernel_report("stride", tasks, N, y, expected, 1e-14);
}
