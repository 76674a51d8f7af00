/* LU decomposition of examples/simt/lud.c, whose reference and steps it uses: the tiles of 16 by 16 that a block needs are in
 * local memory. The argument is the size of the matrix. */
#include "config.h"

#define main lud_simt_main
#include "../simt/lud.c"
#undef main

enum { ROOM = TILE * TILE * 4 };

struct lud_step {
    struct lud lud;
    const struct croft_stash_map *maps; /* of each block: 1 of the diagonal, 3 of the others */
};

CONFIG_INLINE struct tile lud_tile(const struct lud *p, long row, long column, uint32_t local)
{
    return (struct tile){.global = tile_at(p, row, column),
                         .local = local,
                         .objects = TILE,
                         .object_size = 4,
                         .rows = TILE,
                         .stride_size = (uint32_t)p->size * 4};
}

/* Returns a value less the products of the first `count` fields of a row and of a column. */
CONFIG_INLINE float lud_rest(struct view row, struct view column, uint32_t count, float value)
{
#pragma GCC unroll 4
    for (uint32_t k = 0; k < count; k++, column = view_below(column))
        value -= VIEW(float, row, 0, k) * VIEW(float, column, 0, 0);
    return value;
}

CONFIG_INLINE void lud_diagonal(const struct lud_step *p, enum config config)
{
    const uint32_t t = thread_x();
    const struct team team = team_of(t, TILE);
    const struct tile place = lud_tile(&p->lud, 0, 0, 0);
    const struct view tile = view_open(config, LOCAL, READ_WRITE, place, p->maps, team);
    const struct view own_row = view_at(tile, t, 0), own_column = view_at(tile, 0, t);
    for (uint32_t k = 0; k < TILE - 1; k++) {
        simt_barrier();
        if (t > k)
            VIEW(float, own_row, 0, k) =
                lud_rest(own_row, view_at(tile, 0, k), k, VIEW(float, own_row, 0, k)) /
                VIEW(float, tile, k, k);
        simt_barrier();
        if (t > k)
            VIEW(float, own_column, k + 1, 0) =
                lud_rest(view_at(tile, k + 1, 0), own_column, k + 1, VIEW(float, own_column, k + 1, 0));
    }
    view_barrier(config, LOCAL);
    view_close(config, LOCAL, place, p->maps, team);
}
CONFIG_KERNELS(lud_diagonal, const struct lud_step, lud_diagonal)

/* The first 16 threads solve for the columns of a tile to the right of the diagonal, the others for the rows of one below. */
CONFIG_INLINE void lud_perimeter(const struct lud_step *p, enum config config)
{
    const uint32_t block = block_x(), t = thread_x() % TILE;
    const struct team team = team_of(thread_x(), 2 * TILE);
    const struct croft_stash_map *maps = p->maps + 3 * block;
    const struct tile places[] = {lud_tile(&p->lud, 0, 0, 0), lud_tile(&p->lud, 0, block + 1, ROOM),
                                  lud_tile(&p->lud, block + 1, 0, 2 * ROOM)};
    const struct view corner = view_open(config, LOCAL, READ, places[0], maps, team);
    const struct view right = view_open(config, LOCAL, READ_WRITE, places[1], maps + 1, team);
    const struct view below = view_open(config, LOCAL, READ_WRITE, places[2], maps + 2, team);
    view_barrier(config, LOCAL);
    if (thread_x() < TILE) {
        const struct view column = view_at(right, 0, t);
        for (uint32_t k = 1; k < TILE; k++)
            VIEW(float, column, k, 0) = lud_rest(view_at(corner, k, 0), column, k, VIEW(float, column, k, 0));
    } else {
        const struct view row = view_at(below, t, 0);
        for (uint32_t k = 0; k < TILE; k++)
            VIEW(float, row, 0, k) =
                lud_rest(row, view_at(corner, 0, k), k, VIEW(float, row, 0, k)) / VIEW(float, corner, k, k);
    }
    view_barrier(config, LOCAL);
    view_close(config, LOCAL, places[1], maps + 1, team);
    view_close(config, LOCAL, places[2], maps + 2, team);
}
CONFIG_KERNELS(lud_perimeter, const struct lud_step, lud_perimeter)

CONFIG_INLINE void lud_internal(const struct lud_step *p, enum config config)
{
    const uint32_t x = thread_x(), y = thread_y(), column = block_x() + 1, row = block_y() + 1;
    const struct team team = team_of(y * TILE + x, TILE * TILE);
    const struct croft_stash_map *maps = p->maps + 3 * (block_y() * grid_dim_x() + block_x());
    const struct tile own = lud_tile(&p->lud, row, column, 2 * ROOM);
    const struct view above = view_open(config, LOCAL, READ, lud_tile(&p->lud, 0, column, 0), maps, team);
    const struct view left = view_open(config, LOCAL, READ, lud_tile(&p->lud, row, 0, ROOM), maps + 1, team);
    const struct view tile = view_open(config, GLOBAL, READ_WRITE, own, maps + 2, team);
    view_barrier(config, LOCAL);
    const struct view row_left = view_at(left, y, 0);
    struct view column_above = view_at(above, 0, x);
    float sum = 0;
#pragma GCC unroll 16
    for (uint32_t k = 0; k < TILE; k++, column_above = view_below(column_above))
        sum += VIEW(float, row_left, 0, k) * VIEW(float, column_above, 0, 0);
    VIEW(float, tile, y, x) -= sum;
    view_close(config, GLOBAL, own, maps + 2, team);
}
CONFIG_KERNELS(lud_internal, const struct lud_step, lud_internal)

/* Fills in the maps of a step's three launches, in their order; returns the end. */
static struct croft_stash_map *lud_maps(const struct lud *p, struct croft_stash_map *maps)
{
    const long left = (p->size - p->done) / TILE - 1;
    *maps++ = tile_map(lud_tile(p, 0, 0, 0));
    for (long i = 1; i <= left; i++) {
        *maps++ = tile_map(lud_tile(p, 0, 0, 0));
        *maps++ = tile_map(lud_tile(p, 0, i, ROOM));
        *maps++ = tile_map(lud_tile(p, i, 0, 2 * ROOM));
    }
    for (long row = 1; row <= left; row++)
        for (long column = 1; column <= left; column++) {
            *maps++ = tile_map(lud_tile(p, 0, column, 0));
            *maps++ = tile_map(lud_tile(p, row, 0, ROOM));
            *maps++ = tile_map(lud_tile(p, row, column, 2 * ROOM));
        }
    return maps;
}

static void lud_run(enum config config, struct lud lud, const struct croft_stash_map *maps)
{
    for (lud.done = 0; lud.done < lud.size; lud.done += TILE) {
        const uint32_t left = (uint32_t)((lud.size - lud.done) / TILE - 1);
        const struct lud_step first = {lud, maps}, second = {lud, maps + 1},
                              third = {lud, maps + 1 + 3 * left};
        lud_diagonal_run(config, &first, simt_dim(1), simt_dim(TILE), ROOM);
        if (left == 0)
            break;
        lud_perimeter_run(config, &second, simt_dim(left), simt_dim(2 * TILE), 3 * ROOM);
        lud_internal_run(config, &third, simt_dim(left, left), simt_dim(TILE, TILE), 3 * ROOM);
        maps = third.maps + 3 * left * left;
    }
}

int main(int argc, char **argv)
{
    const enum config config = config_argument(&argc, &argv);
    const long size = kernel_size(argc, argv, 256, TILE, 2048, TILE), count = size * size,
               tiles = size / TILE;
    struct lud lud = {kernel_array(count, sizeof(float)), size, 0};
    float *expected = kernel_memory(count, sizeof *expected);
    struct croft_stash_map *maps = kernel_array(tiles * (1 + 3 * tiles * tiles), sizeof *maps), *next = maps;
    kernel_fill(lud.matrix, count, 14);
    for (long i = 0; i < size; i++) /* diagonally dominant, so no pivots are needed */
        lud.matrix[i * size + i] += (float)size;
    memcpy(expected, lud.matrix, (size_t)count * sizeof(float));
    for (lud.done = 0; lud.done < size; lud.done += TILE)
        next = lud_maps(&lud, next);

    croft_roi_begin("lud");
    lud_run(config, lud, maps);
    croft_roi_end("lud");

    lud_scalar(expected, size);
    return kernel_report("lud", size, lud.matrix, (size_t)count * sizeof(float),
                         kernel_close(lud.matrix, expected, count, 1e-4));
}
