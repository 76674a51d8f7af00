/* Threads on several hosts: guest_hosts WHAT [THREADS]. Prints the same on Linux. */
#include <croft/nucd.h>
#include <croft/threads.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST = 8, ROUNDS = 4, PAGE = 4096 };

static struct croft_thread threads[MOST];
static long count = 2, sums[MOST];
static volatile unsigned stage;
static unsigned char pages[2 * PAGE] __attribute__((aligned(4096)));

CROFT_REGION(add, CROFT_INOUT(long *, to, number * sizeof *to), CROFT_VALUE(long, number),
             CROFT_VALUE(long, what))
{
    for (long i = 0; i < number; i++)
        to[i] += what;
}

CROFT_REGION_RETURNS(long, total, CROFT_IN(const long *, from, number * sizeof *from),
                     CROFT_VALUE(long, number))
{
    long sum = 0;
    for (long i = 0; i < number; i++)
        sum += from[i];
    return sum;
}

CROFT_REGION_RETURNS(double, third, CROFT_VALUE(double, what))
{
    return what / 3;
}

CROFT_REGION(store, CROFT_OUT(long *, to, 8), CROFT_VALUE(long *, other))
{
    *to = 1;
    *other = 1;
}

CROFT_REGION_RETURNS(long, ask, CROFT_VALUE(long, clock))
{
    struct timespec now;
    return clock_gettime((clockid_t)clock, &now) == 0 && now.tv_sec > 0;
}

static long call(long number, long first, long second, long third)
{
    register long a7 __asm__("a7") = number, a0 __asm__("a0") = first, a1 __asm__("a1") = second;
    register long a2 __asm__("a2") = third, a3 __asm__("a3") = 0;
    __asm__ volatile("ecall" : "+r"(a0) : "r"(a1), "r"(a2), "r"(a3), "r"(a7) : "memory");
    return a0;
}

static void await_stage(unsigned what)
{
    while (stage < what)
        continue;
    __sync_synchronize();
}

/* Memory comes and goes while the other threads' tasks use theirs. */
static void work(void *argument)
{
    static _Thread_local long mine = 7;
    long number = (long)argument, sum = 0;
    mine += number;
    for (long round = 0; round < ROUNDS; round++) {
        long cells = 2000 + 3000 * ((round * 7 + number) % 8), *cell = calloc((size_t)cells, sizeof *cell);
        CROFT_FOR_TASKS(part, cells, 4, 8)
        add(cell + part.first, part.count, number + round);
        sum += total(cell, cells);
        errno = (int)number;
        if (round % 4 == number % 4)
            (void)nanosleep(&(struct timespec){0, 2000}, NULL);
        if (errno != number)
            abort();
        free(cell);
    }
    sums[number] += sum + mine;
    mine -= number; /* the caller may be the next thread, too */
}

static int test_work(void)
{
    for (int round = 0; round < 2; round++) {
        for (long i = 1; i < count; i++)
            if (croft_thread_start(&threads[i], work, (void *)i) != 0)
                work((void *)i);
        work(0);
        for (long i = 1; i < count; i++)
            croft_thread_join(&threads[i]);
    }
    for (long i = 0; i < count; i++)
        printf("thread %ld: %ld\n", i, sums[i]);
    return 0;
}

/* Rounding modes are inherited, flags belong to each thread. */
static void check_floats(void *argument)
{
    unsigned long mode, flags;
    (void)argument;
    __asm__ volatile("frrm %0" : "=r"(mode));
    volatile double quotient = third(1);
    __asm__ volatile("frflags %0" : "=r"(flags));
    printf("mode %lu, flags %lu, %a\n", mode, flags, quotient);
}

static int test_floats(void)
{
    unsigned long flags;
    __asm__ volatile("fsrm %0" : : "r"(3L));
    __asm__ volatile("fsflags zero");
    if (croft_thread_start(&threads[1], check_floats, NULL) == 0)
        croft_thread_join(&threads[1]);
    __asm__ volatile("frflags %0" : "=r"(flags));
    printf("here %lu\n", flags);
    return 0;
}

static void make_call(void *argument)
{
    sums[(long)argument] = ask(0);
}

static int test_call(void)
{
    if (croft_thread_start(&threads[1], make_call, (void *)1) == 0)
        croft_thread_join(&threads[1]);
    make_call(0);
    printf("%ld %ld\n", sums[0], sums[1]);
    return 0;
}

/* The thread keeps the translation that it has used; it must lose the permission. */
static void store_again(void *argument)
{
    (void)argument;
    pages[0] = 1;
    stage = 1;
    await_stage(2); /* without a call, which would flush translations */
    pages[0] = 2;
    printf("wrong\n");
}

static int test_protect(void)
{
    if (croft_thread_start(&threads[1], store_again, NULL) == 0) {
        await_stage(1);
        if (call(226, (long)pages, PAGE, 1) != 0) /* mprotect, PROT_READ */
            printf("mprotect\n");
        __sync_synchronize();
        stage = 2;
        croft_thread_join(&threads[1]);
    }
    return 0;
}

/* Its range is memory, but what it stores to is not. */
static void fault(void *argument)
{
    store((long *)pages, (long *)argument);
}

static void crash(void *argument)
{
    *(volatile long *)argument = 1;
}

static void leave(void *argument)
{
    (void)argument;
    exit(5);
}

/* The first thread ends before the other one, which ends the program. */
static void outlive(void *argument)
{
    (void)argument;
    while (*(volatile unsigned *)&threads[0].alive)
        continue;
    printf("last\n");
    exit(6);
}

static int test_outlive(void)
{
    threads[0].alive = 1;
    (void)call(96, (long)&threads[0].alive, 0, 0); /* set_tid_address: cleared at the end */
    if (croft_thread_start(&threads[1], outlive, NULL) == 0)
        (void)call(93, 0, 0, 0); /* exit */
    return 1;
}

static int test_end(void (*run)(void *), void *argument)
{
    printf("before\n");
    (void)fflush(stdout);
    if (croft_thread_start(&threads[1], run, argument) == 0)
        croft_thread_join(&threads[1]);
    printf("after\n");
    return 0;
}

/* futex: nobody to wake, misaligned, another value. */
static int test_refusals(void)
{
    unsigned word = 1;
    printf("%ld %ld %ld\n", call(98, (long)&word, 1, 1), call(98, (long)&word + 1, 0, 1),
           call(98, (long)&word, 0, 2));
    return 0;
}

static double cpu_time(long clock)
{
    struct timespec time = {0};
    (void)call(113, clock, (long)&time, 0); /* clock_gettime */
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void sleep_once(void *argument)
{
    (void)argument;
    (void)nanosleep(&(struct timespec){0, 300000000}, NULL);
}

/* Sleeping takes no CPU time, also if several threads sleep at once. 2, 3: the clocks of the process and of the thread. */
static int test_clocks(void)
{
    const double before = cpu_time(2);
    if (croft_thread_start(&threads[1], sleep_once, NULL) == 0) {
        sleep_once(NULL);
        const double asleep = cpu_time(2);
        croft_thread_join(&threads[1]);
        const double process = cpu_time(2), thread = cpu_time(3);
        printf("%d %d %d %d\n", before < 0.2, process < 0.2, thread < 0.2,
               thread <= process && asleep <= process);
    }
    return 0;
}

/* One host fills all queues with long tasks; what the other's task takes. */
static void send_one(void *argument)
{
    static long cells[512];
    long start, end;
    (void)argument;
    await_stage(1);
    __asm__ volatile("rdcycle %0" : "=r"(start) : : "memory");
    add(cells, 512, 1);
    __asm__ volatile("rdcycle %0" : "=r"(end) : : "memory");
    sums[1] = end - start;
}

static int test_share(void)
{
    enum { CELLS = 1 << 16, TASKS = 64 };
    static long cells[CELLS] __attribute__((aligned(4096)));
    long start, end;
    (void)croft_thread_start(&threads[1], send_one, NULL);
    __asm__ volatile("rdcycle %0" : "=r"(start) : : "memory");
    CROFT_FOR_TASKS(part, CELLS, TASKS, 8)
    {
        add(cells + part.first, part.count, 1);
        if (part.first >= CELLS / 2)
            stage = 1;
    }
    __asm__ volatile("rdcycle %0" : "=r"(end) : : "memory");
    croft_thread_join(&threads[1]);
    printf("%ld %ld\n", end - start, sums[1]);
    return 0;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "work";
    count = argc > 2 ? strtol(argv[2], NULL, 10) : 2;
    if (count < 1 || count > MOST)
        return 2;
    if (strcmp(what, "floats") == 0)
        return test_floats();
    if (strcmp(what, "call") == 0)
        return test_call();
    if (strcmp(what, "protect") == 0)
        return test_protect();
    if (strcmp(what, "outlive") == 0)
        return test_outlive();
    if (strcmp(what, "clocks") == 0)
        return test_clocks();
    if (strcmp(what, "share") == 0)
        return test_share();
    if (strcmp(what, "refusals") == 0)
        return test_refusals();
    if (strcmp(what, "fault") == 0)
        return test_end(fault, (void *)8);
    if (strcmp(what, "crash") == 0)
        return test_end(crash, (void *)16);
    return strcmp(what, "exit") == 0 ? test_end(leave, NULL) : test_work();
}
