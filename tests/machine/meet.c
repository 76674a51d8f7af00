/* AxRAM's results while TOM learns a map, stops the multiprocessors and copies, for undercroft.sh: every other block invokes the network
 * of examples/together/pipeline.c again and again, the others execute a loop that TOM would offload. Prints whether the loop's sums are
 * right, and then, of the threads with the network, the least of their longest times of an invocation, in clocks. */
#include <croft/approx.h>
#include <math.h>
#include <stdio.h>

#include "../../examples/simt/kernel.h"

enum { BLOCKS = 16, BLOCK = 32, THREADS = BLOCKS * BLOCK, TRIPS = 40, ROUNDS = 8, INVOCATIONS = 60 };

struct meeting {
    uint64_t *cells, *sums, *longest;
    float *results;
};

CROFT_APPROX(tone, 3, 1)
{
    const float light = 0.6F * in[0] + 0.4F * in[2], edge = in[1] * in[1];
    out[0] = sqrtf(light) * (1 - edge / (edge + 0.25F));
}

static uint64_t clocks(void)
{
    uint64_t value;
    __asm__ volatile("rdcycle %0" : "=r"(value)::"memory");
    return value;
}

static __attribute__((noinline)) uint64_t sweep(uint64_t *cells, long count, uint64_t sum)
{
    for (long i = 0; i < count; i++) {
        sum += cells[i * THREADS];
        cells[i * THREADS] = sum;
    }
    return sum;
}

static void invoke(const struct meeting *m, uint64_t i)
{
    uint64_t longest = 0;
    float result = 0;
    for (int round = 0; round < INVOCATIONS; round++) {
        const float in[3] = {0.5F, (float)round * 0.01F, 0.25F};
        const uint64_t begin = clocks();
        tone_by_thread(in, &result);
        const uint64_t time = clocks() - begin;
        longest = time > longest ? time : longest;
    }
    m->results[i] = result;
    m->longest[i] = longest;
}

static void meet(const struct meeting *m)
{
    const uint64_t i = (uint64_t)thread_id();
    uint64_t sum = i;
    if (block_x() % 2) {
        invoke(m, i);
        return;
    }
    for (int round = 0; round < ROUNDS; round++)
        sum = sweep(m->cells + i, TRIPS, sum);
    m->sums[i] = sum;
}

static void make(struct meeting *m)
{
    *m = (struct meeting){.cells = kernel_array((long)THREADS * TRIPS, sizeof *m->cells),
                          .sums = kernel_array(THREADS, sizeof *m->sums),
                          .longest = kernel_array(THREADS, sizeof *m->longest),
                          .results = kernel_array(THREADS, sizeof *m->results)};
    for (long i = 0; i < (long)THREADS * TRIPS; i++)
        m->cells[i] = (uint64_t)i * 2654435761U;
}

int main(void)
{
    struct meeting m, plain;
    uint64_t least = UINT64_MAX;
    long wrong = 0;
    make(&m);
    make(&plain);
    KERNEL_RUN(meet, &m, simt_dim(BLOCKS), simt_dim(BLOCK));
    for (long i = 0; i < THREADS; i++) {
        uint64_t sum = (uint64_t)i;
        if (i / BLOCK % 2) {
            least = m.longest[i] < least ? m.longest[i] : least;
            continue;
        }
        for (int round = 0; round < ROUNDS; round++)
            sum = sweep(plain.cells + i, TRIPS, sum);
        wrong += m.sums[i] != sum;
    }
    printf("meet: %d sums, %ld wrong\nlongest invocation, at least: %lu\n", THREADS / 2, wrong,
           (unsigned long)least);
    return wrong != 0;
}
