/* SGEMM: c = alpha * a * b + beta * c. Each block computes a tile of 16 by 16 of c; in local memory it has the tiles of a and b
 * that it needs, one pair at a time. The arguments are the rows and columns of a, and the columns of b. */
#include "config.h"

enum { TILE = 16, THREADS = TILE * TILE, ROOM = TILE * TILE * 4 };

struct sgemm {
    float *a, *b, *c;
    uint32_t rows, inner, columns;
    float alpha, beta;
    struct croft_stash_map *maps; /* of each block: c, and a and b for each step */
};

CONFIG_INLINE struct tile tile_of(float *matrix, uint32_t columns, uint32_t y, uint32_t x, uint32_t local)
{
    return (struct tile){.global = matrix + (uint64_t)y * TILE * columns + x * TILE,
                         .local = local,
                         .objects = TILE,
                         .object_size = 4,
                         .rows = TILE,
                         .stride_size = columns * 4};
}

CONFIG_INLINE struct tile a_tile(const struct sgemm *p, uint32_t y, uint32_t step)
{
    return tile_of(p->a, p->inner, y, step, 0);
}

CONFIG_INLINE struct tile b_tile(const struct sgemm *p, uint32_t x, uint32_t step)
{
    return tile_of(p->b, p->columns, step, x, ROOM);
}

CONFIG_INLINE struct tile c_tile(const struct sgemm *p, uint32_t y, uint32_t x)
{
    return tile_of(p->c, p->columns, y, x, 2 * ROOM);
}

CONFIG_INLINE struct croft_stash_map *maps_of(const struct sgemm *p, uint32_t y, uint32_t x)
{
    return p->maps + (uint64_t)(y * (p->columns / TILE) + x) * (1 + 2 * (p->inner / TILE));
}

CONFIG_INLINE void sgemm(const struct sgemm *p, enum config config)
{
    const uint32_t x = thread_x(), y = thread_y(), block_column = block_x(), block_row = block_y();
    const uint32_t steps = p->inner / TILE;
    const struct team team = team_of(y * TILE + x, THREADS);
    const struct croft_stash_map *maps = maps_of(p, block_row, block_column);
    struct view a = view_open(config, LOCAL, READ, a_tile(p, block_row, 0), &maps[1], team);
    struct view b = view_open(config, LOCAL, READ, b_tile(p, block_column, 0), &maps[2], team);
    float sum = 0;
    for (uint32_t step = 1;; step++) {
        view_barrier(config, LOCAL);
        const struct view row = view_at(a, y, 0);
        struct view column = view_at(b, 0, x);
#pragma GCC unroll 16
        for (uint32_t k = 0; k < TILE; k++, column = view_below(column))
            sum = __builtin_fmaf(VIEW(float, row, 0, k), VIEW(float, column, 0, 0), sum);
        if (step == steps)
            break;
        view_barrier(config, LOCAL);
        a = view_next(config, LOCAL, READ, a_tile(p, block_row, step), &maps[1 + 2 * step], 0, team);
        b = view_next(config, LOCAL, READ, b_tile(p, block_column, step), &maps[2 + 2 * step], 1, team);
    }
    const struct tile tile = c_tile(p, block_row, block_column);
    const struct view c = view_open(config, GLOBAL, READ_WRITE, tile, &maps[0], team);
    VIEW(float, c, y, x) = __builtin_fmaf(p->alpha, sum, p->beta * VIEW(float, c, y, x));
    view_close(config, GLOBAL, tile, &maps[0], team);
}
CONFIG_KERNELS(sgemm, const struct sgemm, sgemm)

static void make_maps(struct sgemm *p)
{
    const uint32_t blocks = (p->rows / TILE) * (p->columns / TILE), steps = p->inner / TILE;
    p->maps = kernel_array(blocks * (1 + 2 * steps), sizeof *p->maps);
    for (uint32_t y = 0; y < p->rows / TILE; y++)
        for (uint32_t x = 0; x < p->columns / TILE; x++) {
            struct croft_stash_map *maps = maps_of(p, y, x);
            maps[0] = tile_map(c_tile(p, y, x));
            for (uint32_t step = 0; step < steps; step++) {
                maps[1 + 2 * step] = tile_map(a_tile(p, y, step));
                maps[2 + 2 * step] = tile_map(b_tile(p, x, step));
            }
        }
}

static void sgemm_scalar(const struct sgemm *p, float *c)
{
    for (uint32_t y = 0; y < p->rows; y++)
        for (uint32_t x = 0; x < p->columns; x++) {
            float sum = 0;
            for (uint32_t k = 0; k < p->inner; k++)
                sum += p->a[y * p->inner + k] * p->b[k * p->columns + x];
            c[y * p->columns + x] = p->alpha * sum + p->beta * c[y * p->columns + x];
        }
}

int main(int argc, char **argv)
{
    static const struct kernel_argument arguments[] = {
        {"ROWS", 128, TILE, 2048}, {"INNER", 96, TILE, 2048}, {"COLUMNS", 160, TILE, 2048}};
    const enum config config = config_argument(&argc, &argv);
    long sizes[3];
    kernel_arguments(argc, argv, arguments, 3, sizes);
    for (int i = 0; i < 3; i++)
        config_multiple(sizes[i], TILE);
    struct sgemm p = {.rows = (uint32_t)sizes[0],
                      .inner = (uint32_t)sizes[1],
                      .columns = (uint32_t)sizes[2],
                      .alpha = 1.5f,
                      .beta = 0.5f};
    const long count = sizes[0] * sizes[2];
    p.a = kernel_array(sizes[0] * sizes[1], 4);
    p.b = kernel_array(sizes[1] * sizes[2], 4);
    p.c = kernel_array(count, 4);
    float *expected = kernel_memory(count, 4);
    kernel_fill(p.a, sizes[0] * sizes[1], 16);
    kernel_fill(p.b, sizes[1] * sizes[2], 17);
    kernel_fill(p.c, count, 18);
    memcpy(expected, p.c, (size_t)count * 4);
    make_maps(&p);
    croft_roi_begin("sgemm");
    sgemm_run(config, &p, simt_dim(p.columns / TILE, p.rows / TILE), simt_dim(TILE, TILE), 3 * ROOM);
    croft_roi_end("sgemm");
    sgemm_scalar(&p, expected);
    return kernel_report("sgemm", count, p.c, (size_t)count * 4, kernel_close(p.c, expected, count, 1e-5));
}
