/* The interface between the gdb server and what it debugs: threads, registers, memory, and execution. */
#ifndef EMU_DEBUG_GDB_TARGET_H
#define EMU_DEBUG_GDB_TARGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Register numbers in the target description. All registers have 64 bits. */
enum {
    GDB_REGISTER_X = 0,
    GDB_REGISTER_SP = 2,
    GDB_REGISTER_PC = 32,
    GDB_REGISTER_F = 33,
    GDB_REGISTER_GENERAL = 65,                   /* the g packet holds the registers below this number */
    GDB_REGISTER_CSR = 65,                       /* plus the CSR's number */
    GDB_REGISTER_PRIV = GDB_REGISTER_CSR + 4096, /* privilege level: 0 U, 1 S, 3 M */
};

/* gdb's signal numbers. Those listed here equal Linux's. */
enum gdb_signal {
    GDB_SIGNAL_NONE = 0,
    GDB_SIGNAL_INT = 2,
    GDB_SIGNAL_ILL = 4,
    GDB_SIGNAL_TRAP = 5,
    GDB_SIGNAL_KILL = 9,
    GDB_SIGNAL_SEGV = 11,
};

/* What a thread does while the target runs. */
enum gdb_motion { GDB_STAY, GDB_CONTINUE, GDB_STEP };

struct gdb_action {
    enum gdb_motion motion;
    unsigned signal; /* signal to deliver first, or GDB_SIGNAL_NONE */
    /* For the session: GDB_STEP is repeated while the thread's pc is in [from, to). */
    uint64_t from, to;
};

enum gdb_stop_kind {
    GDB_STOP_NONE,   /* still running at the end of the time slice */
    GDB_STOP_BREAK,  /* before the instruction at a breakpoint */
    GDB_STOP_WATCH,  /* after an access to a watchpoint; sets `address`, `write` */
    GDB_STOP_SIGNAL, /* `signal` occurred; TRAP after a step */
    GDB_STOP_EXIT,   /* the program exited with `status` */
    GDB_STOP_DIED,   /* `signal` ended the program */
};

struct gdb_stop {
    enum gdb_stop_kind kind;
    unsigned thread; /* the thread that stopped, from 0 */
    unsigned signal;
    int status;
    uint64_t address;
    bool write;
};

enum { GDB_WATCH_READ = 1, GDB_WATCH_WRITE = 2 };

/* Part of the address space, of `size` bytes, not 0. */
struct gdb_region {
    uint64_t first, size;
    bool rom; /* it holds code and cannot be written */
};

/* Threads are numbered from 0 to thread_count() - 1; the count is at least 1 and constant. A function that
 * returns bool returns false on failure: the register does not exist, some of the memory is not mapped, or
 * there is no room. exists(), listed(), and statistics() and all functions after it may be NULL. */
struct gdb_target_ops {
    unsigned (*thread_count)(void *target);
    /* Return whether the thread exists now, and whether lists of threads contain it. NULL: all do. Thread 0 always exists. */
    bool (*exists)(void *target, unsigned thread);
    bool (*listed)(void *target, unsigned thread);
    bool (*register_read)(void *target, unsigned thread, unsigned number, uint64_t *value);
    bool (*register_write)(void *target, unsigned thread, unsigned number, uint64_t value);
    /* Virtual addresses, translated as for an access by the thread now. */
    bool (*memory_read)(void *target, unsigned thread, uint64_t address, void *to, size_t length);
    bool (*memory_write)(void *target, unsigned thread, uint64_t address, const void *from, size_t length);
    /* Apply to all threads. A point is never inserted twice, and removed only if inserted. */
    bool (*breakpoint)(void *target, bool insert, uint64_t address);
    bool (*watchpoint)(void *target, bool insert, uint64_t address, uint64_t length, unsigned kinds);
    /* Lets each thread do actions[thread] for a time slice of a few milliseconds of host time. *stop tells
     * what stopped it. A thread that steps stops after one instruction. */
    void (*run)(void *target, const struct gdb_action *actions, struct gdb_stop *stop);
    /* Describes a thread's state in a few words, for `info threads`. */
    void (*thread_describe)(void *target, unsigned thread, char *text, size_t size);
    /* Write the output of the monitor commands. statistics(): those whose names match the shell pattern; NULL: all. */
    void (*statistics)(void *target, const char *pattern, FILE *out);
    void (*machine)(void *target, FILE *out);
    bool (*reset)(void *target, FILE *out);
    /* Stores memory and devices, by ascending address and without overlaps, to regions[room]; returns their number, or
     * room if there are more. */
    unsigned (*regions)(void *target, struct gdb_region *regions, unsigned room);
    void (*lanes)(void *target, const char *which, FILE *out);
};

struct gdb_target {
    const struct gdb_target_ops *ops;
    void *target;
};

#endif
