/* Threads of multiprocessors that offload: threads KERNEL THREADS. 64 blocks of THREADS threads share 4,096 rows; each row is a region. Kernels: sum (4 KiB that are read once), scale (4 KiB that are read and written), gather (256 elements of a table of
 * 256 KiB). Without offloading, threads execute the regions. */
#include <croft/nucd.h>
#include <croft/roi.h>
#include <croft/simt.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCKS = 64, ROWS = 4096, WORDS = 512, PLACES = 256, TABLE = 32768, LINE = 64 };

static _Alignas(4096) double rows[ROWS][WORDS], sums[ROWS][LINE / sizeof(double)], table[TABLE];
static _Alignas(4096) int32_t places[ROWS][PLACES];

CROFT_REGION(sum, CROFT_IN(const double *, row, WORDS * sizeof *row), CROFT_OUT(double *, to, LINE))
{
    double s = 0;
    for (int i = 0; i < WORDS; i++)
        s += row[i];
    *to = s;
}

CROFT_REGION(scale, CROFT_INOUT(double *, row, WORDS * sizeof *row))
{
    for (int i = 0; i < WORDS; i++)
        row[i] = row[i] * 1.5 + 1;
}

CROFT_REGION(gather, CROFT_IN(const int32_t *, place, PLACES * sizeof *place),
             CROFT_IN(const double *, from, TABLE * sizeof *from), CROFT_OUT(double *, to, LINE))
{
    double s = 0;
    for (int i = 0; i < PLACES; i++)
        s += from[place[i]];
    *to = s;
}

enum kernel { SUM, SCALE, GATHER, KERNELS };

struct work {
    enum kernel kernel;
    long rows; /* of a thread */
};

static void offload(const struct work *w)
{
    const long first = (long)thread_id() * w->rows;
    for (long i = first; i < first + w->rows; i++)
        switch (w->kernel) {
        case SUM: sum(rows[i], sums[i]); break;
        case SCALE: scale(rows[i]); break;
        default: gather(places[i], table, sums[i]); break;
        }
}

static double element(long row, long i)
{
    return (double)((row * 7 + i) % 13);
}

static void set_up(void)
{
    for (long i = 0; i < ROWS; i++) {
        for (long j = 0; j < WORDS; j++)
            rows[i][j] = element(i, j);
        for (long j = 0; j < PLACES; j++)
            places[i][j] = (int32_t)((i * 7919 + j * 104729) % TABLE);
    }
    for (long i = 0; i < TABLE; i++)
        table[i] = (double)(i % 11);
}

/* Returns whether a row has become what the kernel makes of it. */
static int is_right(enum kernel kernel, long row)
{
    double total = 0;
    int same = 1;
    for (long i = 0; i < WORDS; i++) {
        total += element(row, i);
        same &= rows[row][i] == (kernel == SCALE ? element(row, i) * 1.5 + 1 : element(row, i));
    }
    if (kernel == GATHER)
        total = 0;
    for (long i = 0; kernel == GATHER && i < PLACES; i++)
        total += (double)(places[row][i] % 11);
    return same && (kernel == SCALE || sums[row][0] == total);
}

int main(int argc, char **argv)
{
    static const char *const names[KERNELS] = {"sum", "scale", "gather"};
    const long threads = argc == 3 ? atol(argv[2]) : 0;
    struct work work = {.kernel = 0};
    while (work.kernel < KERNELS && argc == 3 && strcmp(argv[1], names[work.kernel]) != 0)
        work.kernel++;
    if (threads < 1 || ROWS % (BLOCKS * threads) != 0 || work.kernel == KERNELS) {
        fprintf(stderr, "usage: threads sum|scale|gather THREADS, a power of 2 up to 64\n");
        return 2;
    }
    work.rows = ROWS / (BLOCKS * threads);
    set_up();
    croft_roi_begin(names[work.kernel]);
    simt_launch(offload, &work, simt_dim(BLOCKS), simt_dim((unsigned)threads));
    simt_wait(0);
    croft_roi_end(names[work.kernel]);
    long wrong = 0;
    for (long i = 0; i < ROWS; i++)
        wrong += !is_right(work.kernel, i);
    printf("%s: %ld of %d rows differ from a plain loop's\n", wrong ? "WRONG" : "good", wrong, ROWS);
    return wrong != 0;
}
