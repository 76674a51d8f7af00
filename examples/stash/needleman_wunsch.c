/* Needleman-Wunsch of examples/simt/needleman_wunsch.c, whose reference it uses, with a matrix of similarities, as Rodinia has it. A
 * block has its tile of scores, with the row above and the column left of it, and its tile of similarities in local memory.
 * The argument is the length of the sequences. */
#include "config.h"

#define main needleman_wunsch_simt_main
#include "../simt/needleman_wunsch.c"
#undef main

struct nw {
    int *score;   /* [length + 1][length + 1] */
    int *similar; /* [length][length] */
    uint32_t length;
    uint32_t first, diagonal;           /* column of the first tile; sum of a tile's row and column */
    const struct croft_stash_map *maps; /* of each tile: scores, similarities */
};

enum { SCORES = (EDGE * EDGE * 4 + 63) / 64 * 64 };

CONFIG_INLINE struct tile score_tile(const struct nw *p, uint32_t row, uint32_t column)
{
    return (struct tile){.global = p->score + (uint64_t)row * TILE * (p->length + 1) + column * TILE,
                         .objects = EDGE,
                         .object_size = 4,
                         .rows = EDGE,
                         .stride_size = (p->length + 1) * 4};
}

CONFIG_INLINE struct tile similar_tile(const struct nw *p, uint32_t row, uint32_t column)
{
    return (struct tile){.global = p->similar + (uint64_t)row * TILE * p->length + column * TILE,
                         .local = SCORES,
                         .objects = TILE,
                         .object_size = 4,
                         .rows = TILE,
                         .stride_size = p->length * 4};
}

/* Copies take the borders in, and the 16 by 16 scores out; thread t has column t + 1. */
CONFIG_INLINE void copy_borders(struct view to, struct view from, uint32_t t)
{
    if (t == 0)
        VIEW(int, to, 0, 0) = VIEW(int, from, 0, 0);
    VIEW(int, to, 0, t + 1) = VIEW(int, from, 0, t + 1);
    VIEW(int, to, t + 1, 0) = VIEW(int, from, t + 1, 0);
}

CONFIG_INLINE void copy_scores(struct view to, struct view from, uint32_t t)
{
    for (uint32_t y = 1; y <= TILE; y++)
        VIEW(int, to, y, t + 1) = VIEW(int, from, y, t + 1);
}

CONFIG_INLINE void nw(const struct nw *p, enum config config)
{
    const uint32_t t = thread_x(), column = p->first + block_x(), row = p->diagonal - column;
    const struct team team = team_of(t, TILE);
    const struct croft_stash_map *maps = p->maps + 2 * (row * (p->length / TILE) + column);
    const int by_copy = config_method(config, LOCAL) == BY_COPY;
    const struct tile place = score_tile(p, row, column);
    const struct view score = view_open(config, LOCAL, by_copy ? WRITE : READ_WRITE, place, maps, team);
    const struct view similar = view_open(config, LOCAL, READ, similar_tile(p, row, column), maps + 1, team);
    if (by_copy)
        copy_borders(score, view_global(place), t);
    struct view cell = view_at(score, 1 - (long)t, t + 1), pair = view_at(similar, -(long)t, t);
    for (uint32_t step = 0; step < 2 * TILE - 1; step++, cell = view_below(cell), pair = view_below(pair)) {
        simt_barrier();
        if (step - t < TILE)
            VIEW(int, cell, 0, 0) = best(VIEW(int, cell, -1, -1) + VIEW(int, pair, 0, 0),
                                         VIEW(int, cell, -1, 0), VIEW(int, cell, 0, -1));
    }
    if (by_copy)
        copy_scores(view_global(place), score, t);
    else
        view_close(config, LOCAL, place, maps, team);
}
CONFIG_KERNELS(nw, const struct nw, nw)

static void prepare(struct nw *p, const uint8_t *a, const uint8_t *b)
{
    const uint32_t tiles = p->length / TILE;
    struct croft_stash_map *maps = kernel_array((long)2 * tiles * tiles, sizeof *maps);
    for (uint32_t y = 0; y < p->length; y++)
        for (uint32_t x = 0; x < p->length; x++)
            p->similar[y * p->length + x] = similarity(a[y + 1], b[x + 1]);
    for (uint32_t row = 0; row < tiles; row++)
        for (uint32_t column = 0; column < tiles; column++) {
            maps[2 * (row * tiles + column)] = tile_map(score_tile(p, row, column));
            maps[2 * (row * tiles + column) + 1] = tile_map(similar_tile(p, row, column));
        }
    p->maps = maps;
    borders(p->score, p->length);
}

int main(int argc, char **argv)
{
    const enum config config = config_argument(&argc, &argv);
    const long length = kernel_size(argc, argv, 512, TILE, 4096, TILE), cells = (length + 1) * (length + 1);
    uint8_t *a = kernel_memory(length + 1, 1), *b = kernel_memory(length + 1, 1);
    int *expected = kernel_memory(cells, sizeof *expected);
    struct nw p = {.score = kernel_array(cells, sizeof(int)),
                   .similar = kernel_array(length * length, sizeof(int)),
                   .length = (uint32_t)length};
    uint64_t state = 13;
    for (long i = 1; i <= length; i++) {
        a[i] = (uint8_t)(kernel_random(&state) % LETTERS);
        b[i] = kernel_random(&state) % 4 ? a[i] : (uint8_t)(kernel_random(&state) % LETTERS);
    }
    prepare(&p, a, b);

    const uint32_t tiles = (uint32_t)(length / TILE);
    croft_roi_begin("needleman_wunsch");
    for (p.diagonal = 0; p.diagonal < 2 * tiles - 1; p.diagonal++) {
        p.first = p.diagonal < tiles ? 0 : p.diagonal - tiles + 1;
        nw_run(config, &p, simt_dim(p.diagonal + 1 - 2 * p.first), simt_dim(TILE), SCORES + TILE * TILE * 4);
    }
    croft_roi_end("needleman_wunsch");

    align_scalar(a, b, expected, length);
    return kernel_report("needleman_wunsch", length, p.score, (size_t)cells * sizeof *p.score,
                         memcmp(p.score, expected, (size_t)cells * sizeof *p.score) == 0);
}
