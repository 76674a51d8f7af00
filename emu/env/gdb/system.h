/* Debugging a system: one gdb thread for each of its system->threads, numbered from 1.
 *
 * A trap that would end the program stops it first, with the signal that Linux would send, in the thread
 * whose instruction trapped (fault.h). The program ends when gdb delivers that signal; beneath the kernel it ends in any
 * case. Any other signal from gdb is ignored, because handlers are never called.
 */
#ifndef EMU_ENV_GDB_SYSTEM_H
#define EMU_ENV_GDB_SYSTEM_H

#include "emu/core/tasks.h"
#include "emu/debug/gdb_server.h"
#include "emu/env/gdb/hart.h"
#include "emu/env/user.h"
#include "emu/machine/system.h"

/* What the debugger needs from the environment that built the system. */
struct gdb_system_options {
    const char *program; /* for messages */
    struct gdb_facts facts;
    /* Restarts the machine as at its first start, for SYSTEM_RESET and `monitor reset`. NULL: not
     * possible. */
    bool (*reset)(void *context, struct error *err);
    /* Returns the signal (Linux's number) by which the program ended itself, or 0. NULL: never by a
     * signal. */
    int (*signal)(const void *context);
    /* Fills in *fault if system_run() has returned `stop` because of a trap that ends the program. If it returns false or
     * is NULL, SYSTEM_TRAP is a fault of the hart at which the system has stopped. */
    bool (*fault)(const void *context, enum system_stop stop, struct user_fault *fault);
    struct tasks *tasks;     /* accelerators that take the program's tasks, or NULL */
    struct threads *threads; /* on multiprocessors (threads.h), or NULL */
    void *context;
};

/* How the run ended. */
enum gdb_system_end {
    GDB_SYSTEM_EXIT,    /* system_exit() was called: see system->status */
    GDB_SYSTEM_LIMIT,   /* system->max_insns instructions were executed */
    GDB_SYSTEM_EXPIRED, /* the timed machine's limit of simulated time was reached */
    GDB_SYSTEM_FULL,    /* the limit of memory was exceeded */
    GDB_SYSTEM_TRAPPED, /* gdb delivered the signal of a trap */
    GDB_SYSTEM_KILLED,  /* gdb killed the program */
    GDB_SYSTEM_FAILED,  /* a reset failed, or gdb could not connect: *err says why */
};

/* Runs the system under gdb's control. The system's wait hook is not called: while all harts wait for
 * interrupts, devices are updated every few milliseconds, and gdb can interrupt. */
enum gdb_system_end gdb_system_run(struct gdb_server *server, struct system *system,
                                   const struct gdb_system_options *options, struct error *err);

#endif
