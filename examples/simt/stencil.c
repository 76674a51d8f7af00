/* Seven-point stencil on a cube's inner points (Jacobi): each point becomes a weighted sum of itself and its
 * six neighbours. A thread moves up a column of the cube and keeps three of its points in registers. */
#include "kernel.h"

enum { BLOCK_X = 32, BLOCK_Y = 4, ROUNDS = 4 };

struct stencil {
    const float *from;
    float *to;
    long size;
};

/* Returns the new value of the point at `at`, given its neighbours below and above. */
static float smooth(const float *at, long size, float below, float here, float above)
{
    return 0.4f * here + 0.1f * (at[-1] + at[1] + at[-size] + at[size] + below + above);
}

static void stencil(const struct stencil *p)
{
    long size = p->size, plane = size * size;
    long x = (long)block_x() * BLOCK_X + thread_x(), y = (long)block_y() * BLOCK_Y + thread_y();
    if (x == 0 || y == 0 || x >= size - 1 || y >= size - 1)
        return;
    const float *at = p->from + y * size + x;
    float *to = p->to + y * size + x;
    float below = at[0], here = at[plane];
    for (long z = 1; z < size - 1; z++) {
        float above = at[(z + 1) * plane];
        to[z * plane] = smooth(at + z * plane, size, below, here, above);
        below = here;
        here = above;
    }
}

static void stencil_scalar(const float *from, float *to, long size)
{
    long plane = size * size;
    for (long z = 1; z < size - 1; z++)
        for (long y = 1; y < size - 1; y++)
            for (long x = 1; x < size - 1; x++) {
                long i = z * plane + y * size + x;
                to[i] = smooth(from + i, size, from[i - plane], from[i], from[i + plane]);
            }
}

int main(int argc, char **argv)
{
    long size = kernel_size(argc, argv, 24, 3, 512, 1), count = size * size * size;
    float *cubes[4];
    for (int i = 0; i < 4; i++) {
        cubes[i] = kernel_memory(count, sizeof(float));
        kernel_fill(cubes[i], count, 15);
    }
    croft_roi_begin("stencil");
    for (int round = 0; round < ROUNDS; round++) {
        struct stencil arguments = {cubes[round % 2], cubes[!(round % 2)], size};
        KERNEL_RUN(stencil, &arguments, simt_dim(kernel_blocks(size, BLOCK_X), kernel_blocks(size, BLOCK_Y)),
                   simt_dim(BLOCK_X, BLOCK_Y));
    }
    croft_roi_end("stencil");

    for (int round = 0; round < ROUNDS; round++)
        stencil_scalar(cubes[2 + round % 2], cubes[2 + !(round % 2)], size);
    return kernel_report("stencil", size, cubes[0], (size_t)count * sizeof(float),
                         kernel_close(cubes[0], cubes[2], count, 1e-6));
}
