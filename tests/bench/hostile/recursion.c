/* Recursive functions, which GCC unrolls into thousands of instructions that all run about equally often. */
#include <stdio.h>
#include <stdlib.h>

static unsigned long fibonacci(unsigned n)
{
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

static unsigned ackermann(unsigned m, unsigned n)
{
    return m == 0 ? n + 1 : ackermann(m - 1, n == 0 ? 1 : ackermann(m, n - 1));
}

static unsigned long hanoi(unsigned n, unsigned from, unsigned to)
{
    return n == 0 ? 0 : hanoi(n - 1, from, 6 - from - to) + from * to + hanoi(n - 1, 6 - from - to, to);
}

int main(int argc, char **argv)
{
    unsigned n = argc > 1 ? (unsigned)atoi(argv[1]) : 34;
    printf("recursion %u: %lu %u %lu\n", n, fibonacci(n), ackermann(2, 8 * n), hanoi(n / 2, 1, 3));
    return 0;
}
