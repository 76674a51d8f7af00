/* A little of everything that machines do: loads and stores, floating point, a region for an accelerator, a kernel. */
#include <croft/nucd.h>
#include <croft/simt.h>
#include <stdio.h>

enum { COUNT = 256 };

static long in[COUNT] __attribute__((aligned(64))), out[COUNT] __attribute__((aligned(64)));

CROFT_REGION(twice, CROFT_IN(const long *, from, n * 8), CROFT_OUT(long *, to, n * 8), CROFT_VALUE(long, n))
{
    for (long i = 0; i < n; i++)
        to[i] = 2 * from[i];
}

static void add(long *values)
{
    const long i = (long)thread_id();
    if (i < COUNT)
        values[i] += i;
}

int main(void)
{
    double sum = 0;
    for (long i = 0; i < COUNT; i++)
        in[i] = i;
    for (long i = 0; i < COUNT; i += COUNT / 4)
        twice(in + i, out + i, COUNT / 4);
    if (simt_launch(add, out, simt_dim(4), simt_dim(COUNT / 4)) < 0)
        for (long i = 0; i < COUNT; i++) /* a multiprocessor may be too small for the blocks */
            out[i] += i;
    simt_wait(0);
    for (long i = 0; i < COUNT; i++)
        sum += (double)out[i] / 4;
    printf("%g\n", sum);
    return 0;
}
