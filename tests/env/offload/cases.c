/* Processes of Linux that offload: what qemu-riscv64 prints, where the process runs its regions itself, they must print on
 * accelerators. Then what only shows with accelerators. Each case is a process of its own. */
#define _GNU_SOURCE
#include <croft/nucd.h>

#include <fenv.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "regions.h"

enum { COUNT = 3000, BYTES = COUNT * sizeof(long) };

CROFT_REGION_RETURNS(double, divide, CROFT_VALUE(double, a), CROFT_VALUE(double, b))
{
    return a / b;
}

/* Reads and writes what it does not declare. */
CROFT_REGION_RETURNS(long, follow, CROFT_VALUE(long *, at), CROFT_VALUE(long, value))
{
    long old = *(volatile long *)at;
    *(volatile long *)at = value;
    return old;
}

CROFT_REGION(spin, CROFT_VALUE(long, forever))
{
    while (*(volatile long *)&forever)
        continue;
}

CROFT_REGION_RETURNS(long, ask, CROFT_VALUE(long, number))
{
    register long a7 __asm__("a7") = number;
    register long a0 __asm__("a0");
    __asm__ volatile("ecall" : "=r"(a0) : "r"(a7) : "memory");
    return a0;
}

static long area[COUNT] = {5};
static sigjmp_buf back;
static volatile uintptr_t faulted;
static volatile int code;

static void caught(int number, siginfo_t *info, void *context)
{
    (void)context;
    faulted = (uintptr_t)info->si_addr;
    code = info->si_code;
    siglongjmp(back, number);
}

static void catch (int number)
{
    const struct sigaction action = {.sa_sigaction = caught, .sa_flags = SA_SIGINFO};
    sigaction(number, &action, NULL);
}

static void *map(void *at, size_t bytes, int protection)
{
    void *mapped = mmap(at, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | (at ? MAP_FIXED : 0), -1, 0);
    if (mapped == MAP_FAILED)
        perror("mmap");
    return mapped;
}

static void values(void)
{
    long *memory = malloc(BYTES);
    fill(memory, COUNT, 7);
    printf("%ld %ld\n", memory[COUNT - 1], add(memory, COUNT));
    printf("%ld %ld\n", follow(area, 9), area[0]);
    feclearexcept(FE_ALL_EXCEPT);
    double quotient = divide(1, 0);
    printf("%f %x\n", quotient, (unsigned)fetestexcept(FE_DIVBYZERO | FE_INVALID));
}

static void many(void)
{
    long *memory = malloc(64 * BYTES), sum = 0;
    for (int round = 0; round < 3; round++) {
        CROFT_FOR_TASKS(part, 64L * COUNT, 16, 8)
        fill(memory + part.first, part.count, part.first + round);
        for (long i = 0; i < 64; i++)
            sum += add(memory + i * COUNT, COUNT);
    }
    printf("%ld\n", sum);
}

/* The same address, other pages. */
static void moved(void)
{
    long *memory = map(NULL, 1 << 16, PROT_READ | PROT_WRITE), sum = 0;
    for (int round = 1; round <= 5; round++) {
        fill(memory, COUNT, round);
        for (int i = 0; i < COUNT; i++)
            sum += memory[i] * round;
        munmap(memory, 1 << 16);
        memory = map(memory, 1 << 16, PROT_READ | PROT_WRITE);
        memory[1] = round;
        sum += add(memory, COUNT);
    }
    printf("%ld\n", sum);
}

static void forked(void)
{
    fill(area, COUNT, 100);
    for (int i = 0; i < 2; i++) {
        if (fork() == 0) {
            follow(area, i);
            printf("child %ld %ld\n", area[0], add(area, COUNT));
            fflush(stdout);
            _exit(0);
        }
        wait(NULL);
    }
    printf("parent %ld %ld\n", area[0], add(area, COUNT));
    fill(area, COUNT, 3);
    printf("parent %ld\n", add(area, COUNT));
}

/* Faults, of memory that is not there and that may not be written, come to a handler. */
static void handled(void)
{
    long *memory = map(NULL, 1 << 14, PROT_READ);
    catch (SIGSEGV);
    munmap(memory + 512, 1 << 12);
    if (sigsetjmp(back, 1) == 0)
        follow(memory, 1);
    printf("read-only: %d %d\n", faulted == (uintptr_t)memory, code == SEGV_ACCERR);
    if (sigsetjmp(back, 1) == 0)
        follow(memory + 513, 1);
    printf("unmapped: %d %d\n", faulted == (uintptr_t)(memory + 513), code == SEGV_MAPERR);
    mprotect(memory, 1 << 12, PROT_READ | PROT_WRITE);
    follow(memory, 6);
    printf("%ld\n", follow(memory, 7));
}

static void killed(void)
{
    fflush(stdout);
    spin(1);
}

static void segv(void)
{
    follow((long *)0x1230, 1);
}

/* Linux ends a process that cannot be told of its fault. */
static void blocked(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGSEGV);
    sigprocmask(SIG_BLOCK, &set, NULL);
    segv();
}

static void ignored(void)
{
    (void)signal(SIGSEGV, SIG_IGN);
    segv();
}

/* What a process does; returns its status as a shell has it, after killing it if it does not end. */
static int status_of(void (*run)(void), int kills)
{
    int status;
    pid_t child = fork();
    if (child == 0) {
        run();
        _exit(0);
    }
    if (kills) {
        nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
        kill(child, SIGKILL);
    }
    waitpid(child, &status, 0);
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static void dead(void)
{
    for (int i = 0; i < 6; i++) /* more than there are accelerators */
        printf("killed: %d\n", status_of(killed, 1));
    printf("fault: %d\n", status_of(segv, 0));
    printf("blocked: %d\n", status_of(blocked, 0));
    printf("ignored: %d\n", status_of(ignored, 0));
    values();
}

static void call(void)
{
    printf("call: %ld\n", ask(172));
}

static void called(void)
{
    printf("%d\n", status_of(call, 0)); /* SIGSYS with accelerators */
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Two processes that want all accelerators all the time: how many rounds of tasks each gets in the same time. */
static void fair(void)
{
    volatile long *rounds = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    for (int i = 0; i < 2; i++) {
        if (fork() == 0) {
            long *memory = malloc(16 * BYTES);
            double end = seconds() + 0.02;
            while (seconds() < end) {
                CROFT_FOR_TASKS(part, 16L * 512, 16, 8)
                fill(memory + part.first, part.count, i);
                rounds[i]++;
            }
            _exit(0);
        }
    }
    wait(NULL);
    wait(NULL);
    fprintf(stderr, "fair: %ld and %ld rounds\n", rounds[0], rounds[1]);
    printf("fair: %d\n", rounds[0] > 0 && rounds[0] < 2 * rounds[1] && rounds[1] < 2 * rounds[0]);
}

int main(int count, char *names[])
{
    static const struct {
        const char *name;
        void (*run)(void);
    } cases[] = {{"values", values},   {"many", many}, {"moved", moved},   {"forked", forked},
                 {"handled", handled}, {"dead", dead}, {"called", called}, {"fair", fair}};
    for (int i = 1; i < count; i++)
        for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
            if (strcmp(names[i], cases[k].name) == 0)
                cases[k].run();
    return 0;
}
