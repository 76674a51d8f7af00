/* Loops that people write, each a kernel of its own, for tests/tom/tom.sh: loops NAME. Prints sums of what the threads have computed; the
 * same under qemu-riscv64. Each has a candidate that its name is found by. */
#include <croft/simt.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCKS = 4, BLOCK = 64, THREADS = BLOCKS * BLOCK, COUNT = THREADS * 100 };

struct job {
    const uint32_t *in;
    uint64_t *out;
    long n, step;
};

/* The step is the number of threads. */
static void grid_stride(struct job *job)
{
    uint64_t sum = 0;
    for (long i = (long)thread_id(); i < job->n; i += (long)thread_count())
        sum += job->in[i];
    job->out[thread_id()] = sum;
}

/* Indices of 32 bits. */
static void words(struct job *job)
{
    uint64_t sum = 0;
    for (uint32_t i = (uint32_t)thread_id(); i < (uint32_t)job->n; i += block_dim_x() * grid_dim_x())
        sum += job->in[i];
    job->out[thread_id()] = sum;
}

/* From the end, by a step of the argument. */
static void backwards(struct job *job)
{
    uint64_t sum = 0;
    long step = job->step;
    for (long i = job->n - 1 - (long)thread_id(); i >= 0; i -= step)
        sum += job->in[i];
    job->out[thread_id()] = sum;
}

/* A constant step of 4 KiB, of a pointer and of an index. */
static void pages(struct job *job)
{
    uint64_t sum = 0;
    for (const uint32_t *p = job->in + thread_id(), *end = job->in + job->n; p < end; p += 1024)
        sum += p[0];
    job->out[thread_id()] = sum;
}

static void indices(struct job *job)
{
    uint64_t sum = 0;
    for (long i = (long)thread_id(); i < job->n; i += 1024)
        sum += job->in[i];
    job->out[thread_id()] = sum;
}

/* Three words a round. */
static void triples(struct job *job)
{
    uint64_t sum = 0;
    const uint32_t *in = job->in + 120 * thread_id();
    for (long i = 0; i < job->step; i += 3)
        sum += in[i] ^ in[i + 1] ^ in[i + 2];
    job->out[thread_id()] = sum;
}

int main(int argc, char **argv)
{
    static struct job job;
    static uint64_t out[COUNT];
    static const char *const names[] = {"grid_stride", "words", "backwards", "pages", "indices", "triples"};
    const char *name = argc > 1 ? argv[1] : "";
    uint32_t *in = malloc(COUNT * sizeof *in);
    const struct simt_dim grid = simt_dim(BLOCKS), block = simt_dim(BLOCK);
    for (uint32_t i = 0; i < COUNT; i++)
        in[i] = i * 2654435761u >> 7;
    job = (struct job){in, out, COUNT - 17, 120};
    unsigned which = 0;
    while (which < 6 && strcmp(name, names[which]) != 0)
        which++;
    job.step = which == 2 ? THREADS : 120;
    int failed = which == 0   ? simt_launch(grid_stride, &job, grid, block)
                 : which == 1 ? simt_launch(words, &job, grid, block)
                 : which == 2 ? simt_launch(backwards, &job, grid, block)
                 : which == 3 ? simt_launch(pages, &job, grid, block)
                 : which == 4 ? simt_launch(indices, &job, grid, block)
                              : simt_launch(triples, &job, simt_dim(1), block);
    if (failed < 0 || simt_wait(0) != 0) {
        perror("loops");
        return 1;
    }
    uint64_t sum = 0;
    for (long i = 0; i < COUNT; i++)
        sum = sum * 31 + out[i];
    printf("%s %016llx\n", name, (unsigned long long)sum);
    return 0;
}
