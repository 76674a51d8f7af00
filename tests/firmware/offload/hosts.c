/* Two hosts offload at the same time, each to accelerators of its own (nucd.hosts): sums of what each was given. */
#include <croft/firmware/hart.h>
#include <croft/nucd.h>

#include "../support/support.h"

enum { TASKS = 16, COUNT = 1024 };

static _Alignas(64) long given[2][COUNT], doubled[2][COUNT];

CROFT_REGION(twice, CROFT_IN(const long *, from, count * sizeof *from),
             CROFT_OUT(long *, to, count * sizeof *to), CROFT_VALUE(long, count))
{
    for (long i = 0; i < count; i++)
        to[i] = 2 * from[i];
}

static void double_all(void *argument)
{
    unsigned host = *(const unsigned *)argument;
    for (long i = 0; i < COUNT; i++)
        given[host][i] = i + host;
    CROFT_FOR_TASKS(part, COUNT, TASKS, 8)
    twice(given[host] + part.first, doubled[host] + part.first, part.count);
}

static uint64_t wrong(unsigned host)
{
    uint64_t count = 0;
    for (long i = 0; i < COUNT; i++)
        count += doubled[host][i] != 2 * (i + host);
    return count;
}

/* The first half of each page belongs to host 1, the second half to host 0, whose tasks write it while
 * host 1 reads up to it: a prefetcher of host 1 that goes on must not bring the running tasks' outputs
 * into any cache. */
enum { PAGES = 24, HALF = 256, ROUNDS = 2 }; /* half of them do not fit into a first-level cache of 32 KiB */

static _Alignas(4096) long page[PAGES][2][HALF];
static volatile long seen;
static volatile int over;

CROFT_REGION(fill, CROFT_OUT(long *, to, count * sizeof *to), CROFT_VALUE(long, count),
             CROFT_VALUE(long, value))
{
    for (long i = 0; i < count; i++)
        to[i] = value + i;
}

static void read_halves(void *argument)
{
    long sum = 0;
    (void)argument;
    while (!over)
        for (int i = 0; i < PAGES; i++)
            for (int k = 0; k < HALF; k++)
                sum += page[i][0][k];
    seen = sum;
}

static uint64_t fill_halves(void)
{
    uint64_t bad = 0;
    for (long round = 1; round <= ROUNDS; round++) {
        for (int i = 0; i < PAGES; i++)
            fill(page[i][1], HALF, 1000 * round + i);
        for (int i = 0; i < PAGES; i++)
            for (int k = 0; k < HALF; k++)
                bad += page[i][1][k] != 1000 * round + i + k;
    }
    over = 1;
    return bad;
}

int main(void)
{
    struct suite s = {0};
    unsigned first = 0, second = 1;
    expect(&s, "two harts or more", hart_count() >= 2, 1);
    expect(&s, "hart 1 starts", hart_start(1, double_all, &second), 1);
    double_all(&first);
    hart_wait(1);
    expect(&s, "wrong numbers of host 0", wrong(0), 0);
    expect(&s, "wrong numbers of host 1", wrong(1), 0);
    expect(&s, "hart 1 starts again", hart_start(1, read_halves, NULL), 1);
    expect(&s, "wrong numbers beside a reader", fill_halves(), 0);
    hart_wait(1);
    expect(&s, "numbers that nobody wrote", (uint64_t)seen, 0);
    return suite_end(&s);
}
