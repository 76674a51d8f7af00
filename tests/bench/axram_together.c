/* Threads that evaluate a network of INPUTS -> HIDDEN -> OUTPUTS on AxRAM's chips: axram_together INPUTS HIDDEN OUTPUTS THREADS. Its
 * weights are fixed-point numbers from 0 to 1. */
#include <croft/axram_memory.h>
#include <croft/simt.h>
#include <stdio.h>
#include <stdlib.h>

enum { WEIGHTS = 96 * 32 };

static unsigned size[3];
static void *in, *out;

static void evaluate(const void *unused)
{
    (void)unused;
    axram_evaluate(in, size[0], out, size[2], thread_id());
}

int main(int count, char **arguments)
{
    static uint32_t image[8 + WEIGHTS];
    const unsigned threads = count > 4 ? (unsigned)atoi(arguments[4]) : 32;
    for (int i = 0; i < 3; i++)
        size[i] = count > i + 1 ? (unsigned)atoi(arguments[i + 1]) : 8;
    image[0] = 0x4e4e5841;
    image[1] = 1 | 2 << 8;
    image[2] = size[0] | size[1] << 8 | size[2] << 16;
    image[3] = size[0] * size[1] + size[1] * size[2];
    for (unsigned i = 0; i < image[3] && i < WEIGHTS; i++)
        image[8 + i] = (i * 2654435761u >> 12) % 65536;
    in = axram_malloc(size[0], threads);
    out = axram_malloc(size[2], threads);
    if (!in || !out || !axram_network(image, 0)) {
        fprintf(stderr, "%s\n", axram_error());
        return 1;
    }
    simt_launch(evaluate, NULL, simt_dim(threads / 32), simt_dim(32));
    simt_wait(0);
    return 0;
}
