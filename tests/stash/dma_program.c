/* dma_program MODE: what a DMA engine does, in clocks. tests/stash/dma.sh has what is expected. */
#include <croft/dma.h>
#include <stdio.h>
#include <string.h>

enum { LINE = 128, LINES = 64, ROUNDS = 64, MANY = 2048 };

struct record {
    uint32_t word[LINE / 4];
};

static struct record records[MANY];

struct job {
    uint32_t lines; /* that block 0 loads: a word of each */
    uint64_t clocks[2];
};

static inline uint64_t cycle(void)
{
    uint64_t now;
    __asm__ volatile("fence; csrr %0, cycle" : "=r"(now) : : "memory");
    return now;
}

/* Block 0 loads; the other one uses its scratchpad meanwhile. */
static void load(struct job *job)
{
    volatile uint32_t *words = simt_shared();
    const struct croft_stash_map tile = croft_stash_tile_of(0, records, word[1], .objects = job->lines);
    const uint64_t begin = cycle();
    if (block_x() == 0)
        croft_dma_load(&tile);
    else
        for (int i = 0; i < ROUNDS; i++)
            words[thread_x()]++;
    const uint64_t end = cycle();
    if (thread_x() == 0)
        job->clocks[block_x()] = end - begin;
    for (uint32_t i = thread_x(); block_x() == 0 && i < job->lines; i += block_size())
        if (words[i] != i)
            __builtin_trap();
}

static void run(struct job *job, uint32_t blocks)
{
    if (simt_launch(load, job, simt_dim(blocks), simt_dim(32), .scratchpad = MANY * 4) < 0 ||
        simt_wait(0) != 0)
        perror("launch");
}

struct pages {
    uint32_t sum;
    uint32_t far[64 * 1024]; /* nobody has used its pages */
};

/* A word of each page: loads, and stores the thread's number. */
static void reach(struct pages *p)
{
    const struct croft_stash_map tile = croft_stash_tile(0, p->far, .objects = 64, .object_size = 4096);
    uint32_t *words = simt_shared();
    croft_dma_load(&tile);
    __atomic_fetch_add(&p->sum, words[thread_x()], __ATOMIC_RELAXED);
    words[thread_x()] += thread_x();
    croft_dma_store(&tile);
}

static int pages(void)
{
    static struct pages p;
    uint32_t sum = 0;
    if (simt_launch(reach, &p, simt_dim(1), simt_dim(64), .scratchpad = 256) < 0 || simt_wait(0) != 0)
        perror("launch");
    for (uint32_t i = 0; i < 64; i++)
        sum += p.far[i * 1024];
    return printf("%u %u\n", (unsigned)p.sum, (unsigned)sum) < 0;
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "pages") == 0)
        return pages();
    const int beside = argc > 1 && strcmp(argv[1], "beside") == 0;
    for (uint32_t i = 0; i < MANY; i++)
        records[i].word[1] = i;
    for (uint32_t lines = beside ? MANY : 1; lines <= (beside ? MANY : LINES); lines += LINES - 1) {
        struct job job = {.lines = lines};
        run(&job, 1); /* the lines are in the second level now */
        run(&job, beside ? 2 : 1);
        printf("lines.%u %llu\n", (unsigned)lines, (unsigned long long)job.clocks[0]);
        if (beside)
            printf("beside %llu\n", (unsigned long long)job.clocks[1]);
    }
    return 0;
}
