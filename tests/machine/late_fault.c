/* late_fault BLOCKS: a thread of each block traps, while stores of the others are on their way. */
#include <croft/roi.h>
#include <croft/simt.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { BLOCK = 64, WORDS = 64, ROUNDS = 40 };

struct work {
    int traps;
    uint32_t *out; /* by thread */
};

static uint32_t words[WORDS];

/* Its return address is on the thread's stack. */
__attribute__((noinline, aligned(64))) static uint32_t next(uint32_t x)
{
    __asm__ volatile("addi %0, %0, 1" : "+r"(x));
    return x;
}

static void store(struct work *w)
{
    const uint32_t id = (uint32_t)thread_id();
    uint32_t x = id * 2654435761u;
    for (uint32_t i = 0; i < ROUNDS; i++) {
        x ^= words[x % WORDS];
        words[(x >> 8) % WORDS] = x;
        x += next(i);
        if (i == ROUNDS / 2 + id / BLOCK % 3 && w->traps) {
            if (id % BLOCK == 3)
                __builtin_trap();
            *(volatile uint8_t *)words = 1;
        }
    }
    w->out[id] = x;
}

int main(int argc, char **argv)
{
    const uint32_t blocks = argc > 1 ? (uint32_t)atoi(argv[1]) : 8;
    struct work w = {1, calloc((size_t)blocks * BLOCK, sizeof *w.out)};
    croft_roi_begin("stores");
    simt_launch(store, &w, simt_dim(blocks), simt_dim(BLOCK));
    simt_wait(0);
    croft_roi_end("stores");
    printf("%u\n", (unsigned)w.out[0]);
    return 0;
}
