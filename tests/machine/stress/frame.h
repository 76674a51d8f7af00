/* What a random program's steps (program.c) and its main function (frame.c) share. */
#ifndef TESTS_MACHINE_STRESS_FRAME_H
#define TESTS_MACHINE_STRESS_FRAME_H

#include <croft/approx.h>
#include <croft/nucd.h>
#include <croft/simt.h>
#include <croft/stash.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "parts.h"

enum {
    STRESS_TILE = 64,  /* threads of a block, elements of a tile */
    STRESS_LINE = 128, /* bytes of the longest line */
    STRESS_ROWS = 8,   /* elements of `z` for each cell */
    STRESS_SUMS = 16,  /* a power of two */
    STRESS_STEPS = 10, /* most steps of a run */
};

struct cell {
    uint32_t a, b, c;
    float f;
};

/* The arguments of a step: n cells, a power of two; k is a number by chance. */
struct stress {
    struct cell *cell;     /* [n] */
    uint32_t *x, *y;       /* [n] */
    uint32_t *z;           /* [STRESS_ROWS * n] */
    uint32_t *sum;         /* [STRESS_SUMS] */
    uint32_t *order;       /* [n]: a permutation, which nobody changes */
    uint32_t n, mask, k;   /* mask: n - 1 */
    uint32_t count, tasks; /* the first `count` cells are worked on; as `tasks` tasks */
    uint64_t queue;
};

/* A step launches a kernel and returns its number, or has done its work and returns 0. */
struct stress_step {
    const char *name;
    uint32_t reads, writes;
    long (*go)(struct stress *p);
};

CROFT_APPROX(turn, 2, 2)
{
    out[0] = in[0] * 0.6F - in[1] * 0.8F;
    out[1] = in[0] * 0.8F + in[1] * 0.6F;
}

CROFT_APPROX(blend, 5, 1)
{
    out[0] = in[0] * in[1] + in[2] * in[3] + in[4];
}

CROFT_APPROX_BATCH(turn, 2, 2)

/* A number of -1 to 1. */
static inline __attribute__((unused)) float stress_float(uint32_t bits)
{
    return (float)(int32_t)(bits & 4095) / 2048 - 1;
}

static inline __attribute__((unused)) uint32_t stress_bits(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline __attribute__((unused)) uint32_t stress_turn(uint32_t bits, uint32_t by)
{
    return bits << (by & 31) | bits >> (-by & 31);
}

#define STRESS_LAUNCH(kernel, p, bytes)                                                                      \
    simt_launch(kernel, p, simt_dim((p)->n / STRESS_TILE), simt_dim(STRESS_TILE), .scratchpad = (bytes),     \
                .queue = (p)->queue)

#endif
