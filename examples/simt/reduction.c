/* Parallel reduction: the sum of a vector. Each thread adds some elements, and each block its threads' sums in a fixed tree in
 * its scratchpad. The blocks' sums are the next round's vector. */
#include "kernel.h"

enum { BLOCK = 256 };

struct reduce {
    const float *in;
    float *out; /* one for each block */
    long count;
    long span; /* elements of a block */
};

static void reduce(const struct reduce *p)
{
    float *tree = simt_shared();
    uint32_t t = thread_x();
    long first = (long)block_x() * p->span, end = first + p->span < p->count ? first + p->span : p->count;
    float sum = 0;
    for (const float *in = p->in + first + t; in < p->in + end; in += BLOCK)
        sum += *in;
    tree[t] = sum;
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
    static const struct kernel_argument arguments[] = {{"SIZE", 16384, 1, 1 << 26},
                                                       {"ELEMENTS", 2, 1, 1 << 16}};
    long sizes[2];
    kernel_arguments(argc, argv, arguments, 2, sizes);
    long count = sizes[0], span = BLOCK * sizes[1], partials = kernel_blocks(count, span);
    float *values = kernel_array(count, sizeof *values);
    float *sums[2] = {kernel_array(partials, sizeof(float)), kernel_array(partials, sizeof(float))};
    kernel_fill(values, count, 3);

    const float *in = values;
    int round = 0;
    croft_roi_begin("reduction");
    for (long left = count, next; left > 1 || round == 0; left = next, round++) {
        next = kernel_blocks(left, span);
        struct reduce sum = {in, sums[round % 2], left, span};
        KERNEL_RUN(reduce, &sum, simt_dim((uint32_t)next), simt_dim(BLOCK),
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
