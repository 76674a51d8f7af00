/* The stash in one line: particles on strings, one a block, of whose structures a kernel uses one field. `particles` maps the field,
 * `particles scratchpad` copies it into the scratchpad and back. */
#include <croft/roi.h>
#include <croft/stash.h>
#include <stdio.h>
#include <string.h>

enum { PARTICLES = 7680, BLOCK = 256, STEPS = 10 };

struct particle {
    float x, y, z, mass, charge, speed[3];
};

static struct particle particles[PARTICLES];

/* A particle is drawn to its neighbours. */
static float pulled(float left, float x, float right)
{
    return 0.25f * left + 0.5f * x + 0.25f * right;
}

static void pull(float *x)
{
    const uint32_t i = thread_x();
    const float next = pulled(x[i > 0 ? i - 1 : i], x[i], x[i < BLOCK - 1 ? i + 1 : i]);
    simt_barrier();
    x[i] = next;
}

/* Element i of x[] is p[block_x() * BLOCK + i].x. */
static void move(struct particle *p)
{
    float *x = croft_stash_map_of(simt_shared(), p + block_x() * BLOCK, x, .objects = BLOCK);
    pull(x);
}

static void move_copy(struct particle *p)
{
    float *x = simt_shared();
    x[thread_x()] = p[block_x() * BLOCK + thread_x()].x;
    simt_barrier();
    pull(x);
    p[block_x() * BLOCK + thread_x()].x = x[thread_x()];
}

static void move_scalar(float x[PARTICLES])
{
    for (int block = 0; block < PARTICLES; block += BLOCK) {
        float left = x[block];
        for (int i = block; i < block + BLOCK; i++) {
            const float next = pulled(left, x[i], x[i < block + BLOCK - 1 ? i + 1 : i]);
            left = x[i];
            x[i] = next;
        }
    }
}

int main(int argc, char **argv)
{
    static float expected[PARTICLES];
    int wrong = 0;
    const int copy = argc == 2 && strcmp(argv[1], "scratchpad") == 0;
    for (int i = 0; i < PARTICLES; i++)
        particles[i].x = expected[i] = (float)(i * 7 % 100);
    croft_roi_begin("particles");
    for (int step = 0; step < STEPS; step++) {
        const struct simt_dim grid = simt_dim(PARTICLES / BLOCK), block = simt_dim(BLOCK);
        const long launch =
            copy ? simt_launch(move_copy, particles, grid, block, .scratchpad = BLOCK * sizeof(float))
                 : simt_launch(move, particles, grid, block, .scratchpad = BLOCK * sizeof(float));
        if (launch < 0 || simt_wait(launch) != 0) {
            perror("launch");
            return 1;
        }
    }
    croft_roi_end("particles");
    for (int step = 0; step < STEPS; step++)
        move_scalar(expected);
    for (int i = 0; i < PARTICLES; i++)
        wrong += particles[i].x != expected[i];
    printf("%d particles, %d wrong\n", PARTICLES, wrong);
    return wrong != 0;
}
