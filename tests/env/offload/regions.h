/* Two regions of the programs that offload from Debian: one writes, one reads. */
#ifndef TESTS_ENV_OFFLOAD_REGIONS_H
#define TESTS_ENV_OFFLOAD_REGIONS_H

#include <croft/nucd.h>

CROFT_REGION(fill, CROFT_OUT(long *, to, count * sizeof *to), CROFT_VALUE(long, count),
             CROFT_VALUE(long, start))
{
    for (long i = 0; i < count; i++)
        to[i] = start + i;
}

CROFT_REGION_RETURNS(long, add, CROFT_IN(const long *, from, count * sizeof *from), CROFT_VALUE(long, count))
{
    long sum = 0;
    for (long i = 0; i < count; i++)
        sum += from[i];
    return sum;
}

#endif
