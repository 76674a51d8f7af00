#include "emu/env/gdb_user.h"

#include <signal.h>

#include "emu/env/fault.h"
#include "emu/env/guest.h"

enum { SLICE = 2000000 /* instructions, some ten milliseconds of the host's */ };

struct gdb_user {
    struct user *user;
    const struct gdb_facts *facts;
    bool faulted; /* the instruction at pc cannot be executed, and gdb was told */
    int status;
};

static unsigned thread_count(void *target)
{
    (void)target;
    return 1;
}

static bool register_read(void *target, unsigned thread, unsigned number, uint64_t *value)
{
    return gdb_hart_read(&((struct gdb_user *)target)->user->hart[thread], number, value);
}

static bool register_write(void *target, unsigned thread, unsigned number, uint64_t value)
{
    return gdb_hart_write(&((struct gdb_user *)target)->user->hart[thread], number, value);
}

static bool memory_read(void *target, unsigned thread, uint64_t address, void *to, size_t length)
{
    return gdb_harts_memory_read(((struct gdb_user *)target)->user->hart, thread, address, to, length);
}

static bool memory_write(void *target, unsigned thread, uint64_t address, const void *from, size_t length)
{
    return gdb_harts_memory_write(((struct gdb_user *)target)->user->hart, 1, thread, address, from, length);
}

static bool breakpoint(void *target, bool insert, uint64_t address)
{
    return gdb_harts_breakpoint(((struct gdb_user *)target)->user->hart, 1, insert, address);
}

static bool watchpoint(void *target, bool insert, uint64_t address, uint64_t length, unsigned kinds)
{
    return gdb_harts_watchpoint(((struct gdb_user *)target)->user->hart, 1, insert, address, length, kinds);
}

static void thread_describe(void *target, unsigned thread, char *text, size_t size)
{
    (void)thread;
    (void)snprintf(text, size, "%s", ((struct gdb_user *)target)->faulted ? "faulted" : "user mode");
}

static void statistics(void *target, FILE *out)
{
    gdb_facts_statistics(((struct gdb_user *)target)->facts, out);
}

static void machine(void *target, FILE *out)
{
    gdb_facts_machine(((struct gdb_user *)target)->facts, out);
}

/* gdb's number for a signal of Linux (gdb's include/gdb/signals.def): they agree up to SIGTERM but for these.
 */
static unsigned gdb_number(int number)
{
    switch (number) {
    case SIGBUS: return 10;
    case SIGUSR1: return 30;
    case SIGUSR2: return 31;
    case SIGSYS: return 12;
    default: return number <= SIGTERM ? (unsigned)number : 143; /* unknown signal */
    }
}

static unsigned fault_number(const struct trap *trap)
{
    switch (trap->cause) {
    case TRAP_ILLEGAL_INSTRUCTION: return GDB_SIGNAL_ILL;
    case TRAP_BREAKPOINT: return GDB_SIGNAL_TRAP;
    case TRAP_ECALL_USER: return gdb_number(SIGSYS); /* in a region */
    case TRAP_LOAD_MISALIGNED:
    case TRAP_STORE_MISALIGNED: return gdb_number(SIGBUS);
    default: return GDB_SIGNAL_SEGV;
    }
}

static void end(struct gdb_user *target, struct gdb_stop *stop, unsigned signal, int status)
{
    stop->kind = signal ? GDB_STOP_DIED : GDB_STOP_EXIT;
    stop->signal = signal;
    stop->status = target->status = status;
}

/* The program may run for up to so many instructions, all in all; at the limit, it ends. */
static void advance(struct gdb_user *target, uint64_t insns, struct gdb_stop *stop)
{
    struct user *user = target->user;
    struct hart *hart = user->hart;
    uint64_t left = user->options->max_insns - hart->instret;
    switch (user_advance(user, insns < left ? insns : left)) {
    case USER_STOP_LIMIT:
        if (user_exhausted(user))
            end(target, stop, GDB_SIGNAL_NONE, fault_limit(user));
        break;
    case USER_STOP_ENDED:
        end(target, stop, user->signal ? gdb_number(user->signal) : GDB_SIGNAL_NONE, user->status);
        break;
    case USER_STOP_SIGNAL: end(target, stop, GDB_SIGNAL_NONE, fault_interrupt(user)); break;
    case USER_STOP_TIME: end(target, stop, GDB_SIGNAL_NONE, fault_time(user)); break;
    case USER_STOP_FAULT:
        target->faulted = true;
        stop->kind = GDB_STOP_SIGNAL;
        stop->signal = fault_number(&hart->trap);
        break;
    case USER_STOP_BREAK:
        stop->kind = GDB_STOP_BREAK;
        stop->address = hart->pc;
        break;
    case USER_STOP_WATCH:
        stop->kind = GDB_STOP_WATCH;
        stop->address = hart->watch_hit.address;
        stop->write = hart->watch_hit.write;
        break;
    }
}

static void run(void *context, const struct gdb_action *actions, struct gdb_stop *stop)
{
    struct gdb_user *target = context;
    /* A signal other than the fault's has nobody to reach: handlers are never called here. */
    bool dies = target->faulted && actions->signal == fault_number(&target->user->hart->trap);
    target->faulted = false;
    if (dies) {
        end(target, stop, actions->signal, fault_report(target->user));
        return;
    }
    advance(target, actions->motion == GDB_STEP ? 1 : SLICE, stop);
    if (stop->kind == GDB_STOP_NONE && actions->motion == GDB_STEP) {
        stop->kind = GDB_STOP_SIGNAL;
        stop->signal = GDB_SIGNAL_TRAP;
    }
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
};

bool gdb_user_run(struct gdb_server *server, struct user *user, const struct gdb_facts *facts, int *status,
                  struct error *err)
{
    struct gdb_user target = {.user = user, .facts = facts, .status = 128 + SIGKILL};
    struct gdb_stop stop;
    fprintf(stderr, "croft: %s waits for gdb: %s\n", user->options->program, gdb_server_command(server));
    if (!gdb_server_run(server, &(struct gdb_target){&ops, &target}, &stop, err))
        return false;
    if (stop.kind == GDB_STOP_DIED && stop.signal == GDB_SIGNAL_KILL && !user->ended)
        fprintf(stderr, "croft: %s: killed by gdb\n", user->options->program);
    *status = target.status;
    return true;
}
