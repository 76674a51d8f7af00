/* Threads: clone, futexes, robust mutexes, numbers, scheduling. */
#include "calls.h"

#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <sys/mman.h>
#include <time.h>

static pthread_barrier_t barrier;
static int word = 5, other;
static sem_t started;

static void *barriers(void *number)
{
    for (int i = 0; i < 20; i++)
        pthread_barrier_wait(&barrier);
    return number;
}

static void *waiter(void *unused)
{
    (void)unused;
    sem_post(&started);
    while (syscall(SYS_futex, &word, FUTEX_WAIT, 5, NULL) != 0 && errno == EINTR)
        ;
    return NULL;
}

static void futexes(void)
{
    const struct timespec little = {0, 1000000}, wrong = {0, 1000000000}, past = {1, 0};
    pthread_t threads[3];
    SHOW(futex, &word, FUTEX_WAIT, 4, NULL);
    SHOW(futex, &word, FUTEX_WAIT, 5, &little);
    SHOW(futex, &word, FUTEX_WAIT, 5, &wrong);
    SHOW(futex, &word, FUTEX_WAIT_BITSET, 5, &past, NULL, -1);
    SHOW(futex, &word, FUTEX_WAIT_BITSET, 5, &past, NULL, 0);
    SHOW(futex, &word, FUTEX_WAIT_BITSET | FUTEX_CLOCK_REALTIME, 5, &past, NULL, -1);
    SHOW(futex, (char *)&word + 1, FUTEX_WAIT, 5, NULL);
    SHOW(futex, NOWHERE, FUTEX_WAIT, 5, NULL);
    SHOW(futex, &word, FUTEX_WAKE, 1);
    SHOW(futex, &word, 99, 1);
    SHOW(futex, &word, FUTEX_CMP_REQUEUE, 1, 1, &other, 4);
    SHOW(futex, &word, FUTEX_WAKE_OP, 1, 1, &other, FUTEX_OP(FUTEX_OP_ADD, 3, FUTEX_OP_CMP_EQ, 0));
    printf("other %d\n", other);
    sem_init(&started, 0, 0);
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, waiter, NULL);
    for (int i = 0; i < 3; i++)
        sem_wait(&started);
    const struct timespec longer = {0, 200000000};
    nanosleep(&longer, NULL);                  /* now they wait */
    SHOW(futex, &word, FUTEX_WAKE_PRIVATE, 1); /* another futex */
    SHOW(futex, &word, FUTEX_CMP_REQUEUE, 1, 1, &other, 5);
    SHOW(futex, &other, FUTEX_WAKE, 9);
    SHOW(futex, &word, FUTEX_WAKE, 9);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
}

static void *owner(void *mutex)
{
    pthread_mutex_lock(mutex);
    return NULL;
}

static void robust(void)
{
    pthread_mutexattr_t kind;
    pthread_mutex_t mutex;
    pthread_t thread;
    pthread_mutexattr_init(&kind);
    pthread_mutexattr_setrobust(&kind, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&mutex, &kind);
    pthread_create(&thread, NULL, owner, &mutex);
    pthread_join(thread, NULL);
    printf("owner died: %d\n", pthread_mutex_lock(&mutex) == EOWNERDEAD);
}

static void *spin(void *flag)
{
    while (!*(volatile int *)flag)
        ;
    return NULL;
}

static void turns(void)
{
    int flag = 0;
    pthread_t thread;
    cpu_set_t set;
    pthread_create(&thread, NULL, spin, &flag);
    SHOW(sched_yield);
    flag = 1;
    pthread_join(thread, NULL);
    CPU_ZERO(&set);
    SHOW_OK(sched_getaffinity, 0, sizeof set, &set);
    SHOW(sched_getaffinity, 0, 3, &set);
    SHOW(sched_getaffinity, 1 << 22, sizeof set, &set);
    SHOW(sched_setaffinity, 0, sizeof set, &set);
    CPU_ZERO(&set);
    SHOW(sched_setaffinity, 0, sizeof set, &set);
}

static void *exits(void *unused)
{
    (void)unused;
    syscall(SYS_exit, 0);
    return NULL;
}

static volatile uint32_t *shared_code;
static volatile int wanted, done;
enum { ROUNDS = 8 }; /* each spins for two turns of a hart */

/* Writes a function that returns `value`. */
static void emit(int value)
{
    shared_code[0] = 0x00000513 | (uint32_t)value << 20; /* li a0, value */
    shared_code[1] = 0x00008067;                         /* ret */
    asm volatile("fence.i" ::: "memory");
}

static void *run_other(void *unused)
{
    for (int i = 1; i <= ROUNDS; i++) {
        while (wanted != i)
            ;
        asm volatile("fence.i" ::: "memory");
        if (((long (*)(void))(uintptr_t)shared_code)() != i)
            printf("%d: old code\n", i);
        done = i;
    }
    return unused;
}

/* Another thread runs what this one writes. */
static void other_thread(void)
{
    pthread_t thread;
    shared_code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    pthread_create(&thread, NULL, run_other, NULL);
    for (int i = 1; i <= ROUNDS; i++) {
        emit(i);
        wanted = i;
        while (done != i)
            ;
    }
    pthread_join(thread, NULL);
    printf("another thread's code: %d\n", done);
}

int main(void)
{
    pthread_t threads[6];
    long sum = 0;
    void *result;
    printf("first thread is the process: %d\n", SHOW_OK(gettid) == getpid());
    pthread_barrier_init(&barrier, NULL, 6);
    for (long i = 0; i < 6; i++)
        pthread_create(&threads[i], NULL, barriers, (void *)i);
    for (int i = 0; i < 6; i++) {
        pthread_join(threads[i], &result);
        sum += (long)result;
    }
    printf("sum %ld\n", sum);
    SHOW(clone, 0x10000, 0, 0, 0, 0);
    futexes();
    robust();
    turns();
    pthread_create(&threads[0], NULL, exits, NULL);
    pthread_join(threads[0], NULL);
    printf("joined\n");
    other_thread();
    fflush(stdout);
    syscall(SYS_exit_group, 258);
    return 0;
}
