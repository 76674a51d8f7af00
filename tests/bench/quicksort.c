/* Quicksort of ints, hand written: unpredictable branches. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { LENGTH = 1000000 };

static int32_t values[LENGTH];

static void sort(int32_t *low, int32_t *high)
{
    while (high - low > 12) {
        int32_t pivot = low[(high - low) / 2], *i = low, *j = high;
        while (i <= j) {
            while (*i < pivot)
                i++;
            while (*j > pivot)
                j--;
            if (i <= j) {
                int32_t t = *i;
                *i++ = *j;
                *j-- = t;
            }
        }
        if (j - low < high - i) {
            sort(low, j);
            low = i;
        } else {
            sort(i, high);
            high = j;
        }
    }
    for (int32_t *at = low + 1; at <= high; at++) {
        int32_t value = *at, *to = at;
        for (; to > low && to[-1] > value; to--)
            *to = to[-1];
        *to = value;
    }
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 10;
    uint32_t seed = 1;
    uint64_t digest = 0;
    for (int round = 0; round < rounds; round++) {
        for (int i = 0; i < LENGTH; i++) {
            seed ^= seed << 13, seed ^= seed >> 17, seed ^= seed << 5;
            values[i] = (int32_t)seed;
        }
        sort(values, values + LENGTH - 1);
        for (int i = 1; i < LENGTH; i++)
            digest = digest * 31 + (uint32_t)values[i] + (values[i - 1] > values[i] ? 1000003u : 0);
    }
    printf("quicksort %d rounds, digest %016llx\n", rounds, (unsigned long long)digest);
    return 0;
}
