/* Kernels for the speed of timed multiprocessors: the host does next to nothing. simt KERNEL ROUNDS [BLOCKS] */
#include <croft/simt.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 256, BLOCKS = 64, COUNT = 1 << 20 };

/* Whole lines; what is in them, the compiler does not know. */
_Alignas(128) float a[COUNT], b[COUNT], c[COUNT];

/* Integer work in registers. */
static void compute(const long *rounds)
{
    uint32_t x = (uint32_t)thread_id(), y = 1;
    for (long i = 0; i < 200 * *rounds; i++) {
        x = x * 1664525 + 1013904223;
        y = (y ^ x >> 7) + (x << 3);
        y ^= y >> 11;
    }
    ((uint32_t *)c)[thread_id()] = x + y;
}

/* What memory gives. */
static void stream(const long *rounds)
{
    long count = (long)thread_count();
    for (long n = 0; n < *rounds; n++)
        for (long i = (long)thread_id(); i < COUNT; i += count)
            c[i] = a[i] + 3 * b[i];
}

/* Two loads to an addition. */
static void sum(const long *rounds)
{
    long count = (long)thread_count();
    float s = 0, t = 0;
    for (long n = 0; n < *rounds; n++)
        for (long i = (long)thread_id(); i < COUNT; i += 2 * count) {
            s += a[i] + b[i];
            t += a[i + count] + b[i + count];
        }
    c[thread_id()] = s + t;
}

/* Single-precision polynomials of what is loaded. */
static void poly(const long *rounds)
{
    long count = (long)thread_count();
    for (long i = (long)thread_id(); i < COUNT; i += count) {
        float x = a[i], y = 0;
        for (long n = 0; n < 4 * *rounds; n++)
            y = y * x + 1.5F;
        c[i] = y;
    }
}

int main(int argc, char **argv)
{
    static long rounds;
    rounds = argc > 2 ? atol(argv[2]) : 1;
    const char *kernel = argc > 1 ? argv[1] : "compute";
    struct simt_dim grid = simt_dim(argc > 3 ? (uint32_t)atoi(argv[3]) : BLOCKS), block = simt_dim(BLOCK);
    long number = strcmp(kernel, "stream") == 0 ? simt_launch(stream, &rounds, grid, block)
                  : strcmp(kernel, "sum") == 0  ? simt_launch(sum, &rounds, grid, block)
                  : strcmp(kernel, "poly") == 0 ? simt_launch(poly, &rounds, grid, block)
                                                : simt_launch(compute, &rounds, grid, block);
    if (number < 0 || simt_wait(0))
        return 1;
    printf("%s %g\n", kernel, (double)c[COUNT / 2]);
    return 0;
}
