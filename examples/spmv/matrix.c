#include "matrix.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Limits of rows and non-zeros, so that sizes in bytes cannot overflow. */
enum { LINE_SIZE = 256, MAX_COUNT = 1 << 28 };

struct reader {
    FILE *file;
    const char *path;
    long line;
    char text[LINE_SIZE];
};

static void reader_fail(const struct reader *reader, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "%s:%ld: ", reader->path, reader->line);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    exit(1);
}

/* Reads the next line that is not a comment; exits with a message at the end of the file. */
static void reader_next(struct reader *reader)
{
    do {
        reader->line++;
        if (!fgets(reader->text, sizeof reader->text, reader->file))
            reader_fail(reader, "the file ends too early");
        if (!strchr(reader->text, '\n') && !feof(reader->file))
            reader_fail(reader, "the line is longer than %d characters", LINE_SIZE - 2);
    } while (reader->line > 1 && (reader->text[0] == '%' || reader->text[0] == '\n'));
}

static void *reader_allocate(const struct reader *reader, long count, size_t size)
{
    void *memory = calloc((size_t)count, size);
    if (!memory)
        reader_fail(reader, "not enough memory for %ld elements of %zu bytes", count, size);
    return memory;
}

/* Reads the banner: whether the file has values, and whether it holds only one triangle. */
static void read_banner(struct reader *reader, bool *pattern, bool *symmetric)
{
    char kind[32], symmetry[32];
    reader_next(reader);
    if (sscanf(reader->text, "%%%%MatrixMarket matrix coordinate %31s %31s", kind, symmetry) != 2)
        reader_fail(reader, "expected `%%%%MatrixMarket matrix coordinate ...`");
    *pattern = strcmp(kind, "pattern") == 0;
    *symmetric = strcmp(symmetry, "symmetric") == 0;
    if (!*pattern && strcmp(kind, "real") != 0 && strcmp(kind, "integer") != 0)
        reader_fail(reader, "values must be real, integer or pattern, not %s", kind);
    if (!*symmetric && strcmp(symmetry, "general") != 0)
        reader_fail(reader, "symmetry must be general or symmetric, not %s", symmetry);
}

static struct triplet read_triplet(struct reader *reader, const struct matrix *matrix, bool pattern)
{
    struct triplet t = {0, 0, 1};
    reader_next(reader);
    int fields = sscanf(reader->text, "%ld %ld %lf", &t.row, &t.column, &t.value);
    if (fields < (pattern ? 2 : 3))
        reader_fail(reader, "expected row, column%s", pattern ? "" : " and value");
    if (t.row < 1 || t.row > matrix->rows || t.column < 1 || t.column > matrix->columns)
        reader_fail(reader, "row and column must be in 1-%ld and 1-%ld", matrix->rows, matrix->columns);
    t.row--;
    t.column--;
    return t;
}

/* Sorts the triplets by row and keeps their order within a row. */
static void matrix_fill_rows(struct matrix *matrix, const struct reader *reader)
{
    matrix->start = reader_allocate(reader, matrix->rows + 2, sizeof *matrix->start);
    matrix->entry = reader_allocate(reader, matrix->count, sizeof *matrix->entry);
    /* Rows are counted two places ahead, so that after the second loop start[r] is the start of row r. */
    for (long k = 0; k < matrix->count; k++)
        matrix->start[matrix->triplet[k].row + 2]++;
    for (long row = 1; row < matrix->rows + 2; row++)
        matrix->start[row] += matrix->start[row - 1];
    for (long k = 0; k < matrix->count; k++) {
        const struct triplet *t = &matrix->triplet[k];
        matrix->entry[matrix->start[t->row + 1]++] = (struct entry){t->column, t->value};
    }
}

struct matrix matrix_read(const char *path)
{
    struct reader reader = {.file = fopen(path, "r"), .path = path};
    if (!reader.file) {
        fprintf(stderr, "%s: %s\n", path, strerror(errno));
        exit(1);
    }
    bool pattern, symmetric;
    read_banner(&reader, &pattern, &symmetric);

    struct matrix matrix = {0};
    long stored;
    reader_next(&reader);
    if (sscanf(reader.text, "%ld %ld %ld", &matrix.rows, &matrix.columns, &stored) != 3 || matrix.rows < 1 ||
        matrix.columns < 1 || stored < 1 || matrix.rows > MAX_COUNT || matrix.columns > MAX_COUNT ||
        stored > MAX_COUNT)
        reader_fail(&reader, "expected rows, columns and non-zeros, each in 1-%d", MAX_COUNT);

    matrix.triplet = reader_allocate(&reader, symmetric ? 2 * stored : stored, sizeof *matrix.triplet);
    for (long k = 0; k < stored; k++) {
        struct triplet t = read_triplet(&reader, &matrix, pattern);
        matrix.triplet[matrix.count++] = t;
        if (symmetric && t.row != t.column) {
            if (t.row >= matrix.columns || t.column >= matrix.rows)
                reader_fail(&reader, "a symmetric matrix must be square");
            matrix.triplet[matrix.count++] = (struct triplet){t.column, t.row, t.value};
        }
    }
    fclose(reader.file);
    matrix_fill_rows(&matrix, &reader);
    return matrix;
}

void matrix_free(struct matrix *matrix)
{
    free(matrix->start);
    free(matrix->entry);
    free(matrix->triplet);
}
