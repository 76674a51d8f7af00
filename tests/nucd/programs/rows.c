/* Rows so long that a task has one of them, in as many tasks as the compiler is told: argument: rows. Arrays of the caller lie beside. */
#include <stdio.h>
#include <stdlib.h>

enum { ROWS = 140, COLUMNS = 2048 };
static _Alignas(64) double x[ROWS][COLUMNS], y[ROWS][COLUMNS];

static __attribute__((noinline)) void work(double (*out)[COLUMNS], const double (*in)[COLUMNS], int rows)
{
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < COLUMNS; j++)
            out[i][j] = in[i][j] * 3 + 1;
}

int main(int argc, char **argv)
{
    volatile long guard[1024];
    double sum = 0;
    for (int i = 0; i < 1024; i++)
        guard[i] = i;
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++)
            y[i][j] = i + j % 7;
    work(x, y, argc > 1 ? atoi(argv[1]) : ROWS);
    for (int i = 0; i < 1024; i++)
        if (guard[i] != i)
            printf("guard %d changed\n", i);
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++)
            sum += x[i][j] * (j % 5);
    printf("%.17g\n", sum);
    return 0;
}
