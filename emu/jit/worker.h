/* A second host thread for one piece of work at a time, while its owner goes on. On a host with one processor, the owner does the
 * work at once. */
#ifndef EMU_JIT_WORKER_H
#define EMU_JIT_WORKER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

struct worker {
    pthread_t thread;
    bool running; /* the thread is to be joined */
    atomic_bool done;
    void (*work)(void *context);
    void *context;
};

/* Starts work(context), when no other is going on. The owner leaves alone what the work uses until worker_finish(). */
void worker_start(struct worker *worker, void (*work)(void *context), void *context);

/* Returns whether worker_finish() would not wait. */
bool worker_is_done(const struct worker *worker);

/* Waits for the end of the work, if there is any. */
void worker_finish(struct worker *worker);

#endif
