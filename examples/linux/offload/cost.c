/* What an offload costs: a region of a few instructions, whose line is in the host's caches, alone and as tasks of a call. Prints
 * nanoseconds for each. On Linux also what a system call and a SIGILL cost, and the module's call without the trap. */
#define _GNU_SOURCE
#include <croft/nucd.h>

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#ifdef __linux__
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <ucontext.h>

#include "host/linux/nucd_device.h"
#endif

enum { ROUNDS = 200, TASKS = 16, LINE = 8 };

static long lines[TASKS * LINE] __attribute__((aligned(64)));

CROFT_REGION_RETURNS(long, touch, CROFT_INOUT(long *, line, 64))
{
    line[0]++;
    return line[0];
}

CROFT_REGION(bump, CROFT_INOUT(long *, line, 64))
{
    line[0]++;
}

static unsigned long ticks(void)
{
    unsigned long now;
    __asm__ volatile("rdtime %0" : "=r"(now));
    return now;
}

static void tell(const char *what, unsigned long begun, long count)
{
    enum { TICK_NS = 100 };
    printf("%s: %ld ns\n", what, (long)((ticks() - begun) * TICK_NS) / count);
}

static void alone(void)
{
    for (int i = 0; i < ROUNDS; i++)
        touch(lines);
}

static void calls(void)
{
    for (int i = 0; i < ROUNDS / TASKS; i++) {
        CROFT_FOR_TASKS(part, TASKS * LINE, TASKS, LINE)
        bump(lines + part.first);
    }
}

static void measure(const char *what, void (*run)(void), long count)
{
    run(); /* pages and caches */
    unsigned long begun = ticks();
    run();
    tell(what, begun, count);
}

#ifdef __linux__
static struct nucd_trap trap;
static struct sigaction library;

static void note(int number, siginfo_t *info, void *context)
{
    const unsigned long *x = ((ucontext_t *)context)->uc_mcontext.__gregs;
    trap.pc = x[0];
    trap.instruction = *(const unsigned short *)x[0] | (unsigned)((const unsigned short *)x[0])[1] << 16;
    for (int i = 1; i < 32; i++)
        trap.x[i] = x[i];
    library.sa_sigaction(number, info, context);
}

static void step(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)info;
    ((ucontext_t *)context)->uc_mcontext.__gregs[0] += 2;
}

static void system_calls(void)
{
    for (int i = 0; i < ROUNDS; i++)
        syscall(SYS_getppid);
}

static void signals(void)
{
    for (int i = 0; i < ROUNDS; i++)
        __asm__ volatile("c.unimp");
}

static int device;

static void without_trap(void)
{
    for (int i = 0; i < ROUNDS; i++) {
        struct nucd_trap again = trap;
        ioctl(device, NUCD_TRAP, &again);
    }
}

static void measure_parts(void)
{
    const struct sigaction noting = {.sa_sigaction = note, .sa_flags = SA_SIGINFO};
    const struct sigaction stepping = {.sa_sigaction = step, .sa_flags = SA_SIGINFO};
    device = open("/dev/nucd", O_RDWR);
    if (device < 0)
        return;
    measure("a system call", system_calls, ROUNDS);
    sigaction(SIGILL, &noting, &library);
    touch(lines);
    measure("the module's call", without_trap, ROUNDS);
    sigaction(SIGILL, &stepping, NULL);
    measure("a SIGILL", signals, ROUNDS);
}
#else
static void measure_parts(void)
{
}
#endif

int main(void)
{
    measure("alone", alone, ROUNDS);
    measure("in a call", calls, ROUNDS / TASKS * TASKS);
    measure_parts();
    return lines[0] == 0;
}
