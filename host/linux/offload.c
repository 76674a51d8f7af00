/* Lets a program of Linux offload its regions (croft/nucd.h) through /dev/nucd, unchanged: link it, or load it before the program
 * (LD_PRELOAD). Without the device the program runs its regions itself, as everywhere.
 *
 * The processor traps at nucd; Linux knows no such trap and sends SIGILL, which this file answers. All other SIGILLs go where
 * they went before. A fault of a region comes as the host's would: at its nucd, with its address. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <ucontext.h>
#include <unistd.h>

#include "host/linux/nucd_device.h"

enum { PC = 0, FCSR_FRM_SHIFT = 5, INSTRUCTION_MASK = 0x7fff, HINT = 0x2033 };

static struct {
    int device; /* -1: there is none */
    dev_t number;
    pid_t process; /* that has opened it */
    pid_t opening; /* of which a thread opens it */
    struct sigaction next;
} offload = {.device = -1};

static void open_device(void)
{
    struct stat status;
    offload.device = open("/dev/nucd", O_RDWR | O_CLOEXEC);
    if (offload.device >= 0 && fstat(offload.device, &status) == 0)
        offload.number = status.st_rdev;
}

/* The program may have closed files that it does not know, and its own may have the number now. */
static int is_open(void)
{
    struct stat status;
    return offload.device >= 0 && fstat(offload.device, &status) == 0 && S_ISCHR(status.st_mode) &&
           status.st_rdev == offload.number;
}

/* Opens the device again, once for all threads that find it closed, or of a parent. */
static void open_again(int lost)
{
    const pid_t own = getpid();
    pid_t holder = 0;
    while (
        !__atomic_compare_exchange_n(&offload.opening, &holder, own, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
        if (holder == own) { /* else a thread of the parent, which is not in this process */
            sched_yield();
            holder = 0;
        }
    if (offload.process != own || (lost && offload.device >= 0 && !is_open())) {
        if (is_open())
            close(offload.device);
        open_device();
        __atomic_store_n(&offload.process, own, __ATOMIC_RELEASE);
    }
    __atomic_store_n(&offload.opening, 0, __ATOMIC_RELEASE);
}

/* Gives the trap to the module. A child of fork() has memory of its own: it opens the device itself. Returns 0 or -1. */
static int send(struct nucd_trap *trap)
{
    if (__atomic_load_n(&offload.process, __ATOMIC_ACQUIRE) != getpid())
        open_again(0);
    if (ioctl(offload.device, NUCD_TRAP, trap) == 0)
        return 0;
    if (errno == EINTR || is_open())
        return -1;
    open_again(1);
    return ioctl(offload.device, NUCD_TRAP, trap);
}

static uint32_t instruction_at(uint64_t pc)
{
    uint16_t halves[2];
    memcpy(halves, (const void *)pc, sizeof halves);
    return halves[0] | (uint32_t)halves[1] << 16;
}

/* Signals of a fault, which are blocked while the trap is served. */
static const int synchronous[] = {SIGSEGV, SIGBUS, SIGTRAP, SIGSYS};
enum { SYNCHRONOUS = sizeof synchronous / sizeof *synchronous };

/* A process that blocks or ignores the signal of its fault would come back to the nucd for ever: Linux ends it. */
static void insist(ucontext_t *context)
{
    sigset_t pending;
    sigpending(&pending);
    for (unsigned i = 0; i < SYNCHRONOUS; i++) {
        struct sigaction action;
        if (!sigismember(&pending, synchronous[i]) || sigaction(synchronous[i], NULL, &action))
            continue;
        if (action.sa_handler == SIG_IGN || sigismember(&context->uc_sigmask, synchronous[i]))
            (void)signal(synchronous[i], SIG_DFL);
        sigdelset(&context->uc_sigmask, synchronous[i]);
    }
}

/* Gives the trap to the module. Returns 0 if it is none of nucd. */
static int serve(ucontext_t *context)
{
    unsigned long *x = context->uc_mcontext.__gregs;
    uint32_t *fcsr = &context->uc_mcontext.__fpregs.__d.__fcsr;
    struct nucd_trap trap = {
        .pc = x[PC], .instruction = instruction_at(x[PC]), .frm = *fcsr >> FCSR_FRM_SHIFT};
    if ((trap.instruction & INSTRUCTION_MASK) != HINT || trap.instruction >> 25)
        return 0;
    for (int i = 1; i < 32; i++)
        trap.x[i] = x[i];
    if (send(&trap) == 0) {
        for (int i = 1; i < 32; i++)
            x[i] = trap.x[i];
        x[PC] = trap.pc;
        *fcsr |= trap.fflags;
    } else if (errno == EBADF || errno == ENODEV || errno == ENOMEM) {
        x[PC] += 4; /* the process runs the region itself */
    } else if (errno == EINTR) {
        insist(context); /* a signal is pending, and comes at the nucd */
    } else {
        return 0;
    }
    return 1;
}

/* Says of AxRAM's instructions (isa/include/croft/axram.h) why they are illegal. */
static void explain(uint64_t pc)
{
    enum { OPCODE_MASK = 0x7f, CUSTOM_0 = 0x0b };
    static const char text[] = "libnucd: an instruction of AxRAM: the machine has no such chips, or the "
                               "region is not in their memory, "
                               "which <croft/axram_memory.h> gets from /dev/axram (host/linux/README.md)\n";
    if ((instruction_at(pc) & OPCODE_MASK) == CUSTOM_0)
        (void)!write(STDERR_FILENO, text, sizeof text - 1);
}

/* Ends the process behind the handler, as Linux ends one that ignores a signal of its own instruction. */
static void end_by(int number)
{
    (void)signal(number, SIG_DFL);
    (void)raise(number);
}

static void trapped(int number, siginfo_t *info, void *context)
{
    int saved = errno;
    if (info->si_code == ILL_ILLTRP && serve(context)) {
        errno = saved;
        return;
    }
    if (info->si_code == ILL_ILLOPC || info->si_code == ILL_ILLTRP)
        explain((uintptr_t)info->si_addr);
    if (offload.next.sa_flags & SA_SIGINFO)
        offload.next.sa_sigaction(number, info, context);
    else if (offload.next.sa_handler == SIG_DFL || (offload.next.sa_handler == SIG_IGN && info->si_code > 0))
        end_by(number);
    else if (offload.next.sa_handler != SIG_IGN)
        offload.next.sa_handler(number);
    errno = saved;
}

/* Even without the device: on a machine that traps, the process would die of its first nucd. */
__attribute__((constructor)) static void begin(void)
{
    struct sigaction action = {.sa_sigaction = trapped, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    open_device();
    offload.process = getpid();
    if (offload.device < 0 && getenv("NUCD_VERBOSE"))
        fprintf(stderr, "/dev/nucd: %s: this process runs its regions itself\n", strerror(errno));
    sigemptyset(&action.sa_mask);
    for (unsigned i = 0; i < SYNCHRONOUS; i++)
        sigaddset(&action.sa_mask, synchronous[i]);
    sigaction(SIGILL, &action, &offload.next);
}

/* Prints what the device counted for this process. */
__attribute__((destructor)) static void end(void)
{
    struct nucd_counters counters;
    if (!getenv("NUCD_VERBOSE") || ioctl(offload.device, NUCD_COUNTERS, &counters))
        return;
    fprintf(
        stderr,
        "nucd: %llu tasks, %llu refused, %llu faults, %llu waits, %llu sleeps, %llu pages in %llu ranges\n",
        counters.tasks, counters.refused, counters.faults, counters.waits, counters.sleeps, counters.pages,
        counters.ranges);
}
