/* Path finder of examples/simt/pathfinder.c, whose reference it uses: a launch processes several rows, and a block keeps two
 * rows of the costs so far in local memory. The arguments are columns, rows, and rows of a launch. */
#include "config.h"

#define main pathfinder_simt_main
#include "../simt/pathfinder.c"
#undef main

/* Rows have a margin of HUGE_COST on both sides, so that all blocks' tiles are in memory. */
struct descent {
    int *costs;     /* [row][stride], from the first margin on */
    int *from, *to; /* [stride] */
    int *rows;      /* two of each block: what is in local memory elsewhere, for configuration Cache */
    uint32_t stride, row, steps, margin;
    const struct croft_stash_map *maps; /* of each block: from, to, and costs of each step */
};

enum { ROW = BLOCK * 4 };

CONFIG_INLINE uint32_t first_column(const struct descent *p, uint32_t block)
{
    return block * (BLOCK - 2 * p->margin);
}

/* The row before; it is overwritten in local memory. */
CONFIG_INLINE struct tile from_tile(const struct descent *p, uint32_t block)
{
    return (struct tile){.global = p->from + first_column(p, block),
                         .objects = BLOCK,
                         .object_size = 4,
                         .rows = 1,
                         .noncoherent = 1};
}

CONFIG_INLINE struct tile to_tile(const struct descent *p, uint32_t block)
{
    return (struct tile){.global = p->to + first_column(p, block) + p->margin,
                         .local = 2 * ROW, /* where costs were */
                         .objects = BLOCK - 2 * p->margin,
                         .object_size = 4,
                         .rows = 1};
}

/* The row of a step. */
CONFIG_INLINE struct tile costs_tile(const struct descent *p, uint32_t block, uint32_t step)
{
    return (struct tile){.global = p->costs + (uint64_t)(p->row + step) * p->stride + first_column(p, block),
                         .local = 2 * ROW,
                         .objects = BLOCK,
                         .object_size = 4,
                         .rows = 1};
}

CONFIG_INLINE const struct croft_stash_map *maps_of(const struct descent *p, uint32_t block)
{
    return p->maps + (2 + p->steps) * block;
}

CONFIG_INLINE void descent(const struct descent *p, enum config config)
{
    const uint32_t t = thread_x(), block = block_x();
    const struct team team = team_of(t, BLOCK);
    const struct croft_stash_map *maps = maps_of(p, block);
    const struct tile out = to_tile(p, block);
    struct view costs = view_open(config, GLOBAL, READ, costs_tile(p, block, 0), maps + 2, team);
    struct view now = view_open(config, LOCAL, READ, from_tile(p, block), maps, team);
    struct view next = {config_temporary(config, ROW, p->rows + 2 * block * BLOCK), 4, 0}, spare = now;
    if (config == CACHE) /* the row before is global memory, which must remain */
        spare.first = (char *)(p->rows + (2 * block + 1) * BLOCK);
    simt_barrier();
    for (uint32_t step = 0;;) {
        const int left = t > 0 ? VIEW(int, now, 0, t - 1) : HUGE_COST;
        const int right = t < BLOCK - 1 ? VIEW(int, now, 0, t + 1) : HUGE_COST;
        VIEW(int, next, 0, t) = least(left, VIEW(int, now, 0, t), right) + VIEW(int, costs, 0, t);
        now = next;
        next = spare;
        spare = now;
        if (++step == p->steps)
            break;
        costs = view_next(config, GLOBAL, READ, costs_tile(p, block, step), maps + 2 + step, 0, team);
        if (!view_next_waits(config, GLOBAL))
            simt_barrier();
    }
    view_barrier(config, GLOBAL);
    const struct view to = view_next(config, GLOBAL, WRITE, out, maps + 1, 0, team);
    if (t >= p->margin && t < BLOCK - p->margin)
        VIEW(int, to, 0, t - p->margin) = VIEW(int, now, 0, t);
    view_barrier(config, GLOBAL);
    view_close(config, GLOBAL, out, maps + 1, team);
}
CONFIG_KERNELS(descent, const struct descent, descent)

/* Returns the maps of a launch's blocks. */
static const struct croft_stash_map *launch_maps(const struct descent *p, uint32_t blocks)
{
    struct croft_stash_map *maps = kernel_array((2 + p->steps) * blocks, sizeof *maps), *next = maps;
    for (uint32_t b = 0; b < blocks; b++) {
        *next++ = tile_map(from_tile(p, b));
        *next++ = tile_map(to_tile(p, b));
        for (uint32_t step = 0; step < p->steps; step++)
            *next++ = tile_map(costs_tile(p, b, step));
    }
    return maps;
}

/* Makes an array of rows with margins of HUGE_COST. */
static int *rows_of(long rows, long stride)
{
    int *values = kernel_array(rows * stride, sizeof *values);
    for (long i = 0; i < rows * stride; i++)
        values[i] = HUGE_COST;
    return values;
}

int main(int argc, char **argv)
{
    static const struct kernel_argument arguments[] = {
        {"COLUMNS", 100000, 1, 1 << 20}, {"ROWS", 10, 2, 1 << 10}, {"STEPS", 3, 1, 8}};
    const enum config config = config_argument(&argc, &argv);
    long sizes[3];
    kernel_arguments(argc, argv, arguments, 3, sizes);
    const long columns = sizes[0], rows = sizes[1], steps = sizes[2];
    const uint32_t blocks = kernel_blocks(columns, BLOCK - 2 * steps),
                   launches = kernel_blocks(rows - 1, steps);
    const uint32_t stride = blocks * (uint32_t)(BLOCK - 2 * steps) + 2 * (uint32_t)steps;
    int *costs = kernel_memory(columns * rows, sizeof *costs),
        *expected = kernel_memory(columns, sizeof *expected);
    struct descent *launch = kernel_memory(launches, sizeof *launch);
    int *ways[2] = {rows_of(1, stride), rows_of(1, stride)}, *padded = rows_of(rows, stride);
    int *local = kernel_array(2L * blocks * BLOCK, sizeof *local);
    uint64_t state = 12;
    for (long i = 0; i < columns * rows; i++)
        padded[i / columns * stride + steps + i % columns] = costs[i] = (int)(kernel_random(&state) % 10);
    memcpy(ways[0] + steps, costs, (size_t)columns * sizeof(int));
    for (uint32_t i = 0; i < launches; i++) {
        const long row = 1 + i * steps, left = rows - row < steps ? rows - row : steps;
        launch[i] = (struct descent){.costs = padded,
                                     .from = ways[i % 2],
                                     .to = ways[!(i % 2)],
                                     .rows = local,
                                     .stride = stride,
                                     .row = (uint32_t)row,
                                     .steps = (uint32_t)left,
                                     .margin = (uint32_t)steps};
        launch[i].maps = launch_maps(&launch[i], blocks);
    }
    croft_roi_begin("pathfinder");
    for (uint32_t i = 0; i < launches; i++)
        descent_run(config, &launch[i], simt_dim(blocks), simt_dim(BLOCK),
                    config == SCRATCH || config == STASH ? 2 * ROW : 3 * ROW);
    croft_roi_end("pathfinder");

    descend_scalar(costs, columns, rows, expected);
    return kernel_report("pathfinder", columns, ways[launches % 2] + steps, (size_t)columns * sizeof(int),
                         memcmp(ways[launches % 2] + steps, expected, (size_t)columns * sizeof(int)) == 0);
}
