#include "emu/jit/worker.h"

#include <sched.h>
#include <signal.h>
#include <stddef.h>

static void *run(void *context)
{
    struct worker *worker = context;
    worker->work(worker->context);
    atomic_store_explicit(&worker->done, true, memory_order_release);
    return NULL;
}

static bool has_processors(void)
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 1;
}

/* Starts the thread. It takes no signals: their handlers belong to the owner. */
static bool start_thread(struct worker *worker)
{
    sigset_t all, before;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    bool started = pthread_create(&worker->thread, NULL, run, worker) == 0;
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

void worker_start(struct worker *worker, void (*work)(void *context), void *context)
{
    worker->work = work;
    worker->context = context;
    atomic_store_explicit(&worker->done, false, memory_order_relaxed);
    worker->running = has_processors() && start_thread(worker);
    if (!worker->running)
        (void)run(worker);
}

bool worker_is_done(const struct worker *worker)
{
    return atomic_load_explicit(&worker->done, memory_order_acquire);
}

void worker_finish(struct worker *worker)
{
    if (worker->running)
        (void)pthread_join(worker->thread, NULL);
    worker->running = false;
}
