/* Shared by the kernels: the size argument, launches that must succeed, random numbers, and the check of
 * results. */
#ifndef KERNEL_H
#define KERNEL_H

#include <croft/roi.h>
#include <croft/simt.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Returns the only argument, SIZE: between lowest and highest and a multiple of `step`; `usual` by
 * default. */
static inline long kernel_size(int argc, char **argv, long usual, long lowest, long highest, long step)
{
    char *end = NULL;
    long size = argc > 1 ? strtol(argv[1], &end, 10) : usual;
    if (argc > 2 || (end && (end == argv[1] || *end != '\0')) || size < lowest || size > highest ||
        size % step != 0) {
        fprintf(stderr, "usage: %s [SIZE]   (%ld to %ld in steps of %ld, default %ld)\n", argv[0], lowest,
                highest, step, usual);
        exit(2);
    }
    return size;
}

/* An argument of a program: its name in messages, its usual value, and its limits. */
struct kernel_argument {
    const char *name;
    long usual, lowest, highest;
};

/* Stores the program's `count` arguments in values[], the usual ones for those that are not given. */
static inline void kernel_arguments(int argc, char **argv, const struct kernel_argument *arguments, int count,
                                    long *values)
{
    int bad = argc - 1 > count;
    for (int i = 0; i < count; i++) {
        const struct kernel_argument *a = &arguments[i];
        char *end = NULL;
        values[i] = i + 1 < argc ? strtol(argv[i + 1], &end, 10) : a->usual;
        bad |=
            (end && (end == argv[i + 1] || *end != '\0')) || values[i] < a->lowest || values[i] > a->highest;
    }
    if (!bad)
        return;
    fprintf(stderr, "usage: %s", argv[0]);
    for (int i = 0; i < count; i++)
        fprintf(stderr, " [%s", arguments[i].name);
    for (int i = 0; i < count; i++)
        fprintf(stderr, "]");
    for (int i = 0; i < count; i++)
        fprintf(stderr, "\n%s: %ld to %ld, default %ld", arguments[i].name, arguments[i].lowest,
                arguments[i].highest, arguments[i].usual);
    fprintf(stderr, "\n");
    exit(2);
}

/* Runs a kernel to its end; the arguments are simt_launch()'s. */
#define KERNEL_RUN(...)                                                                                      \
    do {                                                                                                     \
        if (simt_launch(__VA_ARGS__) < 0 || simt_wait(0) != 0) {                                             \
            perror("launch");                                                                                \
            exit(1);                                                                                         \
        }                                                                                                    \
    } while (0)

/* Returns zeroed memory for `count` objects of `size` bytes, which is never freed. */
static inline void *kernel_memory(long count, size_t size)
{
    void *memory = calloc((size_t)count, size);
    if (!memory) {
        fprintf(stderr, "out of memory\n");
        exit(1);
    }
    return memory;
}

/* Returns kernel_memory() that begins with a page, as a GPU's allocator places large arrays: a warp's aligned
 * access to adjacent words has one line, and arrays share no pages. */
static inline void *kernel_array(long count, size_t size)
{
    enum { PAGE = 4096 };
    uintptr_t memory = (uintptr_t)kernel_memory(count * (long)size + PAGE, 1);
    return (void *)((memory + PAGE - 1) / PAGE * PAGE);
}

/* Returns the smallest number of blocks of `size` that hold `count`. */
static inline uint32_t kernel_blocks(long count, long size)
{
    return (uint32_t)((count + size - 1) / size);
}

/* xorshift64*, Vigna 2016; *state is not 0. */
static inline uint32_t kernel_random(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return (uint32_t)((*state * UINT64_C(2685821657736338717)) >> 32);
}

/* Returns 0 <= result < 1, a multiple of 2^-16, so that sums of a few results are exact. */
static inline float kernel_random_float(uint64_t *state)
{
    return (float)(kernel_random(state) >> 16) / 65536;
}

static inline void kernel_fill(float *values, long count, uint64_t seed)
{
    for (long i = 0; i < count; i++)
        values[i] = kernel_random_float(&seed);
}

/* Returns whether each value equals the expected one within `tolerance`, relative to the expected value or to
 * 1, whichever is larger. */
static inline int kernel_close(const float *values, const float *expected, long count, double tolerance)
{
    for (long i = 0; i < count; i++)
        if (!(fabs((double)values[i] - (double)expected[i]) <=
              tolerance * fmax(1, fabs((double)expected[i]))))
            return 0;
    return 1;
}

/* Prints the size, a digest of the result (FNV-1a over its bytes) and whether it is correct. Returns the exit
 * status. */
static inline int kernel_report(const char *name, long size, const void *result, size_t bytes, int correct)
{
    uint64_t digest = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < bytes; i++)
        digest = (digest ^ ((const unsigned char *)result)[i]) * UINT64_C(0x100000001b3);
    printf("%s: size %ld\ndigest    %016llx\nresult    %s\n", name, size, (unsigned long long)digest,
           correct ? "correct" : "WRONG");
    return correct ? 0 : 1;
}

#endif
