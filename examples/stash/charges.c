/* A stash in front of stacks: `charges` moves particles through a map of one field, and then lets each of them charge cells of memory in a
 * loop, which machine tom executes in the stacks. `charges scratchpad` copies the field into the scratchpad and back. */
#include <croft/roi.h>
#include <croft/stash.h>
#include <stdio.h>
#include <string.h>

enum { PARTICLES = 8192, BLOCK = 256, CELLS = 1 << 18, STEPS = 4 };

struct particle {
    float x, y, z, mass, charge, speed[3];
};

struct field {
    struct particle particles[PARTICLES];
    float source[CELLS], potential[CELLS];
};

static struct field field;

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

static void move(struct field *f)
{
    pull(croft_stash_map_of(simt_shared(), f->particles + block_x() * BLOCK, x, .objects = BLOCK));
}

static void move_copy(struct field *f)
{
    float *x = simt_shared();
    x[thread_x()] = f->particles[block_x() * BLOCK + thread_x()].x;
    simt_barrier();
    pull(x);
    f->particles[block_x() * BLOCK + thread_x()].x = x[thread_x()];
}

/* Global addresses alone: a candidate for the stacks. */
static void charge(struct field *f)
{
    const uint32_t t = (uint32_t)thread_id();
    const float y = f->particles[t].y;
    for (uint32_t i = t; i < CELLS; i += PARTICLES)
        f->potential[i] = 0.5f * f->potential[i] + y * f->source[i];
}

int main(int argc, char **argv)
{
    const int copy = argc == 2 && strcmp(argv[1], "scratchpad") == 0;
    const struct simt_dim grid = simt_dim(PARTICLES / BLOCK), block = simt_dim(BLOCK);
    double sum = 0;
    for (int i = 0; i < PARTICLES; i++)
        field.particles[i].x = field.particles[i].y = (float)(i * 7 % 100);
    for (int i = 0; i < CELLS; i++)
        field.source[i] = (float)(i % 16);
    croft_roi_begin("charges");
    for (int step = 0; step < STEPS; step++) {
        const long moved =
            copy ? simt_launch(move_copy, &field, grid, block, .scratchpad = BLOCK * sizeof(float))
                 : simt_launch(move, &field, grid, block, .scratchpad = BLOCK * sizeof(float));
        if (moved < 0 || simt_wait(moved) != 0 || simt_wait(simt_launch(charge, &field, grid, block)) != 0) {
            perror("launch");
            return 1;
        }
    }
    croft_roi_end("charges");
    for (int i = 0; i < CELLS; i++)
        sum += field.potential[i];
    printf("potential %.0f\n", sum);
    return 0;
}
