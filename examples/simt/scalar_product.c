/* Scalar products of many pairs of vectors, one block per pair. Each thread adds the products of every 128th
 * element, and the block adds the threads' sums in a tree. */
#include "kernel.h"

enum { BLOCK = 128, LENGTH = 1024 };

struct product {
    const float *a, *b; /* vectors of LENGTH elements, consecutive */
    float *products;
};

static void product(const struct product *p)
{
    float *sums = simt_shared();
    const float *a = p->a + (long)block_x() * LENGTH, *b = p->b + (long)block_x() * LENGTH;
    uint32_t t = thread_x();
    float sum = 0;
    for (uint32_t i = t; i < LENGTH; i += BLOCK)
        sum += a[i] * b[i];
    sums[t] = sum;
    for (uint32_t half = BLOCK / 2; half > 0; half /= 2) {
        simt_barrier();
        if (t < half)
            sums[t] += sums[t + half];
    }
    if (t == 0)
        p->products[block_x()] = sums[0];
}

int main(int argc, char **argv)
{
    long pairs = kernel_size(argc, argv, 48, 1, 16384, 1), count = pairs * LENGTH;
    float *a = kernel_array(count, sizeof *a), *b = kernel_array(count, sizeof *b);
    float *products = kernel_array(pairs, sizeof *products),
          *expected = kernel_array(pairs, sizeof *expected);
    kernel_fill(a, count, 4);
    kernel_fill(b, count, 5);

    struct product arguments = {a, b, products};
    croft_roi_begin("scalar_product");
    KERNEL_RUN(product, &arguments, simt_dim((uint32_t)pairs), simt_dim(BLOCK),
               .scratchpad = BLOCK * sizeof(float));
    croft_roi_end("scalar_product");

    for (long i = 0; i < count; i++)
        expected[i / LENGTH] += a[i] * b[i];
    return kernel_report("scalar_product", pairs, products, (size_t)pairs * sizeof *products,
                         kernel_close(products, expected, pairs, 1e-4));
}
