/* The `user` environment: runs one statically linked Linux program and serves its system calls. */
#ifndef EMU_ENV_USER_H
#define EMU_ENV_USER_H

#include <signal.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/machine/system.h"
#include "emu/sim/error.h"
#include "emu/sim/stats.h"

struct launch_options;
struct log;
struct nucd;
struct timed;
struct user;

/* What a run is made of; everything must outlive the struct user. */
struct user_options {
    const char *program;          /* path of the ELF file, as given */
    const char *const *arguments; /* the guest's argv; arguments[0] is the program */
    size_t argument_count;
    const char *const *environment; /* "NAME=VALUE"; the host's own environment is not passed on */
    size_t environment_count;
    const char *dir;     /* the only host folder whose files the program can reach */
    uint64_t stack_size; /* in bytes, at the end of memory */
    /* The program is stopped after so many instructions of all harts, accelerators and firmware included. UINT64_MAX:
     * never. */
    uint64_t max_insns;
    struct stats *stats; /* the markers' regions go here; may be NULL */
    struct log *log;     /* every instruction is logged if not NULL, by the machine if there is one */
    const struct launch_options *simt; /* the multiprocessors, or NULL: none */
    struct nucd *nucd; /* accelerators that take the program's tasks, or NULL; --env kernel has its own */
    /* Runs the program: its first hart is the program's. NULL: the caller runs the hart (user_serve()). */
    struct system *system;
    const struct timed *timed; /* the machine that gives the system its clock; NULL: it has none */
    /* The number of a signal that ends the run, 0: none so far; whoever sets it calls system_interrupt(). May be
     * NULL. */
    const volatile sig_atomic_t *signal;
};

/* Exit statuses that are not the program's own. A program that died of a signal-like trap n gives 128 + n. */
enum { USER_STATUS_LIMIT = 124 };

/* Loads the program and its stack into memory and points hart's pc and sp at them. Returns NULL and fills err
 * if that fails. hart and memory must outlive the result; free it with user_free().
 *
 * What the program can see is the same in every run: user and group 1000, process 1, host name "undercroft";
 * clocks start on 2020-01-01 00:00:00 UTC and advance by 1 ns with each retired instruction (and by sleeping,
 * which takes no host time), or with the machine's simulated time, of which system calls take none; random
 * bytes come from a fixed seed; folders list sorted by name. Files have their host's inode, length, mode,
 * link count and modification time; the other times equal that one, and blocks follow from the length.
 *
 * System calls: those that calls.c lists. Not provided: signal handlers (accepted, never called), threads,
 * processes, pipes, sockets, files mapped into memory, protection of single pages. */
struct user *user_new(struct hart *hart, const struct phys *memory, const struct user_options *options,
                      struct error *err);
void user_free(struct user *user);

/* Serves the trap at which the hart has stopped if it is a call; false when the program cannot go on: hart->trap says
 * why. For those who run the hart themselves. */
bool user_serve(struct user *user);

/* The exit status of a run of the system that has ended so. Messages go to standard error. */
int user_finish(struct user *user, enum system_stop stop);

/* The signal by which the program has ended itself, or 0. */
int user_signal(const struct user *user);

#endif
