/* Four tasks. Those from number argv[1] on store to address 0: the first of them at its last element, in a function that
 * the region calls, the others at once. Prints the sum of all elements. */
#include <croft/nucd.h>
#include <stdio.h>
#include <stdlib.h>

enum { TASKS = 4, N = 64 };

static int elements[TASKS * N] __attribute__((aligned(64)));
static int *volatile nowhere;

__attribute__((noinline)) static void put(int *place, int value)
{
    *place = value; /* the store that faults */
}

CROFT_REGION(fill, CROFT_INOUT(int *, to, N * sizeof *to), CROFT_VALUE(long, bad))
{
    for (long i = 0; i < N; i++)
        put(i == bad ? nowhere : to + i, (int)i + 1); /* each element */
}

__attribute__((noinline)) static int start(int first)
{
    volatile int tag = 4711;
    for (int t = 0; t < TASKS; t++)
        fill(elements + t * N, t < first ? -1 : t == first ? N - 1 : 0);
    return tag;
}

int main(int argc, char **argv)
{
    int tag = start(argc > 1 ? atoi(argv[1]) : TASKS);
    int sum = 0;
    for (int i = 0; i < TASKS * N; i++)
        sum += elements[i];
    printf("%d %d\n", tag, sum);
    return 0;
}
