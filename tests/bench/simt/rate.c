/* Kernels whose speed is measured: rate KERNEL ROUNDS. Host work is little beside that of the threads. */
#include <croft/simt.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 2048, BLOCK = 256, NODES = 32768, DEGREE = 16, TILE = 16, SIDE = 128 };

struct work {
    long rounds;
    uint32_t *number;
    float *real, *left, *right;
    const uint32_t *first, *edges; /* of each node; NODES + 1 */
    uint32_t *level, *changed;
    uint32_t depth;
};

/* Convergent integer code: xorshift (Marsaglia 2003) and a sum. */
static void integer(const struct work *w)
{
    uint32_t value = (uint32_t)thread_id() + 1, sum = 0;
    for (long i = 0; i < w->rounds; i++) {
        value ^= value << 13;
        value ^= value >> 17;
        value ^= value << 5;
        sum += value * 3;
    }
    w->number[thread_id()] = sum;
}

/* Logistic map and a running mean, in single precision. */
static void real(const struct work *w)
{
    float value = (float)(thread_id() + 1) / (THREADS + 1), mean = 0;
    for (long i = 0; i < w->rounds; i++) {
        value = 3.7f * value * (1 - value);
        mean += (value - mean) * 0.125f;
    }
    w->number[thread_id()] = (uint32_t)(mean * 65536);
}

/* A product of matrices by tiles in the scratchpad. */
static void product(const struct work *w)
{
    float(*a)[TILE] = simt_shared(), (*b)[TILE] = a + TILE, sum = 0;
    uint32_t x = thread_x(), y = thread_y(), column = block_x() * TILE + x, line = block_y() * TILE + y;
    for (uint32_t tile = 0; tile < SIDE; tile += TILE) {
        a[y][x] = w->left[line * SIDE + tile + x];
        b[y][x] = w->right[(tile + y) * SIDE + column];
        simt_barrier();
        for (unsigned k = 0; k < TILE; k++)
            sum += a[y][k] * b[k][x];
        simt_barrier();
    }
    w->real[line * SIDE + column] = sum;
}

/* A level of breadth-first search: nodes of this depth reach their neighbours. */
static void level(const struct work *w)
{
    uint64_t node = thread_id();
    if (w->level[node] != w->depth)
        return;
    for (uint32_t i = w->first[node]; i < w->first[node + 1]; i++)
        if (w->level[w->edges[i]] == UINT32_MAX) {
            w->level[w->edges[i]] = w->depth + 1;
            *w->changed = 1;
        }
}

static uint32_t next(uint32_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    return *state;
}

static void make_graph(struct work *w, uint32_t *first, uint32_t *edges)
{
    uint32_t state = 1, count = 0;
    for (uint32_t node = 0; node < NODES; node++) {
        first[node] = count;
        for (uint32_t left = 1 + next(&state) % DEGREE; left > 0; left--)
            edges[count++] = next(&state) % NODES;
    }
    first[NODES] = count;
    w->first = first;
    w->edges = edges;
}

static void search(struct work *w)
{
    memset(w->level, 0xff, NODES * sizeof *w->level);
    w->level[0] = 0;
    w->depth = 0;
    do {
        *w->changed = 0;
        simt_launch(level, w, simt_dim(NODES / BLOCK), simt_dim(BLOCK));
        simt_wait(0);
        w->depth++;
    } while (*w->changed);
}

static uint32_t digest(const void *values, size_t bytes)
{
    const uint8_t *at = values;
    uint32_t sum = 2166136261;
    for (size_t i = 0; i < bytes; i++)
        sum = (sum ^ at[i]) * 16777619;
    return sum;
}

int main(int argc, char **argv)
{
    static uint32_t number[THREADS], first[NODES + 1], edges[NODES * DEGREE], levels[NODES], changed;
    static float result[SIDE * SIDE], left[SIDE * SIDE], right[SIDE * SIDE];
    struct work w = {.rounds = argc > 2 ? atol(argv[2]) : 1,
                     .number = number,
                     .real = result,
                     .left = left,
                     .right = right,
                     .level = levels,
                     .changed = &changed};
    const char *name = argc > 1 ? argv[1] : "";
    if (!strcmp(name, "integer") || !strcmp(name, "real")) {
        if (name[0] == 'i')
            simt_launch(integer, &w, simt_dim(THREADS / BLOCK), simt_dim(BLOCK));
        else
            simt_launch(real, &w, simt_dim(THREADS / BLOCK), simt_dim(BLOCK));
        simt_wait(0);
        printf("%s %08x\n", name, (unsigned)digest(number, sizeof number));
    } else if (!strcmp(name, "product")) {
        for (unsigned i = 0; i < SIDE * SIDE; i++) {
            left[i] = (float)(i % 37) / 8;
            right[i] = (float)(i % 41) / 4;
        }
        for (long i = 0; i < w.rounds; i++)
            simt_launch(product, &w, simt_dim(SIDE / TILE, SIDE / TILE), simt_dim(TILE, TILE),
                        .scratchpad = 2 * TILE * TILE * sizeof(float));
        simt_wait(0);
        printf("%s %08x\n", name, (unsigned)digest(result, sizeof result));
    } else if (!strcmp(name, "search")) {
        make_graph(&w, first, edges);
        for (long i = 0; i < w.rounds; i++)
            search(&w);
        printf("%s %08x\n", name, (unsigned)digest(levels, sizeof levels));
    } else {
        fprintf(stderr, "usage: rate integer|real|product|search ROUNDS\n");
        return 2;
    }
    return 0;
}
