#include "emu/machine/system.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "emu/hart/block.h"
#include "emu/hart/step.h"

static void timer_moved(void *context)
{
    system_timer_moved(context);
}

bool system_init(struct system *system, unsigned count, uint64_t quantum, struct phys *memory,
                 const struct decoder *decoder, struct error *err)
{
    *system = (struct system){.memory = memory, .quantum = quantum};
    bus_init(&system->bus, memory);
    system->harts = calloc(count, sizeof *system->harts);
    if (!system->harts)
        return error_set(err, "no memory for %u harts: %s", count, strerror(errno));
    for (; system->count < count; system->count++) {
        struct hart *hart = &system->harts[system->count];
        if (!hart_init(hart, memory, decoder, err))
            break;
        if (!hart_init_privileged(hart, &system->bus, system->count, SYSTEM_TICK_NS, err)) {
            hart_free(hart);
            break;
        }
        hart->timer_moved = timer_moved;
        hart->timer_context = system;
    }
    if (system->count == count)
        return true;
    system_free(system);
    return false;
}

void system_free(struct system *system)
{
    for (unsigned i = 0; i < system->count; i++)
        hart_free(&system->harts[i]);
    free(system->harts);
    *system = (struct system){0};
}

void system_restart(struct system *system, uint64_t pc)
{
    if (system->engine)
        system->engine->halt(system->engine->context);
    for (unsigned i = 0; i < system->count; i++) {
        struct hart *hart = &system->harts[i];
        memset(hart->x, 0, sizeof hart->x);
        memset(hart->f, 0, sizeof hart->f);
        hart->fflags = hart->frm = 0;
        hart->pc = pc;
        hart_flush_code(hart);
        priv_reset(hart);
        system->waiting[i] = false;
    }
    system->exited = system->reset = false;
    system->status = 0;
    if (system->engine)
        system->engine->start(system->engine->context);
}

/* The part of the round that the current hart has behind it. */
static uint64_t turn_used(const struct system *system)
{
    return system->used + (hart_progress(&system->harts[system->current]) - system->turn_start);
}

uint64_t system_time(const struct system *system)
{
    if (system->engine)
        return system->engine->now(system->engine->context) / SYSTEM_TICK_NS;
    return (system->round_start + turn_used(system)) / SYSTEM_TICK_NS;
}

uint64_t system_instructions(const struct system *system)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < system->count; i++)
        sum += hart_progress(&system->harts[i]);
    return sum;
}

static void stop_current(struct system *system)
{
    for (unsigned i = 0; system->engine && i < system->count; i++)
        hart_request_yield(&system->harts[i]); /* an engine may be in the middle of any */
    if (system->count && !system->engine)
        hart_request_yield(&system->harts[system->current]);
}

void system_exit(struct system *system, int status)
{
    if (!system->exited)
        system->status = status;
    system->exited = true;
    stop_current(system);
}

void system_request_reset(struct system *system)
{
    system->reset = true;
    stop_current(system);
}

/* A hart that has had its turn is ahead of the others by the length of the round, so a round can only be cut
 * short in the first hart's turn; later, the timer is seen at the end of the round. */
void system_timer_moved(struct system *system)
{
    if (system->engine)
        system->engine->timer_moved(system->engine->context);
    else if (system->current == 0)
        stop_current(system);
}

void system_set_interrupt(struct system *system, unsigned hart, unsigned number, bool level)
{
    hart_set_interrupt(&system->harts[hart], number, level);
    if (system->engine)
        system->engine->interrupt(system->engine->context, hart);
}

void system_set_time(struct system *system, uint64_t ticks)
{
    uint64_t offset = ticks - system_time(system);
    for (unsigned i = 0; i < system->count; i++)
        system->harts[i].time_offset = offset;
}

void system_quiet(struct system *system)
{
    if (system->engine)
        system->engine->quiet(system->engine->context);
}

void system_interrupt(struct system *system)
{
    system->interrupted = true;
    stop_current(system);
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

static uint64_t next_event(const struct system *system)
{
    return system_next_event(system, system->round_start / SYSTEM_TICK_NS);
}

/* The simulated time at which a tick begins. Those of more than 2^63 ns, 292 years, count as never: so time
 * may jump to any other, and what runs from there on does not let it wrap. */
static uint64_t tick_ns(uint64_t tick)
{
    return tick > INT64_MAX / SYSTEM_TICK_NS ? UINT64_MAX : tick * SYSTEM_TICK_NS;
}

/* Cuts the round short if a timer has moved into it. */
static void shorten_round(struct system *system)
{
    uint64_t until = tick_ns(next_event(system)), now = system->round_start + turn_used(system);
    if (system->current == 0 && until < system->round_start + system->round_length)
        system->round_length = (until > now ? until : now) - system->round_start;
}

static bool all_wait(const struct system *system)
{
    for (unsigned i = 0; i < system->count; i++) {
        if (system->motion[i] == SYSTEM_HOLD)
            continue;
        if (!system->waiting[i] || hart_has_interrupt(&system->harts[i]))
            return false;
    }
    return true;
}

static void set_time(struct system *system)
{
    for (unsigned i = 0; i < system->count; i++) {
        system->harts[i].time_base = system->round_start;
        system->harts[i].time_origin = hart_progress(&system->harts[i]);
        system->harts[i].attention = true; /* time may have made a timer due */
    }
    if (system->hooks.update)
        system->hooks.update(system->hooks.context);
}

/* Begins a round: decides how long it is. False when nothing can ever happen again. */
static bool start_round(struct system *system)
{
    system->round_start += system->round_length;
    system->round_length = 0;
    system->current = 0;
    system->used = 0;
    system->turn_over = false;
    system->turn_start = hart_progress(&system->harts[0]);
    set_time(system);
    uint64_t next = tick_ns(next_event(system));
    if (all_wait(system)) {
        if (next != UINT64_MAX && next > system->round_start) {
            system->round_start = next;
            set_time(system);
        } else if (next == UINT64_MAX && !(system->hooks.wait && system->hooks.wait(system->hooks.context))) {
            return false;
        }
        next = tick_ns(next_event(system));
    }
    uint64_t until = next > system->round_start ? next - system->round_start : system->quantum;
    system->round_length = until < system->quantum ? until : system->quantum;
    return true;
}

/* Ends the current hart's turn. */
static void next_hart(struct system *system)
{
    struct hart *hart = &system->harts[system->current];
    /* Others may store before its next turn, so that a reservation does not outlast a turn; SC may then fail.
     */
    if (system->count > 1)
        hart->reserved = false;
    system->current++;
    system->used = 0;
    system->turn_over = false;
    if (system->current < system->count)
        system->turn_start = hart_progress(&system->harts[system->current]);
}

static enum hart_stop run_hart(struct system *system, struct hart *hart, uint64_t insns)
{
    const struct system_hooks *hooks = &system->hooks;
    struct step_report ignored;
    if (system->motion[system->current] == SYSTEM_STEP)
        return hooks->run ? hooks->run(hooks->context, hart, 1) : hart_step(hart, &ignored);
    return hooks->run ? hooks->run(hooks->context, hart, insns) : hart_run(hart, insns);
}

/* Deals with a stop of the current hart; true when system_run() has to return *stop. */
static bool handle_stop(struct system *system, struct hart *hart, enum hart_stop why, enum system_stop *stop)
{
    const struct system_hooks *hooks = &system->hooks;
    switch (why) {
    case HART_STOP_WFI:
        /* A hart that waits for what is already pending gives its turn away, so that idle loops do not starve
         * others. */
        system->waiting[system->current] = !hart_has_interrupt(hart);
        system->turn_over = system->waiting[system->current] || system->count > 1;
        return false;
    case HART_STOP_MARKER:
        if (hooks->marker)
            hooks->marker(hooks->context, hart);
        return false;
    case HART_STOP_SEMIHOST:
        if (hooks->semihosting)
            hooks->semihosting(hooks->context, hart);
        return false;
    case HART_STOP_BREAK: *stop = SYSTEM_BREAK; return true;
    case HART_STOP_WATCH: *stop = SYSTEM_WATCH; return true;
    default: return false;
    }
}

static bool must_return(struct system *system, enum system_stop *stop)
{
    if (system->exited)
        *stop = SYSTEM_EXIT;
    else if (system->reset)
        *stop = SYSTEM_RESET;
    else if (system->interrupted)
        *stop = SYSTEM_WATCHED;
    else
        return false;
    system->interrupted = false;
    return true;
}

static enum system_stop run_engine(struct system *system, uint64_t end)
{
    const struct system_engine *engine = system->engine;
    enum system_stop stop;
    for (;;) {
        if (must_return(system, &stop))
            return stop;
        if (system_instructions(system) >= end)
            return SYSTEM_LIMIT;
        if (engine->advance(engine->context, end, &stop))
            return stop;
    }
}

enum system_stop system_run(struct system *system, uint64_t max_insns)
{
    uint64_t end = system_instructions(system) + max_insns;
    enum system_stop stop;
    if (end < max_insns)
        end = UINT64_MAX;
    if (system->engine)
        return run_engine(system, end);
    for (;;) {
        if (must_return(system, &stop))
            return stop;
        if (system_instructions(system) >= end)
            return SYSTEM_LIMIT;
        if (system->current >= system->count || system->round_length == 0) {
            if (!start_round(system))
                return SYSTEM_STUCK;
            continue;
        }
        struct hart *hart = &system->harts[system->current];
        uint64_t used = turn_used(system), left = system->round_length - used;
        if (system->waiting[system->current] && hart_has_interrupt(hart))
            system->waiting[system->current] = false;
        if (used >= system->round_length || system->turn_over || system->waiting[system->current] ||
            system->motion[system->current] == SYSTEM_HOLD) {
            next_hart(system);
            continue;
        }
        uint64_t allowed = end - system_instructions(system);
        enum hart_stop why = run_hart(system, hart, left < allowed ? left : allowed);
        if (why == HART_STOP_YIELD)
            shorten_round(system);
        if (handle_stop(system, hart, why, &stop))
            return stop;
        if (system->motion[system->current] == SYSTEM_STEP && why != HART_STOP_YIELD)
            return SYSTEM_STEPPED;
    }
}
