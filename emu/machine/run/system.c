/* A system: its harts, and the top of the run loop. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "emu/hart/block.h"
#include "emu/machine/run/state.h"
#include "emu/sim/text/say.h"

/* Quanta in instructions, about 0.1 s of host time each, because a loop of plain blocks does not check for
 * yield requests. An instruction of a call is a warp's and executes for many threads. */
enum { USER_QUANTUM = 1 << 25, CALL_QUANTUM = 1 << 20 };

static void timer_moved(void *context)
{
    system_timer_moved(context);
}

/* Makes the next hart; a privileged one is attached to the system's bus. */
static bool make_hart(struct system *system, bool privileged, const struct decoder *decoder,
                      struct error *err)
{
    struct hart *hart = &system->harts[system->count];
    if (!hart_init(hart, system->memory, decoder, err))
        return false;
    if (privileged && !hart_init_privileged(hart, &system->bus, system->count, SYSTEM_TICK_NS, err)) {
        hart_free(hart);
        return false;
    }
    hart->hartid = system->count;
    hart->holders = &system->bus.holders;
    system->count++;
    return true;
}

/* Makes `count` harts. The first `plain` of them are not privileged. */
static bool make_harts(struct system *system, unsigned count, unsigned plain, const struct decoder *decoder,
                       struct error *err)
{
    bus_init(&system->bus, system->memory);
    system->max_insns = UINT64_MAX;
    system->harts = calloc(count, sizeof *system->harts);
    system->waiting = calloc(count, sizeof *system->waiting);
    system->motion = calloc(count, sizeof *system->motion);
    if (!system->harts || !system->waiting || !system->motion) {
        (void)error_set(err, "out of memory for %u harts: %s", count, strerror(errno));
        system_free(system);
        return false;
    }
    while (system->count < count) {
        if (make_hart(system, system->count >= plain, decoder, err))
            continue;
        system_free(system);
        return false;
    }
    return true;
}

bool system_init(struct system *system, unsigned count, uint64_t quantum, struct phys *memory,
                 const struct decoder *decoder, struct error *err)
{
    *system = (struct system){.memory = memory, .quantum = quantum, .threads = count};
    if (!make_harts(system, count, 0, decoder, err))
        return false;
    for (unsigned i = 0; i < count; i++) {
        system->harts[i].timer_moved = timer_moved;
        system->harts[i].timer_context = system;
    }
    return true;
}

bool system_init_user(struct system *system, unsigned hosts, unsigned accelerators, struct phys *memory,
                      const struct decoder *decoder, struct error *err)
{
    *system = (struct system){.memory = memory, .quantum = USER_QUANTUM, .threads = hosts, .hosts = hosts};
    return make_harts(system, hosts + accelerators, hosts, decoder, err);
}

void system_free(struct system *system)
{
    for (unsigned i = 0; i < system->count; i++)
        hart_free(&system->harts[i]);
    bus_free(&system->bus);
    free(system->harts);
    free(system->waiting);
    free(system->motion);
    *system = (struct system){0};
}

void system_restart(struct system *system, uint64_t pc)
{
    if (system->scheduler)
        scheduler_halt(system->scheduler);
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
    system->exited = system->reset = system->call.open = false;
    system->status = 0;
    if (system->scheduler)
        scheduler_start(system->scheduler);
}

/* With a clock, any hart may be in the middle of a run; without one, only the current hart. */
static void stop_harts(struct system *system)
{
    for (unsigned i = 0; i < system->count; i++)
        if (system->scheduler || i == system->current)
            hart_request_yield(&system->harts[i]);
}

void system_changed(struct system *system)
{
    for (unsigned i = 0; i < system->count && system->scheduler; i++) {
        hart_request_yield(&system->harts[i]);
        scheduler_interrupt(system->scheduler, i);
    }
}

void system_exit(struct system *system, int status)
{
    if (!system->exited)
        system->status = status;
    system->exited = true;
    stop_harts(system);
}

void system_request_reset(struct system *system)
{
    system->reset = true;
    stop_harts(system);
}

static void memory_full(void *context)
{
    struct system *system = context;
    system->full = true;
    system->full_pc = system->harts[system->current].pc;
    stop_harts(system);
}

void system_limit_memory(struct system *system, struct memory_limit *limit)
{
    memory_limit_call(limit, memory_full, system);
}

/* Without a clock, a round can be cut short only in the first hart's turn: harts that have had their turn are
 * already at the end of the round. In later turns, the timer is seen at the end of the round. */
void system_timer_moved(struct system *system)
{
    if (system->scheduler)
        scheduler_set_timer(system->scheduler);
    else if (system->current == 0)
        stop_harts(system);
}

void system_set_interrupt(struct system *system, unsigned hart, unsigned number, bool level)
{
    hart_set_interrupt(&system->harts[hart], number, level);
    if (system->scheduler)
        scheduler_interrupt(system->scheduler, hart);
}

void system_set_time(struct system *system, uint64_t ticks)
{
    uint64_t offset = ticks - system_time(system);
    for (unsigned i = 0; i < system->count; i++)
        system->harts[i].time_offset = offset;
}

void system_show_progress(struct system *system)
{
    progress_init(&system->progress, say_stream());
}

uint64_t system_open_call(struct system *system, uint64_t insns)
{
    system_count_call(system, insns, false);
    uint64_t run = scheduler_left_of_run(system), all = scheduler_left_of_all(system);
    uint64_t left = run < all ? run : all;
    return left == 0 ? 1 : left < CALL_QUANTUM ? left : CALL_QUANTUM;
}

void system_count_call(struct system *system, uint64_t insns, bool over)
{
    system->call.open = !over;
    system->call.insns = insns;
}

void system_end_turn(struct system *system)
{
    system->round.turn_over = true;
}

bool system_in_call(const struct system *system)
{
    return system->call.open;
}

void system_keep_call(struct system *system, bool open)
{
    system->call.open = open;
}

void system_interrupt(struct system *system)
{
    system->interrupted = true;
    stop_harts(system);
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

enum system_stop system_run(struct system *system, uint64_t max_insns)
{
    enum system_stop stop = SYSTEM_LIMIT;
    bool goes = true;
    scheduler_limit_run(system, max_insns);
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
