/* Needleman-Wunsch: the scores of the best alignments of two sequences' prefixes. The matrix is divided into
 * tiles of 16 by 16. Each launch processes one antidiagonal of tiles, with one block per tile; a block
 * processes its tile by antidiagonals. */
#include "kernel.h"

enum { TILE = 16, EDGE = TILE + 1, GAP = 2, LETTERS = 4 };

struct align {
    const uint8_t *a, *b; /* the sequences, from index 1 */
    int *score;           /* [length + 1][length + 1] */
    long length;
    uint32_t first, diagonal; /* column of the first tile; sum of a tile's row and column */
};

static int similarity(uint8_t a, uint8_t b)
{
    return a == b ? 3 : -1;
}

static int best(int diagonal, int above, int left)
{
    int gap = (above > left ? above : left) - GAP;
    return diagonal > gap ? diagonal : gap;
}

static void align(const struct align *p)
{
    int(*tile)[EDGE] = simt_shared();
    long width = p->length + 1, t = thread_x();
    long column = (long)(p->first + block_x()) * TILE, row = (long)p->diagonal * TILE - column;
    const int *corner = p->score + row * width + column;
    if (t == 0)
        tile[0][0] = corner[0];
    tile[0][t + 1] = corner[t + 1];
    tile[t + 1][0] = corner[(t + 1) * width];
    uint8_t letter = p->b[column + t + 1]; /* each thread computes one column */
    for (long step = 0; step < 2 * TILE - 1; step++) {
        simt_barrier();
        long y = step - t + 1, x = t + 1;
        if (y >= 1 && y <= TILE)
            tile[y][x] =
                best(tile[y - 1][x - 1] + similarity(p->a[row + y], letter), tile[y - 1][x], tile[y][x - 1]);
    }
    simt_barrier();
    for (long y = 1; y <= TILE; y++)
        p->score[(row + y) * width + column + t + 1] = tile[y][t + 1];
}

static void borders(int *score, long length)
{
    for (long i = 0; i <= length; i++)
        score[i] = score[i * (length + 1)] = (int)-i * GAP;
}

static void align_scalar(const uint8_t *a, const uint8_t *b, int *score, long length)
{
    long width = length + 1;
    borders(score, length);
    for (long y = 1; y <= length; y++)
        for (long x = 1; x <= length; x++) {
            int *at = score + y * width + x;
            *at = best(at[-width - 1] + similarity(a[y], b[x]), at[-width], at[-1]);
        }
}

int main(int argc, char **argv)
{
    long length = kernel_size(argc, argv, 192, TILE, 4096, TILE), cells = (length + 1) * (length + 1);
    uint8_t *a = kernel_memory(length + 1, 1), *b = kernel_memory(length + 1, 1);
    int *score = kernel_memory(cells, sizeof *score), *expected = kernel_memory(cells, sizeof *expected);
    uint64_t state = 13;
    for (long i = 1; i <= length; i++) {
        a[i] = (uint8_t)(kernel_random(&state) % LETTERS);
        b[i] = kernel_random(&state) % 4 ? a[i] : (uint8_t)(kernel_random(&state) % LETTERS);
    }
    borders(score, length);

    uint32_t tiles = (uint32_t)(length / TILE);
    croft_roi_begin("needleman_wunsch");
    for (uint32_t diagonal = 0; diagonal < 2 * tiles - 1; diagonal++) {
        uint32_t first = diagonal < tiles ? 0 : diagonal - tiles + 1;
        struct align arguments = {a, b, score, length, first, diagonal};
        KERNEL_RUN(align, &arguments, simt_dim(diagonal + 1 - 2 * first), simt_dim(TILE),
                   .scratchpad = EDGE * EDGE * sizeof(int));
    }
    croft_roi_end("needleman_wunsch");

    align_scalar(a, b, expected, length);
    return kernel_report("needleman_wunsch", length, score, (size_t)cells * sizeof *score,
                         memcmp(score, expected, (size_t)cells * sizeof *score) == 0);
}
