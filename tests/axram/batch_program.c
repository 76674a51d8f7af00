/* Batches of two functions; approx.sh compiles this for the software's networks and for the chips', and compares what it prints:
 * batch COUNT [across]. Threads run the calls of both, a warp's lanes in another order than the calls; the host runs the last ones.
 * The first batches are freed, and others take their memory. With `across`, a warp's lanes run calls of two records. */
#include <croft/approx.h>
#include <croft/simt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

CROFT_APPROX(turn, 2, 2)
{
    out[0] = in[0] * 0.6F - in[1] * 0.8F;
    out[1] = in[0] * 0.8F + in[1] * 0.6F;
}
CROFT_APPROX_BATCH(turn, 2, 2)

CROFT_APPROX(blend, 5, 1)
{
    out[0] = in[0] * in[1] + in[2] * in[3] + in[4];
}
CROFT_APPROX_BATCH(blend, 5, 1)

enum { BLOCK = 128, HOST = 3 };

struct work {
    struct croft_batch turn, blend;
    unsigned count, shift;
};

static void fill(float in[5], unsigned seed)
{
    for (unsigned i = 0; i < 5; i++)
        in[i] = (float)((seed * 2654435761u + i * 40503u) >> 8 & 4095) / 2048 - 1;
}

static void kernel(const struct work *work)
{
    const unsigned i = ((unsigned)thread_id() ^ 21) + work->shift;
    if (i >= work->count)
        return;
    turn_run(&work->turn, i);
    if (i % 3)
        blend_run(&work->blend, i);
}

static void check(int status, const char *what)
{
    if (status) {
        perror(what);
        exit(3);
    }
}

static void put(struct work *work, unsigned seed)
{
    float in[5];
    for (unsigned i = 0; i < work->count + HOST; i++) {
        fill(in, seed + i);
        turn_put(&work->turn, i, in);
        blend_put(&work->blend, i, in);
    }
}

static void print(const struct work *work)
{
    for (unsigned i = 0; i < work->count + HOST; i++) {
        float out[3] = {0};
        uint32_t words[3];
        turn_get(&work->turn, i, out);
        if (i % 3)
            blend_get(&work->blend, i, &out[2]);
        memcpy(words, out, sizeof words);
        printf("%u %08x %08x %08x\n", i, (unsigned)words[0], (unsigned)words[1], (unsigned)words[2]);
    }
}

int main(int argc, char **argv)
{
    struct work work = {.count = argc > 1 ? (unsigned)atoi(argv[1]) : 1000, .shift = argc > 2 ? 16 : 0};
    for (unsigned round = 0; round < 2; round++) {
        check(turn_batch(&work.turn, work.count + HOST), "turn");
        check(blend_batch(&work.blend, work.count + HOST), "blend");
        put(&work, 100 * round);
        simt_launch(kernel, &work, simt_dim((work.count + BLOCK - 1) / BLOCK), simt_dim(BLOCK));
        check(simt_wait(0) ? -1 : 0, "kernel");
        for (unsigned i = work.count; i < work.count + HOST; i++) {
            turn_run(&work.turn, i);
            blend_run(&work.blend, i);
        }
        print(&work);
        turn_free(&work.turn);
        blend_free(&work.blend);
    }
    return 0;
}
