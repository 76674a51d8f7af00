/* What the gdb server asks of the thing that it debugs: its threads, registers, memory, and to run. */
#ifndef EMU_DEBUG_GDB_TARGET_H
#define EMU_DEBUG_GDB_TARGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Register numbers as gdb counts them; the target description repeats them. All have 64 bits. */
enum {
    GDB_REGISTER_X = 0,
    GDB_REGISTER_SP = 2,
    GDB_REGISTER_PC = 32,
    GDB_REGISTER_F = 33,
    GDB_REGISTER_GENERAL = 65,                   /* those below are what the g packet holds */
    GDB_REGISTER_CSR = 65,                       /* plus the CSR's number */
    GDB_REGISTER_PRIV = GDB_REGISTER_CSR + 4096, /* the privilege level: 0 U, 1 S, 3 M */
};

/* gdb's signal numbers, which are those of Linux where this table has them. */
enum gdb_signal {
    GDB_SIGNAL_NONE = 0,
    GDB_SIGNAL_INT = 2,
    GDB_SIGNAL_ILL = 4,
    GDB_SIGNAL_TRAP = 5,
    GDB_SIGNAL_KILL = 9,
    GDB_SIGNAL_SEGV = 11,
};

/* What a thread shall do. */
enum gdb_motion { GDB_STAY, GDB_CONTINUE, GDB_STEP };

struct gdb_action {
    enum gdb_motion motion;
    unsigned signal; /* to deliver first, or GDB_SIGNAL_NONE */
};

enum gdb_stop_kind {
    GDB_STOP_NONE,   /* still running: the time slice is over */
    GDB_STOP_BREAK,  /* before the instruction at a breakpoint */
    GDB_STOP_WATCH,  /* after an access to a watchpoint: `address`, `write` */
    GDB_STOP_SIGNAL, /* `signal`; TRAP after a step */
    GDB_STOP_EXIT,   /* the program has ended with `status` */
    GDB_STOP_DIED,   /* the program was ended by `signal` */
};

struct gdb_stop {
    enum gdb_stop_kind kind;
    unsigned thread; /* which one, from 0 */
    unsigned signal;
    int status;
    uint64_t address;
    bool write;
};

enum { GDB_WATCH_READ = 1, GDB_WATCH_WRITE = 2 };

/* Threads count from 0 to thread_count() - 1, which is at least 1 and never changes. Functions that return
 * bool return false when it cannot be done: no such register, memory that is not there or not all of it, no
 * room. The last four may be NULL. */
struct gdb_target_ops {
    unsigned (*thread_count)(void *target);
    bool (*register_read)(void *target, unsigned thread, unsigned number, uint64_t *value);
    bool (*register_write)(void *target, unsigned thread, unsigned number, uint64_t value);
    /* At virtual addresses, as the thread would see them now. */
    bool (*memory_read)(void *target, unsigned thread, uint64_t address, void *to, size_t length);
    bool (*memory_write)(void *target, unsigned thread, uint64_t address, const void *from, size_t length);
    /* For all threads. Never inserted twice, and removed only if inserted. */
    bool (*breakpoint)(void *target, bool insert, uint64_t address);
    bool (*watchpoint)(void *target, bool insert, uint64_t address, uint64_t length, unsigned kinds);
    /* Lets each thread do actions[thread] for a time slice, which is a few milliseconds of the host's, and
     * says what stopped it. A thread that is to step stops after one instruction. */
    void (*run)(void *target, const struct gdb_action *actions, struct gdb_stop *stop);
    /* A few words on a thread's state, for `info threads`. */
    void (*thread_describe)(void *target, unsigned thread, char *text, size_t size);
    /* For the monitor commands of these names. */
    void (*statistics)(void *target, FILE *out);
    void (*machine)(void *target, FILE *out);
    bool (*reset)(void *target, FILE *out);
};

struct gdb_target {
    const struct gdb_target_ops *ops;
    void *target;
};

#endif
