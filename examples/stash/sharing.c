/* False sharing: threads on all hosts store to words of their own, which lie beside each other (`sharing beside`) or in lines of their own
 * (`sharing apart`). `sharing beside|apart HOSTS`. */
#include <croft/roi.h>
#include <croft/threads.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 16, LINE = 16, ROUNDS = 5000 };

static struct {
    _Alignas(64) volatile uint32_t words[MOST * LINE];
} shared;
static uint32_t distance;

static void work(void *argument)
{
    volatile uint32_t *word = &shared.words[(uintptr_t)argument * distance];
    for (uint32_t i = 0; i < ROUNDS; i++)
        *word = *word * 3 + i;
}

int main(int argc, char **argv)
{
    static struct croft_thread threads[MOST];
    const uint32_t hosts = argc == 3 ? (uint32_t)strtoul(argv[2], NULL, 10) : 0;
    uint32_t sum = 0;
    if (hosts < 1 || hosts > MOST)
        return 2;
    distance = strcmp(argv[1], "beside") == 0 ? 1 : LINE;
    croft_roi_begin("sharing");
    for (uint32_t i = 1; i < hosts; i++)
        if (croft_thread_start(&threads[i], work, (void *)(uintptr_t)i) != 0)
            return 1;
    work(NULL);
    for (uint32_t i = 1; i < hosts; i++)
        croft_thread_join(&threads[i]);
    croft_roi_end("sharing");
    for (uint32_t i = 0; i < hosts; i++)
        sum += shared.words[i * distance];
    printf("%u\n", (unsigned)sum);
    return 0;
}
