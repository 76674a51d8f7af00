/* Signals: actions, masks, frames, alternate stacks, faults, timers. */
#include "calls.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <ucontext.h>

static volatile int seen[65];
static sigjmp_buf back;
static char *fault_address;
static char stack[65536];

static void note(int number)
{
    seen[number]++;
}

static void tell(int number, siginfo_t *info, void *context)
{
    const ucontext_t *uc = context;
    char here;
    printf("signal %d code %d, stack %s, mask of SIGUSR2 %d\n", number, info->si_code,
           &here >= stack && &here < stack + sizeof stack ? "alternate" : "own",
           sigismember(&uc->uc_sigmask, SIGUSR2));
}

static void fault(int number, siginfo_t *info, void *context)
{
    (void)context;
    printf("fault %d code %d, address %s\n", number, info->si_code,
           info->si_addr == fault_address ? "right" : "wrong");
    siglongjmp(back, 1);
}

/* Steps over the instruction that has trapped. */
static void step(int number, siginfo_t *info, void *context)
{
    ucontext_t *uc = context;
    printf("trap %d code %d\n", number, info->si_code);
    uc->uc_mcontext.__gregs[REG_PC] += 4;
    uc->uc_mcontext.__gregs[REG_A0] = 99;
}

static void act(int number, void (*handler)(int, siginfo_t *, void *), int flags)
{
    struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO | flags};
    sigaction(number, &action, NULL);
}

static void masks(void)
{
    sigset_t set, old, pending;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    signal(SIGUSR1, note);
    SHOW(rt_sigprocmask, SIG_BLOCK, &set, &old, 8);
    SHOW(rt_sigprocmask, 9, &set, NULL, 8);
    SHOW(rt_sigprocmask, SIG_BLOCK, &set, NULL, 4);
    SHOW(rt_sigprocmask, SIG_BLOCK, NOWHERE, NULL, 8);
    SHOW(kill, getpid(), SIGUSR1);
    SHOW(tgkill, getpid(), gettid(), SIGUSR1);
    SHOW(rt_sigpending, &pending, 8);
    printf("pending %d, seen %d\n", sigismember(&pending, SIGUSR1), seen[SIGUSR1]);
    sigprocmask(SIG_SETMASK, &old, NULL);
    printf("seen %d\n", seen[SIGUSR1]);
    SHOW(kill, getpid(), 65);
    SHOW(kill, 1 << 22, 0);
    SHOW(tgkill, getpid(), 1 << 22, 0);
    SHOW(tgkill, getpid(), -1, 0);
    SHOW(tkill, gettid(), SIGUSR1);
    SHOW(tkill, -4, SIGUSR1);
    SHOW(rt_sigaction, 0, NULL, NULL, 8);
    SHOW(rt_sigaction, 65, NULL, NULL, 8);
    SHOW(rt_sigaction, SIGUSR1, NULL, NULL, 4);
    SHOW(rt_sigaction, SIGKILL, stack, NULL, 8);
}

static void alternate(void)
{
    stack_t new = {.ss_sp = stack, .ss_size = sizeof stack}, old;
    SHOW(sigaltstack, NULL, &old);
    printf("disabled: %d\n", old.ss_flags == SS_DISABLE);
    SHOW(sigaltstack, &new, NULL);
    act(SIGUSR2, tell, SA_ONSTACK);
    raise(SIGUSR2);
    act(SIGUSR2, tell, SA_NODEFER | SA_RESETHAND);
    raise(SIGUSR2);
    struct sigaction now;
    sigaction(SIGUSR2, NULL, &now);
    printf("reset: %d\n", now.sa_handler == SIG_DFL);
    new.ss_size = 100;
    SHOW(sigaltstack, &new, NULL);
    new.ss_flags = 77;
    SHOW(sigaltstack, &new, NULL);
    SHOW(sigaltstack, NOWHERE, NULL);
}

static void faults(void)
{
    act(SIGSEGV, fault, SA_ONSTACK);
    act(SIGILL, step, 0);
    act(SIGTRAP, step, 0);
    fault_address = (char *)0x123450;
    if (!sigsetjmp(back, 1))
        *(volatile char *)fault_address = 1;
    fault_address = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (!sigsetjmp(back, 1))
        *(volatile char *)fault_address = 1;
    register long a0 asm("a0") = 5;
    asm volatile(".word 0xffffffff" : "+r"(a0)::"memory");
    printf("a0 %ld\n", a0);
    a0 = 5;
    asm volatile(".option push\n.option norvc\nebreak\n.option pop" : "+r"(a0)::"memory");
    printf("a0 %ld\n", a0);
}

static void waits(void)
{
    const struct timespec little = {0, 1000000}, wrong = {0, -1};
    siginfo_t info;
    sigset_t set, none;
    sigemptyset(&none);
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigaddset(&set, SIGRTMIN);
    sigprocmask(SIG_BLOCK, &set, NULL);
    SHOW(rt_sigtimedwait, &set, &info, &little, 8);
    SHOW(rt_sigtimedwait, &set, &info, &wrong, 8);
    SHOW(rt_sigtimedwait, &set, &info, &little, 4);
    raise(SIGUSR1);
    SHOW(rt_sigtimedwait, &set, &info, &little, 8);
    const union sigval values[] = {{.sival_int = 11}, {.sival_int = 22}};
    for (int i = 0; i < 2; i++)
        sigqueue(getpid(), SIGRTMIN, values[i]);
    for (int i = 0; i < 2; i++)
        printf("%d value %d code %d\n", sigwaitinfo(&set, &info) == SIGRTMIN, info.si_value.sival_int,
               info.si_code);
    memset(&info, 0, sizeof info);
    info.si_code = SI_QUEUE;
    SHOW(rt_sigqueueinfo, getpid(), 65, &info);
    SHOW(rt_sigqueueinfo, getpid(), SIGUSR1, NOWHERE);
    SHOW(rt_tgsigqueueinfo, getpid(), gettid(), 65, &info);
    SHOW(rt_tgsigqueueinfo, getpid(), gettid(), SIGUSR1, NOWHERE);
    SHOW(rt_tgsigqueueinfo, getpid(), 1 << 22, SIGUSR1, &info);
    SHOW(rt_tgsigqueueinfo, getpid(), -1, SIGUSR1, &info);
    SHOW(rt_tgsigqueueinfo, getpid(), gettid(), 0, &info);
    seen[SIGUSR1] = 0;
    raise(SIGUSR1);
    SHOW(rt_sigsuspend, &none, 8);
    SHOW(rt_sigsuspend, &none, 3);
    printf("seen %d, blocked again %d\n", seen[SIGUSR1],
           (pthread_sigmask(SIG_BLOCK, NULL, &none), sigismember(&none, SIGUSR1)));
    sigprocmask(SIG_UNBLOCK, &set, NULL);
}

static void timers(void)
{
    struct itimerval timer = {.it_value = {0, 2000}, .it_interval = {0, 1000}}, off = {{0, 0}, {0, 0}}, now;
    signal(SIGALRM, note);
    SHOW(setitimer, ITIMER_REAL, &timer, NULL);
    while (seen[SIGALRM] < 3)
        pause();
    SHOW(getitimer, ITIMER_REAL, &now);
    printf("period %ld\n", (long)now.it_interval.tv_usec);
    SHOW(setitimer, ITIMER_REAL, &off, &now);
    SHOW(setitimer, 9, &off, NULL);
    timer.it_value.tv_usec = -1;
    SHOW(setitimer, ITIMER_REAL, &timer, NULL);
    SHOW(getitimer, 9, &now);
    /* A signal ends a sleep; the rest is stored. */
    const struct timespec longer = {10, 0};
    struct timespec rest = {0, 0};
    timer = (struct itimerval){.it_value = {0, 2000}};
    setitimer(ITIMER_REAL, &timer, NULL);
    SHOW(nanosleep, &longer, &rest);
    printf("rest %d\n", rest.tv_sec == 9);
}

int main(void)
{
    masks();
    alternate();
    faults();
    waits();
    timers();
    double kept = 1.5; /* handlers do not change floating-point registers */
    raise(SIGUSR1);    /* SYS_rt_sigreturn, as after all handlers */
    printf("%g\n", kept * 2);
    fflush(stdout);
    signal(SIGTERM, SIG_DFL);
    raise(SIGTERM);
    return 0;
}
