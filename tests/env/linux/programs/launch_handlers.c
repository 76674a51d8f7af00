/* Launches from signal handlers, while a launch of the same thread has not ended, and after a handler has jumped away from one; then the
 * former again, by a thread whose handler runs on a stack above its own. */
#include <croft/simt.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/time.h>

enum { COUNT = 4096, STACK = 1 << 18 };

struct work {
    atomic_int *go;
    int *to;
    int value;
};

static atomic_int go;
static int to[COUNT];
static sigjmp_buf place;
static long inner;

static void until(struct work *w)
{
    while (!atomic_load(w->go))
        simt_pause();
}

static void fill(struct work *w)
{
    for (long i = (long)thread_id(); i < COUNT; i += (long)thread_count())
        w->to[i] = w->value;
}

static void alarm_once(void (*handler)(int))
{
    const struct itimerval soon = {{0, 0}, {0, 300}};
    atomic_store(&go, 0);
    sigaction(SIGALRM, &(struct sigaction){.sa_handler = handler, .sa_flags = SA_ONSTACK}, NULL);
    setitimer(ITIMER_REAL, &soon, NULL);
}

static void launch(int signal)
{
    static struct work w = {.to = to, .value = 7};
    (void)signal;
    atomic_store(&go, 1);
    inner = simt_launch(fill, &w, simt_dim(1), simt_dim(32));
}

static void jump(int signal)
{
    (void)signal;
    siglongjmp(place, 1);
}

static struct work waits = {.go = &go};

static void interrupted(void)
{
    alarm_once(launch);
    const long outer = simt_launch(until, &waits, simt_dim(1), simt_dim(32));
    const int waited = simt_wait(outer), all = simt_wait(0);
    printf("launches %ld and %ld, waits %d and %d, value %d\n", outer, inner, waited, all, to[COUNT - 1]);
}

static void *above(void *stack)
{
    const stack_t alternate = {.ss_sp = stack, .ss_size = STACK};
    sigset_t alarms;
    sigemptyset(&alarms);
    sigaddset(&alarms, SIGALRM);
    sigaltstack(&alternate, NULL);
    pthread_sigmask(SIG_UNBLOCK, &alarms, NULL);
    interrupted();
    interrupted(); /* from the same place */
    return NULL;
}

static void run_below_alternate_stack(void)
{
    static _Alignas(4096) char stacks[2 * STACK];
    sigset_t alarms;
    pthread_attr_t attributes;
    pthread_t thread;
    sigemptyset(&alarms);
    sigaddset(&alarms, SIGALRM);
    pthread_sigmask(SIG_BLOCK, &alarms, NULL);
    pthread_attr_init(&attributes);
    pthread_attr_setstack(&attributes, stacks, STACK);
    pthread_create(&thread, &attributes, above, stacks + STACK);
    pthread_join(thread, NULL);
}

int main(void)
{
    static struct work fills = {.to = to, .value = 9};
    interrupted();

    alarm_once(jump);
    if (sigsetjmp(place, 1) == 0)
        simt_wait(simt_launch(until, &waits, simt_dim(1), simt_dim(32)));
    atomic_store(&go, 1);
    const long next = simt_launch(fill, &fills, simt_dim(1), simt_dim(32)), last = simt_wait(0);
    printf("launch %ld, wait %ld, value %d\n", next, last, to[COUNT - 1]);
    run_below_alternate_stack();
    return 0;
}
