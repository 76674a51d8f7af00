/* The `user` environment: runs one statically linked Linux program and serves its system calls. */
#ifndef EMU_ENV_USER_H
#define EMU_ENV_USER_H

#include <signal.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/machine/system.h"
#include "emu/sim/error.h"
#include "emu/sim/report/stats.h"

struct launch_options;
struct log;
struct tasks;
struct threads;
struct timed;
struct user;

/* The parameters of a run; all pointers must outlive the struct user. */
struct user_options {
    const char *program;          /* path of the ELF file, as given */
    const char *const *arguments; /* the guest's argv; arguments[0] is the program */
    size_t argument_count;
    const char *const *environment; /* "NAME=VALUE"; the host's own environment is not passed on */
    size_t environment_count;
    const char *dir;                 /* the only host folder whose files the program can reach */
    const char *sysroot;             /* --sysroot, for programs of Linux (linux.h); or NULL */
    bool net;                        /* --net, for programs of Linux: they may have sockets */
    uint64_t stack_size;             /* in bytes, at the end of memory */
    uint64_t reserved, reserved_end; /* memory that only accelerators use, machine_reserved(); both 0: none */
    const char *reserved_by;         /* name of the part that has it */
    const char *core;                /* file for the program's state if a signal ends it; or NULL */
    /* Limit of instructions of all harts, including accelerators and firmware. UINT64_MAX: none. */
    uint64_t max_insns;
    uint64_t max_memory; /* limit of written memory in bytes, memory_limit.h; 0: none */
    struct stats *stats; /* counts the markers' regions; or NULL */
    struct log *log;     /* logs every instruction if not NULL; on a timed machine, the machine logs */
    const struct launch_options *simt; /* the multiprocessors; NULL: none */
    struct log *warp_log;              /* logs the steps of simt->watch */
    struct tasks *tasks;               /* accelerators for tasks; NULL: none, or --env kernel */
    /* Runs the program, from its first hart on; threads run on the others of system->hosts. NULL: the caller runs the hart and calls user_serve(). */
    struct system *system;
    const struct timed *timed; /* the timed machine of `system`; NULL: no clock */
    /* Number of the signal that ends the run; 0: none yet. Set it before calling system_interrupt(). May be
     * NULL. */
    const volatile sig_atomic_t *signal;
};

/* Exit statuses that the program did not choose. A program that a trap ended exits with 128 + the signal's
 * number. */
enum { USER_STATUS_LIMIT = 124 };

/* Loads the program and its stack into memory and sets hart's pc and sp to them. Returns NULL and sets err on
 * failure. hart and memory must outlive the result; release it with user_free().
 *
 * What the program can observe is the same in every run: user and group 1000, process 1, host name
 * "undercroft". Clocks start on 2020-01-01 00:00:00 UTC and advance by 1 ns with each retired instruction
 * (and by sleeping, which takes no host time), or with the machine's simulated time, of which system calls
 * take none. Random bytes come from a fixed seed. Folder listings are sorted by name. Files have their host's
 * inode, length, mode, link count and modification time; their other times equal the modification time, and
 * their number of blocks is computed from the length.
 *
 * calls.c lists the supported system calls, and those of threads are in guest/hosts.h. Not supported: signal handlers
 * (accepted, never called), processes, pipes, sockets, files mapped into memory, protection of single pages. */
struct user *user_new(struct hart *hart, const struct phys *memory, const struct user_options *options,
                      struct error *err);
void user_free(struct user *user);

/* Serves the trap at which the hart has stopped if it is a call. Returns false if the program cannot
 * continue; hart->trap then holds the cause. For callers that run the hart themselves. */
bool user_serve(struct user *user);

/* Returns the exit status of a run that ended with `stop`. Prints messages to standard error. */
int user_finish(struct user *user, enum system_stop stop);

/* Gives the program a host descriptor, which it then owns, for one of its standard streams (0 to 2). Call it before the run. */
void user_redirect(struct user *user, unsigned stream, int host);

/* Returns the program's threads on multiprocessors (threads.h), or NULL. */
struct threads *user_threads(const struct user *user);

/* Returns the signal by which the program has ended itself, or 0. */
int user_signal(const struct user *user);

/* A trap that the program does not survive, for debuggers. */
struct user_fault {
    struct trap trap;
    struct hart *hart; /* of the host; it translates the program's addresses */
    uint64_t x[32];    /* the program's on the host */
    uint64_t pc;       /* likewise; if a region trapped, at the instruction that began its task */
    bool task;         /* a region trapped, at `accelerator` */
    unsigned accelerator;
    bool over; /* the program cannot be resumed */
};

/* Fills in *fault if the run has stopped, with `stop`, because of a trap that is not served. */
bool user_fault(const struct user *user, enum system_stop stop, struct user_fault *fault);

#endif
