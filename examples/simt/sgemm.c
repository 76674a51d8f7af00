/* SGEMM: c = alpha * a * b + beta * c for square matrices. Each block computes a tile of 16 by 16. It loads
 * the tiles of a and b that it needs into its scratchpad, one pair at a time. */
#include "kernel.h"

enum { TILE = 16 };

struct sgemm {
    const float *a, *b;
    float *c;
    long size;
    float alpha, beta;
};

static void sgemm(const struct sgemm *p)
{
    float(*a)[TILE] = simt_shared(), (*b)[TILE] = a + TILE;
    uint32_t x = thread_x(), y = thread_y();
    long size = p->size, row = (long)block_y() * TILE + y, column = (long)block_x() * TILE + x;
    float sum = 0;
    for (long tile = 0; tile < size; tile += TILE) {
        a[y][x] = p->a[row * size + tile + x];
        b[y][x] = p->b[(tile + y) * size + column];
        simt_barrier();
        for (uint32_t k = 0; k < TILE; k++)
            sum += a[y][k] * b[k][x];
        simt_barrier();
    }
    float *c = p->c + row * size + column;
    *c = p->alpha * sum + p->beta * *c;
}

static void sgemm_scalar(const struct sgemm *p, float *c)
{
    for (long row = 0; row < p->size; row++)
        for (long column = 0; column < p->size; column++) {
            float sum = 0;
            for (long k = 0; k < p->size; k++)
                sum += p->a[row * p->size + k] * p->b[k * p->size + column];
            c[row * p->size + column] = p->alpha * sum + p->beta * c[row * p->size + column];
        }
}

int main(int argc, char **argv)
{
    long size = kernel_size(argc, argv, 48, TILE, 2048, TILE), count = size * size;
    float *a = kernel_memory(count, sizeof *a), *b = kernel_memory(count, sizeof *b);
    float *c = kernel_memory(count, sizeof *c), *expected = kernel_memory(count, sizeof *expected);
    kernel_fill(a, count, 16);
    kernel_fill(b, count, 17);
    kernel_fill(c, count, 18);
    memcpy(expected, c, (size_t)count * sizeof *c);

    struct sgemm arguments = {a, b, c, size, 1.5f, 0.5f};
    uint32_t tiles = (uint32_t)(size / TILE);
    croft_roi_begin("sgemm");
    KERNEL_RUN(sgemm, &arguments, simt_dim(tiles, tiles), simt_dim(TILE, TILE),
               .scratchpad = 2 * TILE * TILE * sizeof(float));
    croft_roi_end("sgemm");

    sgemm_scalar(&arguments, expected);
    return kernel_report("sgemm", size, c, (size_t)count * sizeof *c, kernel_close(c, expected, count, 1e-5));
}
