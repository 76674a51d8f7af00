/* Seven-point stencil on a box's inner points (Jacobi), as Parboil's: a block moves up a column of 64 by 4 points, two of each thread.
 * Threads put the points of the current plane, which are in their registers, into local memory for their neighbours; what those at
 * the block's edges need beside it is in global memory. The arguments are the box's points in x, y and z. */
#include "config.h"

/* Of a block's tiles of the result, those at the box's edge have points that it does not store. With WRITE, copies bring no such points in, and the box
 * must end where a block does. */
#ifndef STENCIL_RESULT
#define STENCIL_RESULT READ_WRITE
#endif

enum { BLOCK_X = 64, BLOCK_Y = 4, THREADS_Y = 2, THREADS = BLOCK_X * THREADS_Y, ROUNDS = 4, MAPS = 2 };
enum { PLANE = BLOCK_X * BLOCK_Y * 4, POINTS = BLOCK_Y / THREADS_Y };

struct stencil {
    float *from, *to;
    uint32_t x, y, z;
    uint32_t stride, plane; /* points from one row to the next, and from one plane to the next */
    float *planes;          /* of each block: what is in local memory elsewhere, for configuration Cache */
    const struct croft_stash_map *maps; /* of each block and plane: above, result */
};

/* Points of plane z of a block's column. */
CONFIG_INLINE struct tile points(const struct stencil *p, float *box, uint32_t z, uint32_t local)
{
    return (struct tile){.global = box + (uint64_t)z * p->plane + (block_y() * BLOCK_Y + 1) * p->stride +
                                   block_x() * BLOCK_X + 1,
                         .local = local,
                         .objects = BLOCK_X,
                         .object_size = 4,
                         .rows = BLOCK_Y,
                         .stride_size = p->stride * 4};
}

/* The current plane, of which threads have their points in registers, and the two that are read and written. */
CONFIG_INLINE struct tile middle_tile(const struct stencil *p, uint32_t z)
{
    return points(p, p->from, z, 0);
}
CONFIG_INLINE struct tile above_tile(const struct stencil *p, uint32_t z)
{
    return points(p, p->from, z, PLANE);
}
CONFIG_INLINE struct tile to_tile(const struct stencil *p, uint32_t z)
{
    return points(p, p->to, z, 2 * PLANE);
}

static float smooth(float here, float west, float east, float north, float south, float below, float above)
{
    return 0.4f * here + 0.1f * (west + east + north + south + below + above);
}

/* A neighbour of a thread's point in the same plane: from the block's tile if it is `within` it. */
CONFIG_INLINE float beside(struct view tile, struct view plane, int within, int y, int x)
{
    return within ? VIEW(float, tile, y, x) : VIEW(float, plane, y, x);
}

/* The new value of a thread's point i, whose neighbours below and above are known; the views are from its first point on. */
CONFIG_INLINE float point(struct view tile, struct view plane, int i, const float at[3])
{
    const uint32_t x = thread_x(), y = thread_y();
    const int row = i * THREADS_Y;
    return smooth(at[1], beside(tile, plane, x > 0, row, -1), beside(tile, plane, x < BLOCK_X - 1, row, 1),
                  beside(tile, plane, i > 0 || y > 0, row - 1, 0),
                  beside(tile, plane, i < POINTS - 1 || y < THREADS_Y - 1, row + 1, 0), at[0], at[2]);
}

/* The block's own memory for the current plane. */
CONFIG_INLINE struct view middle_view(const struct stencil *p, enum config config, struct team team)
{
    const struct tile tile = middle_tile(p, 1);
    if (config == CACHE)
        return view_local(tile, p->planes + (block_y() * grid_dim_x() + block_x()) * BLOCK_X * BLOCK_Y);
    return view_local(tile, team.local);
}

CONFIG_INLINE void stencil(const struct stencil *p, enum config config)
{
    const uint32_t x = thread_x(), y = thread_y();
    const struct team team = team_of(y * BLOCK_X + x, THREADS);
    const struct croft_stash_map *maps = p->maps + (block_y() * grid_dim_x() + block_x()) * p->z * MAPS;
    const struct view middle = view_at(middle_view(p, config, team), y, x);
    struct view above = view_open(config, GLOBAL, READ, above_tile(p, 0), maps, team);
    struct view to = view_open(config, GLOBAL, STENCIL_RESULT, to_tile(p, 1), maps + MAPS + 1, team);
    struct view plane = view_at(view_global(middle_tile(p, 1)), y, x);
    /* rows from the thread's first point on that have a new value */
    const int rows = block_x() * BLOCK_X + x + 2 < p->x ? (int)(p->y - 2 - block_y() * BLOCK_Y - y) : 0;
    float at[POINTS][3]; /* below, here, above */
    above = view_at(above, y, x);
#pragma GCC unroll 2
    for (int i = 0; i < POINTS; i++) {
        at[i][0] = VIEW(float, above, i *THREADS_Y, 0);
        at[i][1] = VIEW(float, plane, i *THREADS_Y, 0);
    }
    for (uint32_t z = 1;; z++) {
#pragma GCC unroll 2
        for (int i = 0; i < POINTS; i++)
            VIEW(float, middle, i *THREADS_Y, 0) = at[i][1];
        maps += MAPS;
        above = view_next(config, GLOBAL, READ, above_tile(p, z + 1), maps + MAPS, 0, team);
        if (!view_next_waits(config, GLOBAL))
            simt_barrier();
        above = view_at(above, y, x);
        to = view_at(to, y, x);
#pragma GCC unroll 2
        for (int i = 0; i < POINTS; i++) {
            at[i][2] = VIEW(float, above, i *THREADS_Y, 0);
            if (i * THREADS_Y < rows)
                VIEW(float, to, i *THREADS_Y, 0) = point(middle, plane, i, at[i]);
            at[i][0] = at[i][1];
            at[i][1] = at[i][2];
        }
        view_close(config, GLOBAL, to_tile(p, z), maps + 1, team);
        if (z == p->z - 2)
            break;
        to = view_next(config, GLOBAL, STENCIL_RESULT, to_tile(p, z + 1), maps + MAPS + 1, 1, team);
        if (!view_next_waits(config, GLOBAL))
            simt_barrier();
        plane = view_at(view_global(middle_tile(p, z + 1)), y, x);
    }
}
CONFIG_KERNELS(stencil, const struct stencil, stencil)

static void stencil_scalar(const struct stencil *p)
{
    const uint32_t row = p->stride, plane = p->plane;
    for (uint32_t z = 1; z < p->z - 1; z++)
        for (uint32_t y = 1; y < p->y - 1; y++)
            for (uint32_t x = 1; x < p->x - 1; x++) {
                const float *at = p->from + z * plane + y * row + x;
                p->to[at - p->from] =
                    smooth(*at, at[-1], at[1], *(at - row), at[row], *(at - plane), at[plane]);
            }
}

/* Descriptors, by kernel: the maps are those of the tiles, computed where block_x() and block_y() are known. */
static void describe(const struct stencil *p)
{
    struct croft_stash_map *maps =
        (struct croft_stash_map *)p->maps + (block_y() * grid_dim_x() + block_x()) * p->z * MAPS;
    for (uint32_t z = thread_x(); z < p->z; z += block_size()) {
        maps[z * MAPS] = tile_map(above_tile(p, z));
        maps[z * MAPS + 1] = tile_map(to_tile(p, z));
    }
}

int main(int argc, char **argv)
{
    static const struct kernel_argument arguments[] = {
        {"X", 128, 3, 1024}, {"Y", 128, 3, 1024}, {"Z", 4, 3, 1024}};
    const enum config config = config_argument(&argc, &argv);
    long sizes[3];
    kernel_arguments(argc, argv, arguments, 3, sizes);
    if (STENCIL_RESULT == WRITE) {
        config_multiple(sizes[0] - 2, BLOCK_X);
        config_multiple(sizes[1] - 2, BLOCK_Y);
    }
    const struct simt_dim grid = {kernel_blocks(sizes[0] - 2, BLOCK_X), kernel_blocks(sizes[1] - 2, BLOCK_Y),
                                  1};
    struct stencil p = {.x = (uint32_t)sizes[0], .y = (uint32_t)sizes[1], .z = (uint32_t)sizes[2]};
    p.stride = grid.x * BLOCK_X + 2; /* all tiles are in memory */
    p.plane = p.stride * (grid.y * BLOCK_Y + 2);
    const long count = (long)p.plane * p.z;
    float *boxes[4];
    struct stencil rounds[2];
    for (int i = 0; i < 4; i++) {
        boxes[i] = kernel_array(count, sizeof(float));
        kernel_fill(boxes[i], count, 15);
    }
    for (int i = 0; i < 2; i++) {
        p.from = boxes[i];
        p.to = boxes[!i];
        p.planes = kernel_array((long)grid.x * grid.y, PLANE);
        p.maps = kernel_array((long)grid.x * grid.y * p.z * MAPS, sizeof *p.maps);
        KERNEL_RUN(describe, &p, grid, simt_dim(32));
        rounds[i] = p;
    }
    croft_roi_begin("stencil");
    for (int round = 0; round < ROUNDS; round++)
        stencil_run(config, &rounds[round % 2], grid, simt_dim(BLOCK_X, THREADS_Y),
                    config == SCRATCH || config == STASH ? PLANE : 3 * PLANE);
    croft_roi_end("stencil");
    for (int round = 0; round < ROUNDS; round++) {
        p.from = boxes[2 + round % 2];
        p.to = boxes[2 + !(round % 2)];
        stencil_scalar(&p);
    }
    return kernel_report("stencil", count, boxes[0], (size_t)count * sizeof(float),
                         kernel_close(boxes[0], boxes[2], count, 1e-6));
}
