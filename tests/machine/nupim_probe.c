/* Latency and traffic of one multiprocessor's loads from one memory stack of machine nupim: nupim_probe STACK LINES. A thread
 * loads a line of each of LINES blocks of the stack, one after the other, and prints the clocks that a load takes. */
#include <croft/simt.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { BLOCK = 256, STACKS = 16, PAGE = BLOCK * STACKS };

struct probe {
    const uint32_t *first; /* zeros */
    long lines;
    uint64_t clocks;
};

static uint64_t clock_now(void)
{
    uint64_t now;
    __asm__ volatile("rdcycle %0" : "=r"(now) : : "memory");
    return now;
}

static void chase(struct probe *p)
{
    const char *at = (const char *)p->first;
    uint64_t start = clock_now();
    for (long i = 0; i < p->lines; i++)
        at += PAGE + *(const volatile uint32_t *)at;
    p->clocks = clock_now() - start;
}

int main(int argc, char **argv)
{
    static struct probe probe;
    long stack = argc > 1 ? atol(argv[1]) : 0;
    probe.lines = argc > 2 ? atol(argv[2]) : 64;
    char *memory = aligned_alloc(PAGE, (size_t)(probe.lines + 1) * PAGE);
    if (!memory)
        return 1;
    probe.first = (const uint32_t *)(memory + stack * BLOCK);
    if (simt_launch(chase, &probe, simt_dim(1), simt_dim(1)) < 0 || simt_wait(0) < 0)
        return 1;
    printf("%.3f\n", (double)probe.clocks / (double)probe.lines);
    return 0;
}
