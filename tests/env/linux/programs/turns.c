/* More threads than hosts, whose regions take longer than a turn and change what they read, and handlers of signals with regions of
 * their own: each region is executed once. */
#include <croft/nucd.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/time.h>

enum { THREADS = 3, BINS = 64, COUNT = 40000, PARTS = 8 };

static unsigned char bytes[COUNT] __attribute__((aligned(64)));
static unsigned bins[THREADS][PARTS][BINS] __attribute__((aligned(64)));
static atomic_bool ended;
static unsigned long spins __attribute__((aligned(64))), handled __attribute__((aligned(64))),
    interrupted __attribute__((aligned(64)));
static volatile int alarms;

CROFT_REGION(count, CROFT_IN(const unsigned char *, from, number),
             CROFT_INOUT(unsigned *, to, BINS * sizeof *to), CROFT_VALUE(long, number))
{
    for (long i = 0; i < number; i++)
        to[from[i] % BINS]++;
}

CROFT_REGION(step, CROFT_INOUT(unsigned long *, to, sizeof *to), CROFT_VALUE(long, number))
{
    for (long i = 0; i < number; i++)
        *to += i % 3;
}

/* One region for which the host waits, and tasks of a call. */
static void *run(void *own)
{
    unsigned(*to)[BINS] = own;
    count(bytes, to[0], COUNT);
    CROFT_FOR_TASKS(part, PARTS, PARTS, 1)
    count(bytes, to[part.first], COUNT / 2);
    return NULL;
}

/* Always has a task under way, until the other threads have had their turns. */
static void *spin(void *unused)
{
    unsigned long rounds = 0;
    do {
        step(&spins, 300);
        rounds++;
    } while (!atomic_load_explicit(&ended, memory_order_relaxed));
    return spins != rounds * 300 ? &spins : unused;
}

static void handle(int number)
{
    (void)number;
    alarms++;
    step(&handled, 300);
}

/* One thread whose tasks signals interrupt. */
static void interrupt(void)
{
    struct itimerval timer = {{0, 700}, {0, 700}};
    signal(SIGALRM, handle);
    setitimer(ITIMER_REAL, &timer, NULL);
    for (int i = 0; i < 20; i++)
        step(&interrupted, 30000);
    timer = (struct itimerval){0};
    setitimer(ITIMER_REAL, &timer, NULL);
    printf("interrupted: %lu, handlers %s\n", interrupted,
           handled == 300UL * (unsigned)alarms ? "right" : "wrong");
}

int main(void)
{
    pthread_t threads[THREADS], spinner;
    void *wrong;
    for (unsigned i = 0, seed = 5; i < COUNT; i++) {
        seed = seed * 1664525U + 1013904223U;
        bytes[i] = (unsigned char)(seed >> 24);
    }
    pthread_create(&spinner, NULL, spin, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, run, bins[i]);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    atomic_store(&ended, true);
    pthread_join(spinner, &wrong);
    for (int i = 0; i < THREADS; i++) {
        unsigned sum = 0;
        for (int j = 0; j < PARTS; j++)
            for (int k = 0; k < BINS; k++)
                sum += bins[i][j][k] * (unsigned)(j + 1);
        printf("thread %d: %u\n", i, sum);
    }
    printf("the other thread counts %s\n", wrong ? "wrong" : "right");
    interrupt();
    return 0;
}
