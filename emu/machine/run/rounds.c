/* Systems without a clock: harts take turns in a fixed order, so that runs are reproducible. */
#include "emu/machine/run/state.h"

static uint64_t next_event(const struct system *system)
{
    return system_next_event(system, system->round.start / SYSTEM_TICK_NS);
}

/* Returns the simulated time in ns at which a tick begins. Ticks beyond 2^63 ns (292 years) count as never,
 * so that time can jump to any other tick and continue from there without wrapping. */
static uint64_t tick_ns(uint64_t tick)
{
    return tick > INT64_MAX / SYSTEM_TICK_NS ? UINT64_MAX : tick * SYSTEM_TICK_NS;
}

/* Cuts the round short if a timer has moved into it. */
static void shorten_round(struct system *system)
{
    struct system_round *round = &system->round;
    uint64_t until = tick_ns(next_event(system)), now = round->start + scheduler_turn_used(system);
    if (system->current == 0 && until < round->start + round->length)
        round->length = (until > now ? until : now) - round->start;
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
        system->harts[i].time_base = system->round.start;
        system->harts[i].time_origin = hart_progress(&system->harts[i]);
        system->harts[i].attention = true; /* a timer may be due */
    }
    if (system->hooks.update)
        system->hooks.update(system->hooks.context);
}

static void begin_turn(struct system *system, unsigned hart)
{
    system->current = hart;
    system->round.turn_over = false;
    system->round.turn_start = hart_progress(&system->harts[hart]);
}

/* Begins a round and sets its length. False when nothing can happen any more. */
static bool start_round(struct system *system)
{
    struct system_round *round = &system->round;
    const struct system_hooks *hooks = &system->hooks;
    round->start += round->length;
    round->length = 0;
    begin_turn(system, 0);
    set_time(system);
    uint64_t next = tick_ns(next_event(system));
    if (all_wait(system)) {
        if (next != UINT64_MAX && next > round->start) {
            round->start = next;
            set_time(system);
        } else if (next == UINT64_MAX && !(hooks->wait && hooks->wait(hooks->context))) {
            return false;
        }
        next = tick_ns(next_event(system));
    }
    uint64_t until = next > round->start ? next - round->start : system->quantum;
    round->length = until < system->quantum ? until : system->quantum;
    return true;
}

/* Ends the current hart's turn and begins the next hart's turn or the next round. False like start_round(). */
static bool next_turn(struct system *system)
{
    /* Other harts may store before its next turn, so a reservation ends with the turn; SC may then fail. */
    if (system->count > 1)
        system->harts[system->current].reserved = false;
    if (system->current + 1 == system->count)
        return start_round(system);
    begin_turn(system, system->current + 1);
    return true;
}

static enum hart_stop run_hart(const struct system *system, uint64_t insns)
{
    const struct system_hooks *hooks = &system->hooks;
    struct hart *hart = &system->harts[system->current];
    if (system->motion[system->current] == SYSTEM_STEP)
        insns = 1;
    return hooks->run ? hooks->run(hooks->context, hart, insns) : hart_run(hart, insns);
}

bool scheduler_turn(struct system *system, uint64_t allowed, enum system_stop *stop)
{
    struct system_round *round = &system->round;
    unsigned i = system->current;
    struct hart *hart = &system->harts[i];
    uint64_t used = scheduler_turn_used(system);
    if (system->waiting[i] && hart_has_interrupt(hart))
        system->waiting[i] = false;
    if (used >= round->length || round->turn_over || system->waiting[i] || system->motion[i] == SYSTEM_HOLD) {
        *stop = SYSTEM_STUCK;
        return round->length == 0 ? start_round(system) : next_turn(system);
    }
    uint64_t left = round->length - used;
    uint64_t before = hart_progress(hart) + system->call.insns;
    enum hart_stop why =
        scheduler_in_call(system, i) ? system->call.stop : run_hart(system, left < allowed ? left : allowed);
    if (why == HART_STOP_YIELD)
        shorten_round(system);
    if (why == HART_STOP_WFI) {
        /* A hart whose interrupt is already pending gives up its turn, so that idle loops do not starve other
         * harts. */
        system->waiting[i] = !hart_has_interrupt(hart);
        round->turn_over = system->waiting[i] || system->count > 1;
    }
    bool goes = scheduler_serve(system, i, why, stop);
    if (system->hooks.trap) /* a user program runs alone: each stop starts a new quantum */
        round->length = scheduler_turn_used(system) + system->quantum;
    scheduler_look(system, hart_progress(hart) + system->call.insns - before);
    return goes;
}
