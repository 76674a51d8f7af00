/* Regions that only allocate, in a program that needs no more of the C library: no locks, no errno of its own. */
#include <croft/nucd.h>
#include <stdio.h>
#include <stdlib.h>

static char *kept[8];

CROFT_REGION_RETURNS(char *, make, CROFT_VALUE(long, size))
{
    char *bytes = malloc((size_t)size);
    bytes[0] = 1;
    return bytes;
}

int main(void)
{
    long sum = 0;
    for (long i = 0; i < 8; i++)
        kept[i] = make(3000 + i);
    for (long i = 0; i < 8; i++)
        sum += kept[i][0] + (i > 0 ? (kept[i] - kept[i - 1] > 3000) : 0);
    printf("%ld\n", sum);
    return 0;
}
