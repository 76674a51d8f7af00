#include "emu/experiment/signals.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <time.h>

/* At file scope, as signals belong to the process. */
static sigset_t held, before;
static void (*size_before)(int);
static bool holding;
static int arrived;

static const int ending[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

void signals_hold(void)
{
    struct sigaction old;
    if (holding)
        return;
    holding = true;
    (void)sigemptyset(&held);
    (void)sigaddset(&held, SIGCHLD);
    for (size_t i = 0; i < sizeof ending / sizeof *ending; i++)
        if (sigaction(ending[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
            (void)sigaddset(&held, ending[i]);
    (void)sigprocmask(SIG_BLOCK, &held, &before);
    (void)signal(SIGCHLD, SIG_DFL); /* a caller that ignores it would take our children's status */
    size_before = signal(SIGXFSZ, SIG_IGN);
}

void signals_child(void)
{
    if (!holding)
        return;
    (void)signal(SIGXFSZ, size_before);
    (void)sigprocmask(SIG_SETMASK, &before, NULL);
}

void signals_wait(int milliseconds)
{
    const struct timespec time = {milliseconds / 1000, (long)(milliseconds % 1000) * 1000000};
    int number = sigtimedwait(&held, NULL, &time);
    if (number > 0 && number != SIGCHLD && !arrived)
        arrived = number;
}

int signals_arrived(void)
{
    sigset_t pending;
    if (!arrived && sigpending(&pending) == 0)
        for (size_t i = 0; i < sizeof ending / sizeof *ending; i++)
            if (sigismember(&pending, ending[i]) == 1 && sigismember(&held, ending[i]) == 1)
                arrived = ending[i];
    return arrived;
}
