/* Values that live in registers over barriers and pauses: as many integers, floats and doubles as there are registers
 * that a function may change. On the scalar core, a barrier switches between threads. */
#include <croft/simt.h>
#include <stdint.h>
#include <stdio.h>

enum { THREADS = 70, BLOCKS = 3, ROUNDS = 5 };

struct out {
    uint64_t integers[BLOCKS * THREADS];
    double doubles[BLOCKS * THREADS];
};

/* One step of 14 sums, each of which takes the next one; the barrier and the pause are between steps. */
#define STEP(v, plus)                                                                                        \
    v##0 += v##1 plus, v##1 += v##2, v##2 += v##3, v##3 += v##4, v##4 += v##5, v##5 += v##6, v##6 += v##7,   \
        v##7 += v##8, v##8 += v##9, v##9 += v##a, v##a += v##b, v##b += v##c, v##c += v##d, v##d += v##0
#define SUM(v)                                                                                               \
    (v##0 + v##1 + v##2 + v##3 + v##4 + v##5 + v##6 + v##7 + v##8 + v##9 + v##a + v##b + v##c + v##d)
#define VALUES(type, v, first)                                                                               \
    type v##0 = (first), v##1 = v##0 + 1, v##2 = v##0 + 2, v##3 = v##0 + 3, v##4 = v##0 + 4,                 \
         v##5 = v##0 + 5, v##6 = v##0 + 6, v##7 = v##0 + 7, v##8 = v##0 + 8, v##9 = v##0 + 9,                \
         v##a = v##0 + 10, v##b = v##0 + 11, v##c = v##0 + 12, v##d = v##0 + 13

static void keep(struct out *out)
{
    uint64_t self = thread_id();
    VALUES(uint64_t, i, self);
    VALUES(double, d, (double)self);
    VALUES(float, f, (float)thread_x());
    for (int round = 0; round < ROUNDS; round++) {
        STEP(i, +block_x());
        STEP(d, +lane_id() * 0);
        simt_barrier();
        STEP(f, +1);
        if (thread_x() % 3 == 0)
            simt_pause();
        STEP(i, ^self);
    }
    out->integers[self] = SUM(i);
    out->doubles[self] = SUM(d) + SUM(f);
}

/* Threads that end before a barrier do not hold up the others. */
static void leave(struct out *out)
{
    uint64_t id = thread_id();
    for (unsigned round = 0; round <= thread_x() % 4; round++) {
        simt_barrier();
        out->integers[id] += round;
    }
}

int main(void)
{
    static struct out out;
    if (simt_launch(keep, &out, simt_dim(BLOCKS), simt_dim(THREADS)) < 0 ||
        simt_launch(leave, &out, simt_dim(BLOCKS), simt_dim(THREADS)) < 0 || simt_wait(0) != 0)
        return 1;
    for (int i = 0; i < BLOCKS * THREADS; i += 23)
        printf("%d: %llu %.1f\n", i, (unsigned long long)out.integers[i], out.doubles[i]);
    return 0;
}
