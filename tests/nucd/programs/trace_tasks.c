/* Tasks whose records a test reads: a chain, in which each task reads what the one before has written; tasks that do
 * not depend on each other and return values; and a nucd that is refused. */
#include <croft/nucd.h>
#include <stdio.h>

enum { LINKS = 6, FREE = 5 };

static _Alignas(4096) long chain[(LINKS + 1) * 8], apart[FREE * 8];

CROFT_REGION(follow, CROFT_IN(const long *, from, 64), CROFT_OUT(long *, to, 128))
{
    for (int i = 0; i < 8; i++)
        to[i] = from[i] + 1;
}

CROFT_REGION_RETURNS(long, sum, CROFT_IN(const long *, from, 64), CROFT_VALUE(long, more))
{
    for (int i = 0; i < 8; i++)
        more += from[i];
    return more;
}

CROFT_REGION(refused, CROFT_OUT(long *, to, size), CROFT_VALUE(unsigned long, size))
{
    if (size)
        to[0] = 7;
}

int main(void)
{
    for (int i = 0; i < LINKS; i++)
        follow(chain + 8 * i, chain + 8 * i + 8);
    long sums = 0;
    for (int i = 0; i < FREE; i++)
        sums += sum(apart + 8 * i, i);
    refused(apart, -1ul); /* longer than any segment */
    printf("%ld %ld %ld\n", chain[LINKS * 8], sums, apart[0]);
}
