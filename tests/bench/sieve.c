/* Sieve of Eratosthenes over bytes, repeated. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LIMIT = 4000000 };

static unsigned char composite[LIMIT + 1];

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 25;
    unsigned long sum = 0;
    for (int round = 0; round < rounds; round++) {
        memset(composite, 0, sizeof composite);
        for (int n = 2; n * n <= LIMIT; n++)
            if (!composite[n])
                for (int multiple = n * n; multiple <= LIMIT; multiple += n)
                    composite[multiple] = 1;
        for (int n = 2 + round; n <= LIMIT; n++)
            if (!composite[n])
                sum += (unsigned long)n;
    }
    printf("sieve %d rounds, sum %lu\n", rounds, sum);
    return 0;
}
