/* Speed of the event queue: events fired and scheduled again each second, by the number of pending events. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "emu/sim/event.h"
#include "tests/isa/random.h"

enum { EVENTS = 20000000, MOST = 10000 };

struct bench {
    struct event_queue queue;
    struct event events[MOST];
    struct waker {
        struct bench *bench;
        unsigned index;
    } wakers[MOST];
    uint64_t random;
    uint64_t period; /* 0: random delays up to 20 ns; else all events share this clock */
};

static void again(void *owner, uint64_t now)
{
    struct waker *waker = owner;
    struct bench *bench = waker->bench;
    random_step(&bench->random);
    uint64_t delay = bench->period ? bench->period : 1 + (bench->random >> 33) % 20000000;
    event_schedule(&bench->queue, &bench->events[waker->index], now + delay);
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static double rate(struct bench *bench, unsigned pending, uint64_t period)
{
    event_queue_init(&bench->queue);
    bench->random = 1;
    bench->period = period;
    for (unsigned i = 0; i < pending; i++) {
        bench->wakers[i] = (struct waker){bench, i};
        event_init(&bench->events[i], i, again, &bench->wakers[i]);
        event_schedule(&bench->queue, &bench->events[i], i);
    }
    double start = seconds();
    while (bench->queue.fired < EVENTS)
        (void)event_queue_step(&bench->queue);
    return (double)EVENTS / (seconds() - start) * 1e-6;
}

int main(void)
{
    struct bench *bench = malloc(sizeof *bench);
    if (!bench)
        return 1;
    printf("event queue, million events a second\n%10s %12s %12s\n", "pending", "random", "one clock");
    for (unsigned pending = 10; pending <= MOST; pending *= 10)
        printf("%10u %12.1f %12.1f\n", pending, rate(bench, pending, 0), rate(bench, pending, 1000000));
    free(bench);
    return 0;
}
