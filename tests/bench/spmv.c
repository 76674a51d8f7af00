/* Sparse matrix times vector, compressed rows: 2,624 rows and about 35,800 entries, as circuit matrices have.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROWS = 2624, MAX_ENTRIES = 40000 };

static int32_t row_start[ROWS + 1], column[MAX_ENTRIES];
static double value[MAX_ENTRIES], x[ROWS], y[ROWS];

static void make_matrix(void)
{
    uint32_t seed = 2624;
    int32_t entries = 0;
    for (int row = 0; row < ROWS; row++) {
        row_start[row] = entries;
        seed = seed * 1664525u + 1013904223u;
        int count = 4 + (int)(seed >> 24) % 20;
        for (int i = 0; i < count && entries < MAX_ENTRIES; i++) {
            seed = seed * 1664525u + 1013904223u;
            column[entries] = (int32_t)((i < count / 2 ? (uint32_t)(row + i) : seed >> 12) % ROWS);
            value[entries++] = (1.0 / (double)(1 + (seed >> 20)) + 0.5) / (2 * count);
        }
    }
    row_start[ROWS] = entries;
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 5000;
    make_matrix();
    for (int i = 0; i < ROWS; i++)
        x[i] = 1.0 / (i + 1);
    for (int round = 0; round < rounds; round++) {
        for (int row = 0; row < ROWS; row++) {
            double sum = 0;
            for (int32_t i = row_start[row]; i < row_start[row + 1]; i++)
                sum += value[i] * x[column[i]];
            y[row] = sum;
        }
        for (int i = 0; i < ROWS; i++)
            x[i] = 1.0 / (i + 1) + 0.75 * y[i];
    }
    printf("spmv %d rounds, %d entries, %a %a\n", rounds, (int)row_start[ROWS], x[0], y[ROWS - 1]);
    return 0;
}
