/* Phase 2 of meabo, a benchmark of memory access: a vector times randomly chosen elements of another one. */
#include "kernel.h"

enum { N = 8000, ROOM = N + 512 }; /* for kernel_total() */

/* dest[i] += s1[i] * s2[index[i]]. All four inputs of the region are ranges, so the length is passed as the
 * address after the last element: the base of an empty output range. */
CROFT_REGION(multiply, CROFT_INOUT(double *, dest, (unsigned long)(end - dest) * sizeof *dest),
             CROFT_IN(const double *, s1, (unsigned long)(end - dest) * sizeof *s1),
             CROFT_IN(const int32_t *, index, (unsigned long)(end - dest) * sizeof *index),
             CROFT_IN(const double *, s2, N * sizeof *s2), CROFT_OUT(double *, end, 0))
{
    for (; dest < end; dest++, s1++, index++)
        *dest += *s1 * s2[*index];
}

static _Alignas(KERNEL_PAGE) double dest[ROOM], s1[ROOM], s2[N], expected[N];
static _Alignas(KERNEL_PAGE) int32_t index_of[ROOM];

int main(int argc, char **argv)
{
    long tasks = kernel_tasks(argc, argv), grain = kernel_grain(N, tasks, sizeof *dest);
    const long total = kernel_total(N, tasks, grain);
    uint64_t random = 2;
    for (long i = 0; i < N; i++) {
        s1[i] = (double)(i % 101) / 7;
        s2[i] = 1.0 / (double)(i + 1);
        dest[i] = expected[i] = (double)i / 16;
        index_of[i] = (int32_t)kernel_random(&random, N);
    }

    kernel_start(argc, argv);
    croft_roi_begin("meabo2");
    CROFT_FOR_TASKS(part, total, tasks, grain)
    {
        double *first = dest + part.first;
        multiply(first, s1 + part.first, index_of + part.first, s2, first + part.count);
    }
    croft_roi_end("meabo2");

    for (long i = 0; i < N; i++)
        expected[i] += s1[i] * s2[index_of[i]];
    return kernel_report("meabo2", tasks, N, dest, expected, 1e-14);
}
