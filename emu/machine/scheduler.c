#include "emu/machine/scheduler.h"

#include "emu/hart/probe.h"

#define NS UINT64_C(1000000) /* fs */

enum { LONG = 1 << 16 }; /* instructions of a turn that takes much longer than reading the host's clock */

uint64_t system_nanoseconds(const struct system *system)
{
    return system->scheduler ? system->scheduler->queue->now / NS : scheduler_round_time(system);
}

const char *system_time_limit(const struct system *system)
{
    return system->scheduler ? system->scheduler->expired : NULL;
}

struct progress *scheduler_progress(struct system *system)
{
    return system->scheduler ? &system->scheduler->progress : &system->progress;
}

bool scheduler_in_call(struct system *system, unsigned i)
{
    struct system_call *call = &system->call;
    if (!call->open || call->hart != i)
        return false;
    call->open = call->pc == system->harts[i].pc;
    return call->open;
}

/* Returns true if hart i must wait at its call because another hart's is open. Between the quanta of a call no other
 * hart runs, unless a debugger holds the calling hart. */
static bool must_wait(struct system *system, unsigned i, enum hart_stop why)
{
    unsigned caller = system->call.hart;
    return (why == HART_STOP_SEMIHOST || why == HART_STOP_TRAP) && caller != i &&
           scheduler_in_call(system, caller);
}

bool scheduler_serve(struct system *system, unsigned i, enum hart_stop why, enum system_stop *stop)
{
    const struct system_hooks *hooks = &system->hooks;
    struct hart *hart = &system->harts[i];
    struct system_call *call = &system->call;
    bool goes = true;
    if (must_wait(system, i, why)) {
        system->round.turn_over = true; /* in its next turn, the hart repeats the call */
        return true;
    }
    if (!scheduler_in_call(system, i) &&
        (why == HART_STOP_MARKER || why == HART_STOP_SEMIHOST || why == HART_STOP_TRAP))
        system_quiet(system); /* the hook may print */
    if (why == HART_STOP_MARKER && hooks->marker) {
        hooks->marker(hooks->context, hart);
    } else if (why == HART_STOP_SEMIHOST && hooks->semihosting) {
        hooks->semihosting(hooks->context, hart);
    } else if (why == HART_STOP_TRAP) {
        *stop = SYSTEM_TRAP;
        goes = hooks->trap && hooks->trap(hooks->context, hart);
    } else if (why == HART_STOP_BREAK) {
        *stop = SYSTEM_BREAK;
        goes = !hart_has_breakpoint(hart, hart->pc); /* the breakpoint has been removed meanwhile */
    } else if (why == HART_STOP_WATCH) {
        *stop = SYSTEM_WATCH;
        goes = false;
    }
    if (call->open && (why == HART_STOP_SEMIHOST || why == HART_STOP_TRAP)) {
        call->hart = i;
        call->pc = hart->pc;
        call->stop = why;
        return goes;
    }
    if (!goes || system->motion[i] != SYSTEM_STEP || why == HART_STOP_YIELD)
        return goes;
    *stop = SYSTEM_STEPPED;
    return false;
}

/* Returns true if the run is over regardless of the harts' states; *stop is then set. */
static bool is_over(struct system *system, enum system_stop *stop)
{
    if (system->exited)
        *stop = SYSTEM_EXIT;
    else if (system->reset)
        *stop = SYSTEM_RESET;
    else if (system_time_limit(system))
        *stop = SYSTEM_EXPIRED;
    else if (system->full)
        *stop = SYSTEM_FULL;
    else if (system->interrupted)
        *stop = SYSTEM_WATCHED;
    else
        return false;
    system->interrupted = false;
    return true;
}

/* Returns the sum of the threads' progress, which the limit of system_run() counts. */
static uint64_t progress_of_threads(const struct system *system)
{
    uint64_t sum = system->call.insns;
    for (unsigned i = 0; i < system->threads; i++)
        sum += hart_progress(&system->harts[i]);
    return sum;
}

static uint64_t difference(uint64_t limit, uint64_t done)
{
    return limit > done ? limit - done : 0;
}

uint64_t scheduler_left_of_run(const struct system *system)
{
    if (system->end == UINT64_MAX)
        return UINT64_MAX;
    return difference(system->end, progress_of_threads(system));
}

static uint64_t progress_of_all(const struct system *system)
{
    return system_instructions(system) + (system->call.open ? system->call.insns : 0);
}

uint64_t scheduler_left_of_all(const struct system *system)
{
    if (system->max_insns == UINT64_MAX)
        return UINT64_MAX;
    return difference(system->max_insns, progress_of_all(system));
}

bool system_limit_reached(const struct system *system)
{
    return scheduler_left_of_all(system) == 0;
}

void scheduler_look(struct system *system, uint64_t insns)
{
    struct progress *progress = scheduler_progress(system);
    if (progress->countdown == 0)
        return;
    if (insns < LONG && --progress->countdown != 0)
        return;
    uint64_t ns = system_nanoseconds(system);
    progress_look(progress, ns < UINT64_MAX / NS ? ns * NS : UINT64_MAX,
                  system_instructions(system) + system->call.insns);
}

enum system_stop system_run(struct system *system, uint64_t max_insns)
{
    uint64_t done = progress_of_threads(system);
    enum system_stop stop = SYSTEM_LIMIT;
    bool goes = true;
    system->end = max_insns < UINT64_MAX - done ? done + max_insns : UINT64_MAX;
    while (!is_over(system, &stop) && goes) {
        uint64_t run = scheduler_left_of_run(system), all = scheduler_left_of_all(system);
        stop = SYSTEM_LIMIT;
        if (run == 0 || all == 0)
            break;
        goes = system->scheduler ? scheduler_advance(system->scheduler, &stop)
                                 : scheduler_turn(system, run < all ? run : all, &stop);
    }
    system_quiet(system);
    return stop;
}
