/* One warp whose loop loads neighbours (each line once), a line for each thread, and the same line again and again: profile. */
#include <croft/simt.h>
#include <stdlib.h>

enum { THREADS = 32, ROUNDS = 16, LINE = 128 };

struct arguments {
    volatile float *near, *far, *again;
    float *out;
};

static void kernel(const struct arguments *p)
{
    const unsigned long t = thread_id();
    float sum = 0;
    for (unsigned long i = 0; i < ROUNDS; i++)
        sum += p->near[i * THREADS + t] + p->far[(i * THREADS + t) * LINE / 4] + p->again[t];
    p->out[t] = sum;
}

int main(void)
{
    const struct arguments a = {.near = aligned_alloc(LINE, 4 * ROUNDS * THREADS),
                                .far = aligned_alloc(LINE, LINE * ROUNDS * THREADS),
                                .again = aligned_alloc(LINE, LINE),
                                .out = aligned_alloc(LINE, LINE)};
    if (!a.near || !a.far || !a.again || !a.out)
        return 1;
    simt_launch(kernel, &a, simt_dim(1), simt_dim(THREADS));
    return simt_wait(0) ? 1 : 0;
}
