/* The `user` environment: runs one statically linked Linux program and serves its system calls. */
#ifndef EMU_ENV_USER_H
#define EMU_ENV_USER_H

#include <signal.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/hart/hart.h"
#include "emu/mem/phys.h"
#include "emu/sim/error.h"
#include "emu/sim/stats.h"

struct launch_options;
struct log;
struct user;
struct workers;

/* A machine that takes simulated time, on which the program runs in place of hart_run(). */
struct user_machine {
    enum hart_stop (*run)(void *context, struct hart *hart,
                          uint64_t max_insns); /* YIELD: look at expired() */
    uint64_t (*instructions)(void *context);   /* executed by all harts */
    uint64_t (*now)(void *context);            /* ns of simulated time */
    void (*sleep)(void *context, uint64_t ns); /* the program goes on so much later */
    bool (*expired)(void *context);            /* its time is over */
    const char *(*limit)(void *context);       /* then: by which option or key */
    /* Whether what the hart has stopped for has happened in a task that it has offloaded: on which accelerator, and
     * where. */
    bool (*faulted)(void *context, unsigned *accelerator, uint64_t *pc);
    void *context;
};

/* What a run is made of; everything must outlive the struct user. */
struct user_options {
    const char *program;          /* path of the ELF file, as given */
    const char *const *arguments; /* the guest's argv; arguments[0] is the program */
    size_t argument_count;
    const char *const *environment; /* "NAME=VALUE"; the host's own environment is not passed on */
    size_t environment_count;
    const char *dir;     /* the only host folder whose files the program can reach */
    uint64_t stack_size; /* in bytes, at the end of memory */
    /* The program is stopped after so many instructions of all harts, accelerators and firmware included; the machine
     * sees to it, if there is one. UINT64_MAX: never. */
    uint64_t max_insns;
    struct stats *stats; /* the markers' regions go here; may be NULL */
    struct log *log;     /* every instruction is logged if not NULL, by the machine if there is one */
    const struct launch_options *simt; /* the multiprocessors, or NULL: none */
    struct workers
        *workers; /* accelerators that take the program's tasks, or NULL; --env kernel has its own */
    const struct user_machine *machine; /* or NULL: an instruction takes 1 ns */
    /* The number of a signal that ends the run, 0: none so far; whoever sets it also lets the hart yield. May
     * be NULL. */
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

/* Why the program does not go on. */
enum user_stop {
    USER_STOP_LIMIT,  /* the instruction limit of this call is reached */
    USER_STOP_ENDED,  /* the program has ended itself: guest.h's status and signal */
    USER_STOP_FAULT,  /* it cannot go on: hart->trap says why */
    USER_STOP_BREAK,  /* it is at a breakpoint of the hart */
    USER_STOP_WATCH,  /* it has touched a watchpoint of the hart */
    USER_STOP_TIME,   /* the machine's time is over */
    USER_STOP_SIGNAL, /* user_options.signal */
};

/* Whether as many instructions have been executed as user_options.max_insns allows. */
bool user_exhausted(const struct user *user);

/* Runs the program for up to max_insns instructions of its hart, with its calls and markers. */
enum user_stop user_advance(struct user *user, uint64_t max_insns);

/* Runs the program to its end and returns the exit status. Messages go to standard error. */
int user_run(struct user *user);

#endif
