/* Fibonacci numbers by plain recursion: calls and returns. */
#include <stdio.h>
#include <stdlib.h>

static unsigned long __attribute__((noinline, noclone, optimize("no-optimize-sibling-calls", "no-inline")))
fibonacci(unsigned n)
{
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

int main(int argc, char **argv)
{
    unsigned n = argc > 1 ? (unsigned)atoi(argv[1]) : 39;
    printf("fibonacci %u: %lu\n", n, fibonacci(n));
    return 0;
}
