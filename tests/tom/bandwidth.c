/* A kernel that only reads, only writes, or copies, for tests/tom/bandwidth.sh: bandwidth reads|writes|copies BLOCKS ROUNDS. Each thread
 * takes every THREADS'th word, four in a round, so that a warp's accesses are whole lines. Prints the bytes that it accesses. */
#include <croft/simt.h>
#include <stdio.h>
#include <stdlib.h>

enum { BLOCK = 256, EACH = 4 };

struct job {
    const float *in;
    float *out;
    long count, step;
};

static void reads(struct job *job)
{
    const long step = job->step;
    float a = 0, b = 0, c = 0, d = 0;
    for (long i = (long)thread_id(); i < job->count; i += EACH * step) {
        a += job->in[i];
        b += job->in[i + step];
        c += job->in[i + 2 * step];
        d += job->in[i + 3 * step];
    }
    if (a + b + c + d < 0)
        job->out[thread_id()] = a;
}

static void writes(struct job *job)
{
    const long step = job->step, count = job->count;
    float *out = job->out;
    for (long i = (long)thread_id(); i < count; i += EACH * step) {
        out[i] = 1;
        out[i + step] = 2;
        out[i + 2 * step] = 3;
        out[i + 3 * step] = 4;
    }
}

static void copies(struct job *job)
{
    const long step = job->step, count = job->count;
    const float *in = job->in;
    float *out = job->out;
    for (long i = (long)thread_id(); i < count; i += EACH * step) {
        float a = in[i], b = in[i + step], c = in[i + 2 * step], d = in[i + 3 * step];
        out[i] = a;
        out[i + step] = b;
        out[i + 2 * step] = c;
        out[i + 3 * step] = d;
    }
}

int main(int argc, char **argv)
{
    if (argc < 4)
        return 2;
    const long blocks = atol(argv[2]), rounds = atol(argv[3]), step = blocks * BLOCK,
               count = step * EACH * rounds;
    const size_t bytes = (size_t)count * sizeof(float);
    struct job job = {aligned_alloc(4096, bytes), aligned_alloc(4096, bytes), count, step};
    const struct simt_dim grid = simt_dim((uint32_t)blocks), block = simt_dim(BLOCK);
    int failed = argv[1][0] == 'r'   ? simt_launch(reads, &job, grid, block)
                 : argv[1][0] == 'w' ? simt_launch(writes, &job, grid, block)
                                     : simt_launch(copies, &job, grid, block);
    if (failed < 0 || simt_wait(0) != 0) {
        perror("bandwidth");
        return 1;
    }
    printf("%zu\n", argv[1][0] == 'c' ? 2 * bytes : bytes);
    return 0;
}
