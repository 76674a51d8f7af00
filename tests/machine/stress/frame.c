/* A random program's main function: frame FIRST [COUNT] makes COUNT runs from number FIRST on, each of other steps, in another order,
 * on other data, and prints a line for each: its number, and a digest of each part of the world. The steps come from program.c, by
 * -include. A kernel goes on while later steps run, unless one of the two writes what the other one uses; kernels of one queue are in order anyway. */
#include "frame.h"

#include <croft/roi.h>

/* A kernel that has been launched and not waited for. */
struct pending {
    long number;
    uint64_t queue;
    uint32_t reads, writes;
};

struct frame {
    struct stress world;
    struct pending pending[STRESS_STEPS];
    struct stress arguments[STRESS_STEPS];
    int pendings;
    uint64_t random;
};

/* splitmix64. */
static uint64_t next(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static uint32_t chance(struct frame *frame, uint32_t below)
{
    return (uint32_t)(next(&frame->random) >> 32) % below;
}

static void *memory(uint32_t count, size_t size)
{
    const size_t bytes = (count * size + STRESS_LINE - 1) / STRESS_LINE * STRESS_LINE;
    void *got = aligned_alloc(STRESS_LINE, bytes);
    if (!got) {
        perror("aligned_alloc");
        exit(1);
    }
    return memset(got, 0, bytes);
}

static void make(struct frame *frame)
{
    const uint32_t n = STRESS_TILE << chance(frame, 3);
    struct stress *w = &frame->world;
    *w = (struct stress){.n = n,
                         .mask = n - 1,
                         .cell = memory(n, sizeof *w->cell),
                         .x = memory(n, sizeof *w->x),
                         .y = memory(n, sizeof *w->y),
                         .z = memory(n * STRESS_ROWS, sizeof *w->z),
                         .sum = memory(STRESS_SUMS, sizeof *w->sum),
                         .order = memory(n, sizeof *w->order)};
    for (uint32_t i = 0; i < n; i++) {
        w->cell[i] = (struct cell){(uint32_t)next(&frame->random), (uint32_t)next(&frame->random),
                                   (uint32_t)next(&frame->random), stress_float(chance(frame, 4096))};
        w->x[i] = (uint32_t)next(&frame->random);
        w->y[i] = (uint32_t)next(&frame->random);
        const uint32_t j = chance(frame, i + 1);
        w->order[i] = w->order[j];
        w->order[j] = i;
    }
    for (uint32_t i = 0; i < n * STRESS_ROWS; i++)
        w->z[i] = i * 2654435761U;
}

static void release(const struct stress *w)
{
    free(w->cell);
    free(w->x);
    free(w->y);
    free(w->z);
    free(w->sum);
    free(w->order);
}

static void finish(struct frame *frame, int i)
{
    if (simt_wait(frame->pending[i].number) != 0) {
        perror("simt_wait");
        exit(1);
    }
    frame->pending[i] = frame->pending[--frame->pendings];
}

/* Waits for the kernels beside which a step cannot run. */
static void make_room(struct frame *frame, const struct stress_step *step, uint64_t queue, int is_kernel)
{
    for (int i = frame->pendings - 1; i >= 0; i--) {
        const struct pending *p = &frame->pending[i];
        const int meet = (p->writes & (step->reads | step->writes)) != 0 || (p->reads & step->writes) != 0;
        if (meet && !(is_kernel && p->queue == queue))
            finish(frame, i);
    }
}

/* Draws the arguments of a step. */
static void draw(struct frame *frame, struct stress *argument)
{
    const uint32_t n = frame->world.n;
    *argument = frame->world;
    argument->k = (uint32_t)next(&frame->random);
    argument->count = chance(frame, 2) ? n : 1 + chance(frame, n);
    argument->tasks = 1 + chance(frame, 8);
    argument->queue = chance(frame, 3);
}

static void take(struct frame *frame, struct stress *argument, const struct stress_step *step)
{
    make_room(frame, step, argument->queue, strncmp(step->name, "kernel", 6) == 0);
    const long number = step->go(argument);
    if (number < 0) {
        perror(step->name);
        exit(1);
    }
    if (number > 0)
        frame->pending[frame->pendings++] =
            (struct pending){number, argument->queue, step->reads, step->writes};
}

/* Of `count` words, each `step` words behind the one before. */
static uint64_t digest(const void *start, size_t step, size_t count)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < count; i++) {
        uint32_t word;
        memcpy(&word, (const char *)start + 4 * i * step, sizeof word);
        hash = (hash ^ word) * UINT64_C(0x100000001b3);
        hash ^= hash >> 29;
    }
    return hash;
}

static void report(const struct stress *w, uint32_t run)
{
    const struct {
        const void *start;
        size_t step, count;
    } parts[STRESS_PARTS] = {
        {&w->cell->a, 4, w->n},        {&w->cell->b, 4, w->n},   {&w->cell->c, 4, w->n},
        {&w->cell->f, 4, w->n},        {w->x, 1, w->n},          {w->y, 1, w->n},
        {w->z, 1, w->n * STRESS_ROWS}, {w->sum, 1, STRESS_SUMS},
    };
    printf("%u:", (unsigned)run);
    for (int i = 0; i < STRESS_PARTS; i++)
        printf(" %c=%08x", "abcfxyzs"[i], (unsigned)digest(parts[i].start, parts[i].step, parts[i].count));
    putchar('\n');
}

/* Steps whose bit in `only` is 0 are left out, to find the one that is wrong. */
static void run(struct frame *frame, uint32_t number, unsigned long only, int explain)
{
    *frame = (struct frame){.random = number};
    make(frame);
    croft_roi_begin("stress");
    const int steps = 2 + (int)chance(frame, STRESS_STEPS - 1);
    for (int i = 0; i < steps; i++) {
        const struct stress_step *step =
            &stress_steps[chance(frame, sizeof stress_steps / sizeof *stress_steps)];
        draw(frame, &frame->arguments[i]);
        if (explain)
            fprintf(stderr, "%d: %s, n %u, count %u, tasks %u, queue %u%s\n", i, step->name,
                    (unsigned)frame->world.n, (unsigned)frame->arguments[i].count,
                    (unsigned)frame->arguments[i].tasks, (unsigned)frame->arguments[i].queue,
                    only >> i & 1 ? "" : ", left out");
        if (only >> i & 1)
            take(frame, &frame->arguments[i], step);
    }
    while (frame->pendings > 0)
        finish(frame, frame->pendings - 1);
    croft_roi_end("stress");
    report(&frame->world, number);
    release(&frame->world);
}

int main(int argc, char **argv)
{
    static struct frame frame;
    if (argc < 2 || argc > 4) {
        fprintf(stderr, "usage: %s FIRST [COUNT [STEPS]]\n", argv[0]);
        return 2;
    }
    const uint32_t first = (uint32_t)strtoul(argv[1], NULL, 10),
                   count = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 1;
    for (uint32_t i = 0; i < count; i++)
        run(&frame, first + i, argc > 3 ? strtoul(argv[3], NULL, 0) : ~0UL, argc > 3);
    return 0;
}
