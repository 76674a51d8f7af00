/* What rounds and events share: stops of harts are served here, and limits, time and progress are looked up. */
#include "emu/hart/probe.h"
#include "emu/machine/run/state.h"

#define NS UINT64_C(1000000) /* fs */

enum { LONG = 1 << 16 }; /* instructions of a turn that takes much longer than reading the host's clock */

uint64_t system_nanoseconds(const struct system *system)
{
    return system->scheduler ? system->scheduler->queue->now / NS
                             : system->round.start + scheduler_turn_used(system);
}

uint64_t system_time(const struct system *system)
{
    return system_nanoseconds(system) / SYSTEM_TICK_NS;
}

const char *system_time_limit(const struct system *system)
{
    return system->scheduler ? system->scheduler->expired : NULL;
}

static struct progress *progress_of(struct system *system)
{
    return system->scheduler ? &system->scheduler->progress : &system->progress;
}

void system_quiet(struct system *system)
{
    progress_hide(progress_of(system));
}

void system_pause(struct system *system)
{
    system->interrupted = true;
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
        *stop = SYSTEM_TRAP;
        goes = hooks->marker(hooks->context, hart);
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

uint64_t system_instructions(const struct system *system)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < system->count; i++)
        sum += hart_progress(&system->harts[i]);
    return sum;
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

void scheduler_limit_run(struct system *system, uint64_t max_insns)
{
    uint64_t done = progress_of_threads(system);
    system->end = max_insns < UINT64_MAX - done ? done + max_insns : UINT64_MAX;
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
    struct progress *progress = progress_of(system);
    if (progress->countdown == 0)
        return;
    if (insns < LONG && --progress->countdown != 0)
        return;
    uint64_t ns = system_nanoseconds(system);
    progress_look(progress, ns < UINT64_MAX / NS ? ns * NS : UINT64_MAX,
                  system_instructions(system) + system->call.insns);
}

uint64_t system_next_event(const struct system *system, uint64_t now)
{
    const struct system_hooks *hooks = &system->hooks;
    uint64_t next = hooks->next_event ? hooks->next_event(hooks->context) : UINT64_MAX;
    for (unsigned i = 0; i < system->count; i++) {
        const struct priv *priv = &system->harts[i].priv;
        uint64_t time = now + system->harts[i].time_offset;
        if (!(priv->menvcfg & ENVCFG_STCE) || priv->stimecmp <= time)
            continue;
        uint64_t wait = priv->stimecmp - time, due = wait < UINT64_MAX - now ? now + wait : UINT64_MAX;
        if (next <= now || due < next)
            next = due;
    }
    return next;
}
