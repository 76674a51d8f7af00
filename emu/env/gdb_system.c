#include "emu/env/gdb_system.h"

#include <time.h>

enum {
    LIMIT_STATUS = 124,         /* what croft ends with then */
    SLICE = 2000000,            /* instructions, some ten milliseconds of the host's */
    IDLE_NANOSECONDS = 5000000, /* between looks for something that wakes a hart */
};

struct gdb_system {
    struct system *system;
    const struct gdb_system_options *options;
    enum gdb_system_end end; /* once the run has ended by itself */
    struct error *err;
};

static struct hart *hart_of(void *target, unsigned thread)
{
    return &((struct gdb_system *)target)->system->harts[thread];
}

static unsigned thread_count(void *target)
{
    return ((struct gdb_system *)target)->system->count;
}

static bool register_read(void *target, unsigned thread, unsigned number, uint64_t *value)
{
    return gdb_hart_read(hart_of(target, thread), number, value);
}

static bool register_write(void *target, unsigned thread, unsigned number, uint64_t value)
{
    /* A hart that waits in front of the new pc would not go there. */
    if (number == GDB_REGISTER_PC)
        ((struct gdb_system *)target)->system->waiting[thread] = false;
    return gdb_hart_write(hart_of(target, thread), number, value);
}

static bool memory_read(void *target, unsigned thread, uint64_t address, void *to, size_t length)
{
    return gdb_harts_memory_read(hart_of(target, 0), thread, address, to, length);
}

static bool memory_write(void *target, unsigned thread, uint64_t address, const void *from, size_t length)
{
    return gdb_harts_memory_write(hart_of(target, 0), thread_count(target), thread, address, from, length);
}

static bool breakpoint(void *target, bool insert, uint64_t address)
{
    return gdb_harts_breakpoint(hart_of(target, 0), thread_count(target), insert, address);
}

static bool watchpoint(void *target, bool insert, uint64_t address, uint64_t length, unsigned kinds)
{
    return gdb_harts_watchpoint(hart_of(target, 0), thread_count(target), insert, address, length, kinds);
}

static void thread_describe(void *target, unsigned thread, char *text, size_t size)
{
    static const char *const modes[] = {"user", "supervisor", "reserved", "machine"};
    const struct hart *hart = hart_of(target, thread);
    bool waits = ((struct gdb_system *)target)->system->waiting[thread];
    (void)snprintf(text, size, "hart %u, %s mode%s", hart->hartid, modes[hart->privilege & 3],
                   waits ? ", waits for an interrupt" : "");
}

static void statistics(void *target, FILE *out)
{
    gdb_facts_statistics(&((struct gdb_system *)target)->options->facts, out);
}

static void machine(void *target, FILE *out)
{
    gdb_facts_machine(&((struct gdb_system *)target)->options->facts, out);
}

static bool reset(void *context, FILE *out)
{
    const struct gdb_system *target = context;
    struct error err;
    if (target->options->reset(target->options->context, &err))
        return true;
    fprintf(out, "the reset has failed: %s\n", err.text);
    return false;
}

static void idle(void)
{
    const struct timespec moment = {.tv_nsec = IDLE_NANOSECONDS};
    (void)nanosleep(&moment, NULL);
}

static void end(struct gdb_system *target, struct gdb_stop *stop, enum gdb_system_end how, int status)
{
    target->end = how;
    stop->kind = GDB_STOP_EXIT;
    stop->status = status;
}

static void explain(struct gdb_system *target, enum system_stop why, struct gdb_stop *stop)
{
    struct system *system = target->system;
    const struct hart *hart = &system->harts[system->current < system->count ? system->current : 0];
    switch (why) {
    case SYSTEM_LIMIT:
        if (system_instructions(system) >= target->options->max_insns)
            end(target, stop, GDB_SYSTEM_LIMIT, LIMIT_STATUS);
        return;
    case SYSTEM_EXIT: end(target, stop, GDB_SYSTEM_EXIT, system->status); return;
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
    case SYSTEM_WATCHED: return;
    case SYSTEM_EXPIRED: end(target, stop, GDB_SYSTEM_EXPIRED, LIMIT_STATUS); return;
    case SYSTEM_STUCK: idle(); return;
    }
    stop->thread = system->current;
}

static void run(void *context, const struct gdb_action *actions, struct gdb_stop *stop)
{
    static const enum system_motion motions[] = {
        [GDB_STAY] = SYSTEM_HOLD, [GDB_CONTINUE] = SYSTEM_GO, [GDB_STEP] = SYSTEM_STEP};
    struct gdb_system *target = context;
    struct system *system = target->system;
    uint64_t done = system_instructions(system), max = target->options->max_insns;
    uint64_t left = max > done ? max - done : 0;
    for (unsigned i = 0; i < system->count; i++)
        system->motion[i] = motions[actions[i].motion];
    explain(target, system_run(system, left < SLICE ? left : SLICE), stop);
}

static const struct gdb_target_ops ops = {
    .thread_count = thread_count,
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
};

enum gdb_system_end gdb_system_run(struct gdb_server *server, struct system *system,
                                   const struct gdb_system_options *options, struct error *err)
{
    struct gdb_system target = {system, options, GDB_SYSTEM_KILLED, err};
    struct gdb_stop stop;
    system->hooks.wait = NULL;
    fprintf(stderr, "croft: %s waits for gdb: %s\n", options->program, gdb_server_command(server));
    if (!gdb_server_run(server, &(struct gdb_target){&ops, &target}, &stop, err))
        return GDB_SYSTEM_FAILED;
    return target.end;
}
