#include "emu/cmd/run/interrupt.h"

#include <stddef.h>

#include "emu/sim/host_time.h"

/* All three are at file scope, because a signal handler's only argument is the signal's number. */
static volatile sig_atomic_t arrived;
static struct system *volatile armed_system;
static double first; /* host time of its arrival, in ms */

static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGXCPU};

/* Minimum time to a second signal, in ms. timeout(1) signals first its child and then its process group, so
 * the child gets the signal twice. */
enum { ECHO = 100 };
enum { NUMBERS = sizeof numbers / sizeof *numbers };

static void set_handlers(void (*from)(int), void (*to)(int))
{
    struct sigaction action = {.sa_handler = to}, old; /* without SA_RESTART, so that waiting calls return */
    for (size_t i = 0; i < NUMBERS; i++)
        (void)sigaddset(&action.sa_mask, numbers[i]);
    for (size_t i = 0; i < NUMBERS; i++)
        if (sigaction(numbers[i], NULL, &old) == 0 && old.sa_handler == from)
            (void)sigaction(numbers[i], &action, NULL);
}

static void handle(int number)
{
    if (arrived) {
        if (host_seconds() * 1e3 - first < ECHO)
            return;
        set_handlers(handle, SIG_DFL);
        (void)raise(number); /* takes effect when the handler returns */
        return;
    }
    arrived = number;
    first = host_seconds() * 1e3;
    if (armed_system)
        system_interrupt(armed_system);
}

const volatile sig_atomic_t *interrupt_arrived(void)
{
    return &arrived;
}

void interrupt_arm(struct system *system)
{
    arrived = 0;
    armed_system = system;
    set_handlers(SIG_DFL, handle);
}

void interrupt_disarm(void)
{
    set_handlers(handle, SIG_DFL);
    armed_system = NULL;
}
