/* Regions for tests/nucd/check.sh, which knows line numbers. `right` names all that it accesses. `wrong`
 * omits half of its input (line 24) and a counter that it reads and writes (25), and writes to its input (26). */
#include <croft/nucd.h>
#include <stdio.h>
#include <string.h>

enum { COUNT = 1024, TASKS = 4, PART = COUNT / TASKS };
static _Alignas(4096) long x[COUNT], y[COUNT];
static _Alignas(64) long counter;
static const long factors[2] = {2, 3};

CROFT_REGION(right, CROFT_IN(const long *, a, n * sizeof *a), CROFT_OUT(long *, b, n * sizeof *b),
             CROFT_VALUE(long, n))
{
    volatile long last[4]; /* on the stack */
    for (long i = 0; i < n; i++)
        b[i] = factors[i & 1] * (last[i & 3] = a[i]);
}

CROFT_REGION(wrong, CROFT_IN(long *, a, n / 2 * sizeof *a), CROFT_OUT(long *, b, n * sizeof *b),
             CROFT_VALUE(long, n))
{
    for (long i = 0; i < n; i++)
        b[i] = a[i];
    counter++;
    *(volatile long *)a = 1;
}

int main(int argc, char **argv)
{
    (void)argv;
    for (long i = 0; i < COUNT; i++)
        x[i] = i;
    if (argc > 1)
        CROFT_FOR_TASKS(part, COUNT, TASKS, PART)
    wrong(x + part.first, y + part.first, part.count);
    else CROFT_FOR_TASKS(part, COUNT, TASKS, PART) right(x + part.first, y + part.first, part.count);
    printf("%ld\n", y[COUNT - 2]);
    return 0;
}
