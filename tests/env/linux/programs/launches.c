/* Threads of a Linux program that launch kernels: output equal to qemu-riscv64's, where the program's threads run them. An argument
 * chooses an error, on machines with multiprocessors. */
#include "calls.h"

#include <croft/simt.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/time.h>

/* The numbers of croft's calls (croft/simt_call.h), which Linux has not. */
enum { SYS_simt_launch = 464, SYS_simt_wait, SYS_simt_query };

enum { CELLS = 4096, THREADS = 4, ROUNDS = 5 };

struct work {
    const int *from;
    int *to;
    atomic_int *sum, *flag;
    int factor, result;
};

static int scale = 3; /* kernels see the program's variables */
static atomic_int signals;

static void multiply(const struct work *w)
{
    for (long i = (long)thread_id(); i < CELLS; i += (long)thread_count()) {
        w->to[i] = w->from[i] * w->factor * scale;
        atomic_fetch_add_explicit(w->sum, 1, memory_order_relaxed);
    }
}

static void await(const struct work *w)
{
    while (!atomic_load(w->flag))
        simt_pause();
    w->to[thread_id()] = 7;
}

static void reverse(const struct work *w)
{
    int *shared = simt_shared();
    const unsigned i = thread_x() + block_dim_x() * thread_y(), n = block_size();
    shared[i] = (int)thread_id();
    simt_barrier();
    w->to[block_id() * n + i] = shared[n - 1 - i];
}

static void refuse(struct work *w)
{
    w->result = (int)croft_simt_launch(0, NULL, simt_dim(1), simt_dim(1), (struct simt_options){.unused = 0});
}

static void spin(const struct work *w)
{
    for (int i = 0; i < 8000; i++)
        atomic_fetch_add_explicit(w->sum, 1, memory_order_relaxed);
}

/* Each thread launches for itself. */
static void *worker(void *argument)
{
    const int number = (int)(long)argument;
    long *result = malloc(sizeof *result);
    int *from = malloc(CELLS * sizeof *from);
    atomic_int sum = 0;
    for (int i = 0; i < CELLS; i++)
        from[i] = i + number;
    *result = 0;
    for (int round = 0; round < ROUNDS; round++) {
        int *to = mmap(NULL, CELLS * sizeof *to, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        struct work w = {.from = from, .to = to, .sum = &sum, .factor = round + 1};
        const long launch = simt_launch(multiply, &w, simt_dim(4), simt_dim(64), .queue = (uint64_t)number);
        if (launch < 1 || simt_wait(launch) != 0)
            *result = -1000000;
        for (int i = 0; i < CELLS; i++)
            *result += to[i];
        munmap(to, CELLS * sizeof *to);
    }
    *result += sum;
    free(from);
    return result;
}

static void *set_flag(void *flag)
{
    for (int i = 0; i < 3; i++)
        usleep(100);
    atomic_store((atomic_int *)flag, 1);
    return NULL;
}

static void several(void)
{
    pthread_t threads[THREADS];
    for (long i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, worker, (void *)i);
    for (int i = 0; i < THREADS; i++) {
        long *result;
        pthread_join(threads[i], (void **)&result);
        printf("thread %d: %ld\n", i, *result);
        free(result);
    }
    printf("all: %d\n", simt_wait(0));
}

/* The program's other threads run while a kernel does. */
static void beside(void)
{
    pthread_t thread;
    atomic_int flag = 0;
    int to[64] = {0};
    struct work w = {.to = to, .flag = &flag};
    pthread_create(&thread, NULL, set_flag, &flag);
    simt_launch(await, &w, simt_dim(2), simt_dim(32));
    printf("waits: %d\n", simt_wait(0));
    pthread_join(thread, NULL);
    printf("set: %d %d\n", to[0], to[63]);
}

static void note(int number)
{
    (void)number;
    atomic_fetch_add(&signals, 1);
}

/* Handlers of signals run while a thread waits, which then goes on waiting. */
static void interrupted(void)
{
    const struct itimerval often = {{0, 50}, {0, 50}}, never = {{0, 0}, {0, 0}};
    atomic_int sum = 0;
    struct work w = {.sum = &sum};
    signal(SIGALRM, note);
    setitimer(ITIMER_REAL, &often, NULL);
    const long launch = simt_launch(spin, &w, simt_dim(8), simt_dim(32));
    const int waited = simt_wait(launch);
    setitimer(ITIMER_REAL, &never, NULL);
    printf("interrupted: %d, %d\n", waited, sum);
}

static void blocks(void)
{
    static int to[2 * 2 * 32];
    struct work w = {.to = to};
    simt_launch(reverse, &w, simt_dim(2, 2), simt_dim(8, 4), .scratchpad = 32 * sizeof(int));
    simt_wait(0);
    for (int i = 0; i < 128; i += 13)
        printf("%d ", to[i]);
    printf("\n");
}

/* Makes a call that returns -1, and prints the error. */
#define FAILS(call) printf("%s: %d %s\n", #call, (int)(call), strerrorname_np(errno))

static void errors(void)
{
    struct work w = {.result = 0};
    FAILS(simt_launch(refuse, &w, simt_dim(0), simt_dim(1)));
    FAILS(simt_launch(refuse, &w, simt_dim(1), simt_dim(0)));
    FAILS(simt_launch(refuse, &w, simt_dim(1), simt_dim(100000)));
    FAILS(simt_launch(refuse, &w, simt_dim(1), simt_dim(1), .scratchpad = 1 << 30));
    FAILS(simt_wait(1000));
    FAILS(simt_wait(-1));
    simt_launch(refuse, &w, simt_dim(1), simt_dim(1));
    printf("wait: %d\n", simt_wait(0));
    printf("in a kernel: %d\n", w.result);
}

/* What the machine says by croft's calls, which are ENOSYS on Linux. */
static int calls(void)
{
    int wrong = 0;
    wrong += syscall(SYS_simt_query, 0L) != 2;
    wrong += syscall(SYS_simt_query, 1L) != 32;
    wrong += syscall(SYS_simt_query, 99L) != -1 || errno != EINVAL;
    wrong += syscall(SYS_simt_launch, NOWHERE) != -1 || errno != EFAULT;
    wrong += syscall(SYS_simt_wait, 5L) != -1 || errno != EINVAL;
    printf("%d wrong calls\n", wrong);
    return wrong;
}

static __thread int local;

static void use_local(struct work *w)
{
    w->result = ++local;
}

static void store_nowhere(struct work *w)
{
    (void)w;
    *(volatile int *)8 = 1;
}

static long raw(long number, long a0, long a1, long a2)
{
    register long x10 __asm__("a0") = a0;
    register long x11 __asm__("a1") = a1;
    register long x12 __asm__("a2") = a2;
    register long x17 __asm__("a7") = number;
    __asm__ volatile("ecall" : "+r"(x10) : "r"(x11), "r"(x12), "r"(x17) : "memory");
    return x10;
}

static void call(struct work *w)
{
    static const char text[] = "a kernel writes\n";
    w->result = raw(SYS_write, 1, (long)text, sizeof text - 1) == sizeof text - 1;
    w->result += raw(SYS_mmap, 0, 4096, 0) == -ENOSYS;
}

static void end(struct work *w)
{
    (void)w;
    raw(SYS_exit_group, 5, 0, 0);
}

static void forever(struct work *w)
{
    while (!atomic_load(w->flag))
        simt_pause();
}

static int error(const char *which)
{
    atomic_int flag = 0;
    struct work w = {.flag = &flag, .result = 0};
    if (strcmp(which, "calls") == 0)
        return calls();
    else if (strcmp(which, "local") == 0)
        simt_launch(use_local, &w, simt_dim(1), simt_dim(2));
    else if (strcmp(which, "fault") == 0)
        simt_launch(store_nowhere, &w, simt_dim(1), simt_dim(2));
    else if (strcmp(which, "end") == 0)
        simt_launch(end, &w, simt_dim(1), simt_dim(2));
    else if (strcmp(which, "forever") == 0)
        simt_launch(forever, &w, simt_dim(1), simt_dim(2));
    else
        simt_launch(call, &w, simt_dim(1), simt_dim(1));
    simt_wait(0);
    printf("result %d\n", w.result);
    return 0;
}

int main(int count, char **arguments)
{
    if (count > 1 && strcmp(arguments[1], "argument") != 0)
        return error(arguments[1]);
    several();
    beside();
    interrupted();
    blocks();
    errors();
    return 0;
}
