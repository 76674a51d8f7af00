/* A stash for one thread: each block is a thread that relaxes a string of particles, of whose structures it uses one field. `cores map` maps
 * the field, `cores scratchpad` copies it in and out, `cores cache` uses it where it is. `cores task` does that, too, in tasks of NUCD's accelerators. */
#include <croft/nucd.h>
#include <croft/roi.h>
#include <croft/stash.h>
#include <stdio.h>
#include <string.h>

enum { BLOCKS = 15, EACH = 2048, SWEEPS = 4 };

struct particle {
    float x, y, z, mass, charge, speed[3];
};

static struct particle particles[BLOCKS * EACH] __attribute__((aligned(4096))); /* tasks share no lines */

static inline __attribute__((always_inline)) void relax(float *x, size_t distance)
{
    for (int sweep = 0; sweep < SWEEPS; sweep++)
        for (size_t i = 1; i < EACH - 1; i++)
            x[i * distance] =
                0.25f * x[(i - 1) * distance] + 0.5f * x[i * distance] + 0.25f * x[(i + 1) * distance];
}

static void mapped(struct particle *p)
{
    relax(croft_stash_map_of(simt_shared(), p + block_x() * EACH, x, .objects = EACH), 1);
}

static void copied(struct particle *p)
{
    float *x = simt_shared();
    for (int i = 0; i < EACH; i++)
        x[i] = p[block_x() * EACH + i].x;
    relax(x, 1);
    for (int i = 0; i < EACH; i++)
        p[block_x() * EACH + i].x = x[i];
}

static void in_place(struct particle *p)
{
    relax(&p[block_x() * EACH].x, sizeof *p / sizeof(float));
}

CROFT_REGION(task, CROFT_INOUT(struct particle *, p, EACH * sizeof *p))
{
    relax(&p->x, sizeof *p / sizeof(float));
}

static long offload(void)
{
    for (int i = 0; i < BLOCKS; i++)
        task(particles + i * EACH);
    return 0;
}

#define LAUNCH(kernel)                                                                                       \
    simt_launch(kernel, particles, simt_dim(BLOCKS), simt_dim(1), .scratchpad = EACH * sizeof(float))

int main(int argc, char **argv)
{
    const char *mode = argc == 2 ? argv[1] : "map";
    double sum = 0;
    for (int i = 0; i < BLOCKS * EACH; i++)
        particles[i].x = (float)(i * 7 % 100);
    croft_roi_begin("cores");
    const long launch = strcmp(mode, "task") == 0         ? offload()
                        : strcmp(mode, "cache") == 0      ? LAUNCH(in_place)
                        : strcmp(mode, "scratchpad") == 0 ? LAUNCH(copied)
                                                          : LAUNCH(mapped);
    if (launch < 0 || simt_wait(launch) != 0) {
        perror("launch");
        return 1;
    }
    croft_roi_end("cores");
    for (int i = 0; i < BLOCKS * EACH; i++)
        sum += particles[i].x * (i % 16);
    printf("%.4f\n", sum);
    return 0;
}
