/* The stash in one line: moves particles by changing one field of an array of structures. `particles` maps the field,
 * `particles scratchpad` copies it into the scratchpad and back. */
#include <croft/roi.h>
#include <croft/stash.h>
#include <stdio.h>
#include <string.h>

enum { PARTICLES = 16384, BLOCK = 256 };

struct particle {
    float x, y, z, mass, charge, speed[3];
};

static struct particle particles[PARTICLES];

/* Element i of x[] is p[block_x() * BLOCK + i].x. */
static void move(struct particle *p)
{
    float *x = croft_stash_map_of(simt_shared(), p + block_x() * BLOCK, x, .objects = BLOCK);
    x[thread_x()] += 0.5f;
}

static void move_copy(struct particle *p)
{
    float *x = simt_shared();
    x[thread_x()] = p[block_x() * BLOCK + thread_x()].x;
    x[thread_x()] += 0.5f;
    p[block_x() * BLOCK + thread_x()].x = x[thread_x()];
}

int main(int argc, char **argv)
{
    int wrong = 0;
    const int copy = argc == 2 && strcmp(argv[1], "scratchpad") == 0;
    for (int i = 0; i < PARTICLES; i++)
        particles[i].x = (float)i;
    croft_roi_begin("move");
    const long launch = copy ? simt_launch(move_copy, particles, simt_dim(PARTICLES / BLOCK), simt_dim(BLOCK),
                                           .scratchpad = BLOCK * sizeof(float))
                             : simt_launch(move, particles, simt_dim(PARTICLES / BLOCK), simt_dim(BLOCK),
                                           .scratchpad = BLOCK * sizeof(float));
    if (launch < 0 || simt_wait(launch) != 0) {
        perror("launch");
        return 1;
    }
    croft_roi_end("move");
    for (int i = 0; i < PARTICLES; i++)
        wrong += particles[i].x != (float)i + 0.5f;
    printf("%d particles, %d wrong\n", PARTICLES, wrong);
    return wrong != 0;
}
