/* Systems with a clock: cores run by their own events; timers, devices, limits and debugger requests are
 * served by the scheduler's events. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "emu/core/serial.h"
#include "emu/hart/probe.h"
#include "emu/machine/run/state.h"
#include "emu/sim/alloc.h"
#include "emu/sim/text/quantity.h"
#include "emu/sim/text/say.h"

#define NS   UINT64_C(1000000) /* fs */
#define TICK (SYSTEM_TICK_NS * NS)

/* A timer or sleep that would end after this time never ends. The last second is left for operations in
 * progress. */
#define END_OF_TIME (CLOCK_NEVER - CLOCK_SECOND)

/* A poll counts as this many events in system->slice: multiprocessors execute instructions without events. */
enum { POLL_EVENTS = 1000 };

/* Polls between two reads of the process's CPU time, and CPU time in ns until the warning. */
enum { STILL_POLLS = 16, STILL_TIME = 1000000000 };

/* In instructions: more than a core can retire between two polls. */
enum { NEAR = 1 << 18 };

static struct hart *hart_of(const struct scheduler *s, unsigned i)
{
    return s->cores[i].core->parts.hart;
}

/* Calls of a user program are served while its core sleeps, because they may extend its sleep. Calls of other
 * systems are served within the core's event, and the core continues at once. */
static bool serves_asleep(const struct scheduler *s, enum hart_stop stop)
{
    return s->system->hooks.trap && (stop == HART_STOP_TRAP || stop == HART_STOP_MARKER);
}

static bool all_asleep(const struct scheduler *s)
{
    for (unsigned i = 0; i < s->count; i++)
        if (!s->cores[i].core->asleep)
            return false;
    return true;
}

static bool must_leave(const struct scheduler *s)
{
    const struct system *system = s->system;
    return s->halting || s->expired || system->exited || system->reset || system->interrupted || system->full;
}

/* Fires the next event. False when there is none. */
static inline bool fire(struct scheduler *s)
{
    return __builtin_expect(!s->step, 1) ? event_queue_step(s->queue) : s->step(s->step_context, s->queue);
}

static inline bool step(struct scheduler *s)
{
    bool fired = fire(s);
    if (s->progress.countdown != 0 && --s->progress.countdown == 0)
        progress_look(&s->progress, s->queue->now, system_instructions(s->system));
    if (s->system && s->system->slice && ++s->fired >= s->system->slice) {
        s->fired = 0;
        system_pause(s->system);
    }
    return fired;
}

void scheduler_set_timer(struct scheduler *s)
{
    /* A timer that is already late fires at the next poll, when its device is updated. */
    uint64_t now = s->queue->now / TICK, next = system_next_event(s->system, now);
    if (next > END_OF_TIME / TICK)
        event_cancel(s->queue, &s->timer_event);
    else
        event_schedule(s->queue, &s->timer_event, next > now ? next * TICK : s->queue->now + SCHEDULER_POLL);
}

static void update(struct scheduler *s)
{
    const struct system_hooks *hooks = &s->system->hooks;
    if (hooks->update)
        hooks->update(hooks->context);
}

/* Lets a core continue at `time`, and schedules polls. */
static void wake(struct scheduler *s, unsigned i, uint64_t time)
{
    core_wake(s->cores[i].core, time);
    s->idle = false;
    if (s->system && !event_pending(&s->poll_event))
        event_schedule(s->queue, &s->poll_event, time + SCHEDULER_POLL);
}

void scheduler_interrupt(struct scheduler *s, unsigned i)
{
    if (s->cores[i].core->waiting && hart_has_interrupt(hart_of(s, i)))
        wake(s, i, s->queue->now);
    core_offload_interrupted(s->cores[i].core, s->queue->now);
}

/* Updates devices and harts to the current time. The harts compare stimecmp themselves, so they need the
 * time. */
static void timer_due(void *owner, uint64_t now)
{
    struct scheduler *s = owner;
    update(s);
    for (unsigned i = 0; i < s->count; i++) {
        serial_clock(s->cores[i].core, now);
        hart_of(s, i)->attention = true;
        scheduler_interrupt(s, i);
    }
    scheduler_set_timer(s);
}

/* Limits. Stopping at a limit drains a core, which takes simulated time, so limits are set only near the end.
 * Near it, several cores share the remaining instructions repeatedly. They may overrun the limit by at most
 * one instruction each. */

/* Returns true if accelerators run beside a user program. They sleep most of the time, and the program's own
 * limit does not apply to them. */
static bool has_apart(const struct scheduler *s)
{
    return s->system->threads < s->count;
}

/* Returns the number of cores that share a limit. */
static uint64_t sharers(const struct scheduler *s)
{
    uint64_t awake = 0;
    if (!has_apart(s))
        return s->count > 1 ? s->count : 1; /* an interrupt may wake any core */
    for (unsigned i = 0; i < s->count; i++)
        awake += !s->cores[i].core->asleep;
    return awake ? awake : 1;
}

static uint64_t share_of(const struct scheduler *s, uint64_t left)
{
    if (left == UINT64_MAX)
        return UINT64_MAX;
    uint64_t share = left / sharers(s);
    if (s->count > 1 && share > NEAR)
        return UINT64_MAX;
    return share ? share : left != 0;
}

/* Instructions that one core may execute now: by the limit of all harts, and by the limit of the threads. */
struct allowance {
    uint64_t all, run;
};

static struct allowance allowance_of(const struct scheduler *s)
{
    uint64_t run = scheduler_left_of_run(s->system);
    return (struct allowance){.all = share_of(s, scheduler_left_of_all(s->system)),
                              .run = has_apart(s) ? run : share_of(s, run)};
}

static void grant(struct scheduler *s, unsigned i, struct allowance allowance)
{
    const struct system *system = s->system;
    uint64_t done = hart_progress(hart_of(s, i)), more = allowance.all;
    if (i < system->threads && allowance.run < more)
        more = allowance.run;
    if (system->motion[i] != SYSTEM_GO)
        more = system->motion[i] == SYSTEM_STEP;
    s->cores[i].core->limit = more < UINT64_MAX - done ? done + more : UINT64_MAX;
}

static void grant_all(struct scheduler *s)
{
    struct allowance allowance = allowance_of(s);
    for (unsigned i = 0; i < s->count; i++)
        grant(s, i, allowance);
}

/* Makes a bounded system_run() return after SCHEDULER_QUIET polls without an executed instruction. */
static void look_for_progress(struct scheduler *s)
{
    uint64_t done = system_instructions(s->system);
    s->quiet = done == s->seen ? s->quiet + 1 : 0;
    s->seen = done;
    if (s->system->end == UINT64_MAX || s->waits || s->stopped || s->quiet < SCHEDULER_QUIET)
        return;
    s->quiet = 0;
    s->stopped = s->served = s->ends = true;
    s->result = SYSTEM_LIMIT;
}

/* Returns the CPU time of this process in ns. Elapsed time would also warn when the host is busy with
 * others. */
static uint64_t processor_time(void)
{
    struct timespec time;
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static void warn_of_standstill(struct scheduler *s, uint64_t now)
{
    char time[QUANTITY_TEXT];
    unsigned i = 0;
    while (s->cores[i].core->asleep)
        i++;
    quantity_format(QUANTITY_TIME, now - s->still.from, time);
    scheduler_begin_message(s);
    say_warning("no instruction has ended for %s of simulated time, a second of the "
                "processor; hart %u waits at 0x%" PRIx64 "; --max-time or Ctrl-C ends the run",
                time, i, hart_of(s, i)->pc);
    s->still.told = true;
}

/* Warns once if no instruction ends for STILL_TIME, unless a call waits for multiprocessors or all cores
 * sleep. */
static void look_for_standstill(struct scheduler *s, uint64_t now)
{
    if (s->quiet == 0 || s->waits || s->beside || s->still.told || all_asleep(s)) {
        s->still.host = 0;
        return;
    }
    if (s->quiet % STILL_POLLS != 0)
        return;
    uint64_t host = processor_time();
    if (s->still.host == 0) {
        s->still.host = host;
        s->still.from = now;
    } else if (host - s->still.host >= STILL_TIME) {
        warn_of_standstill(s, now);
    }
}

static void poll(void *owner, uint64_t now)
{
    struct scheduler *s = owner;
    s->fired += POLL_EVENTS;
    update(s);
    look_for_progress(s);
    look_for_standstill(s, now);
    struct allowance allowance = allowance_of(s);
    for (unsigned i = 0; i < s->count; i++)
        if (has_apart(s) || s->cores[i].core->limit == UINT64_MAX)
            grant(s, i, allowance);
    for (unsigned i = 0; i < s->count; i++) /* a yield may have been requested meanwhile */
        core_offload_interrupted(s->cores[i].core, now);
    s->idle = all_asleep(s) && !s->waits && !s->beside;
    if (!s->idle)
        event_schedule(s->queue, &s->poll_event, now + SCHEDULER_POLL);
    scheduler_set_timer(s);
}

void scheduler_expire(struct scheduler *s, const char *limit)
{
    s->expired = limit;
    s->stopped = true;
}

static void time_over(void *owner, uint64_t now)
{
    (void)now;
    scheduler_expire(owner, "--max-time");
}

static void leave_loop(struct scheduler *s, unsigned i, enum hart_stop stop)
{
    s->stopped = true;
    s->stopper = i;
    s->stop = stop;
}

static bool can_go_on(struct scheduler *s, unsigned i)
{
    if (has_apart(s))
        grant_all(s);
    else
        grant(s, i, allowance_of(s));
    return s->system->motion[i] == SYSTEM_GO && hart_progress(hart_of(s, i)) < s->cores[i].core->limit;
}

/* Serves a stop within its event; of a call, serves all quanta. False: system_run() returns s->result. */
static bool serve(struct scheduler *s, unsigned i, enum hart_stop stop)
{
    struct system *system = s->system;
    bool goes = scheduler_serve(system, i, stop, &s->result);
    while (goes && scheduler_in_call(system, i) && stop == system->call.stop && !must_leave(s)) {
        if (system_limit_reached(system)) {
            s->result = SYSTEM_LIMIT;
            return false;
        }
        uint64_t before = system->call.insns;
        goes = scheduler_serve(system, i, stop, &s->result);
        scheduler_look(system, system->call.insns - before);
    }
    return goes;
}

enum core_next scheduler_stopped(struct scheduler *s, unsigned i, enum hart_stop stop)
{
    struct system *system = s->system;
    bool goes = false;
    if (!system) {
        leave_loop(s, i, stop);
        return CORE_SLEEP;
    }
    /* Ignore markers on a user program's accelerators, and breakpoints unless a debugger sees them. */
    bool apart = system->hooks.trap && i >= system->hosts;
    if (apart && stop != HART_STOP_LIMIT && (i >= system->threads || stop == HART_STOP_MARKER))
        return CORE_CONTINUE;
    if (system->motion[i] == SYSTEM_HOLD && (stop == HART_STOP_BREAK || stop == HART_STOP_WATCH)) {
        s->cores[i].owes = s->cores[i].paused = true;
        s->cores[i].owed = stop;
        return CORE_SLEEP;
    }
    s->served = !serves_asleep(s, stop);
    if (s->served)
        goes = serve(s, i, stop);
    s->ends = s->served && !goes;
    if (stop == HART_STOP_LIMIT && goes)
        goes = can_go_on(s, i);
    if (goes && !must_leave(s) && (system->motion[i] != SYSTEM_HOLD || stop == HART_STOP_YIELD))
        return CORE_CONTINUE;
    s->cores[i].paused = true;
    if (system->motion[i] != SYSTEM_HOLD || stop != HART_STOP_LIMIT)
        leave_loop(s, i, stop);
    return CORE_SLEEP;
}

static void note_waiting(struct scheduler *s)
{
    for (unsigned i = 0; i < s->count; i++)
        s->system->waiting[i] = s->cores[i].core->asleep && s->cores[i].core->waiting;
}

/* Returns when a core that is paused continues. */
static uint64_t start_of(const struct scheduler *s, unsigned i)
{
    uint64_t at = s->cores[i].wake_at, now = s->queue->now;
    return at > now && at != CLOCK_NEVER ? at : now;
}

/* The polls of a user program are timed from its calls; with several hosts, polls that are due anyway stay. */
static void time_poll(struct scheduler *s)
{
    uint64_t start = s->system->hosts > 1 ? s->queue->now : start_of(s, s->stopper);
    if (!s->system->hooks.trap || (s->system->hosts > 1 && event_pending(&s->poll_event) &&
                                   s->poll_event.time <= start + SCHEDULER_POLL))
        return;
    event_schedule(s->queue, &s->poll_event, start + SCHEDULER_POLL);
}

/* Wakes the cores that are paused and the cores that a debugger has moved. */
static void go_on(struct scheduler *s)
{
    struct system *system = s->system;
    for (unsigned i = 0; i < s->count; i++) {
        struct core *core = s->cores[i].core;
        if (system->motion[i] == SYSTEM_HOLD || s->cores[i].suspended ||
            (s->cores[i].paused && s->cores[i].wake_at == CLOCK_NEVER))
            continue;
        bool moved = core->asleep && core->waiting && !system->waiting[i];
        if (moved)
            core->waiting = false;
        if (s->cores[i].paused || moved)
            wake(s, i, start_of(s, i));
        s->cores[i].paused = false;
    }
    time_poll(s);
    grant_all(s);
}

/* Returns whether a stop is still to be served: of a debugger's, whether it still wants to know of it. */
static bool is_wanted(const struct hart *hart, enum hart_stop stop)
{
    if (stop == HART_STOP_BREAK)
        return hart_has_breakpoint(hart, hart->pc);
    return stop == HART_STOP_TRAP || hart->watchpoint_count > 0;
}

/* Leaves the event loop for a stop that happened while a debugger held the hart, if one can be served now. */
static void serve_owed(struct scheduler *s)
{
    const struct system *system = s->system;
    for (unsigned i = 0; i < s->count && !s->stopped; i++) {
        if (!s->cores[i].owes || system->motion[i] == SYSTEM_HOLD)
            continue;
        s->cores[i].owes = s->served = false;
        if (is_wanted(hart_of(s, i), s->cores[i].owed))
            leave_loop(s, i, s->cores[i].owed);
    }
}

/* All cores sleep and no timer is set: waits for input. False when nothing can happen any more. */
static bool wait_outside(struct scheduler *s)
{
    const struct system_hooks *hooks = &s->system->hooks;
    update(s);
    if (!s->idle || must_leave(s))
        return true;
    if (!hooks->wait || !hooks->wait(hooks->context))
        return false;
    update(s);
    return true;
}

bool scheduler_advance(struct scheduler *s, enum system_stop *stop)
{
    s->stopped = false;
    serve_owed(s);
    if (!s->stopped)
        go_on(s);
    while (!s->stopped && !must_leave(s)) {
        if (s->idle && !event_pending(&s->timer_event) && !wait_outside(s)) {
            *stop = SYSTEM_STUCK;
            note_waiting(s);
            return false;
        }
        if (!step(s))
            s->idle = true; /* no event is scheduled */
    }
    note_waiting(s);
    if (!s->stopped || must_leave(s))
        return true;
    s->system->current = s->stopper;
    *stop = s->result;
    return s->served ? !s->ends : scheduler_serve(s->system, s->stopper, s->stop, stop);
}

void scheduler_set_beside(struct scheduler *s, bool beside)
{
    s->beside = beside;
    s->idle = s->idle && !beside;
    if (beside && !event_pending(&s->poll_event))
        event_schedule(s->queue, &s->poll_event, s->queue->now + SCHEDULER_POLL);
}

bool scheduler_wait(struct scheduler *s, bool (*met)(const void *context), const void *context,
                    const uint64_t *changes)
{
    bool over = false;
    s->waits = true;
    s->stopped = false; /* set when an accelerator reaches the limit of instructions */
    event_schedule(s->queue, &s->poll_event, s->queue->now + SCHEDULER_POLL);
    while (!over && !met(context)) {
        const uint64_t seen = *changes;
        while (!over && *changes == seen) {
            (void)step(s); /* at least the poll event is scheduled */
            over = must_leave(s) || s->stopped;
        }
    }
    s->waits = false;
    note_waiting(s);
    if (s->stopped && !s->expired && (s->stop == HART_STOP_BREAK || s->stop == HART_STOP_WATCH)) {
        s->cores[s->stopper].owes = true;
        s->cores[s->stopper].owed = s->stop;
    }
    return !over;
}

bool scheduler_goes_on(const struct scheduler *s)
{
    return !s->halting && !s->expired && !s->system->exited && !s->system->reset;
}

void system_sleep(struct system *system, uint64_t ns)
{
    struct scheduler *s = system->scheduler;
    if (!s)
        return;
    struct scheduler_core *core = &s->cores[system->current];
    uint64_t from = core->wake_at > s->queue->now ? core->wake_at : s->queue->now;
    uint64_t room = from < END_OF_TIME ? (END_OF_TIME - from) / NS : 0;
    core->wake_at = ns <= room ? from + ns * NS : CLOCK_NEVER;
}

void system_suspend(struct system *system, unsigned host)
{
    system->scheduler->cores[host].suspended = true;
}

void system_resume(struct system *system, unsigned host, bool repeat)
{
    struct scheduler *s = system->scheduler;
    s->cores[host].suspended = false;
    s->cores[host].paused = true;
    if (!repeat)
        return;
    s->cores[host].owes = true;
    s->cores[host].owed = HART_STOP_TRAP;
    if (s->stopped)
        return; /* scheduler_advance() looks for owed stops before any event fires */
    s->cores[host].owes = s->served = false;
    leave_loop(s, host, HART_STOP_TRAP);
}

/* Completes operations in progress without executing further instructions. */
void scheduler_halt(struct scheduler *s)
{
    s->halting = true;
    for (unsigned i = 0; i < s->count; i++)
        s->cores[i].core->limit = hart_progress(hart_of(s, i));
    while (!all_asleep(s) && fire(s))
        ;
    s->halting = false;
}

void scheduler_start(struct scheduler *s)
{
    for (unsigned i = 0; i < s->count; i++) {
        s->cores[i].core->waiting = false;
        s->cores[i].paused = true;
        s->cores[i].owes = false;
    }
    if (s->reset)
        s->reset(s->reset_context);
    scheduler_set_timer(s);
}

void scheduler_init(struct scheduler *s, struct event_queue *queue, uint32_t first)
{
    *s = (struct scheduler){.queue = queue};
    event_init(&s->time_event, first, time_over, s);
    event_init(&s->timer_event, first + 1, timer_due, s);
    event_init(&s->poll_event, first + 2, poll, s);
}

void scheduler_add(struct scheduler *s, struct core *core)
{
    s->cores = alloc_resize(s->cores, (s->count + 1) * sizeof *s->cores);
    s->cores[s->count++] = (struct scheduler_core){.core = core};
}

void scheduler_attach(struct scheduler *s, struct system *system)
{
    s->system = system;
    system->scheduler = s;
    for (unsigned i = 0; i < system->threads; i++)
        s->cores[i].paused = true;
    for (unsigned i = 1; i < system->hosts; i++)
        s->cores[i].suspended = true;
    note_waiting(s);
    scheduler_set_timer(s);
}

void scheduler_free(struct scheduler *s)
{
    if (s->system)
        s->system->scheduler = NULL;
    free(s->cores);
}

void scheduler_limit_time(struct scheduler *s, uint64_t time)
{
    event_schedule(s->queue, &s->time_event, time);
}

void scheduler_show_progress(struct scheduler *s)
{
    progress_init(&s->progress, say_stream());
}

void scheduler_begin_message(struct scheduler *s)
{
    const struct system_hooks *hooks = s->system ? &s->system->hooks : NULL;
    if (hooks && hooks->flush)
        hooks->flush(hooks->context);
    progress_hide(&s->progress);
}
