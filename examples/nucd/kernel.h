/* Shared by the kernels: the number of tasks, the division of work into parts, random numbers, and the check
 * of results. */
#ifndef KERNEL_H
#define KERNEL_H

#include <croft/nucd.h>
#include <croft/roi.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* With -DPLAIN, regions are ordinary code, and loops over tasks have one part: what a program is without offloading, for
 * croft cc -foffload-loops. */
#ifdef PLAIN
#undef CROFT_REGION
#define CROFT_REGION(name, ...) static CROFT_INLINE void name(CROFT_LIST(CROFT_PARAMETER, __VA_ARGS__))
#undef CROFT_FOR_TASKS
#define CROFT_FOR_TASKS(part, total, tasks, grain)                                                           \
    (void)(tasks), (void)(grain);                                                                            \
    for (struct croft_part part = {0, total, 0, 0, 0, 0}; part.count > 0; part.count = 0)
#endif

enum { KERNEL_LINE = 64, KERNEL_PAGE = 4096, KERNEL_MAX_TASKS = 64, KERNEL_FILLER = 4 << 20 };

/* Returns the first argument, TASKS: the number of tasks, 1 to 64; 16 by default. */
static inline long kernel_tasks(int argc, char **argv)
{
    char *end = NULL;
    long tasks = argc > 1 ? strtol(argv[1], &end, 10) : 16;
    if (argc > 3 || (argc > 2 && strcmp(argv[2], "cold") != 0) || (end && (end == argv[1] || *end != '\0')) ||
        tasks < 1 || tasks > KERNEL_MAX_TASKS) {
        fprintf(stderr, "usage: %s [TASKS [cold]]   (1 to %d, default 16)\n", argv[0], KERNEL_MAX_TASKS);
        exit(2);
    }
    return tasks;
}

/* If the second argument is `cold`, reads four times the capacity of the host's second-level cache, so that
 * the region of interest begins with its data in memory only. Otherwise the data that the program has just
 * written are still in the host's caches. */
static inline void kernel_start(int argc, char **argv)
{
    static unsigned char filler[KERNEL_FILLER];
    if (argc > 2 && strcmp(argv[2], "cold") == 0)
        for (long i = 0; i < KERNEL_FILLER; i += KERNEL_LINE)
            (void)*(volatile unsigned char *)&filler[i];
}

/* Returns the grain for CROFT_FOR_TASKS, in elements. Each element has `bytes` bytes, and the vector is
 * aligned. The output ranges of two tasks must not overlap at the granularity in which they are declared: 64
 * bytes for ranges up to 32,704 bytes, 4 KiB for longer ones. */
static inline long kernel_grain(long total, long tasks, long bytes)
{
    long step = bytes < KERNEL_LINE ? KERNEL_LINE / bytes : 1;
    long each = ((total - 1) / tasks / step + 1) * step;
    if (each * bytes > 32704) {
        step = KERNEL_PAGE / bytes;
        each = ((total - 1) / tasks / step + 1) * step;
    }
    /* If this gives `tasks` parts, all but the last are equal. The loop then has no second size of parts, and
     * its tasks follow each other closely enough to fit into the reorder buffer together. */
    return (total - 1) / each + 1 == tasks ? each : step;
}

/* Returns the total for CROFT_FOR_TASKS with that grain: for equal parts, a little more than `total`, for
 * which the vectors have room. The last part then equals the others and follows closely. */
static inline long kernel_total(long total, long tasks, long grain)
{
    long whole = grain * tasks;
    return tasks > 1 && whole >= total && whole - total < grain ? whole : total;
}

/* xorshift64*, Vigna 2016; *state is not 0. */
static inline uint32_t kernel_random(uint64_t *state, uint32_t below)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return (uint32_t)((*state * UINT64_C(2685821657736338717)) >> 32) % below;
}

/* Prints sizes, a digest of the result (FNV-1a over its bytes), and whether it equals the result of a plain
 * loop within `tolerance`, relative to the expected value or to 1, whichever is larger. Returns the exit
 * status. */
static inline int kernel_report(const char *name, long tasks, long count, const double *result,
                                const double *expected, double tolerance)
{
    uint64_t digest = UINT64_C(0xcbf29ce484222325);
    double sum = 0, worst = 0;
    for (long i = 0; i < count; i++) {
        const unsigned char *bytes = (const unsigned char *)&result[i];
        for (unsigned byte = 0; byte < sizeof *result; byte++)
            digest = (digest ^ bytes[byte]) * UINT64_C(0x100000001b3);
        sum += result[i];
        double error = fabs(result[i] - expected[i]) / fmax(1, fabs(expected[i]));
        worst = error <= worst ? worst : error; /* NaN counts as worst */
    }
    int correct = worst <= tolerance;
    printf("%s: %ld results, %ld tasks\nchecksum  %.12g\ndigest    %016llx\nresult    %s\n", name, count,
           tasks, sum, (unsigned long long)digest, correct ? "correct" : "WRONG");
    return correct ? 0 : 1;
}

#endif
