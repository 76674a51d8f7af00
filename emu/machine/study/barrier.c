#include "emu/machine/study/barrier.h"

#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>

#include "emu/sim/host_time.h"

/* In the fastest batch, both threads were on processors all the time. */
enum { BATCHES = 2000, ROUNDS = 50, SPINS = 2000 };

struct meeting {
    _Alignas(64) atomic_uint arrived;
    _Alignas(64) atomic_uint round;
};

static void meet(struct meeting *meeting)
{
    const unsigned round = atomic_load_explicit(&meeting->round, memory_order_relaxed);
    unsigned spins = 0;
    if (atomic_fetch_add_explicit(&meeting->arrived, 1, memory_order_acq_rel) == 1) {
        atomic_store_explicit(&meeting->arrived, 0, memory_order_relaxed);
        atomic_store_explicit(&meeting->round, round + 1, memory_order_release);
        return;
    }
    while (atomic_load_explicit(&meeting->round, memory_order_acquire) == round)
        if (++spins % SPINS == 0)
            (void)sched_yield();
}

static void *other(void *argument)
{
    for (unsigned i = 0; i < BATCHES * ROUNDS; i++)
        meet(argument);
    return NULL;
}

double barrier_cost(void)
{
    struct meeting meeting = {0};
    double least = INFINITY;
    pthread_t thread;
    if (pthread_create(&thread, NULL, other, &meeting) != 0)
        return NAN;
    for (unsigned i = 0; i < BATCHES; i++) {
        const uint64_t start = host_nanoseconds();
        for (unsigned j = 0; j < ROUNDS; j++)
            meet(&meeting);
        least = fmin(least, (double)(host_nanoseconds() - start) / ROUNDS);
    }
    (void)pthread_join(thread, NULL);
    return least;
}
