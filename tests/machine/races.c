/* Threads whose results depend on the order of their accesses: races of loads and stores, atomics, and LR/SC, beside scratchpads, barriers
 * and stacks. Prints what they leave.
 *
 *     races ROUNDS BLOCKS [fault | call | tiny | time]
 *
 * `fault`: a thread stores to address 16, once it has seen that others work; `call`: a thread prints; `tiny`: launches of one thread
 * between the others; `time`: threads store the clock that they read. */
#include <croft/roi.h>
#include <croft/simt.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS = 64, BLOCK = 64 };

struct shared {
    uint32_t word[WORDS], counter[WORDS], owner[WORDS];
    uint64_t sum, fails;
};

struct work {
    struct shared *all;
    uint32_t *own; /* by thread */
    uint32_t rounds, seed;
    int fault, call, clock;
};

static uint32_t mixed(uint32_t x)
{
    x ^= x << 13;
    x ^= x >> 17;
    return x ^ x << 5;
}

static uint32_t cycles(void)
{
    uint64_t now;
    __asm__ volatile("rdtime %0" : "=r"(now));
    return (uint32_t)now;
}

/* A lock-free maximum, by LR/SC. */
static void raise(struct shared *all, uint32_t at, uint32_t value)
{
    uint32_t old = __atomic_load_n(&all->owner[at], __ATOMIC_RELAXED);
    while (old < value)
        if (__atomic_compare_exchange_n(&all->owner[at], &old, value, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
            return;
        else
            __atomic_fetch_add(&all->fails, 1, __ATOMIC_RELAXED);
}

static void race(struct work *w)
{
    struct shared *all = w->all;
    volatile uint32_t stack[8];
    uint32_t *pad = simt_shared(), t = thread_x(), id = (uint32_t)thread_id(),
             x = mixed(id * 2654435761u + w->seed);
    for (uint32_t i = 0; i < 8; i++)
        stack[i] = x + i;
    for (uint32_t round = 0; round < w->rounds; round++) {
        volatile uint32_t *word = &all->word[x % WORDS];
        x = mixed(x + *word);
        *word = x;
        stack[x % 8] += __atomic_fetch_add(&all->counter[x / 64 % WORDS], x % 3, __ATOMIC_RELAXED);
        if (x % 5 == 0)
            raise(all, x / 8 % WORDS, x >> 8);
        for (uint32_t i = 0; i < x % 16; i++)
            x = mixed(x + stack[i % 8]);
        pad[t] = x;
        simt_barrier();
        x += pad[(t + 1) % BLOCK];
        simt_barrier();
        if (w->clock)
            x += cycles();
        if (round == w->rounds / 2 && id == 3 * BLOCK + 5) {
            if (w->fault)
                *(volatile uint32_t *)16 = x;
            if (w->call)
                puts("a thread");
        }
    }
    w->own[id] = x + stack[3];
    __atomic_fetch_add(&all->sum, x, __ATOMIC_RELAXED);
}

static uint64_t digest(const void *bytes, size_t size)
{
    uint64_t x = 14695981039346656037u;
    for (size_t i = 0; i < size; i++)
        x = (x ^ ((const unsigned char *)bytes)[i]) * 1099511628211u;
    return x;
}

int main(int argc, char **argv)
{
    static struct shared all;
    const uint32_t rounds = argc > 1 ? (uint32_t)atoi(argv[1]) : 8,
                   blocks = argc > 2 ? (uint32_t)atoi(argv[2]) : 8;
    const char *kind = argc > 3 ? argv[3] : "";
    const size_t threads = (size_t)blocks * BLOCK;
    uint32_t *own = calloc(2 * threads + 1, sizeof *own);
    struct work one = {
        &all, own, rounds, 1, !strcmp(kind, "fault"), !strcmp(kind, "call"), !strcmp(kind, "time")};
    struct work two = one, few = one;
    two.own = own + threads;
    two.seed = 77;
    few.rounds = 1;
    croft_roi_begin("races");
    for (int i = 0; i < 2; i++) {
        simt_launch(race, &one, simt_dim(blocks), simt_dim(BLOCK), .scratchpad = BLOCK * sizeof(uint32_t));
        if (!strcmp(kind, "tiny")) {
            few.own = own + 2 * threads;
            simt_launch(race, &few, simt_dim(1), simt_dim(1), .scratchpad = BLOCK * sizeof(uint32_t),
                        .queue = 2);
        }
        simt_launch(race, &two, simt_dim(blocks), simt_dim(BLOCK), .scratchpad = BLOCK * sizeof(uint32_t),
                    .queue = 1);
        simt_wait(0);
    }
    croft_roi_end("races");
    printf("%016llx %016llx fails %llu\n", (unsigned long long)digest(&all, sizeof all),
           (unsigned long long)digest(own, (2 * threads + 1) * sizeof *own), (unsigned long long)all.fails);
    return 0;
}
