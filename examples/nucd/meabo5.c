/* Phase 5 of meabo: sums of randomly chosen elements of two vectors. */
#include "kernel.h"

enum { N = 8000, ROOM = N + 512 }; /* for kernel_total() */

/* Interleaved in one range, because a region has at most four inputs. */
struct pair {
    int32_t first, second;
};

/* dest[i] += s1[index[i].first] + s2[index[i].second] */
CROFT_REGION(add, CROFT_INOUT(double *, dest, (unsigned long)(end - dest) * sizeof *dest),
             CROFT_IN(const struct pair *, index, (unsigned long)(end - dest) * sizeof *index),
             CROFT_IN(const double *, s1, N * sizeof *s1), CROFT_IN(const double *, s2, N * sizeof *s2),
             CROFT_OUT(double *, end, 0))
{
    for (; dest < end; dest++, index++)
        *dest += s1[index->first] + s2[index->second];
}

static _Alignas(KERNEL_PAGE) double dest[ROOM], s1[ROOM], s2[N], expected[N];
static _Alignas(KERNEL_PAGE) struct pair index_of[ROOM];

int main(int argc, char **argv)
{
    long tasks = kernel_tasks(argc, argv), grain = kernel_grain(N, tasks, sizeof *dest);
    const long total = kernel_total(N, tasks, grain);
    uint64_t random = 5;
    for (long i = 0; i < N; i++) {
        s1[i] = (double)(i % 101) / 7;
        s2[i] = 1.0 / (double)(i + 1);
        dest[i] = expected[i] = (double)i / 16;
        index_of[i].first = (int32_t)kernel_random(&random, N);
        index_of[i].second = (int32_t)kernel_random(&random, N);
    }

    kernel_start(argc, argv);
    croft_roi_begin("meabo5");
    CROFT_FOR_TASKS(part, total, tasks, grain)
    {
        double *first = dest + part.first;
        add(first, index_of + part.first, s1, s2, first + part.count);
    }
    croft_roi_end("meabo5");

    for (long i = 0; i < N; i++)
        expected[i] += s1[index_of[i].first] + s2[index_of[i].second];
    return kernel_report("meabo5", tasks, N, dest, expected, 1e-14);
}
