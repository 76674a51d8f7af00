#include "emu/env/gdb/system.h"

#include <signal.h>
#include <string.h>
#include <time.h>

#include "emu/env/gdb/fault.h"
#include "emu/env/gdb/lanes.h"
#include "emu/env/gdb/region.h"

enum {
    LIMIT_STATUS = 124,         /* croft's exit status at a limit */
    SLICE = 2000000,            /* instructions, about ten milliseconds of host time */
    EVENTS = 100000,            /* events of a timed machine, about the same host time */
    IDLE_NANOSECONDS = 5000000, /* host time between two checks whether a hart wakes up */
};

struct gdb_system {
    struct system *system;
    const struct gdb_system_options *options;
    enum gdb_system_end end; /* valid once the run has ended by itself */
    struct error *err;
    struct gdb_fault fault; /* on: gdb was told of the trap */
    struct gdb_lanes lanes;
};

static bool is_lane(const struct gdb_system *target, unsigned thread)
{
    return thread >= target->system->threads;
}

static struct hart *hart_of(void *target, unsigned thread)
{
    return &((struct gdb_system *)target)->system->harts[thread];
}

static unsigned hart_count(const void *target)
{
    return ((const struct gdb_system *)target)->system->threads;
}

static unsigned thread_count(void *target)
{
    return hart_count(target) + gdb_lanes_count(&((struct gdb_system *)target)->lanes);
}

static bool exists(void *target, unsigned thread)
{
    return !is_lane(target, thread) || gdb_lanes_exist(&((struct gdb_system *)target)->lanes, thread);
}

static bool listed(void *target, unsigned thread)
{
    return !is_lane(target, thread) || gdb_lanes_listed(&((struct gdb_system *)target)->lanes, thread);
}

static void list_lanes(void *target, const char *which, FILE *out)
{
    gdb_lanes_list(&((struct gdb_system *)target)->lanes, which, out);
}

static struct gdb_fault *fault_of(void *target)
{
    return &((struct gdb_system *)target)->fault;
}

static bool register_read(void *target, unsigned thread, unsigned number, uint64_t *value)
{
    if (is_lane(target, thread))
        return gdb_lanes_read(&((struct gdb_system *)target)->lanes, thread, number, value);
    if (gdb_fault_at(fault_of(target), thread))
        return gdb_fault_read(fault_of(target), thread, number, value);
    return gdb_hart_read(hart_of(target, thread), number, value);
}

static bool register_write(void *target, unsigned thread, unsigned number, uint64_t value)
{
    struct system *system = ((struct gdb_system *)target)->system;
    if (is_lane(target, thread))
        return gdb_lanes_write(&((struct gdb_system *)target)->lanes, thread, number, value);
    if (gdb_fault_at(fault_of(target), thread))
        return gdb_fault_write(fault_of(target), thread, number, value);
    /* A hart that waits for an interrupt would not continue at the new pc. */
    if (number == GDB_REGISTER_PC)
        system->waiting[thread] = false;
    system_changed(system);
    return gdb_hart_write(hart_of(target, thread), number, value);
}

static bool memory_read(void *target, unsigned thread, uint64_t address, void *to, size_t length)
{
    if (is_lane(target, thread))
        return gdb_lanes_memory(&((struct gdb_system *)target)->lanes, thread, address, to, length, false);
    if (gdb_fault_at(fault_of(target), thread))
        return gdb_fault_memory(fault_of(target), thread, address, to, length, false);
    address = gdb_region_translate(fault_of(target)->tasks, hart_of(target, thread), address);
    return gdb_harts_memory_read(hart_of(target, 0), thread, address, to, length);
}

static bool memory_write(void *target, unsigned thread, uint64_t address, const void *from, size_t length)
{
    void *bytes = (void *)(uintptr_t)from; /* a store only reads them */
    system_changed(((struct gdb_system *)target)->system);
    if (!is_lane(target, thread) && gdb_fault_at(fault_of(target), thread))
        return gdb_fault_memory(fault_of(target), thread, address, bytes, length, true);
    if (!is_lane(target, thread)) {
        address = gdb_region_translate(fault_of(target)->tasks, hart_of(target, thread), address);
        return gdb_harts_memory_write(hart_of(target, 0), hart_count(target), thread, address, from, length);
    }
    return gdb_lanes_memory(&((struct gdb_system *)target)->lanes, thread, address, bytes, length, true);
}

static bool breakpoint(void *target, bool insert, uint64_t address)
{
    struct gdb_lanes *lanes = &((struct gdb_system *)target)->lanes;
    bool done = gdb_harts_breakpoint(hart_of(target, 0), hart_count(target), insert, address);
    if (done && gdb_lanes_breakpoint(lanes, insert, address))
        return true;
    if (done && insert)
        (void)gdb_harts_breakpoint(hart_of(target, 0), hart_count(target), false, address);
    return false;
}

static bool watchpoint(void *target, bool insert, uint64_t address, uint64_t length, unsigned kinds)
{
    return gdb_harts_watchpoint(hart_of(target, 0), hart_count(target), insert, address, length, kinds);
}

static void thread_describe(void *target, unsigned thread, char *text, size_t size)
{
    static const char *const modes[] = {"user", "supervisor", "reserved", "machine"};
    const struct gdb_system *system = target;
    if (is_lane(target, thread)) {
        gdb_lanes_describe(&system->lanes, thread, text, size);
        return;
    }
    const struct hart *hart = hart_of(target, thread);
    const char *state = gdb_fault_describe(&system->fault, thread);
    char name[GDB_REGION_NAME];
    if (!state)
        state = hart->privileged && system->system->waiting[thread] ? "waits for an interrupt" : "";
    const char *comma = *state ? ", " : "";
    if (!hart->privileged)
        (void)snprintf(text, size, "user mode%s%s", comma, state);
    else
        (void)snprintf(text, size, "%s, %s mode%s%s", gdb_region_name(system->fault.tasks, hart, name),
                       gdb_fault_at(&system->fault, thread) ? "user" : modes[hart->privilege & 3], comma,
                       state);
}

static void statistics(void *target, const char *pattern, FILE *out)
{
    gdb_facts_statistics(&((struct gdb_system *)target)->options->facts, pattern, out);
}

static void machine(void *target, FILE *out)
{
    gdb_facts_machine(&((struct gdb_system *)target)->options->facts, out);
}

static bool reset(void *context, FILE *out)
{
    struct gdb_system *target = context;
    struct error err;
    if (target->options->reset(target->options->context, &err)) {
        target->fault.on = false;
        return true;
    }
    fprintf(out, "the reset has failed: %s\n", err.text);
    return false;
}

static unsigned regions(void *target, struct gdb_region *list, unsigned room)
{
    const struct system *system = ((struct gdb_system *)target)->system;
    const struct bus_region memory = {.base = system->memory->base, .size = system->memory->size};
    const struct bus *bus = &system->bus;
    unsigned before = 0, count = 0; /* before: the devices below memory */
    while (before < bus->count && bus->regions[before].base < memory.base)
        before++;
    for (unsigned i = 0; i <= bus->count && count < room; i++) {
        const struct bus_region *part = i == before ? &memory : &bus->regions[i > before ? i - 1 : i];
        list[count++] = (struct gdb_region){part->base, part->size, part->executable};
    }
    return count;
}

static void idle(void)
{
    const struct timespec moment = {.tv_nsec = IDLE_NANOSECONDS};
    (void)nanosleep(&moment, NULL);
}

/* Returns gdb's number of a Linux signal (gdb's include/gdb/signals.def): up to SIGTERM, only these
 * differ. */
static unsigned gdb_number(int number)
{
    switch (number) {
    case SIGBUS: return 10;
    case SIGUSR1: return 30;
    case SIGUSR2: return 31;
    case SIGSYS: return 12;
    default: return number <= SIGTERM ? (unsigned)number : 143; /* gdb's "unknown signal" */
    }
}

static unsigned fault_number(const struct trap *trap)
{
    switch (trap->cause) {
    case TRAP_ILLEGAL_INSTRUCTION: return GDB_SIGNAL_ILL;
    case TRAP_BREAKPOINT: return GDB_SIGNAL_TRAP;
    case TRAP_ECALL_USER: /* in a region of a task, or without a handler */
    case TRAP_ECALL_SUPERVISOR:
    case TRAP_ECALL_MACHINE:
    case TRAP_NUCD_ORDER: return gdb_number(SIGSYS);
    case TRAP_NUCD_LEFT: return gdb_number(SIGILL);
    case TRAP_LOAD_MISALIGNED:
    case TRAP_STORE_MISALIGNED: return gdb_number(SIGBUS);
    default: return GDB_SIGNAL_SEGV;
    }
}

static void end(struct gdb_system *target, struct gdb_stop *stop, enum gdb_system_end how, int status)
{
    target->end = how;
    stop->kind = GDB_STOP_EXIT;
    stop->status = status;
}

static void die(struct gdb_system *target, struct gdb_stop *stop, enum gdb_system_end how, unsigned signal)
{
    target->end = how;
    stop->kind = GDB_STOP_DIED;
    stop->signal = signal;
}

static void exited(struct gdb_system *target, struct gdb_stop *stop)
{
    const struct gdb_system_options *options = target->options;
    int signal = options->signal ? options->signal(options->context) : 0;
    if (signal)
        die(target, stop, GDB_SYSTEM_EXIT, gdb_number(signal));
    else
        end(target, stop, GDB_SYSTEM_EXIT, target->system->status);
}

/* Fills in target->fault if the run has stopped because of a trap that ends the program. */
static bool find_fault(struct gdb_system *target, enum system_stop why)
{
    const struct gdb_system_options *options = target->options;
    struct user_fault *fault = &target->fault.fault;
    struct hart *hart = &target->system->harts[target->system->current];
    if (options->fault && options->fault(options->context, why, fault))
        return true;
    if (why != SYSTEM_TRAP)
        return false;
    *fault = (struct user_fault){.trap = hart->trap, .hart = hart, .pc = hart->pc};
    memcpy(fault->x, hart->x, sizeof fault->x);
    return true;
}

/* Reports a stop for a trap that ends the program. False: that is not why the run has stopped. */
static bool faulted(struct gdb_system *target, enum system_stop why, struct gdb_stop *stop)
{
    if (!find_fault(target, why))
        return false;
    gdb_fault_show(&target->fault);
    stop->kind = GDB_STOP_SIGNAL;
    stop->signal = fault_number(&target->fault.fault.trap);
    stop->thread = target->fault.thread;
    return true;
}

/* Forgets the trap at which the program had stopped. Returns true if it ends the program. */
static bool dies(struct gdb_system *target, const struct gdb_action *actions, struct gdb_stop *stop)
{
    struct gdb_fault *fault = &target->fault;
    const unsigned signal = fault_number(&fault->fault.trap);
    const bool over = fault->on && fault->fault.over;
    const bool delivered =
        fault->on && (actions[fault->thread].signal == signal || actions[fault->host].signal == signal);
    fault->on = false;
    if (over || delivered)
        die(target, stop, over ? GDB_SYSTEM_EXIT : GDB_SYSTEM_TRAPPED, signal);
    return over || delivered;
}

static void explain(struct gdb_system *target, enum system_stop why, struct gdb_stop *stop)
{
    struct system *system = target->system;
    const struct hart *hart = &system->harts[system->current];
    switch (why) {
    case SYSTEM_LIMIT:
        if (system_limit_reached(system))
            end(target, stop, GDB_SYSTEM_LIMIT, LIMIT_STATUS);
        return;
    case SYSTEM_EXIT:
        if (stop->kind == GDB_STOP_DIED) /* because of a lane's trap */
            die(target, stop, GDB_SYSTEM_EXIT, stop->signal);
        else if (!faulted(target, why, stop))
            exited(target, stop);
        return;
    case SYSTEM_RESET:
        if (!target->options->reset(target->options->context, target->err))
            end(target, stop, GDB_SYSTEM_FAILED, 1);
        return;
    case SYSTEM_BREAK:
        stop->kind = GDB_STOP_BREAK;
        stop->address = hart->pc;
        break;
    case SYSTEM_STEPPED:
        stop->kind = GDB_STOP_SIGNAL;
        stop->signal = GDB_SIGNAL_TRAP;
        break;
    case SYSTEM_WATCH:
        stop->kind = GDB_STOP_WATCH;
        stop->address = hart->watch_hit.address;
        stop->write = hart->watch_hit.write;
        break;
    case SYSTEM_TRAP: (void)faulted(target, why, stop); return;
    case SYSTEM_WATCHED: return;
    case SYSTEM_EXPIRED: end(target, stop, GDB_SYSTEM_EXPIRED, LIMIT_STATUS); return;
    case SYSTEM_FULL: end(target, stop, GDB_SYSTEM_FULL, LIMIT_STATUS); return;
    case SYSTEM_STUCK: idle(); return;
    }
    stop->thread = system->current;
}

/* Completes the WFI of a hart that steps while gdb holds all others. Only they might send it an interrupt, so
 * its step would never end. WFI may complete at any time (privileged specification, section 3.3.3). */
static void end_wait(struct system *system, const struct gdb_action *actions)
{
    unsigned moving = 0, last = 0;
    for (unsigned i = 0; i < system->threads; i++)
        if (actions[i].motion != GDB_STAY) {
            moving++;
            last = i;
        }
    if (moving == 1 && system->threads > 1 && actions[last].motion == GDB_STEP)
        system->waiting[last] = false;
}

static void run(void *context, const struct gdb_action *actions, struct gdb_stop *stop)
{
    static const enum system_motion motions[] = {
        [GDB_STAY] = SYSTEM_HOLD, [GDB_CONTINUE] = SYSTEM_GO, [GDB_STEP] = SYSTEM_STEP};
    struct gdb_system *target = context;
    struct system *system = target->system;
    if (dies(target, actions, stop))
        return;
    for (unsigned i = 0; i < system->threads; i++)
        system->motion[i] = motions[actions[i].motion];
    gdb_lanes_move(&target->lanes, actions, fault_number);
    end_wait(system, actions);
    enum system_stop why = system_run(system, SLICE);
    if (!gdb_lanes_stopped(&target->lanes, &why, fault_number, stop))
        explain(target, why, stop);
}

static const struct gdb_target_ops target_ops = {
    .thread_count = thread_count,
    .exists = exists,
    .listed = listed,
    .register_read = register_read,
    .register_write = register_write,
    .memory_read = memory_read,
    .memory_write = memory_write,
    .breakpoint = breakpoint,
    .watchpoint = watchpoint,
    .run = run,
    .thread_describe = thread_describe,
    .statistics = statistics,
    .machine = machine,
    .reset = reset,
    .regions = regions,
    .lanes = list_lanes,
};

enum gdb_system_end gdb_system_run(struct gdb_server *server, struct system *system,
                                   const struct gdb_system_options *options, struct error *err)
{
    struct gdb_system target = {.system = system,
                                .options = options,
                                .end = GDB_SYSTEM_KILLED,
                                .err = err,
                                .fault = {.system = system, .tasks = options->tasks}};
    struct gdb_target_ops ops = target_ops;
    struct gdb_stop stop;
    if (!options->reset)
        ops.reset = NULL;
    system->hooks.wait = NULL;
    system->slice = EVENTS;
    gdb_lanes_open(&target.lanes, options->threads, system, system->threads);
    fprintf(stderr, "croft: %s waits for gdb: %s\n", options->program, gdb_server_command(server));
    bool ended = gdb_server_run(server, &(struct gdb_target){&ops, &target}, &stop, err);
    gdb_lanes_close(&target.lanes);
    return ended ? target.end : GDB_SYSTEM_FAILED;
}
