/* For timed machines: work in a region of interest, comparisons of clocks, an endless loop. */
#include <croft/roi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { COUNT = 1 << 14 };

static uint64_t table[COUNT];

/* A walk through memory whose addresses and branches depend on the loaded values. */
static uint64_t walk(unsigned steps)
{
    uint64_t at = 1, sum = 0;
    for (unsigned i = 0; i < steps; i++) {
        at = table[at % COUNT];
        if (at & 4)
            sum += at >> 7;
        else
            sum ^= at;
    }
    return sum;
}

static int work(void)
{
    uint64_t state = 88172645463325252;
    for (unsigned i = 0; i < COUNT; i++) {
        state ^= state << 13; /* xorshift64 (Marsaglia 2003) */
        state ^= state >> 7;
        state ^= state << 17;
        table[i] = state;
    }
    printf("%016lx\n", walk(20000));
    croft_roi_begin("work");
    uint64_t sum = walk(20000);
    croft_roi_end("work");
    printf("%016lx %.6f\n", sum, (double)sum / 3);
    return 0;
}

static uint64_t nanoseconds(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static uint64_t csr_time(void)
{
    uint64_t value;
    __asm__ volatile("rdtime %0" : "=r"(value));
    return value;
}

static uint64_t csr_cycle(void)
{
    uint64_t value;
    __asm__ volatile("rdcycle %0" : "=r"(value));
    return value;
}

static int clocks(void)
{
    table[0] = walk(100);
    uint64_t by_call = nanoseconds(), by_csr = csr_time(), cycles = csr_cycle();
    table[1] = walk(50000);
    uint64_t csr_span = csr_time() - by_csr, cycle_span = csr_cycle() - cycles,
             span = nanoseconds() - by_call;
    puts(span > csr_span - 1000 && span < csr_span + 2000 ? "time and clock agree" : "time and clock differ");
    puts(cycle_span > 2 * csr_span - 2000 && cycle_span < 2 * csr_span + 2000 ? "a cycle is half a nanosecond"
                                                                              : "it is not");
    by_call = nanoseconds();
    (void)nanosleep(&(struct timespec){.tv_sec = 2}, NULL);
    printf("slept for %u s\n", (unsigned)((nanoseconds() - by_call) / 1000000000));
    return 0;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "work";
    if (strcmp(what, "work") == 0)
        return work();
    if (strcmp(what, "clocks") == 0)
        return clocks();
    for (volatile uint64_t i = 0;; i++)
        continue;
}
