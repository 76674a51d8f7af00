/* Sparse matrix times vector: offloads blocks of rows and checks the result against a plain loop. */
#include <croft/nucd.h>
#include <croft/roi.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "matrix.h"

enum { TASKS = 16, ROWS_PER_LINE = 8, CACHE_LINE = 64 };

/* Two sizes in one register, because a region has at most four inputs. */
struct shape {
    int rows, columns;
};

/* y = A x for some rows; start, entry and y point to the first of them. */
CROFT_REGION(multiply_rows, CROFT_IN(const long *, start, (unsigned)(part.rows + 1) * sizeof *start),
             CROFT_IN(const struct entry *, entry,
                      (unsigned long)(start[part.rows] - start[0]) * sizeof *entry),
             CROFT_IN(const double *, x, (unsigned)part.columns * sizeof *x),
             CROFT_OUT(double *, y, (unsigned)part.rows * sizeof *y), CROFT_VALUE(struct shape, part))
{
    for (int row = 0; row < part.rows; row++) {
        double sum = 0;
        for (long k = start[row] - start[0]; k < start[row + 1] - start[0]; k++)
            sum += entry[k].value * x[entry[k].column];
        y[row] = sum;
    }
}

static void multiply(const struct matrix *a, const double *x, double *y)
{
    /* Each task gets whole cache lines of y, so that no two tasks write the same line. */
    CROFT_FOR_TASKS(part, a->rows, TASKS, ROWS_PER_LINE)
    multiply_rows(a->start + part.first, a->entry + a->start[part.first], x, y + part.first,
                  (struct shape){(int)part.count, (int)a->columns});
}

/* The same product from the triplets in the file's order, without offloading. */
static void multiply_plain(const struct matrix *a, const double *x, double *y)
{
    for (long k = 0; k < a->count; k++)
        y[a->triplet[k].row] += a->triplet[k].value * x[a->triplet[k].column];
}

static double *vector_new(long count)
{
    size_t bytes = ((size_t)count * sizeof(double) + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
    double *vector = aligned_alloc(CACHE_LINE, bytes);
    if (!vector) {
        fprintf(stderr, "spmv: not enough memory for a vector of %ld elements\n", count);
        exit(1);
    }
    for (long i = 0; i < count; i++)
        vector[i] = 0;
    return vector;
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: spmv FILE.mtx\n");
        return 2;
    }
    struct matrix a = matrix_read(argv[1]);
    double *x = vector_new(a.columns), *y = vector_new(a.rows), *expected = vector_new(a.rows);
    for (long i = 0; i < a.columns; i++)
        x[i] = 1 + (double)(i % 7) / 8;

    croft_roi_begin("spmv");
    multiply(&a, x, y);
    croft_roi_end("spmv");
    multiply_plain(&a, x, expected);

    double checksum = 0, difference = 0;
    for (long row = 0; row < a.rows; row++) {
        checksum += y[row];
        difference = fmax(difference, fabs(y[row] - expected[row]));
    }
    printf("matrix          %s\n", argv[1]);
    printf("rows            %ld\n", a.rows);
    printf("non-zeros       %ld\n", a.count);
    printf("checksum        %.12g\n", checksum);
    printf("max difference  %g\n", difference);
    int correct = difference <= 1e-9;
    printf("result          %s\n", correct ? "correct" : "WRONG");
    free(x);
    free(y);
    free(expected);
    matrix_free(&a);
    return correct ? 0 : 1;
}
