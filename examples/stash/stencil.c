/* Seven-point stencil on a box's inner points (Jacobi), as Parboil's: a block moves up a column of 32 by 8 points and keeps the
 * current plane, with its neighbours, in local memory. The arguments are the box's points in x, y and z. */
#include "config.h"

enum { BLOCK_X = 32, BLOCK_Y = 8, THREADS = BLOCK_X * BLOCK_Y, ROUNDS = 4, MAPS = 3 };
enum { PLANE = ((BLOCK_X + 2) * (BLOCK_Y + 2) * 4 + 63) / 64 * 64, INNER = BLOCK_X * BLOCK_Y * 4 };

struct stencil {
    float *from, *to;
    uint32_t x, y, z;
    uint32_t stride, plane;             /* points from one row to the next, and from one plane to the next */
    const struct croft_stash_map *maps; /* of each block and plane: with neighbours, above, result */
};

/* Points of plane z of a block's column, with or without their neighbours. */
CONFIG_INLINE struct tile points(const struct stencil *p, float *box, uint32_t z, uint32_t edge,
                                 uint32_t local)
{
    return (struct tile){.global = box + (uint64_t)z * p->plane +
                                   (block_y() * BLOCK_Y + 1 - edge) * p->stride + block_x() * BLOCK_X + 1 -
                                   edge,
                         .local = local,
                         .objects = BLOCK_X + 2 * edge,
                         .object_size = 4,
                         .rows = BLOCK_Y + 2 * edge,
                         .stride_size = p->stride * 4};
}

CONFIG_INLINE struct tile middle_tile(const struct stencil *p, uint32_t z)
{
    return points(p, p->from, z, 1, 0);
}
CONFIG_INLINE struct tile above_tile(const struct stencil *p, uint32_t z)
{
    return points(p, p->from, z, 0, PLANE);
}
CONFIG_INLINE struct tile to_tile(const struct stencil *p, uint32_t z)
{
    return points(p, p->to, z, 0, PLANE + INNER);
}

static float smooth(float here, float west, float east, float north, float south, float below, float above)
{
    return 0.4f * here + 0.1f * (west + east + north + south + below + above);
}

CONFIG_INLINE void stencil(const struct stencil *p, enum config config)
{
    const uint32_t x = thread_x(), y = thread_y();
    const struct team team = team_of(y * BLOCK_X + x, THREADS);
    const struct croft_stash_map *maps = p->maps + (block_y() * grid_dim_x() + block_x()) * p->z * MAPS;
    const int inside = block_x() * BLOCK_X + x + 2 < p->x && block_y() * BLOCK_Y + y + 2 < p->y;
    const uint32_t index = config == STASH_G ? 2 : 0; /* of the middle plane's map */
    struct view above = view_open(config, GLOBAL, READ, above_tile(p, 0), maps + 1, team);
    struct view to = view_open(config, GLOBAL, READ_WRITE, to_tile(p, 1), maps + MAPS + 2, team);
    struct view middle = view_open(config, LOCAL, READ, middle_tile(p, 1), maps + MAPS, team);
    float below = VIEW(float, above, y, x);
    for (uint32_t z = 1;; z++) {
        above = view_next(config, GLOBAL, READ, above_tile(p, z + 1), maps + (z + 1) * MAPS + 1, 0, team);
        view_barrier(config, LOCAL);
        const float here = VIEW(float, middle, y + 1, x + 1);
        if (inside)
            VIEW(float, to, y, x) =
                smooth(here, VIEW(float, middle, y + 1, x), VIEW(float, middle, y + 1, x + 2),
                       VIEW(float, middle, y, x + 1), VIEW(float, middle, y + 2, x + 1), below,
                       VIEW(float, above, y, x));
        below = here;
        view_close(config, GLOBAL, to_tile(p, z), maps + z * MAPS + 2, team);
        if (z == p->z - 2)
            break;
        view_barrier(config, LOCAL);
        to = view_next(config, GLOBAL, READ_WRITE, to_tile(p, z + 1), maps + (z + 1) * MAPS + 2, 1, team);
        middle = view_next(config, LOCAL, READ, middle_tile(p, z + 1), maps + (z + 1) * MAPS, index, team);
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
        maps[z * MAPS] = tile_map(middle_tile(p, z));
        maps[z * MAPS + 1] = tile_map(above_tile(p, z));
        maps[z * MAPS + 2] = tile_map(to_tile(p, z));
    }
}

int main(int argc, char **argv)
{
    static const struct kernel_argument arguments[] = {
        {"X", 128, 3, 1024}, {"Y", 128, 3, 1024}, {"Z", 4, 3, 1024}};
    const enum config config = config_argument(&argc, &argv);
    long sizes[3];
    kernel_arguments(argc, argv, arguments, 3, sizes);
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
        p.maps = kernel_array((long)grid.x * grid.y * p.z * MAPS, sizeof *p.maps);
        KERNEL_RUN(describe, &p, grid, simt_dim(32));
        rounds[i] = p;
    }
    croft_roi_begin("stencil");
    for (int round = 0; round < ROUNDS; round++)
        stencil_run(config, &rounds[round % 2], grid, simt_dim(BLOCK_X, BLOCK_Y),
                    config == SCRATCH || config == STASH ? PLANE : PLANE + 2 * INNER);
    croft_roi_end("stencil");
    for (int round = 0; round < ROUNDS; round++) {
        p.from = boxes[2 + round % 2];
        p.to = boxes[2 + !(round % 2)];
        stencil_scalar(&p);
    }
    return kernel_report("stencil", count, boxes[0], (size_t)count * sizeof(float),
                         kernel_close(boxes[0], boxes[2], count, 1e-6));
}
