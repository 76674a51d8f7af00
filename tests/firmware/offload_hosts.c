/* Two hosts offload at the same time, each to accelerators of its own (nucd.hosts): sums of what each was given. */
#include <croft/firmware/hart.h>
#include <croft/nucd.h>

#include "support.h"

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
    return suite_end(&s);
}
