#include "emu/sim/threads/workers.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "emu/sim/alloc.h"
#include "emu/sim/threads/spin.h"

enum { AWAKE = 400 * SPINS }; /* spins before a thread sleeps */

struct worker {
    _Alignas(128) _Atomic uint64_t done; /* number of calls of workers_run() whose part it has done */
    struct workers *workers;
    pthread_t thread;
    unsigned number;
};

struct workers {
    _Alignas(128) _Atomic uint64_t calls; /* of workers_run() */
    _Atomic bool ends;
    _Alignas(128) _Atomic unsigned asleep;
    pthread_mutex_t mutex; /* of threads that sleep */
    pthread_cond_t wake;
    unsigned count, started; /* threads, this one included */
    void (*work)(void *context, unsigned number);
    void *context;
    struct worker *all;
};

/* Sleeps until there is a call after `done`. */
static void sleep_until(struct workers *workers, uint64_t done)
{
    (void)pthread_mutex_lock(&workers->mutex);
    atomic_fetch_add(&workers->asleep, 1);
    while (atomic_load(&workers->calls) == done)
        (void)pthread_cond_wait(&workers->wake, &workers->mutex);
    atomic_fetch_sub(&workers->asleep, 1);
    (void)pthread_mutex_unlock(&workers->mutex);
}

static void *run(void *context)
{
    struct worker *worker = context;
    struct workers *workers = worker->workers;
    for (uint64_t done = 0;; done++) {
        for (unsigned spins = 0; atomic_load_explicit(&workers->calls, memory_order_acquire) == done;) {
            spin_once(&spins);
            if (spins == AWAKE)
                sleep_until(workers, done);
        }
        if (atomic_load_explicit(&workers->ends, memory_order_relaxed))
            return NULL;
        workers->work(workers->context, worker->number);
        atomic_store_explicit(&worker->done, done + 1, memory_order_release);
    }
}

/* Begins a call. A thread that goes to sleep at the same time sees it, or is seen. */
static uint64_t call(struct workers *workers)
{
    const uint64_t calls = atomic_fetch_add(&workers->calls, 1) + 1;
    if (atomic_load(&workers->asleep)) {
        (void)pthread_mutex_lock(&workers->mutex);
        (void)pthread_cond_broadcast(&workers->wake);
        (void)pthread_mutex_unlock(&workers->mutex);
    }
    return calls;
}

/* Starts a thread that takes no signals. */
static bool start(struct worker *worker, struct error *err)
{
    sigset_t all, before;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_BLOCK, &all, &before);
    const int failed = pthread_create(&worker->thread, NULL, run, worker);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return !failed || error_set(err, "the host cannot start a thread: %s", strerror(failed));
}

/* Zeroed memory for what has lines of its own. */
static void *alloc_lines(size_t bytes)
{
    const size_t size = (bytes + 127) / 128 * 128;
    void *memory = alloc_checked(aligned_alloc(128, size));
    memset(memory, 0, size);
    return memory;
}

struct workers *workers_new(unsigned count, void (*work)(void *context, unsigned number), void *context,
                            struct error *err)
{
    struct workers *workers = alloc_lines(sizeof *workers);
    workers->count = count;
    workers->started = 1;
    workers->work = work;
    workers->context = context;
    workers->all = alloc_lines(count * sizeof *workers->all);
    (void)pthread_mutex_init(&workers->mutex, NULL);
    (void)pthread_cond_init(&workers->wake, NULL);
    for (; workers->started < count; workers->started++) {
        struct worker *worker = &workers->all[workers->started];
        worker->workers = workers;
        worker->number = workers->started;
        if (!start(worker, err)) {
            workers_free(workers);
            return NULL;
        }
    }
    return workers;
}

void workers_free(struct workers *workers)
{
    if (!workers)
        return;
    atomic_store(&workers->ends, true);
    (void)call(workers);
    for (unsigned i = 1; i < workers->started; i++)
        (void)pthread_join(workers->all[i].thread, NULL);
    (void)pthread_cond_destroy(&workers->wake);
    (void)pthread_mutex_destroy(&workers->mutex);
    free(workers->all);
    free(workers);
}

void workers_run(struct workers *workers)
{
    const uint64_t calls = call(workers);
    workers->work(workers->context, 0);
    for (unsigned i = 1; i < workers->count; i++)
        for (unsigned spins = 0; atomic_load_explicit(&workers->all[i].done, memory_order_acquire) != calls;)
            spin_once(&spins);
}
