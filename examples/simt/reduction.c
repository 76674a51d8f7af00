/* Parallel reduction: the sum of a vector. Each block adds 512 elements in a fixed tree in its scratchpad.
 * The blocks' sums are the next round's vector. */
#include "kernel.h"

enum { BLOCK = 256, SPAN = 2 * BLOCK };

struct reduce {
    const float *in;
    float *out; /* one for each block */
    long count;
};

static void reduce(const struct reduce *p)
{
    float *tree = simt_shared();
    uint32_t t = thread_x();
    long first = (long)block_x() * SPAN + t, second = first + BLOCK;
    tree[t] = (first < p->count ? p->in[first] : 0) + (second < p->count ? p->in[second] : 0);
    for (uint32_t half = BLOCK / 2; half > 0; half /= 2) {
        simt_barrier();
        if (t < half)
            tree[t] += tree[t + half];
    }
    if (t == 0)
        p->out[block_x()] = tree[0];
}

int main(int argc, char **argv)
{
    long count = kernel_size(argc, argv, 16384, 1, 1 << 24, 1);
    long partials = kernel_blocks(count, SPAN);
    float *values = kernel_memory(count, sizeof *values);
    float *sums[2] = {kernel_memory(partials, sizeof(float)), kernel_memory(partials, sizeof(float))};
    kernel_fill(values, count, 3);

    const float *in = values;
    int round = 0;
    croft_roi_begin("reduction");
    for (long left = count, next; left > 1 || round == 0; left = next, round++) {
        next = kernel_blocks(left, SPAN);
        struct reduce arguments = {in, sums[round % 2], left};
        KERNEL_RUN(reduce, &arguments, simt_dim((uint32_t)next), simt_dim(BLOCK),
                   .scratchpad = BLOCK * sizeof(float));
        in = sums[round % 2];
    }
    croft_roi_end("reduction");

    double exact = 0;
    for (long i = 0; i < count; i++)
        exact += (double)values[i];
    float expected = (float)exact;
    return kernel_report("reduction", count, in, sizeof *in, kernel_close(in, &expected, 1, 1e-5));
}
