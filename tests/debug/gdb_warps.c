/* A kernel of several blocks, whose lanes part, call functions and meet at a barrier, for a debugger. */
#include <croft/simt.h>
#include <stdio.h>

static struct warps {
    int values[2][64], total;
    int *bad;
} data;

static __attribute__((noinline)) int twice(int value)
{
    int result = value + value;
    return result;
}

static __attribute__((noinline)) int behind(const int *shared)
{
    return shared[63 - thread_x()];
}

static void work(struct warps *w)
{
    int *shared = simt_shared();
    int mine = (int)thread_x();
    if (mine % 2)
        mine = twice(mine); /* odd lanes */
    shared[thread_x()] = mine;
    simt_barrier();
    w->values[block_x()][thread_x()] = behind(shared);
    if (w->bad && thread_x() == 37 && block_x() == 1)
        *w->bad = mine; /* the fault */
}

int main(int argc, char **argv)
{
    (void)argv;
    if (argc > 1)
        data.bad = (int *)8;
    if (simt_launch(work, &data, simt_dim(2), simt_dim(64), .scratchpad = 64 * sizeof(int)) < 0)
        return 1;
    if (simt_wait(0) < 0) {
        perror("simt_wait");
        return 2;
    }
    for (int i = 0; i < 128; i++)
        data.total += data.values[i / 64][i % 64];
    printf("total %d\n", data.total);
    return 0;
}
