/* Counts the solutions of the n queens problem with bit masks. */
#include <stdio.h>
#include <stdlib.h>

static unsigned long count(unsigned all, unsigned columns, unsigned left, unsigned right)
{
    if (columns == all)
        return 1;
    unsigned long found = 0;
    for (unsigned free = all & ~(columns | left | right); free; free &= free - 1) {
        unsigned bit = free & -free;
        found += count(all, columns | bit, (left | bit) << 1, (right | bit) >> 1);
    }
    return found;
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 14;
    for (int side = 8; side <= n; side++)
        printf("queens %d: %lu\n", side, count((1u << side) - 1, 0, 0, 0));
    return 0;
}
