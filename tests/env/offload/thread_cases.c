/* Processes of Linux that offload beside each other, from several threads, and that end in the middle: what qemu-riscv64 prints, where
 * processes run their regions themselves, they must print on accelerators. Each case is a process of its own. */
#define _GNU_SOURCE
#include <croft/nucd.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "host/linux/nucd_device.h"
#include "regions.h"

enum { LINE = 8, PAGE = 4096, TASKS = 16, ROUNDS = 12 };

/* Counts after a while. */
CROFT_REGION(count_slowly, CROFT_INOUT(long *, line, 64), CROFT_VALUE(long, turns))
{
    for (volatile long i = 0; i < turns; i++)
        continue;
    line[0]++;
}

CROFT_REGION(store, CROFT_VALUE(volatile long *, at), CROFT_VALUE(long, value))
{
    *at = value;
}

/* Counts in a line, and then touches other memory. */
CROFT_REGION(count_and_store, CROFT_INOUT(long *, line, 64), CROFT_VALUE(volatile long *, at))
{
    line[0]++;
    *at = 1;
}

CROFT_REGION(spin, CROFT_VALUE(long, forever))
{
    while (*(volatile long *)&forever)
        continue;
}

static __thread sigjmp_buf back;
static volatile sig_atomic_t signals;

static void come_back(int number)
{
    signals++;
    siglongjmp(back, number);
}

static void catch_faults(void (*handler)(int))
{
    const struct sigaction action = {.sa_handler = handler};
    sigaction(SIGSEGV, &action, NULL);
}

static void pause_for(long microseconds)
{
    nanosleep(&(struct timespec){.tv_nsec = 1000 * microseconds}, NULL);
}

static void *map(size_t bytes, int protection, int flags)
{
    void *mapped = mmap(NULL, bytes, protection, flags | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED)
        perror("mmap");
    return mapped;
}

/* A thread is in calls while the other offloads regions alone, whose results it reads at once. */
static volatile int calls_end;

static void *make_calls(void *context)
{
    static long memory[TASKS * LINE * LINE] __attribute__((aligned(64)));
    long wrong = 0;
    for (long round = 0; !calls_end; round++) {
        CROFT_FOR_TASKS(part, TASKS * LINE * LINE, TASKS, LINE)
        {
            fill(memory + part.first, part.count, round + part.first);
            sched_yield();
        }
        for (long i = 0; i < TASKS * LINE * LINE; i++)
            wrong += memory[i] != round + i;
    }
    *(long *)context = wrong;
    return NULL;
}

static void threads(void)
{
    enum { COUNT = 2000 };
    static long memory[COUNT] __attribute__((aligned(64)));
    long others = 0, wrong = 0;
    pthread_t thread;
    pthread_create(&thread, NULL, make_calls, &others);
    for (long round = 0; round < ROUNDS; round++) {
        sched_yield();
        fill(memory, COUNT, round);
        wrong += memory[COUNT - 1] != round + COUNT - 1;
        wrong += add(memory, COUNT) != round * COUNT + COUNT * (COUNT - 1) / 2;
    }
    calls_end = 1;
    pthread_join(thread, NULL);
    printf("threads: %ld and %ld wrong\n", wrong, others);
}

/* The faults of a thread are its own. */
static void *fault_often(void *context)
{
    (void)context;
    while (!calls_end) {
        if (sigsetjmp(back, 1) == 0)
            store((long *)0x1230, 1);
        sched_yield();
    }
    return NULL;
}

static void neighbours(void)
{
    static long lines[TASKS * LINE] __attribute__((aligned(64)));
    long sum = 0;
    pthread_t thread;
    catch_faults(come_back);
    pthread_create(&thread, NULL, fault_often, NULL);
    for (int round = 0; round < ROUNDS; round++) {
        CROFT_FOR_TASKS(part, TASKS * LINE, TASKS, LINE)
        {
            count_slowly(lines + part.first, 2000);
            sched_yield();
        }
    }
    calls_end = 1;
    pthread_join(thread, NULL);
    for (int i = 0; i < TASKS; i++)
        sum += lines[i * LINE];
    printf("neighbours: %ld, %s\n", sum, signals ? "faults" : "no fault");
}

/* A task of a call faults, and the program leaves the call. The next region is executed once. */
static void left(void)
{
    static long line[LINE] __attribute__((aligned(64)));
    catch_faults(come_back);
    if (sigsetjmp(back, 1) == 0) {
        CROFT_FOR_TASKS(part, TASKS * LINE, TASKS, LINE)
        {
            store((long *)0x1230 + part.first, 1);
            pause_for(100);
        }
    }
    count_slowly(line, 2000);
    printf("left: %ld", line[0]);
    count_slowly(line, 2000);
    printf(" %ld, %s\n", line[0], signals ? "a fault" : "no fault");
}

/* Parts of what regions have used are unmapped, protected and replaced. */
static void parts(void)
{
    enum { PAGES = 16, WORDS = PAGE / sizeof(long) };
    long *memory = map(PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE);
    volatile int faults = 0;
    catch_faults(come_back);
    fill(memory, PAGES * WORDS, 5);
    munmap(memory + 3 * WORDS, PAGE);
    mprotect(memory + 5 * WORDS, 2 * PAGE, PROT_READ);
    madvise(memory + 9 * WORDS, PAGE, MADV_DONTNEED);
    printf("%ld %ld %ld", add(memory, 3 * WORDS), add(memory + 4 * WORDS, 5 * WORDS),
           add(memory + 9 * WORDS, WORDS));
    for (volatile int i = 0; i < PAGES; i++)
        if (sigsetjmp(back, 1) == 0)
            store(memory + i * WORDS, 1);
        else
            faults |= 1 << i;
    printf(" %x", (unsigned)faults);
    long *moved = mremap(memory + 10 * WORDS, 2 * PAGE, 4 * PAGE, MREMAP_MAYMOVE);
    printf(" %ld", add(moved, 3 * WORDS));
    if (sigsetjmp(back, 1) == 0)
        store(memory + 10 * WORDS, 1);
    printf(" %d\n", signals);
}

/* Two processes compute at once, with calls and with regions alone. */
static void both(void)
{
    enum { COUNT = 4096 };
    long *sums = map(PAGE, PROT_READ | PROT_WRITE, MAP_SHARED);
    for (int i = 0; i < 2; i++) {
        if (fork() == 0) {
            long *memory = malloc(COUNT * sizeof *memory);
            for (long round = 0; round < ROUNDS; round++) {
                CROFT_FOR_TASKS(part, COUNT, TASKS, LINE)
                {
                    fill(memory + part.first, part.count, round * 3 + i);
                    if (round % 3 == 0)
                        sched_yield();
                }
                sums[i] = sums[i] * 7 + add(memory, COUNT);
            }
            _exit(0);
        }
    }
    wait(NULL);
    wait(NULL);
    printf("both: %ld %ld\n", sums[0], sums[1]);
}

/* A program closes all files, as daemons do, and opens its own. */
static void daemons(void)
{
    long line[LINE] __attribute__((aligned(64)));
    fill(line, LINE, 1);
    fflush(stdout);
    for (int child = 0; child < 2; child++) {
        fflush(stdout);
        if (child && fork() != 0) {
            wait(NULL);
            break;
        }
        for (int file = 3; file < 20; file++)
            close(file);
        int first = open("/dev/null", O_RDWR), second = open("/dev/zero", O_RDWR);
        fill(line, LINE, child);
        printf("daemons: %ld %d %d\n", line[1], fcntl(first, F_GETFD), fcntl(second, F_GETFD));
        close(first);
        close(second);
        if (child) {
            fflush(stdout);
            _exit(0);
        }
    }
}

/* Returns how many pages are pinned. */
static long pinned(void)
{
    long count = 0, value;
    FILE *file = fopen("/proc/vmstat", "r");
    char line[128];
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "nr_foll_pin_acquired %ld", &value) == 1)
            count += value;
        else if (sscanf(line, "nr_foll_pin_released %ld", &value) == 1)
            count -= value;
    if (file)
        fclose(file);
    return count;
}

/* A process ends, and a child still has its files. Its memory goes. */
static void heirs(void)
{
    enum { BYTES = 4 << 20, SLACK = BYTES / PAGE / 2 }; /* the kernel counts late */
    int until[2], status;
    char c;
    if (pipe(until) != 0)
        return;
    const long before = pinned();
    pid_t parent = fork();
    if (parent == 0) {
        char *memory = map(BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE);
        int device = open("/dev/nucd", O_RDWR);
        struct nucd_span span = {(uintptr_t)memory, BYTES};
        memset(memory, 1, BYTES);
        const int missing = ioctl(device, NUCD_PIN, &span) != 0 || pinned() < before + SLACK;
        pid_t heir = fork();
        if (heir == 0) {
            munmap(memory, BYTES);
            close(until[1]);
            _exit((int)read(until[0], &c, 1));
        }
        _exit(missing);
    }
    waitpid(parent, &status, 0);
    for (int i = 0; i < 100 && pinned() > before + SLACK; i++)
        pause_for(500);
    printf("heirs: %s, ", WEXITSTATUS(status) == 0 ? "all pinned" : "none pinned");
    printf("%s\n", pinned() > before + SLACK ? "pages are lost" : "no page is lost");
    close(until[1]);
}

/* Ends of processes in each state. */
static void spin_alone(void)
{
    spin(1);
}

static void spin_in_call(void)
{
    CROFT_FOR_TASKS(part, TASKS * LINE, TASKS, LINE)
    {
        spin(1 + part.first);
    }
}

/* Has tasks under way, and does something else. */
static void begin_and(void (*then)(void))
{
    CROFT_FOR_TASKS(part, 2 * LINE, 2, LINE)
    {
        spin(1 + part.first);
        if (part.first > 0)
            then();
    }
}

static void sleep_long(void)
{
    pause_for(900000);
}

static void leave(void)
{
    _exit(7);
}

static void become(void)
{
    execl("/bin/true", "true", (char *)NULL);
    _exit(9);
}

static void die(void)
{
    abort();
}

static void sleep_in_call(void)
{
    begin_and(sleep_long);
}

static void leave_in_call(void)
{
    begin_and(leave);
}

static void become_in_call(void)
{
    begin_and(become);
}

static void die_in_call(void)
{
    begin_and(die);
}

static void *spin_thread(void *context)
{
    (void)context;
    spin(1);
    return NULL;
}

static void leave_thread(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, spin_thread, NULL);
    pause_for(1000);
    _exit(8);
}

static pid_t start(void (*run)(void))
{
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        run();
        _exit(0);
    }
    pause_for(1000);
    return child;
}

static int end(pid_t child, int number)
{
    int status;
    if (number)
        kill(child, number);
    waitpid(child, &status, 0);
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* As many processes at a time as wait for accelerators behind those who have them; they end in several orders. */
static void ends(void)
{
    static void (*const states[])(void) = {spin_alone,   spin_in_call,  spin_alone,
                                           spin_in_call, sleep_in_call, spin_alone};
    enum { COUNT = sizeof states / sizeof *states };
    pid_t children[COUNT];
    for (int order = 0; order < 3; order++) {
        for (int i = 0; i < COUNT; i++)
            children[i] = start(states[i]);
        for (int i = 0; i < COUNT; i++) {
            const int which[] = {i, COUNT - 1 - i, (i + 3) % COUNT};
            printf("%d%c", end(children[which[order]], i % 2 ? SIGTERM : SIGKILL),
                   i + 1 < COUNT ? ' ' : '\n');
        }
    }
    printf("ends: %d %d %d %d\n", end(start(leave_in_call), 0), end(start(become_in_call), 0),
           end(start(die_in_call), 0), end(start(leave_thread), 0));
}

/* What the device refuses. */
static void refused(void)
{
    int device = open("/dev/nucd", O_RDWR);
    struct nucd_span spans[] = {{0, 0},
                                {0x1000, 1},
                                {~0ul, 2},
                                {~0ul - 4095, ~0ul},
                                {1ul << 63, 1 << 12},
                                {(uintptr_t)&spans, ~0ul >> 1}};
    struct nucd_trap trap = {.instruction = 0x13};
    for (size_t i = 0; i < sizeof spans / sizeof *spans; i++)
        printf("%d ", ioctl(device, NUCD_PIN, &spans[i]) ? errno : 0);
    printf("%d ", ioctl(device, NUCD_TRAP, &trap) ? errno : 0);
    trap.instruction = 0x2033; /* x0 has no signature */
    printf("%d ", ioctl(device, NUCD_TRAP, &trap) ? errno : 0);
    printf("%d ", ioctl(device, NUCD_TRAP, NULL) ? errno : 0);
    printf("%d ", ioctl(device, NUCD_COUNTERS, (void *)8) ? errno : 0);
    printf("%d ", ioctl(device, _IO('N', 0x45), 0) ? errno : 0);
    fflush(stdout);
    if (fork() == 0) {
        printf("%d\n", ioctl(device, NUCD_UNPIN, 0) ? errno : 0);
        exit(0);
    }
    wait(NULL);
}

/* A handler that makes the memory usable returns: the region begins anew. */
static volatile long *closed;

static void open_page(int number)
{
    (void)number;
    signals++;
    mprotect((void *)closed, PAGE, PROT_READ | PROT_WRITE);
}

static void anew(void)
{
    static long line[LINE] __attribute__((aligned(64)));
    closed = map(PAGE, PROT_NONE, MAP_PRIVATE);
    catch_faults(open_page);
    count_and_store(line, closed);
    printf("%ld %ld %d\n", line[0], closed[0], signals);
}

/* SIGILLs that are not of nucd end the process, though it ignores them if they are of an instruction. */
static void illegal(void)
{
    __asm__ volatile("unimp");
}

static void ignore_and_become(void)
{
    const struct itimerval soon = {.it_value = {.tv_usec = 50000}};
    setitimer(ITIMER_REAL, &soon, NULL);
    (void)signal(SIGILL, SIG_IGN);
    execl("/proc/self/exe", "self", "illegal", (char *)NULL);
}

static void send(void)
{
    kill(getpid(), SIGILL);
}

static void others(void)
{
    printf("others: %d %d %d\n", end(start(illegal), 0), end(start(ignore_and_become), 0),
           end(start(send), 0));
}

int main(int count, char *names[])
{
    static const struct {
        const char *name;
        void (*run)(void);
    } cases[] = {{"threads", threads}, {"neighbours", neighbours},
                 {"left", left},       {"parts", parts},
                 {"both", both},       {"daemons", daemons},
                 {"heirs", heirs},     {"ends", ends},
                 {"refused", refused}, {"anew", anew},
                 {"illegal", illegal}, {"others", others}};
    for (int i = 1; i < count; i++)
        for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
            if (strcmp(names[i], cases[k].name) == 0)
                cases[k].run();
    return 0;
}
