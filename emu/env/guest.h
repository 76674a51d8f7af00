/* The running program as the parts of the `user` environment see it: its state, its memory, messages about
 * it. */
#ifndef EMU_ENV_GUEST_H
#define EMU_ENV_GUEST_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/debug/symbols.h"
#include "emu/env/heap.h"
#include "emu/env/marker.h"
#include "emu/env/user.h"
#include "emu/io/files.h"
#include "emu/io/sandbox.h"

enum {
    GUEST_SIGNALS = 65,      /* signal numbers are 1-64 */
    GUEST_PROCESS_ID = 1,    /* of the process and its only thread */
    GUEST_CALLS_NOTED = 64,  /* unknown call numbers that are told apart */
    GUEST_WARNINGS_MAX = 20, /* about paths out of the sandbox */
};

/* A signal's disposition. Handlers are remembered but never called. */
struct guest_signal {
    uint64_t handler, flags, mask;
};

struct guest_copy;
struct kernel_pages;
struct nucd;
struct threads;

struct user {
    struct hart *hart;
    const struct phys *memory;
    const struct user_options *options;
    struct kernel_pages *pages; /* the program's addresses are virtual; NULL: they are physical */
    struct threads *threads;    /* on multiprocessors (threads.h); NULL: there are none */
    struct nucd *nucd;          /* accelerators that take its tasks (emu/nucd/nucd.h); NULL: there are none */
    struct guest_copy *copies;  /* of bytes beside memory, until the call is served; the oldest first */
    struct symbols *symbols;
    uint64_t write_first; /* guest addresses below are read-only */
    uint64_t stack_first; /* lowest address of the stack */
    struct heap heap;
    struct files files;
    struct sandbox sandbox;

    bool ended;
    int status; /* exit status, once ended */
    int signal; /* that the program has ended itself by, or 0 */

    uint64_t slept;  /* nanoseconds so far */
    uint64_t random; /* state of the generator */
    uint64_t blocked_signals;
    struct guest_signal signals[GUEST_SIGNALS];

    uint64_t unknown_calls[GUEST_CALLS_NOTED]; /* numbers that were warned of */
    unsigned unknown_count;
    char *refused_paths[GUEST_WARNINGS_MAX]; /* paths that were warned of */
    unsigned refused_count;
    struct marker_regions regions;
    char *speaker; /* "croft: PROGRAM", in front of the regions' warnings */
};

/* Makes a program's state: files, sandbox, symbols, but neither memory nor registers, which are the caller's.
 * As user_new() otherwise. */
struct user *guest_new(struct hart *hart, const struct phys *memory, const struct user_options *options,
                       struct error *err);

/* The host address of guest bytes [address, address + length) if the guest may read (write) all of them, else
 * NULL. Of virtual memory it holds until the call is served (kernel_pages.h). Of bytes beside memory (emu/mem/bytes.h) it
 * is a copy, which holds until guest_settle(). */
const void *guest_readable(struct user *user, uint64_t address, uint64_t length);
void *guest_writable(struct user *user, uint64_t address, uint64_t length);

/* The call is served: writes back what it has written beside memory. */
void guest_settle(struct user *user);

/* Copies a terminated string to text[size]. Returns 0, -EFAULT if it runs out of memory, -ENAMETOOLONG if its
 * terminator is not within size bytes. */
int64_t guest_string(struct user *user, uint64_t address, char *text, uint64_t size);

/* Copies length bytes to the guest. Returns 0 or -EFAULT. */
int64_t guest_put(struct user *user, uint64_t address, const void *bytes, uint64_t length);

/* Nanoseconds since the program's start by its own clock. */
uint64_t guest_nanoseconds(const struct user *user);

/* Likewise but for sleeping: what the process has used. */
uint64_t guest_process_nanoseconds(const struct user *user);

/* Sleeps. */
void guest_sleep(struct user *user, uint64_t nanoseconds);

/* Prints "croft: PROGRAM: warning: ..." to standard error. */
void guest_warn(const struct user *user, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The number of the signal that ends the run from outside (user_options.signal), or 0. */
int guest_interrupted(const struct user *user);

/* Ends the program with the given exit status. */
void guest_end(struct user *user, int status);

#endif
