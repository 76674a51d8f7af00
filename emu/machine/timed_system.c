/* A system in machine mode on timing cores: timers, interrupts, limits and what debuggers ask for. */
#include <assert.h>

#include "emu/core/serial.h"
#include "emu/hart/probe.h"
#include "emu/machine/timed_state.h"

#define TICK (SYSTEM_TICK_NS * UINT64_C(1000000)) /* fs */
#define POLL (100 * TICK)                         /* 10 us: between looks at the console while a core runs */

/* Instructions: more than a core can retire between two polls. */
enum { NEAR = 1 << 18 };

static bool all_asleep(const struct timed *timed)
{
    for (unsigned i = 0; i < timed->count; i++)
        if (!timed->cores[i].core->asleep)
            return false;
    return true;
}

static void wake(struct timed *timed, unsigned i)
{
    core_wake(timed->cores[i].core, timed->queue.now);
    timed->idle = false;
    if (!event_pending(&timed->poll_event))
        event_schedule(&timed->queue, &timed->poll_event, timed->queue.now + POLL);
}

/* Schedules the next timer. One that is late already waits for the next poll, as its device does. */
static void set_timer(struct timed *timed)
{
    uint64_t now = timed->queue.now / TICK, next = system_next_event(timed->system, now);
    if (next > INT64_MAX / TICK)
        event_cancel(&timed->queue, &timed->timer_event);
    else
        event_schedule(&timed->queue, &timed->timer_event,
                       next > now ? next * TICK : timed->queue.now + POLL);
}

static void update(struct timed *timed)
{
    const struct system_hooks *hooks = &timed->system->hooks;
    if (hooks->update)
        hooks->update(hooks->context);
}

/* Compare registers within harts are looked at by the harts, which have to know what time it is. */
static void timer_due(void *owner, uint64_t now)
{
    struct timed *timed = owner;
    update(timed);
    for (unsigned i = 0; i < timed->count; i++) {
        serial_clock(timed->cores[i].core, now);
        timed->harts[i].attention = true;
        if (timed->cores[i].core->waiting && hart_has_interrupt(&timed->harts[i]))
            wake(timed, i);
        core_ahead_interrupted(timed->cores[i].core, now);
    }
    set_timer(timed);
}

/* Up to where core i may run. A stop at a limit takes time, as all that came before it has to be done; so the
 * limit is nobody's until it is near. Then several harts share out what is left again and again, and end no
 * more instructions beyond it than they are. */
static void grant(struct timed *timed, unsigned i)
{
    struct core *core = timed->cores[i].core;
    uint64_t done = hart_progress(&timed->harts[i]), all = system_instructions(timed->system);
    uint64_t left = timed->end > all ? timed->end - all : 0, share = left / timed->count;
    bool far = timed->end == UINT64_MAX || (timed->count > 1 && share > NEAR);
    switch (timed->system->motion[i]) {
    case SYSTEM_GO: core->limit = far ? UINT64_MAX : done + (share ? share : left != 0); break;
    case SYSTEM_STEP: core->limit = done + 1; break;
    case SYSTEM_HOLD: core->limit = done; break;
    }
}

static void poll(void *owner, uint64_t now)
{
    struct timed *timed = owner;
    update(timed);
    progress_tick(&timed->progress, now, system_instructions(timed->system));
    for (unsigned i = 0; i < timed->count; i++)
        if (timed->cores[i].core->limit == UINT64_MAX)
            grant(timed, i);
    for (unsigned i = 0; i < timed->count; i++) /* a yield may have been asked for meanwhile */
        core_ahead_interrupted(timed->cores[i].core, now);
    timed->idle = all_asleep(timed);
    if (!timed->idle)
        event_schedule(&timed->queue, &timed->poll_event, now + POLL);
    set_timer(timed);
}

void timed_system_init(struct timed *timed)
{
    event_init(&timed->timer_event, timed_component(timed), timer_due, timed);
    event_init(&timed->poll_event, timed_component(timed), poll, timed);
}

static void stop_loop(struct timed *timed, unsigned i, enum hart_stop stop)
{
    timed->stopped = true;
    timed->stop = stop;
    timed->stopped_core = i;
}

static bool must_return(const struct timed *timed)
{
    const struct system *system = timed->system;
    return timed->halting || timed->expired || system->exited || system->reset || system->interrupted;
}

/* Serves a stop; true when the hart goes on. */
static bool serve(struct timed *timed, unsigned i, enum hart_stop stop)
{
    const struct system_hooks *hooks = &timed->system->hooks;
    struct hart *hart = &timed->harts[i];
    if (stop == HART_STOP_MARKER || stop == HART_STOP_SEMIHOST)
        progress_hide(&timed->progress); /* whoever serves it may print */
    switch (stop) {
    case HART_STOP_MARKER:
        if (hooks->marker)
            hooks->marker(hooks->context, hart);
        return true;
    case HART_STOP_SEMIHOST:
        if (hooks->semihosting)
            hooks->semihosting(hooks->context, hart);
        return true;
    case HART_STOP_LIMIT:
        grant(timed, i);
        return hart_progress(hart) < timed->cores[i].core->limit && timed->system->motion[i] == SYSTEM_GO;
    case HART_STOP_BREAK: return !hart_has_breakpoint(hart, hart->pc); /* it was taken out meanwhile */
    case HART_STOP_WATCH: return false;
    default: return true;
    }
}

enum core_next timed_system_stopped(struct timed *timed, unsigned i, enum hart_stop stop, uint64_t now)
{
    (void)now;
    bool goes = serve(timed, i, stop);
    if (goes && !must_return(timed) && (timed->system->motion[i] == SYSTEM_GO || stop == HART_STOP_YIELD))
        return CORE_CONTINUE;
    timed->cores[i].paused = true;
    if (timed->system->motion[i] != SYSTEM_HOLD || stop != HART_STOP_LIMIT)
        stop_loop(timed, i, stop);
    return CORE_SLEEP;
}

/* All cores sleep and no timer is set. False when nothing can ever happen again. */
static bool wait_outside(struct timed *timed)
{
    const struct system_hooks *hooks = &timed->system->hooks;
    update(timed);
    if (!timed->idle || must_return(timed))
        return true;
    if (!hooks->wait || !hooks->wait(hooks->context))
        return false;
    update(timed);
    return true;
}

/* Wakes what has stopped for us, and what a debugger has moved. */
static void go_on(struct timed *timed)
{
    for (unsigned i = 0; i < timed->count; i++) {
        struct core *core = timed->cores[i].core;
        grant(timed, i);
        if (timed->system->motion[i] == SYSTEM_HOLD)
            continue;
        bool moved = core->asleep && core->waiting && !timed->system->waiting[i];
        if (moved)
            core->waiting = false;
        if (timed->cores[i].paused || moved)
            wake(timed, i);
        timed->cores[i].paused = false;
    }
}

static void note_waiting(struct timed *timed)
{
    for (unsigned i = 0; i < timed->count; i++)
        timed->system->waiting[i] = timed->cores[i].core->asleep && timed->cores[i].core->waiting;
}

/* What the stop of the event loop means to whoever runs the system. */
static bool explain(struct timed *timed, enum system_stop *stop)
{
    struct system *system = timed->system;
    system->current = timed->stopped_core;
    if (timed->expired)
        *stop = SYSTEM_EXPIRED;
    else if (must_return(timed))
        return false;
    else if (timed->stop == HART_STOP_BREAK)
        *stop = SYSTEM_BREAK;
    else if (timed->stop == HART_STOP_WATCH)
        *stop = SYSTEM_WATCH;
    else if (system->motion[system->current] == SYSTEM_STEP)
        *stop = SYSTEM_STEPPED;
    else
        return false;
    return true;
}

static bool advance(void *context, uint64_t end, enum system_stop *stop)
{
    struct timed *timed = context;
    if (timed->expired) {
        *stop = SYSTEM_EXPIRED;
        return true;
    }
    timed->end = end;
    timed->stopped = false;
    go_on(timed);
    while (!timed->stopped && !must_return(timed)) {
        if (timed->idle && !event_pending(&timed->timer_event) && !wait_outside(timed)) {
            *stop = SYSTEM_STUCK;
            note_waiting(timed);
            return true;
        }
        if (!event_queue_step(&timed->queue))
            timed->idle = true; /* nothing is under way */
    }
    note_waiting(timed);
    return timed->stopped && explain(timed, stop);
}

static uint64_t now_ns(void *context)
{
    return ((struct timed *)context)->queue.now / 1000000;
}

static void timer_moved(void *context)
{
    set_timer(context);
}

static void interrupt(void *context, unsigned hart)
{
    struct timed *timed = context;
    if (timed->cores[hart].core->waiting && hart_has_interrupt(&timed->harts[hart]))
        wake(timed, hart);
    core_ahead_interrupted(timed->cores[hart].core, timed->queue.now);
}

/* Runs what is under way to its end, and no further instruction. */
static void halt(void *context)
{
    struct timed *timed = context;
    timed->halting = true;
    for (unsigned i = 0; i < timed->count; i++)
        timed->cores[i].core->limit = hart_progress(&timed->harts[i]);
    while (!all_asleep(timed) && event_queue_step(&timed->queue))
        ;
    timed->halting = false;
}

/* Data caches keep their lines, as memory keeps its bytes; the code is another one perhaps. */
static void start(void *context)
{
    struct timed *timed = context;
    for (unsigned i = 0; i < timed->count; i++) {
        struct timed_core *core = &timed->cores[i];
        core->core->waiting = false;
        core->paused = true;
        cache_invalidate_all(core->l1i);
        if (core->tlb)
            tlb_flush(core->tlb);
    }
    set_timer(timed);
}

static void quiet(void *context)
{
    progress_hide(&((struct timed *)context)->progress);
}

void timed_attach(struct timed *timed, struct system *system)
{
    timed->system = system;
    timed->engine =
        (struct system_engine){advance, now_ns, timer_moved, interrupt, halt, start, quiet, timed};
    system->engine = &timed->engine;
    for (unsigned i = 0; i < timed->count; i++)
        timed->cores[i].paused = true;
    set_timer(timed);
}
