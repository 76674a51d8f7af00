/* Threads that keep words on their stacks while TOM learns a map, which moves the homes of the stacks; launches that come then must
 * leave these words where they are. Prints how many threads found them changed. */
#include <croft/simt.h>
#include <stdint.h>
#include <stdio.h>

enum { THREADS = 256, WORDS = 16, PAUSE = 3000, LAUNCHES = 20 };
static uint32_t data[THREADS * WORDS], result[THREADS], other[64];

static void keep(void *argument)
{
    (void)argument;
    const uint32_t t = (uint32_t)thread_id();
    volatile uint32_t own[WORDS];
    uint32_t sum = 0, number = t;
    for (uint32_t i = 0; i < WORDS; i++)
        own[i] = data[i * THREADS + t] * 3;
    for (uint32_t i = 0; i < PAUSE; i++)
        __asm__ volatile("addi %0, %0, 1" : "+r"(number));
    for (uint32_t i = 0; i < WORDS; i++)
        sum += own[i];
    result[t] = sum + number;
}

static void mark(void *argument)
{
    (void)argument;
    other[thread_id()]++;
}

int main(void)
{
    uint32_t wrong = 0;
    for (uint32_t i = 0; i < THREADS * WORDS; i++)
        data[i] = i;
    simt_launch(keep, (void *)0, simt_dim(THREADS / 64), simt_dim(64), .queue = 1);
    for (int i = 0; i < LAUNCHES; i++)
        simt_wait(simt_launch(mark, (void *)0, simt_dim(1), simt_dim(64), .queue = 2));
    simt_wait(0);
    for (uint32_t t = 0; t < THREADS; t++) {
        uint32_t sum = t + PAUSE;
        for (uint32_t i = 0; i < WORDS; i++)
            sum += 3 * (i * THREADS + t);
        wrong += result[t] != sum;
    }
    printf("%u launches, %u wrong\n", (unsigned)other[0], (unsigned)wrong);
    return 0;
}
