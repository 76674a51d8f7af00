/* Regions whose accesses the oracle of nucd.ranges=oracle must find, because their nucds do not name them; and regions
 * for which it gives up, which name theirs. */
#include <croft/nucd.h>
#include <stdio.h>

enum { COUNT = 512, TASKS = 8 };

static _Alignas(64) long numbers[COUNT], places[COUNT];
static _Alignas(64) long counter;

/* Slow enough that the host's next accesses come first if nothing holds them. */
CROFT_REGION(fill, CROFT_VALUE(long *, to), CROFT_VALUE(long, count), CROFT_VALUE(long, value))
{
    for (long i = count; i-- > 0;)
        to[i] = value * (i + 1);
}

/* Stores where numbers say: unknown as long as an older task writes them. */
CROFT_REGION(scatter, CROFT_INOUT(long *, from, COUNT * sizeof *from),
             CROFT_INOUT(long *, to, COUNT * sizeof *to), CROFT_VALUE(long, count))
{
    for (long i = 0; i < count; i++)
        to[from[i] % COUNT] += i;
}

CROFT_REGION(count_up, CROFT_INOUT(long *, to, sizeof *to), CROFT_VALUE(long, by))
{
    __atomic_fetch_add(to, by, __ATOMIC_RELAXED);
}

static void show(const char *name)
{
    unsigned long digest = 0;
    for (int i = 0; i < COUNT; i++)
        digest = digest * 31 + (unsigned long)(numbers[i] ^ places[i] << 7);
    printf("%s %lx %ld\n", name, digest, counter);
}

int main(void)
{
    long sum = 0;
    for (int i = 0; i < COUNT; i++)
        numbers[i] = places[i] = i; /* under the kernel, the oracle knows only pages that are present */
    for (long task = 0; task < TASKS; task++)
        fill(numbers + task * (COUNT / TASKS), COUNT / TASKS, task + 1);
    sum = numbers[0]; /* of the first task, of which it waits for the last store */
    for (long task = 1; task < TASKS; task++)
        fill(numbers + task * (COUNT / TASKS) - 32, COUNT / TASKS, sum + task); /* in part the same lines */
    numbers[COUNT - 1] = 3;
    show("undeclared");
    fill(numbers, COUNT, 5);
    scatter(numbers, places, COUNT);
    show("dependent");
    for (long i = 0; i < TASKS; i++)
        count_up(&counter, i);
    show("atomic");
    return 0;
}
