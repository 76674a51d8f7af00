/* Gather and scatter, after SPATTER: copies elements between the positions of two patterns. */
#include "kernel.h"

/* Patterns UNIFORM:8:8: elements 0, 8, ..., 56 of a window that advances by DELTA each time; 8,000 elements
 * in all. */
enum {
    LENGTH = 8,
    DISTANCE = 8,
    DELTA = LENGTH * DISTANCE,
    COUNT = 1000,
    SIZE = DELTA * COUNT,
    ROOM = SIZE + 128 * DELTA
};

/* to[scatter[j] + DELTA i] = from[gather[j] + DELTA i] */
CROFT_REGION(move, CROFT_IN(const double *, from, (unsigned long)count *DELTA * sizeof *from),
             CROFT_OUT(double *, to, (unsigned long)count *DELTA * sizeof *to),
             CROFT_IN(const int32_t *, gather, LENGTH * sizeof *gather),
             CROFT_IN(const int32_t *, scatter, LENGTH * sizeof *scatter), CROFT_VALUE(long, count))
{
    for (long i = 0; i < count; i++, from += DELTA, to += DELTA)
        for (long j = 0; j < LENGTH; j++)
            to[scatter[j]] = from[gather[j]];
}

static _Alignas(KERNEL_PAGE) double from[ROOM], to[ROOM], expected[SIZE];
static _Alignas(KERNEL_LINE) int32_t gather[LENGTH];
static _Alignas(KERNEL_LINE) int32_t scatter[LENGTH];

int main(int argc, char **argv)
{
    long tasks = kernel_tasks(argc, argv), grain = kernel_grain(COUNT, tasks, DELTA * sizeof *to);
    const long total = kernel_total(COUNT, tasks, grain);
    for (int32_t j = 0; j < LENGTH; j++) {
        gather[j] = DISTANCE * j;
        scatter[j] = DISTANCE * (LENGTH - 1 - j); /* reversed, so that a wrong pattern changes the result */
    }
    for (long i = 0; i < SIZE; i++)
        from[i] = (double)(i % 1009) / 7;

    memset(to, 0, sizeof to); /* allocates the pages before the measurement */
    kernel_start(argc, argv);
    croft_roi_begin("spatter");
    CROFT_FOR_TASKS(part, total, tasks, grain)
    move(from + DELTA * part.first, to + DELTA * part.first, gather, scatter, part.count);
    croft_roi_end("spatter");

    for (long i = 0; i < SIZE; i++)
        if (i % DISTANCE == 0)
            expected[i] = from[i / DELTA * DELTA + (DELTA - DISTANCE) - i % DELTA];
    return kernel_report("spatter", tasks, SIZE, to, expected, 0);
}
