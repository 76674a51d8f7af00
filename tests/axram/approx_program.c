/* Calls of approximated functions by lanes that diverge; approx.sh compiles this for the software's networks and for the chips',
 * and compares what it prints: approx COUNT. Threads of odd numbers call one function, some of them again and again, in blocks
 * whose last warps are not whole; others call the other function or none; meanwhile, the host calls, too. With TOGETHER, all threads
 * call once. */
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

#ifndef ONLY_TURN
CROFT_APPROX(blend, 5, 1)
{
    out[0] = in[0] * in[1] + in[2] * in[3] + in[4];
}
#else
#define blend(in, out) turn(in, out)
#endif

#ifdef TOGETHER
enum { BLOCK = 128, HOST = 40 };
#else
enum { BLOCK = 104, HOST = 40 };
#endif

struct work {
    float (*results)[4];
    unsigned count;
};

static void fill(float in[5], unsigned seed)
{
    for (unsigned i = 0; i < 5; i++)
        in[i] = (float)((seed * 2654435761u + i * 40503u) >> 8 & 4095) / 2048 - 1;
}

static void compute(float result[4], unsigned number)
{
    float in[5], out[2] = {0};
    fill(in, number);
#ifdef TOGETHER
    turn(in, result);
    return;
#endif
    if (number % 2) {
        turn(in, out);
        for (unsigned i = 0; i < number % 5; i++) {
            in[0] = out[1];
            in[1] += out[0];
            turn(in, out);
        }
    } else if (number % 3) {
        blend(in, out);
        if (number % 7 == 2) {
            in[4] = out[0];
            blend(in, &out[1]);
        }
    }
    result[0] = out[0];
    result[1] = out[1];
    fill(in, number + 1);
    turn(in, out); /* by all lanes again */
    result[2] = out[0];
    result[3] = out[1];
}

static void kernel(const struct work *work)
{
    const unsigned number = (unsigned)thread_id();
    if (number < work->count)
        compute(work->results[number], number);
}

int main(int argc, char **argv)
{
    struct work work = {.count = argc > 1 ? (unsigned)atoi(argv[1]) : 1000};
    work.results = calloc(work.count + HOST, sizeof *work.results);
    simt_launch(kernel, &work, simt_dim((work.count + BLOCK - 1) / BLOCK), simt_dim(BLOCK));
    for (unsigned i = 0; i < HOST; i++)
        compute(work.results[work.count + i], i);
    simt_wait(0);
    for (unsigned i = 0; i < work.count + HOST; i++) {
        uint32_t words[4];
        memcpy(words, work.results[i], sizeof words);
        printf("%u %08x %08x %08x %08x\n", i, (unsigned)words[0], (unsigned)words[1], (unsigned)words[2],
               (unsigned)words[3]);
    }
    return 0;
}
