/* Signals: newlib's and Linux's signal numbers differ. Handlers are newlib's and run only on raise(). */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>

#include "host/calls/call.h"
#include "host/newlib/calls.h"

/* Indexed by newlib's signal number. 0: Linux has no such signal. */
static const unsigned char linux_signal[NSIG] = {
    [SIGHUP] = 1,     [SIGINT] = 2,   [SIGQUIT] = 3,   [SIGILL] = 4,   [SIGTRAP] = 5,  [SIGABRT] = 6,
    [SIGFPE] = 8,     [SIGKILL] = 9,  [SIGBUS] = 7,    [SIGSEGV] = 11, [SIGSYS] = 31,  [SIGPIPE] = 13,
    [SIGALRM] = 14,   [SIGTERM] = 15, [SIGURG] = 23,   [SIGSTOP] = 19, [SIGTSTP] = 20, [SIGCONT] = 18,
    [SIGCHLD] = 17,   [SIGTTIN] = 21, [SIGTTOU] = 22,  [SIGIO] = 29,   [SIGXCPU] = 24, [SIGXFSZ] = 25,
    [SIGVTALRM] = 26, [SIGPROF] = 27, [SIGWINCH] = 28, [SIGUSR1] = 10, [SIGUSR2] = 12,
};

int _kill(int pid, int signal)
{
    int number = signal > 0 && signal < NSIG ? linux_signal[signal] : 0;
    if (signal != 0 && number == 0) {
        errno = EINVAL;
        return -1;
    }
    return (int)call2(CALL_KILL, pid, number);
}

/* Signal 1 is bit 0 in Linux's mask and bit 1 in newlib's. */
static unsigned long mask_to_linux(sigset_t mask)
{
    unsigned long result = 0;
    for (int signal = 1; signal < NSIG; signal++)
        if ((mask >> signal & 1) != 0 && linux_signal[signal] != 0)
            result |= 1ul << (linux_signal[signal] - 1);
    return result;
}

static sigset_t mask_from_linux(unsigned long mask)
{
    sigset_t result = 0;
    for (int signal = 1; signal < NSIG; signal++)
        if (linux_signal[signal] != 0 && (mask >> (linux_signal[signal] - 1) & 1) != 0)
            result |= (sigset_t)1 << signal;
    return result;
}

int sigprocmask(int how, const sigset_t *set, sigset_t *old)
{
    static const unsigned char linux_how[] = {[SIG_BLOCK] = 0, [SIG_UNBLOCK] = 1, [SIG_SETMASK] = 2};
    if (set && (how < 0 || how >= (int)sizeof linux_how)) {
        errno = EINVAL;
        return -1;
    }
    unsigned long linux_set = set ? mask_to_linux(*set) : 0, linux_old = 0;
    long result = call4(CALL_RT_SIGPROCMASK, set ? linux_how[how] : 0, set ? (long)&linux_set : 0,
                        (long)&linux_old, sizeof linux_set);
    if (result >= 0 && old)
        *old = mask_from_linux(linux_old);
    return (int)result;
}
