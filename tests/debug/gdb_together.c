/* Five kinds of code in one program, for machine undercroft: the host's, a task of NUCD, threads with a map in their stash, a block
 * that TOM offloads, and threads that call a network in AxRAM's chips. together [KIND]: with a kind's name, that code does what it must
 * not do, while the others' kernels are under way. */
#include <croft/approx.h>
#include <croft/nucd.h>
#include <croft/simt.h>
#include <croft/stash.h>
#include <stdio.h>
#include <string.h>

enum { COUNT = 256, BLOCK = 64, ROUNDS = 16 };

struct cell {
    int value, other;
};

static struct all {
    struct cell cell[COUNT];
    int loops[COUNT], slow[COUNT], task[COUNT];
    float turned[COUNT];
    struct croft_batch batch;
    int *task_to, *stash_to, *block_to, *slow_to;
} _Alignas(4096) all;

CROFT_APPROX(turn, 2, 2)
{
    out[0] = in[0];
    out[1] = in[1];
}

CROFT_APPROX_BATCH(turn, 2, 2)

CROFT_REGION(fill, CROFT_IN(const struct cell *, cell, COUNT * sizeof *cell),
             CROFT_OUT(int *, to, COUNT * sizeof *to))
{
    for (int i = 0; i < COUNT; i++)
        to[i] = cell[i].value + i; /* in the task */
}

static void mapped(struct all *a)
{
    const unsigned t = thread_x();
    int *value = croft_stash_map_of(simt_shared(), a->cell + block_x() * BLOCK, value, .objects = BLOCK);
    value[t] += 3; /* in the stash */
    if (a->stash_to)
        a->stash_to[t] = value[t]; /* the fault beside the stash */
}

static void looped(struct all *a)
{
    const long i = (long)thread_id();
    int sum = 0;
    for (int k = 0; k < ROUNDS; k++)
        sum += a->cell[(i + k) % COUNT].value * a->cell[(i * k) % COUNT].other;
    a->block_to[i] = sum; /* in the block */
}

static void called(struct all *a)
{
    turn_run(&a->batch, thread_id());
}

/* Goes on while another kind faults. */
static void slow(struct all *a)
{
    const long i = (long)thread_id();
    for (int k = 0; k < 200; k++)
        a->slow_to[i] = a->slow_to[(i + 1) % COUNT] + k;
}

static void change(struct all *a, int by)
{
    for (int i = 0; i < COUNT; i++)
        a->cell[i].other = a->cell[i].value - by; /* on the host */
}

static int wait(void)
{
    return simt_wait(0) == 0 ? 0 : 1;
}

static void prepare(const char *wrong)
{
    all.task_to = all.task;
    all.block_to = all.loops;
    all.slow_to = all.slow;
    if (turn_batch(&all.batch, COUNT) != 0)
        perror("turn");
    for (unsigned i = 0; i < COUNT; i++) {
        all.cell[i] = (struct cell){(int)i, 1};
        turn_put(&all.batch, i, (float[]){0.5F, -0.5F});
    }
    if (strcmp(wrong, "task") == 0)
        all.task_to = (int *)(uintptr_t)wait; /* code is read-only */
    if (strcmp(wrong, "stash") == 0)
        all.stash_to = (int *)16;
    if (strcmp(wrong, "block") == 0)
        all.block_to = (int *)16;
    if (strcmp(wrong, "call") == 0)
        all.batch.records[1] = (uint32_t *)all.slow;
}

int main(int argc, char **argv)
{
    const char *wrong = argc > 1 ? argv[1] : "";
    const struct simt_dim grid = simt_dim(COUNT / BLOCK), block = simt_dim(BLOCK);
    long sum = 0;
    prepare(wrong);
    puts("begin");
    (void)fflush(stdout);
    (void)simt_launch(slow, &all, grid, block, .queue = 1);
    change(strcmp(wrong, "host") == 0 ? (struct all *)16 : &all, 2);
    fill(all.cell, all.task_to);
    (void)simt_launch(mapped, &all, grid, block, .scratchpad = BLOCK * sizeof(int));
    (void)simt_launch(looped, &all, grid, block);
    (void)simt_launch(called, &all, grid, block);
    if (wait())
        return 1;
    for (unsigned i = 0; i < COUNT; i++)
        sum += all.cell[i].value + all.loops[i] + all.task[i];
    printf("sum %ld\n", sum);
    return 0;
}
