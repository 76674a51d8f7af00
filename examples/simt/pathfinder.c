/* Path finder: the cheapest path down through a field of costs, one step straight or sideways in each row. A
 * launch processes several rows. A block reads a margin of as many columns on both sides; each row needs one
 * column less of it. */
#include "kernel.h"

enum { BLOCK = 256, HUGE_COST = 1 << 28 };

struct path {
    const int *costs; /* [row][column] */
    const int *from;  /* costs of the cheapest paths to the row before `row` */
    int *to;
    long columns, row, steps;
    long margin; /* columns */
};

static int least(int a, int b, int c)
{
    int ab = a < b ? a : b;
    return ab < c ? ab : c;
}

static void descend(const struct path *p)
{
    int *now = simt_shared(), *next = now + BLOCK;
    long t = thread_x(), column = (long)block_x() * (BLOCK - 2 * p->margin) + t - p->margin;
    int inside = column >= 0 && column < p->columns;
    now[t] = inside ? p->from[column] : HUGE_COST;
    for (long step = 0; step < p->steps; step++) {
        simt_barrier();
        int left = t > 0 ? now[t - 1] : HUGE_COST, right = t < BLOCK - 1 ? now[t + 1] : HUGE_COST;
        next[t] =
            inside ? least(left, now[t], right) + p->costs[(p->row + step) * p->columns + column] : HUGE_COST;
        int *swap = now;
        now = next;
        next = swap;
    }
    if (inside && t >= p->margin && t < BLOCK - p->margin)
        p->to[column] = now[t];
}

static void descend_scalar(const int *costs, long columns, long rows, int *ways)
{
    int *before = kernel_memory(columns, sizeof *before);
    memcpy(ways, costs, (size_t)columns * sizeof *ways);
    for (long row = 1; row < rows; row++) {
        memcpy(before, ways, (size_t)columns * sizeof *ways);
        for (long c = 0; c < columns; c++)
            ways[c] = costs[row * columns + c] + least(c > 0 ? before[c - 1] : HUGE_COST, before[c],
                                                       c < columns - 1 ? before[c + 1] : HUGE_COST);
    }
}

int main(int argc, char **argv)
{
    static const struct kernel_argument arguments[] = {
        {"COLUMNS", 960, 1, 1 << 20}, {"ROWS", 41, 2, 1 << 16}, {"STEPS", 8, 1, 127}};
    long sizes[3];
    kernel_arguments(argc, argv, arguments, 3, sizes);
    long columns = sizes[0], rows = sizes[1], steps = sizes[2];
    int *costs = kernel_array(columns * rows, sizeof *costs);
    int *ways[2] = {kernel_array(columns, sizeof(int)), kernel_array(columns, sizeof(int))};
    int *expected = kernel_memory(columns, sizeof *expected), now = 0;
    uint64_t state = 12;
    for (long i = 0; i < columns * rows; i++)
        costs[i] = (int)(kernel_random(&state) % 10);
    memcpy(ways[0], costs, (size_t)columns * sizeof(int));

    croft_roi_begin("pathfinder");
    for (long row = 1; row < rows; row += steps, now = !now) {
        struct path path = {
            costs, ways[now], ways[!now], columns, row, rows - row < steps ? rows - row : steps, steps};
        KERNEL_RUN(descend, &path, simt_dim(kernel_blocks(columns, BLOCK - 2 * steps)), simt_dim(BLOCK),
                   .scratchpad = 2 * BLOCK * sizeof(int));
    }
    croft_roi_end("pathfinder");

    descend_scalar(costs, columns, rows, expected);
    return kernel_report("pathfinder", columns, ways[now], (size_t)columns * sizeof(int),
                         memcmp(ways[now], expected, (size_t)columns * sizeof(int)) == 0);
}
