/* Fluxes of an unstructured grid, like Rodinia's CFD solver: each cell gathers five variables of its four neighbours and adds
 * their differences and sums, then all cells are updated. Neighbours are the cells before and after, and two within some
 * hundred cells, as renumbered tetrahedra have them. */
#include "../simt/kernel.h"

enum { BLOCK = 192, NEIGHBOURS = 4, VARIABLES = 5, REACH = 2048 };

struct grid {
    long cells;
    const uint32_t *neighbours; /* [j * cells + cell] */
    const float *factors;       /* [j * cells + cell] */
    float *now, *flux;          /* [variable * cells + cell] */
};

static inline void add_flux(const struct grid *g, const float *now, long cell, float *flux)
{
    float own[VARIABLES], sum[VARIABLES] = {0};
    for (int v = 0; v < VARIABLES; v++)
        own[v] = now[v * g->cells + cell];
    for (int j = 0; j < NEIGHBOURS; j++) {
        long other = g->neighbours[j * g->cells + cell];
        float factor = g->factors[j * g->cells + cell];
        for (int v = 0; v < VARIABLES; v++) {
            float theirs = now[v * g->cells + other];
            sum[v] += factor * (theirs - own[v]) + 0.125F * factor * (theirs + own[v]);
        }
    }
    for (int v = 0; v < VARIABLES; v++)
        flux[v * g->cells + cell] = sum[v];
}

static inline void update_cell(const struct grid *g, float *now, const float *flux, long cell)
{
    for (int v = 0; v < VARIABLES; v++)
        now[v * g->cells + cell] += 0.01F * flux[v * g->cells + cell];
}

/* The kernels copy the grid's pointers first, as a GPU's kernels have them in constant memory. */
static void compute_flux(struct grid *argument)
{
    const struct grid grid = *argument;
    long cell = (long)thread_id();
    if (cell < grid.cells)
        add_flux(&grid, grid.now, cell, grid.flux);
}

static void time_step(struct grid *argument)
{
    const struct grid grid = *argument;
    long cell = (long)thread_id();
    if (cell < grid.cells)
        update_cell(&grid, grid.now, grid.flux, cell);
}

int main(int argc, char **argv)
{
    static const struct kernel_argument arguments[] = {{"CELLS", 2304, REACH / 2, 1 << 20},
                                                       {"STEPS", 3, 1, 1000}};
    long sizes[2];
    kernel_arguments(argc, argv, arguments, 2, sizes);
    long cells = sizes[0], steps = sizes[1];
    uint64_t state = 3;
    uint32_t *neighbours = kernel_array(cells * NEIGHBOURS, sizeof *neighbours);
    float *factors = kernel_array(cells * NEIGHBOURS, sizeof *factors);
    float *now = kernel_array(cells * VARIABLES, sizeof *now),
          *flux = kernel_array(cells * VARIABLES, sizeof *flux);
    float *expected = kernel_array(cells * VARIABLES, sizeof *expected),
          *work = kernel_array(cells * VARIABLES, sizeof *work);
    for (long cell = 0; cell < cells; cell++)
        for (int j = 0; j < NEIGHBOURS; j++) {
            long far = (long)(kernel_random(&state) % (2 * REACH)) - REACH, off = j == 0   ? -1
                                                                                  : j == 1 ? 1
                                                                                           : far;
            neighbours[j * cells + cell] = (uint32_t)((cell + off + 2 * cells) % cells);
            factors[j * cells + cell] = (float)(kernel_random(&state) % 256) / 256;
        }
    for (long i = 0; i < cells * VARIABLES; i++)
        now[i] = expected[i] = (float)(kernel_random(&state) % 1024) / 64;
    struct grid grid = {
        .cells = cells, .neighbours = neighbours, .factors = factors, .now = now, .flux = flux};

    croft_roi_begin("cfd");
    for (long step = 0; step < steps; step++) {
        KERNEL_RUN(compute_flux, &grid, simt_dim(kernel_blocks(cells, BLOCK)), simt_dim(BLOCK));
        KERNEL_RUN(time_step, &grid, simt_dim(kernel_blocks(cells, BLOCK)), simt_dim(BLOCK));
    }
    croft_roi_end("cfd");

    for (long step = 0; step < steps; step++) {
        for (long cell = 0; cell < cells; cell++)
            add_flux(&grid, expected, cell, work);
        for (long cell = 0; cell < cells; cell++)
            update_cell(&grid, expected, work, cell);
    }
    int correct = 1;
    for (long i = 0; i < cells * VARIABLES; i++)
        correct = correct && now[i] == expected[i];
    return kernel_report("cfd", cells, now, (size_t)cells * VARIABLES * sizeof *now, correct);
}
