/* Debugging a system: one thread for each of its system->threads, numbered from 1.
 *
 * A trap that would end a user program stops it first, with the signal that Linux would send; the program ends when gdb
 * delivers that signal. Others have nobody to reach: handlers are never called. */
#ifndef EMU_ENV_GDB_SYSTEM_H
#define EMU_ENV_GDB_SYSTEM_H

#include "emu/debug/gdb_server.h"
#include "emu/env/gdb_hart.h"
#include "emu/machine/system.h"

/* What the debugger needs of those who have built the system. */
struct gdb_system_options {
    const char *program; /* for messages */
    struct gdb_facts facts;
    /* Restarts the machine, as its first start does: for SYSTEM_RESET and `monitor reset`. NULL: it cannot. */
    bool (*reset)(void *context, struct error *err);
    /* The signal (Linux's number) by which a program has ended itself, or 0. NULL: programs end without. */
    int (*signal)(const void *context);
    void *context;
};

/* How the run has ended. */
enum gdb_system_end {
    GDB_SYSTEM_EXIT,    /* system_exit() was called: system->status */
    GDB_SYSTEM_LIMIT,   /* after system->max_insns instructions */
    GDB_SYSTEM_EXPIRED, /* after the time that a timed machine may take */
    GDB_SYSTEM_TRAPPED, /* by a trap, whose signal gdb has delivered */
    GDB_SYSTEM_KILLED,  /* gdb has killed it */
    GDB_SYSTEM_FAILED,  /* a reset has failed, or no gdb can connect: *err */
};

/* Runs the system as gdb says. Its wait hook is not called: while all harts wait for interrupts, devices are
 * brought up to date every few milliseconds, and gdb can interrupt. */
enum gdb_system_end gdb_system_run(struct gdb_server *server, struct system *system,
                                   const struct gdb_system_options *options, struct error *err);

#endif
