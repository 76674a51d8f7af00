#include "emu/env/gdb/lanes.h"

#include <inttypes.h>
#include <string.h>

#include "emu/env/threads.h"
#include "isa/csr.h"

enum { HOST = 0 };

static void pause_run(void *context)
{
    const struct gdb_lanes *lanes = context;
    system_pause(lanes->system);
}

void gdb_lanes_open(struct gdb_lanes *lanes, struct threads *threads, struct system *system, unsigned first)
{
    *lanes = (struct gdb_lanes){.threads = threads, .system = system, .first = first, .width = 1};
    if (!threads)
        return;
    lanes->launch = threads_launch(threads);
    lanes->warps = launch_warps(lanes->launch);
    lanes->width = launch_width(lanes->launch);
    lanes->debug.stop = pause_run;
    lanes->debug.context = lanes;
    launch_debug(lanes->launch, &lanes->debug);
}

void gdb_lanes_close(struct gdb_lanes *lanes)
{
    lanes->debug.count = 0;
    lanes->debug.pass = true;
    if (lanes->launch)
        launch_debug(lanes->launch, NULL);
}

unsigned gdb_lanes_count(const struct gdb_lanes *lanes)
{
    return lanes->warps * lanes->width;
}

/* Returns the warp of a gdb thread and sets *lane. NULL: the thread does not exist. */
static struct warp *find(const struct gdb_lanes *lanes, unsigned thread, unsigned *lane)
{
    if (thread < lanes->first || thread - lanes->first >= gdb_lanes_count(lanes))
        return NULL;
    *lane = (thread - lanes->first) % lanes->width;
    struct warp *warp = launch_warp(lanes->launch, (thread - lanes->first) / lanes->width);
    return warp && warp_live(warp) >> *lane & 1 ? warp : NULL;
}

/* Returns the number of a lane's gdb thread. */
static unsigned thread_of(const struct gdb_lanes *lanes, const struct warp *warp, unsigned lane)
{
    return lanes->first + warp_where(warp)->stacks * lanes->width + lane;
}

bool gdb_lanes_exist(const struct gdb_lanes *lanes, unsigned thread)
{
    unsigned lane;
    return find(lanes, thread, &lane) != NULL;
}

bool gdb_lanes_listed(const struct gdb_lanes *lanes, unsigned thread)
{
    unsigned lane, other;
    const struct warp *warp = find(lanes, thread, &lane);
    if (!warp)
        return false;
    return lanes->all || warp == find(lanes, lanes->current, &other) ||
           lane == (unsigned)__builtin_ctz(warp_live(warp));
}

bool gdb_lanes_read(const struct gdb_lanes *lanes, unsigned thread, unsigned number, uint64_t *value)
{
    unsigned lane;
    const struct warp *warp = find(lanes, thread, &lane);
    if (!warp)
        return false;
    if (number == GDB_REGISTER_PC)
        *value = warp_pc(warp, lane);
    else if (number < GDB_REGISTER_CSR)
        *value = warp_register(warp, number < GDB_REGISTER_PC ? number : number - GDB_REGISTER_F + 32, lane);
    else if (number == GDB_REGISTER_PRIV)
        *value = PRIV_U;
    else
        return warp_csr_peek(warp, lane, number - GDB_REGISTER_CSR, value);
    return true;
}

/* Refuses to change the pc, because the places where lanes reconverge depend on the path by which they
 * came. */
bool gdb_lanes_write(const struct gdb_lanes *lanes, unsigned thread, unsigned number, uint64_t value)
{
    unsigned lane;
    struct warp *warp = find(lanes, thread, &lane);
    if (!warp)
        return false;
    if (number == GDB_REGISTER_PC)
        return value == warp_pc(warp, lane);
    if (number < GDB_REGISTER_CSR)
        warp_set_register(warp, number < GDB_REGISTER_PC ? number : number - GDB_REGISTER_F + 32, lane,
                          value);
    else if (number == GDB_REGISTER_CSR + CSR_fcsr && value < 256)
        warp_set_fcsr(warp, lane, (unsigned)value);
    else
        return false;
    return true;
}

bool gdb_lanes_memory(const struct gdb_lanes *lanes, unsigned thread, uint64_t address, void *bytes,
                      size_t length, bool write)
{
    unsigned lane;
    const struct warp *warp = find(lanes, thread, &lane);
    if (!warp)
        return false;
    const struct warp_scratchpad *pad = warp_scratchpad(warp);
    return write ? warp_memory_store(warp_memory_of(warp), pad, address, bytes, length)
                 : warp_memory_load(warp_memory_of(warp), pad, address, bytes, length);
}

bool gdb_lanes_breakpoint(struct gdb_lanes *lanes, bool insert, uint64_t address)
{
    return !lanes->launch || launch_break(lanes->launch, insert, address);
}

void gdb_lanes_describe(const struct gdb_lanes *lanes, unsigned thread, char *text, size_t size)
{
    unsigned lane;
    const struct warp *warp = find(lanes, thread, &lane);
    if (!warp) {
        (void)snprintf(text, size, "ended");
        return;
    }
    const struct warp_place *place = warp_where(warp);
    (void)snprintf(text, size,
                   "multiprocessor %" PRIu32 ", block (%" PRIu32 ", %" PRIu32 ", %" PRIu32 "), warp %" PRIu32
                   ", lane %u%s",
                   place->multiprocessor, place->block[0], place->block[1], place->block[2], place->warp,
                   lane, warp_waiting(warp) >> lane & 1 ? ", waits at the barrier" : "");
}

void gdb_lanes_list(struct gdb_lanes *lanes, const char *which, FILE *out)
{
    bool all = strcmp(which, "all") == 0;
    if (!lanes->launch)
        fputs("there are no multiprocessors here\n", out);
    else if (!all && strcmp(which, "warp") != 0)
        fprintf(out, "lanes %s: not allowed; allowed: lanes all, lanes warp\n", which);
    else
        lanes->all = all;
}

/* Sets what a warp does: it is held if `hold` is set and none of its lanes moves. Returns whether any lane
 * moves. */
static bool move_warp(struct gdb_lanes *lanes, struct warp *warp, const struct gdb_action *actions, bool hold)
{
    unsigned first = thread_of(lanes, warp, 0);
    uint32_t steps = 0;
    bool moves = false;
    for (uint32_t left = warp_live(warp); left; left &= left - 1) {
        unsigned lane = (unsigned)__builtin_ctz(left);
        moves |= actions[first + lane].motion != GDB_STAY;
        if (actions[first + lane].motion != GDB_STEP)
            continue;
        steps |= UINT32_C(1) << lane;
        lanes->current = first + lane;
    }
    warp_debug_move(warp, hold && !moves, steps);
    return moves;
}

/* After a lane's trap: if gdb delivers the trap's signal, the trap ends the program; else the lane tries
 * again. */
static void pass_trap(struct gdb_lanes *lanes, const struct gdb_action *actions,
                      unsigned (*fault)(const struct trap *trap))
{
    struct warp_debug *debug = &lanes->debug;
    unsigned lane;
    if (!debug->waiter && !debug->trap.cause)
        return;
    debug->pass = find(lanes, lanes->current, &lane) == debug->warp &&
                  actions[lanes->current].signal == fault(&debug->trap);
    lanes->signal = debug->pass ? fault(&debug->trap) : GDB_SIGNAL_NONE;
    if (debug->waiter)
        launch_resume(lanes->launch, debug->waiter);
    debug->waiter = NULL;
    debug->trap = (struct trap){0};
}

void gdb_lanes_move(struct gdb_lanes *lanes, const struct gdb_action *actions,
                    unsigned (*fault)(const struct trap *trap))
{
    struct system *system = lanes->system;
    bool moves = false, stays = false, holds = system->scheduler || actions[HOST].motion == GDB_STAY;
    lanes->borrows = false;
    if (!lanes->launch)
        return;
    pass_trap(lanes, actions, fault);
    for (unsigned i = 0; i < lanes->warps; i++) {
        struct warp *warp = launch_warp(lanes->launch, i);
        bool moved = warp && move_warp(lanes, warp, actions, holds);
        moves |= moved;
        stays |= warp && !moved;
    }
    lanes->debug.hold = holds && stays;
    launch_moved(lanes->launch);
    unsigned host;
    if (moves && threads_call_host(lanes->threads, &host) && actions[host].motion == GDB_STAY) {
        system->motion[host] = SYSTEM_STEP;
        lanes->borrows = true;
        lanes->borrowed = host;
    }
}

static void fill(struct gdb_lanes *lanes, unsigned (*fault)(const struct trap *trap), struct gdb_stop *stop)
{
    const struct warp_debug *debug = &lanes->debug;
    const struct warp *warp = debug->warp;
    unsigned lane = 0;
    uint32_t among = debug->why == WARP_STOP_END ? warp_live(warp) : debug->lanes;
    if (find(lanes, lanes->current, &lane) != warp || !(among >> lane & 1))
        lanes->current = among ? thread_of(lanes, warp, (unsigned)__builtin_ctz(among)) : HOST;
    stop->thread = lanes->current;
    stop->kind = debug->why == WARP_STOP_BREAK ? GDB_STOP_BREAK : GDB_STOP_SIGNAL;
    stop->address = debug->pc;
    stop->signal = debug->why == WARP_STOP_TRAP ? fault(&debug->trap) : GDB_SIGNAL_TRAP;
}

bool gdb_lanes_stopped(struct gdb_lanes *lanes, enum system_stop *why,
                       unsigned (*fault)(const struct trap *trap), struct gdb_stop *stop)
{
    bool borrowed = lanes->borrows && *why == SYSTEM_STEPPED && lanes->system->current == lanes->borrowed;
    lanes->borrows = false;
    if (borrowed)
        *why = SYSTEM_WATCHED;
    if (*why == SYSTEM_EXIT && lanes->signal) {
        stop->kind = GDB_STOP_DIED;
        stop->signal = lanes->signal;
    }
    if (*why == SYSTEM_EXIT || *why == SYSTEM_EXPIRED || lanes->debug.why == WARP_STOP_NONE)
        return false;
    fill(lanes, fault, stop);
    lanes->debug.why = WARP_STOP_NONE;
    return true;
}
