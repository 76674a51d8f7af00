/* The host's atomics against those of threads that run at the same time: none may be lost. */
#include <croft/simt.h>
#include <stdatomic.h>
#include <stdio.h>

/* MOST: stores without end may keep an SC from ever succeeding (unprivileged specification, eventual success of SC). */
enum { THREADS = 32, ROUNDS = 60, MOST = 2000 };

static struct shared {
    atomic_long n;
    char apart[4096];
    atomic_long done;
} shared;

static void end(struct shared *s)
{
    atomic_fetch_add(&s->done, 1);
}

static void adds(struct shared *s)
{
    for (int i = 0; i < ROUNDS; i++)
        atomic_fetch_add(&s->n, 1);
    end(s);
}

static void increment(atomic_long *n)
{
    long value, failed;
    __asm__ volatile("1: lr.d %0, (%2)\n"
                     "addi %0, %0, 1\n"
                     "sc.d %1, %0, (%2)\n"
                     "bnez %1, 1b"
                     : "=&r"(value), "=&r"(failed)
                     : "r"(n)
                     : "memory");
}

static void increments(struct shared *s)
{
    for (int i = 0; i < ROUNDS; i++)
        increment(&s->n);
    end(s);
}

static void check(const char *what, long own)
{
    simt_wait(0);
    long lost = shared.done * ROUNDS + own - shared.n;
    printf("%s: %ld lost\n", what, lost);
    shared.n = shared.done = 0;
}

int main(void)
{
    long own = 0;
    simt_launch(adds, &shared, simt_dim(1), simt_dim(THREADS));
    while (shared.done < THREADS && own < MOST) {
        increment(&shared.n);
        own++;
    }
    check("host LR and SC, threads' AMO", own);
    own = 0;
    simt_launch(increments, &shared, simt_dim(1), simt_dim(1));
    while (shared.done < 1 && own < MOST) {
        atomic_fetch_add(&shared.n, 1);
        own++;
        for (volatile int i = 0; i < 20; i++)
            ;
    }
    check("host's AMO, thread's LR and SC", own);
    own = 0;
    simt_launch(increments, &shared, simt_dim(1), simt_dim(1));
    while (shared.done < 1 && own < MOST) {
        increment(&shared.n);
        own++;
        for (volatile int i = 0; i < 20; i++)
            ;
    }
    check("LR and SC on both sides", own);
    return 0;
}
