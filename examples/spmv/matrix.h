/* Sparse matrices from files in Matrix Market format. */
#ifndef SPMV_MATRIX_H
#define SPMV_MATRIX_H

/* A non-zero within its row. */
struct entry {
    long column;
    double value;
};

/* A non-zero as in the file; rows and columns count from 0. */
struct triplet {
    long row, column;
    double value;
};

/* Row r has entries entry[start[r]] to entry[start[r + 1] - 1], in the file's order. */
struct matrix {
    long rows, columns, count;
    long *start;
    struct entry *entry;
    struct triplet *triplet; /* the same non-zeros in the file's order, for the check */
};

/* Reads a `matrix coordinate real|integer|pattern general|symmetric`. On bad input, prints one line that
 * names file and line, and exits with status 1. */
struct matrix matrix_read(const char *path);

void matrix_free(struct matrix *matrix);

#endif
