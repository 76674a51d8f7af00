/* Fast Walsh transform in natural order. In each of log2(n) stages, pairs of elements at a certain distance
 * are replaced by their sum and difference. Stages with distances of half a tile or more work in memory, with
 * one launch each; the others work in a block's scratchpad. */
#include "kernel.h"

enum { TILE = 512, BLOCK = TILE / 2 };

struct walsh {
    float *values;
    long distance;
};

static void butterfly(float *values, long first, long second)
{
    float a = values[first], b = values[second];
    values[first] = a + b;
    values[second] = a - b;
}

static void far_stage(const struct walsh *p)
{
    long i = (long)thread_id(), distance = p->distance;
    long first = i / distance * 2 * distance + i % distance;
    butterfly(p->values, first, first + distance);
}

static void near_stages(const struct walsh *p)
{
    float *tile = simt_shared(), *values = p->values + (long)block_x() * TILE;
    uint32_t t = thread_x();
    tile[t] = values[t];
    tile[t + BLOCK] = values[t + BLOCK];
    for (uint32_t distance = BLOCK; distance > 0; distance /= 2) {
        simt_barrier();
        uint32_t first = 2 * t - t % distance;
        butterfly(tile, first, first + distance);
    }
    simt_barrier();
    values[t] = tile[t];
    values[t + BLOCK] = tile[t + BLOCK];
}

/* The transform's definition, by recursion: result[i] = sum over j of values[j] * (-1)^(number of bits set in
 * i & j). */
static void walsh_scalar(float *values, long count)
{
    if (count == 1)
        return;
    for (long i = 0; i < count / 2; i++)
        butterfly(values, i, i + count / 2);
    walsh_scalar(values, count / 2);
    walsh_scalar(values + count / 2, count / 2);
}

int main(int argc, char **argv)
{
    long bits = kernel_size(argc, argv, 13, 9, 22, 1), count = 1L << bits;
    float *values = kernel_array(count, sizeof *values), *expected = kernel_array(count, sizeof *expected);
    kernel_fill(values, count, 6);
    memcpy(expected, values, (size_t)count * sizeof *values);

    struct walsh arguments = {values, count / 2};
    croft_roi_begin("walsh");
    for (; arguments.distance >= TILE; arguments.distance /= 2)
        KERNEL_RUN(far_stage, &arguments, simt_dim((uint32_t)(count / TILE)), simt_dim(BLOCK));
    KERNEL_RUN(near_stages, &arguments, simt_dim((uint32_t)(count / TILE)), simt_dim(BLOCK),
               .scratchpad = TILE * sizeof(float));
    croft_roi_end("walsh");

    walsh_scalar(expected, count);
    return kernel_report("walsh", bits, values, (size_t)count * sizeof *values,
                         memcmp(values, expected, (size_t)count * sizeof *values) == 0);
}
