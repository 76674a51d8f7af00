/* Names of threads, mutexes that inherit priorities, timers of processor time, and processors that threads ask for. */
#include "calls.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <time.h>

enum { LOCK = 6, UNLOCK = 7, TRY = 8, LOCK2 = 13, PRIVATE = 128, REAL = 256 };

static volatile uint32_t word;
static volatile int asks, struck, named;
static pthread_mutex_t mutex;
static volatile int turns, signals;

static void sleep_ms(long ms)
{
    struct timespec time = {ms / 1000, ms % 1000 * 1000000};
    while (nanosleep(&time, &time) != 0)
        ;
}

static void *ask(void *unused)
{
    struct timespec past = {1, 0};
    SHOW(futex, &word, TRY | PRIVATE, 0, NULL);
    SHOW(futex, &word, LOCK | PRIVATE, 0, &past);
    SHOW(futex, &word, LOCK2 | PRIVATE | REAL, 0, &past);
    SHOW(futex, &word, UNLOCK | PRIVATE, 0, NULL);
    asks = 1;
    SHOW(futex, &word, LOCK | PRIVATE, 0, NULL);
    printf("its own %d\n", (word & 0x3fffffff) == (uint32_t)gettid());
    SHOW(futex, &word, UNLOCK | PRIVATE, 0, NULL);
    return unused;
}

static void strike(int number)
{
    struck = number;
}

static void *wait_through(void *unused)
{
    (void)unused;
    const long result = syscall(SYS_futex, &word, LOCK | PRIVATE, 0, NULL);
    (void)syscall(SYS_futex, &word, UNLOCK | PRIVATE, 0, NULL);
    return (void *)result;
}

/* A call that waits for a mutex goes on after a handler, also without SA_RESTART. */
static void interruptions(void)
{
    const struct sigaction action = {.sa_handler = strike};
    pthread_t thread;
    void *result;
    sigaction(SIGUSR1, &action, NULL);
    SHOW(futex, &word, LOCK | PRIVATE, 0, NULL);
    pthread_create(&thread, NULL, wait_through, NULL);
    while (!(word >> 31))
        sleep_ms(1);
    sleep_ms(20);
    pthread_kill(thread, SIGUSR1);
    while (!struck)
        sleep_ms(1);
    SHOW(futex, &word, UNLOCK | PRIVATE, 0, NULL);
    pthread_join(thread, &result);
    printf("locked %ld\n", (long)result);
}

static void words(void)
{
    pthread_t thread;
    uint32_t gone = 1 << 22;
    SHOW(futex, &word, LOCK | PRIVATE, 0, NULL);
    printf("its own %d\n", word == (uint32_t)gettid());
    SHOW(futex, &word, LOCK | PRIVATE, 0, NULL);
    pthread_create(&thread, NULL, ask, NULL);
    while (!asks)
        sleep_ms(1);
    sleep_ms(20);
    printf("waited for %d\n", word == ((uint32_t)gettid() | 1U << 31));
    const long given = syscall(SYS_futex, &word, UNLOCK | PRIVATE, 0, NULL);
    pthread_join(thread, NULL);
    printf("given %ld\n", given);
    printf("free %d\n", word == 0);
    SHOW(futex, &gone, LOCK | PRIVATE, 0, NULL);
    SHOW(futex, (char *)&word + 1, LOCK | PRIVATE, 0, NULL);
    SHOW(futex, NOWHERE, LOCK | PRIVATE, 0, NULL);
    SHOW(futex, NOWHERE, UNLOCK | PRIVATE, 0, NULL);
}

/* Ends as the owner once another thread waits. */
static void *end_as_owner(void *kind)
{
    SHOW(futex, &word, LOCK | (long)kind, 0, NULL);
    while (!(word >> 31))
        sleep_ms(1);
    sleep_ms(20);
    return NULL;
}

/* A mutex that is on no list of robust ones, and whose owner ends. */
static void ends(void)
{
    pthread_t thread;
    for (long kind = 0; kind <= PRIVATE; kind += PRIVATE) {
        pthread_create(&thread, NULL, end_as_owner, (void *)kind);
        while (!word)
            sleep_ms(1);
        const long locked = syscall(SYS_futex, &word, LOCK | kind, 0, NULL);
        pthread_join(thread, NULL);
        printf("locked %ld, the owner died %d\n", locked, word == ((uint32_t)gettid() | 3U << 30));
        SHOW(futex, &word, UNLOCK | kind, 0, NULL);
        printf("free %d\n", word == 0);
    }
}

/* What mutexes without an owner keep of their words. */
static void kept_bits(void)
{
    for (uint32_t bits = 0; bits < 4; bits++)
        for (int call = LOCK; call <= TRY; call += TRY - LOCK) {
            word = bits << 30;
            SHOW(futex, &word, call | PRIVATE, 0, NULL);
            printf("%u of %u\n", word >> 30, bits);
        }
    word = 0;
}

static void *count(void *rounds)
{
    for (long i = 0; i < (long)rounds; i++) {
        pthread_mutex_lock(&mutex);
        turns++;
        if (i % 100 == 0)
            sched_yield();
        pthread_mutex_unlock(&mutex);
    }
    return NULL;
}

static void note(int number)
{
    signals += number == SIGUSR1;
}

static void *interrupted(void *unused)
{
    const int failed = pthread_mutex_lock(&mutex);
    printf("locked in spite of signals: %d\n", failed);
    pthread_mutex_unlock(&mutex);
    return unused;
}

static void mutexes(void)
{
    pthread_mutexattr_t attributes;
    pthread_t threads[4];
    pthread_mutexattr_init(&attributes);
    printf("%d\n", pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT));
    printf("%d\n", pthread_mutex_init(&mutex, &attributes));
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, count, (void *)1000L);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    printf("turns %d\n", turns);
    signal(SIGUSR1, note);
    pthread_mutex_lock(&mutex);
    pthread_create(&threads[0], NULL, interrupted, NULL);
    sleep_ms(3);
    for (int i = 0; i < 3; i++) {
        pthread_kill(threads[0], SIGUSR1);
        sleep_ms(1);
    }
    pthread_mutex_unlock(&mutex);
    pthread_join(threads[0], NULL);
    printf("signals %d\n", signals > 0);
}

static volatile int ticks;

static void tick(int number)
{
    ticks += number == SIGUSR2;
}

/* Timers that stand still while the process sleeps. */
static void cpu_timers(void)
{
    static const struct itimerspec once = {{0, 0}, {0, 2000000}}, often = {{0, 1000000}, {0, 1000000}},
                                   far = {{0, 0}, {50, 0}};
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR2};
    struct itimerspec rest;
    clockid_t own;
    int timer;
    signal(SIGUSR2, tick);
    pthread_getcpuclockid(pthread_self(), &own);
    const clockid_t clocks[] = {CLOCK_PROCESS_CPUTIME_ID, CLOCK_THREAD_CPUTIME_ID, own};
    for (int i = 0; i < 3; i++) {
        ticks = 0;
        SHOW(timer_create, clocks[i], &event, &timer);
        SHOW(timer_settime, timer, 0, &once, NULL);
        while (ticks == 0)
            ;
        printf("once %d\n", ticks);
        SHOW(timer_settime, timer, 0, &often, NULL);
        while (ticks < 4)
            ;
        SHOW(timer_settime, timer, 0, &far, NULL);
        sleep_ms(10);
        SHOW(timer_gettime, timer, &rest);
        printf("stood still %d\n", rest.it_value.tv_sec >= 49);
        SHOW(timer_delete, timer);
    }
    SHOW(timer_create, ~(1 << 22) << 3 | 6, &event, &timer);
    SHOW(timer_create, ~(1 << 22) << 3 | 2, &event, &timer);
}

static void *ask_processors(void *unused)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    SHOW_OK(sched_getaffinity, 0, sizeof set, &set);
    printf("inherited %d %d\n", CPU_COUNT(&set), CPU_ISSET(0, &set));
    return unused;
}

static void processors(void)
{
    cpu_set_t set;
    pthread_t thread;
    CPU_ZERO(&set);
    SHOW(sched_setaffinity, 0, sizeof set, &set);
    CPU_SET(0, &set);
    SHOW(sched_setaffinity, 0, sizeof set, &set);
    SHOW(sched_setaffinity, 1 << 22, sizeof set, &set);
    SHOW(sched_getaffinity, 1 << 22, sizeof set, &set);
    SHOW(sched_setaffinity, 0, sizeof set, NOWHERE);
    CPU_ZERO(&set);
    SHOW_OK(sched_getaffinity, 0, sizeof set, &set);
    printf("%d %d\n", CPU_COUNT(&set), CPU_ISSET(0, &set));
    pthread_create(&thread, NULL, ask_processors, NULL);
    pthread_join(thread, NULL);
}

static void *be_named(void *unused)
{
    while (!named)
        sleep_ms(1);
    return unused;
}

/* The C library writes and reads the names of other threads in /proc. */
static void names(void)
{
    char name[16] = "", path[64];
    pthread_t thread;
    pthread_create(&thread, NULL, be_named, NULL);
    printf("%d\n", pthread_setname_np(thread, "a name"));
    printf("%d %s\n", pthread_getname_np(thread, name, sizeof name), name);
    (void)snprintf(path, sizeof path, "/proc/self/task/%d/comm", gettid());
    const int fd = open(path, O_WRONLY);
    SHOW(write, fd, "one that is longer than names are", 33);
    SHOW(write, fd, NOWHERE, 1);
    printf("%d %s\n", pthread_getname_np(pthread_self(), name, sizeof name), name);
    SHOW(write, fd, "main", 4);
    SHOW_OK(openat, AT_FDCWD, "/proc/self/comm", O_RDONLY);
    close(fd);
    named = 1;
    pthread_join(thread, NULL);
}

int main(void)
{
    names();
    words();
    interruptions();
    ends();
    kept_bits();
    mutexes();
    cpu_timers();
    processors();
    return 0;
}
