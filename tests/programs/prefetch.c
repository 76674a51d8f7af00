/* Walks a list whose lines lie 64 bytes apart in an order that no prefetcher foresees, and prefetches lines ahead of it unless
 * there is an argument; prefetches addresses that may not be accessed, and code. Prints a sum. GCC 12 has no Zicbop: prefetches
 * are written as the ori that they are. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { LINES = 32768, AHEAD = 8 };

struct line {
    struct line *next, *ahead;
    uint64_t value, rest[5];
};

static _Alignas(64) struct line lines[LINES];

static void prefetch_i(const void *at)
{
    __asm__ volatile("ori x0, %0, 0" : : "r"(at) : "memory");
}

static void prefetch_r(const void *at)
{
    __asm__ volatile("ori x0, %0, 1" : : "r"(at) : "memory");
}

static void prefetch_w(const void *at)
{
    __asm__ volatile("ori x0, %0, 3" : : "r"(at) : "memory");
}

/* The generator has a full period (Hull and Dobell, 1962). */
static unsigned following(unsigned line)
{
    return (line * 5 + 4093) % LINES;
}

static void link_lines(void)
{
    unsigned at = 0, ahead = 0;
    for (unsigned i = 0; i < AHEAD; i++)
        ahead = following(ahead);
    for (unsigned i = 0; i < LINES; i++) {
        lines[at] = (struct line){.next = &lines[following(at)], .ahead = &lines[ahead], .value = i};
        at = following(at);
        ahead = following(ahead);
    }
}

static uint64_t work(uint64_t value)
{
    for (int i = 0; i < 8; i++)
        value = value * UINT64_C(6364136223846793005) + 1;
    return value;
}

int main(int argc, char **argv)
{
    uint64_t sum = 0;
    link_lines();
    struct line *at = lines;
    for (unsigned i = 0; i < LINES; i++) {
        if (argc < 2)
            prefetch_w(at->ahead);
        sum = work(sum ^ at->value);
        at->value = sum;
        at = at->next;
    }
    prefetch_r(NULL);
    prefetch_w(main);
    prefetch_i((const void *)(uintptr_t)UINT64_MAX);
    prefetch_r((const void *)((uintptr_t)1 << 40));
    prefetch_i(work);
    printf("%s: %016llx\n", argc < 2 ? "prefetches" : argv[1], (unsigned long long)sum);
}
