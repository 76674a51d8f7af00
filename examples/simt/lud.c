/* LU decomposition in place, without pivoting, in tiles of 16 by 16. For each tile of the diagonal there are
 * three launches: that tile; the tiles to its right and below it; all remaining tiles to its right and
 * below. */
#include "kernel.h"

enum { TILE = 16 };

struct lud {
    float *matrix; /* [size][size] */
    long size;
    long done; /* rows and columns that are complete */
};

typedef float tile_rows[TILE];

static float *tile_at(const struct lud *p, long row, long column)
{
    return p->matrix + (p->done + row * TILE) * p->size + p->done + column * TILE;
}

/* Thread t copies column t, so that the threads access a whole row at once. */
static void tile_load(const struct lud *p, const float *from, tile_rows *tile, uint32_t t)
{
    for (uint32_t i = 0; i < TILE; i++)
        tile[i][t] = from[i * p->size + t];
}

static void tile_store(const struct lud *p, float *to, tile_rows *tile, uint32_t t)
{
    for (uint32_t i = 0; i < TILE; i++)
        to[i * p->size + t] = tile[i][t];
}

static void diagonal(const struct lud *p)
{
    tile_rows *tile = simt_shared();
    uint32_t t = thread_x();
    tile_load(p, tile_at(p, 0, 0), tile, t);
    for (uint32_t k = 0; k < TILE - 1; k++) {
        simt_barrier();
        if (t > k)
            tile[t][k] /= tile[k][k];
        simt_barrier();
        for (uint32_t row = k + 1; t > k && row < TILE; row++)
            tile[row][t] -= tile[row][k] * tile[k][t];
    }
    simt_barrier();
    tile_store(p, tile_at(p, 0, 0), tile, t);
}

/* The first 16 threads solve for the columns of a tile to the right of the diagonal, the others for the rows
 * of a tile below it. */
static void perimeter(const struct lud *p)
{
    tile_rows *corner = simt_shared(), *right = corner + TILE, *below = right + TILE;
    uint32_t t = thread_x() % TILE;
    long tile = block_x() + 1;
    int is_right = thread_x() < TILE;
    if (is_right)
        tile_load(p, tile_at(p, 0, 0), corner, t);
    tile_load(p, is_right ? tile_at(p, 0, tile) : tile_at(p, tile, 0), is_right ? right : below, t);
    simt_barrier();
    for (uint32_t k = 0; k < TILE; k++)
        if (is_right) {
            for (uint32_t row = k + 1; row < TILE; row++)
                right[row][t] -= corner[row][k] * right[k][t];
        } else {
            below[t][k] /= corner[k][k];
            for (uint32_t column = k + 1; column < TILE; column++)
                below[t][column] -= below[t][k] * corner[k][column];
        }
    simt_barrier();
    tile_store(p, is_right ? tile_at(p, 0, tile) : tile_at(p, tile, 0), is_right ? right : below, t);
}

static void internal(const struct lud *p)
{
    tile_rows *above = simt_shared(), *left = above + TILE;
    uint32_t x = thread_x(), y = thread_y();
    long row = block_y() + 1, column = block_x() + 1;
    above[y][x] = tile_at(p, 0, column)[y * p->size + x];
    left[y][x] = tile_at(p, row, 0)[y * p->size + x];
    simt_barrier();
    float sum = 0;
    for (uint32_t k = 0; k < TILE; k++)
        sum += left[y][k] * above[k][x];
    tile_at(p, row, column)[y * p->size + x] -= sum;
}

static void lud_simt(struct lud *p)
{
    uint32_t bytes = TILE * TILE * sizeof(float);
    for (p->done = 0; p->done < p->size; p->done += TILE) {
        uint32_t left = (uint32_t)((p->size - p->done) / TILE - 1);
        KERNEL_RUN(diagonal, p, simt_dim(1), simt_dim(TILE), .scratchpad = bytes);
        if (left == 0)
            break;
        KERNEL_RUN(perimeter, p, simt_dim(left), simt_dim(2 * TILE), .scratchpad = 3 * bytes);
        KERNEL_RUN(internal, p, simt_dim(left, left), simt_dim(TILE, TILE), .scratchpad = 2 * bytes);
    }
}

static void lud_scalar(float *m, long size)
{
    for (long k = 0; k < size; k++)
        for (long row = k + 1; row < size; row++) {
            m[row * size + k] /= m[k * size + k];
            for (long column = k + 1; column < size; column++)
                m[row * size + column] -= m[row * size + k] * m[k * size + column];
        }
}

int main(int argc, char **argv)
{
    long size = kernel_size(argc, argv, 64, TILE, 2048, TILE), count = size * size;
    struct lud lud = {kernel_memory(count, sizeof(float)), size, 0};
    float *expected = kernel_memory(count, sizeof *expected);
    kernel_fill(lud.matrix, count, 14);
    for (long i = 0; i < size; i++) /* diagonally dominant, so no pivots are needed */
        lud.matrix[i * size + i] += (float)size;
    memcpy(expected, lud.matrix, (size_t)count * sizeof(float));

    croft_roi_begin("lud");
    lud_simt(&lud);
    croft_roi_end("lud");

    lud_scalar(expected, size);
    return kernel_report("lud", size, lud.matrix, (size_t)count * sizeof(float),
                         kernel_close(lud.matrix, expected, count, 1e-5));
}
