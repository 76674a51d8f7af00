/* Threads on several hosts that work, launch kernels and wait: guest_launch WHAT [THREADS] [ROUNDS]. Prints the same on Linux. */
#include <croft/simt.h>
#include <croft/threads.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 16, PAGE = 4096, BLOCKS = 3, LANES = 64, CELLS = BLOCKS * LANES };

static struct croft_thread threads[MOST];
static long count = 2, rounds = 2;
static _Atomic unsigned kernels, stage;

/* Pages that threads and kernels of all hosts touch first, at any time. */
static long *common;

struct job {
    long *fresh, *here; /* an untouched mapping; the host's own array */
    long number, round;
    long words; /* of the mapping */
};
static struct job jobs[MOST];
static long sums[MOST];

static long call(long number, long first, long second, long third, long fourth)
{
    register long a7 __asm__("a7") = number, a0 __asm__("a0") = first, a1 __asm__("a1") = second;
    register long a2 __asm__("a2") = third, a3 __asm__("a3") = fourth, a4 __asm__("a4") = -1;
    register long a5 __asm__("a5") = 0;
    __asm__ volatile("ecall" : "+r"(a0) : "r"(a1), "r"(a2), "r"(a3), "r"(a4), "r"(a5), "r"(a7) : "memory");
    return a0;
}

/* mmap: private and anonymous, for reading and writing. */
static long *map(long bytes)
{
    long at = call(222, 0, bytes, 3, 0x22);
    if (at < 0 && at > -PAGE)
        abort();
    return (long *)at;
}

static void unmap(long *at, long bytes)
{
    if (call(215, (long)at, bytes, 0, 0) != 0)
        abort();
}

/* The kernel's threads touch the mapping's pages first. */
static void fill(struct job *job)
{
    for (long i = (long)thread_id(); i < job->words; i += CELLS)
        job->fresh[i] = i * (job->number + 3) + job->round;
    if (thread_id() % 32 == 5) { /* a call for the host that launched the kernel */
        long *own = malloc(3 * PAGE);
        if (!own)
            abort();
        own[thread_id()] = 1;
        common[(job->number * CELLS + (long)thread_id()) * 7] += own[thread_id()];
        free(own);
    }
}

static void take(struct job *job)
{
    long sum = 0;
    for (long i = (long)thread_id(); i < job->words; i += CELLS)
        sum += job->fresh[i];
    job->here[thread_id()] += sum;
    atomic_fetch_add(&kernels, 1);
}

static long launch(void (*what)(struct job *), struct job *job)
{
    long number =
        what == fill
            ? simt_launch(fill, job, simt_dim(BLOCKS), simt_dim(LANES), .queue = (uint64_t)job->number)
            : simt_launch(take, job, simt_dim(BLOCKS), simt_dim(LANES), .queue = (uint64_t)job->number);
    if (number < 0)
        abort();
    return number;
}

static void work(void *argument)
{
    static _Thread_local long mine = 7;
    long number = (long)argument;
    struct job *job = &jobs[number];
    mine += number;
    job->number = number;
    job->here = calloc(CELLS, sizeof *job->here);
    for (job->round = 0; job->round < rounds; job->round++) {
        long bytes = PAGE * (1 + (number + job->round) % 5);
        job->words = bytes / (long)sizeof(long);
        job->fresh = map(bytes);
        (void)launch(fill, job);
        long last = launch(take, job);
        for (long i = 0; i < CELLS; i++) /* beside the kernels */
            mine += i * number;
        errno = (int)number;
        if (simt_wait(last) != 0 || errno != number)
            abort();
        common[(number * CELLS + 3) * 7] += job->fresh[1];
        unmap(job->fresh, bytes); /* while kernels of other hosts translate */
    }
    for (long i = 0; i < CELLS; i++)
        sums[number] += job->here[i];
    sums[number] += mine;
    mine = 7; /* the caller may be the next thread, too */
    free(job->here);
}

static void start_all(void (*run)(void *))
{
    for (long i = 1; i < count; i++)
        if (croft_thread_start(&threads[i], run, (void *)i) != 0)
            run((void *)i);
    run(0);
    for (long i = 1; i < count; i++)
        croft_thread_join(&threads[i]);
}

static int test_work(void)
{
    long sum = 0;
    start_all(work);
    start_all(work);
    for (long i = 0; i < MOST * CELLS; i++)
        sum += common[i * 7];
    for (long i = 0; i < count; i++)
        printf("thread %ld: %ld\n", i, sums[i]);
    printf("%u threads of kernels, %ld\n", kernels, sum);
    return 0;
}

/* Threads end while their kernels run: their hosts still serve the kernels' page faults and calls. */
static void leave(void *argument)
{
    struct job *job = &jobs[(long)argument];
    job->number = (long)argument;
    job->words = 8 * PAGE / (long)sizeof(long);
    job->fresh = map(8 * PAGE);
    job->here = calloc(CELLS, sizeof *job->here);
    (void)launch(fill, job);
    (void)launch(take, job);
}

static int test_leave(void)
{
    for (long i = 1; i < count; i++)
        if (croft_thread_start(&threads[i], leave, (void *)i) != 0)
            leave((void *)i);
    for (long i = 1; i < count; i++)
        croft_thread_join(&threads[i]);
    if (simt_wait(0) != 0)
        return 1;
    for (long i = 1; i < count; i++) {
        long sum = 0;
        for (long j = 0; j < CELLS; j++)
            sum += jobs[i].here[j];
        printf("%ld: %ld\n", i, sum);
    }
    return 0;
}

/* One thread launches, another one waits for its launch, and a third for all. */
static long launched;

static void wait_for(void *argument)
{
    while (!atomic_load(&stage))
        continue;
    if (simt_wait((long)argument == 1 ? launched : 0) != 0)
        abort();
    sums[(long)argument] = jobs[0].here[0];
}

static int test_others(void)
{
    bool started = true;
    for (long i = 1; i < 3; i++)
        started = croft_thread_start(&threads[i], wait_for, (void *)i) == 0 && started;
    jobs[0] =
        (struct job){.fresh = map(4 * PAGE), .here = calloc(CELLS, sizeof(long)), .words = 4 * PAGE / 8};
    (void)launch(fill, &jobs[0]);
    launched = launch(take, &jobs[0]);
    atomic_store(&stage, 1);
    for (long i = 1; i < 3; i++)
        if (threads[i].memory)
            croft_thread_join(&threads[i]);
        else
            wait_for((void *)i);
    printf("%ld %ld\n", sums[1], sums[2]);
    printf("%d", simt_wait(1000000));
    printf(" %d\n", errno == EINVAL);
    return 0;
}

/* More launches than the machine holds, of all threads. */
static void nothing(struct job *job)
{
    (void)job;
    if (thread_id() == 0)
        atomic_fetch_add(&kernels, 1);
}

static void flood(void *argument)
{
    for (long i = 0; i < 100; i++)
        if (simt_launch(nothing, &jobs[0], simt_dim(1), simt_dim(1), .queue = (uint64_t)(long)argument) < 0)
            abort();
}

static int test_flood(void)
{
    start_all(flood);
    if (simt_wait(0) != 0)
        return 1;
    printf("%u\n", kernels);
    return 0;
}

/* A kernel's fault names thread and launch, and ends the program. */
static void store(struct job *job)
{
    if (thread_id() == 40)
        *(volatile long *)job->here = 1;
}

static void crash(void *argument)
{
    jobs[0].here = argument;
    (void)simt_launch(store, &jobs[0], simt_dim(1), simt_dim(64));
    (void)simt_wait(0);
}

static int test_crash(void)
{
    if (croft_thread_start(&threads[1], crash, (void *)16) != 0)
        crash((void *)16);
    else
        croft_thread_join(&threads[1]);
    return 0;
}

/* A thread's own fault. */
static void trap(void *argument)
{
    *(volatile long *)argument = 1;
}

static int test_trap(void)
{
    if (croft_thread_start(&threads[1], trap, (void *)16) == 0)
        croft_thread_join(&threads[1]);
    return 0;
}

static void end(void *argument)
{
    exit((int)(long)argument);
}

static int test_exit(void)
{
    if (croft_thread_start(&threads[1], end, (void *)5) != 0)
        end((void *)5);
    croft_thread_join(&threads[1]);
    return 0;
}

/* Waits for a word that nobody changes. */
static int test_stuck(void)
{
    static unsigned word = 1;
    (void)call(98, (long)&word, 0, 1, 0);
    return 0;
}

static void beat(void *argument)
{
    (void)argument;
    for (long i = 0; i < 200; i++)
        (void)call(178, 0, 0, 0, 0); /* gettid */
    atomic_store(&stage, 1);
}

/* A thread that sleeps is not delayed by another one's calls, nor delays it. */
static int test_sleep(void)
{
    struct {
        long seconds, fraction;
    } time = {0, 5000000}, before, after;
    unsigned early = croft_thread_start(&threads[1], beat, NULL);
    (void)call(113, 1, (long)&before, 0, 0);
    (void)call(101, (long)&time, 0, 0, 0);
    (void)call(113, 1, (long)&after, 0, 0);
    early |= !atomic_load(&stage);
    croft_thread_join(&threads[1]);
    printf("%u %d\n", early,
           (after.seconds - before.seconds) * 1000000000 + after.fraction - before.fraction >= 5000000);
    return 0;
}

static int test_ids(void)
{
    printf("%ld\n", call(178, 0, 0, 0, 0) > 0);
    return 0;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        int (*run)(void);
    } tests[] = {{"work", test_work},   {"leave", test_leave}, {"others", test_others}, {"flood", test_flood},
                 {"crash", test_crash}, {"trap", test_trap},   {"exit", test_exit},     {"stuck", test_stuck},
                 {"sleep", test_sleep}, {"ids", test_ids}};
    count = argc > 2 ? strtol(argv[2], NULL, 10) : 2;
    rounds = argc > 3 ? strtol(argv[3], NULL, 10) : 2;
    common = map(MOST * CELLS * 7 * (long)sizeof(long));
    for (size_t i = 0; count >= 1 && count <= MOST && argc > 1 && i < sizeof tests / sizeof *tests; i++)
        if (strcmp(argv[1], tests[i].name) == 0)
            return tests[i].run();
    return 2;
}
