/* Sparse matrix times vector, in compressed rows. The matrix is that of examples/spmv/generate.c for seed 1:
 * the same numbers in the same order, generated in memory. */
#include "kernel.h"

enum {
    NODES = 2624,
    ROOM = NODES + 512, /* for kernel_total(): rows without entries follow the matrix */
    NON_ZEROS = 35823,
    PAIRS = (NON_ZEROS - NODES) / 2,
    SUPPLY_NODES = 4,
    SUPPLY_PAIRS = 400,
    REACH = 40,
};

/* y = A x for the rows that begin with start[0], up to `end`, which points after the last element of y and so gives
 * the number of rows: the base of an empty range. All tasks have the whole matrix as input, because only start
 * tells where a part's entries are: if the host looked there, each launch would wait for a load. */
CROFT_REGION(multiply_rows, CROFT_IN(const int32_t *, start, (unsigned long)(end - y + 1) * sizeof *start),
             CROFT_IN(const int32_t *, column, NON_ZEROS * sizeof *column),
             CROFT_IN(const double *, value, NON_ZEROS * sizeof *value),
             CROFT_IN(const double *, x, NODES * sizeof *x),
             CROFT_OUT(double *, y, (unsigned long)(end - y) * sizeof *y), CROFT_OUT(double *, end, 0))
{
#ifdef PLAIN /* as one would write it without tasks: no value goes from row to row */
    for (; y < end; y++, start++) {
        double sum = 0;
        for (long k = start[0]; k < start[1]; k++)
            sum += value[k] * x[column[k]];
        *y = sum;
    }
    return;
#endif
    long k = *start;
    for (; y < end; y++) {
        double sum = 0;
        for (long stop = *++start; k < stop; k++)
            sum += value[k] * x[column[k]];
        *y = sum;
    }
}

/* An entry of a row while the matrix is built: rows are lists in ascending order of columns. */
struct entry {
    int32_t column, conductance; /* in millionths */
    struct entry *next;
};

static struct entry entries[NON_ZEROS], *rows[NODES];
static int64_t diagonal[NODES];
static long entry_count;
static uint64_t random_state = UINT64_C(2) * UINT64_C(0x9e3779b97f4a7c15); /* seed 1 */

static _Alignas(KERNEL_PAGE) double x[NODES], y[ROOM], expected[NODES], value[NON_ZEROS];
static _Alignas(KERNEL_PAGE) int32_t start[ROOM + 1], column[NON_ZEROS];

/* Returns the place in the row's list at which the entry of this column is or belongs. */
static struct entry **place_of(uint32_t row, uint32_t col)
{
    struct entry **place = &rows[row];
    while (*place && (*place)->column < (int32_t)col)
        place = &(*place)->next;
    return place;
}

static int is_there(uint32_t row, uint32_t col)
{
    struct entry *entry = *place_of(row, col);
    return entry && entry->column == (int32_t)col;
}

static void entry_add(uint32_t row, uint32_t col, int32_t conductance)
{
    struct entry **place = place_of(row, col), *entry = &entries[entry_count++];
    *entry = (struct entry){(int32_t)col, conductance, *place};
    *place = entry;
}

static int circuit_connect(uint32_t a, uint32_t b)
{
    if (a == b || is_there(a, b))
        return 0;
    int32_t conductance = 1 + (int32_t)kernel_random(&random_state, 1000000);
    entry_add(a, b, conductance);
    entry_add(b, a, conductance);
    diagonal[a] += conductance;
    diagonal[b] += conductance;
    return 1;
}

/* Draws random numbers in the generator's order. */
static void circuit_build(void)
{
    int pairs = 0;
    for (uint32_t rail = 0; rail < SUPPLY_NODES; rail++) {
        uint32_t node = (2 * rail + 1) * NODES / (2 * SUPPLY_NODES);
        for (int tied = 0; tied < SUPPLY_PAIRS;)
            tied += circuit_connect(node, kernel_random(&random_state, NODES));
        pairs += SUPPLY_PAIRS;
    }
    while (pairs < PAIRS) {
        uint32_t one = kernel_random(&random_state, REACH), two = kernel_random(&random_state, REACH);
        uint32_t distance = 1 + one * two / REACH, node = kernel_random(&random_state, NODES - distance);
        pairs += circuit_connect(node, node + distance);
    }
    uint32_t source, node;
    do {
        source = kernel_random(&random_state, NODES);
        node = kernel_random(&random_state, NODES);
    } while (source == node || is_there(source, node));
    entry_add(source, node, 1 + (int32_t)kernel_random(&random_state, 1000000));
    for (uint32_t row = 0; row < NODES; row++)
        entry_add(row, row, 0);
}

static void compress(void)
{
    int32_t count = 0;
    for (int32_t row = 0; row < NODES; row++) {
        start[row] = count;
        for (const struct entry *entry = rows[row]; entry; entry = entry->next) {
            column[count] = entry->column;
            value[count++] = entry->column == row ? (double)(diagonal[row] + 1000000) / 1e6
                                                  : -(double)entry->conductance / 1e6;
        }
    }
    for (long row = NODES; row <= ROOM; row++)
        start[row] = count;
}

int main(int argc, char **argv)
{
    long tasks = kernel_tasks(argc, argv), grain = kernel_grain(NODES, tasks, sizeof *y);
    const long total = kernel_total(NODES, tasks, grain);
    circuit_build();
    compress();
    for (long i = 0; i < NODES; i++)
        x[i] = 1 + (double)(i % 7) / 8;

    kernel_start(argc, argv);
    croft_roi_begin("spmv");
    CROFT_FOR_TASKS(part, total, tasks, grain)
    {
        double *first = y + part.first;
        multiply_rows(start + part.first, column, value, x, first, first + part.count);
    }
    croft_roi_end("spmv");

    for (int32_t row = 0; row < NODES; row++)
        for (const struct entry *entry = rows[row]; entry; entry = entry->next)
            expected[row] +=
                (entry->column == row ? (double)(diagonal[row] + 1000000) : -(double)entry->conductance) /
                1e6 * x[entry->column];
    return kernel_report("spmv", tasks, NODES, y, expected, 1e-12);
}
