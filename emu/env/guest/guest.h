/* The state of a program in the `user` environment, access to its memory, and messages about it. */
#ifndef EMU_ENV_GUEST_GUEST_H
#define EMU_ENV_GUEST_GUEST_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/debug/symbols.h"
#include "emu/env/guest/heap.h"
#include "emu/env/marker.h"
#include "emu/env/user.h"
#include "emu/io/files.h"
#include "emu/io/sandbox.h"
#include "emu/mem/phys.h"

enum {
    GUEST_SIGNALS = 65,      /* signal numbers are 1-64 */
    GUEST_PROCESS_ID = 1,    /* of the process and its only thread */
    GUEST_CALLS_NOTED = 64,  /* distinct unknown call numbers that are warned about */
    GUEST_WARNINGS_MAX = 20, /* distinct paths outside of the sandbox that are warned about */
};

/* A signal's disposition. Handlers are remembered but never called. */
struct guest_signal {
    uint64_t handler, flags, mask;
};

struct guest_copy;
struct guest_hosts;
struct kernel_pages;
struct tasks;
struct threads;
struct warp_memory;
struct warp_scratchpad;

/* The own memory of a thread on multiprocessors: stacks and its block's scratchpad (emu/simt/warp_memory.h). */
struct guest_lane {
    struct warp_memory *memory;
    const struct warp_scratchpad *pad;
};

/* The CPU time of the thread on a host of a timed machine with several hosts. */
struct guest_cpu {
    bool runs;
    uint64_t since; /* ns: the thread has run since then; later than now while it sleeps */
    uint64_t ran;   /* ns before `since` */
};

struct user {
    struct hart *hart;             /* the host that is being served */
    const struct hart *host_harts; /* of all hosts */
    unsigned host_count;
    const struct phys *memory;
    const struct user_options *options;
    struct kernel_pages *pages;    /* translate virtual addresses; NULL: addresses are physical */
    struct threads *threads;       /* threads on multiprocessors (threads.h); NULL: none */
    struct guest_hosts *hosts;     /* threads on several hosts without the kernel (hosts.h); NULL: none */
    struct phys region_stack;      /* stack of the region whose call is being served; size 0: none */
    struct tasks *tasks;           /* accelerators that take its tasks (emu/core/tasks.h); NULL: none */
    const struct guest_lane *lane; /* of the thread whose call is being served; NULL: the program calls */
    /* Copies until the call is served: of bytes outside of memory, oldest first; of the lane's memory, youngest first. */
    struct guest_copy *copies, *lane_copies;
    struct symbols *symbols;
    uint64_t write_first; /* lower guest addresses are read-only */
    uint64_t stack_first; /* lowest address of the stack */
    struct heap heap;
    struct files files;
    struct sandbox sandbox;
    /* Puts the name of an open folder that does not lie in the sandbox before a path[PATH_MAX] that starts there. Returns 0 or -errno; NULL:
     * the program cannot be in such folders. */
    int64_t (*name_outer)(const void *outer, int folder, char *path);
    const void *outer;

    bool ended;
    int status; /* exit status, once ended */
    int signal; /* signal by which the program ended itself, or 0 */

    uint64_t slept;        /* total time slept, in ns */
    struct guest_cpu *cpu; /* cpu[host_count] if there are several hosts; else NULL; unused without a clock */
    uint64_t cpu_ended;    /* CPU time of threads that have ended, in ns */
    uint64_t random;       /* state of the random number generator */
    uint64_t blocked_signals;
    struct guest_signal signals[GUEST_SIGNALS];

    uint64_t unknown_calls[GUEST_CALLS_NOTED]; /* numbers warned about */
    unsigned unknown_count;
    char *refused_paths[GUEST_WARNINGS_MAX]; /* paths warned about */
    unsigned refused_count;
    bool warned_of_threads;
    bool launched; /* the reported trap is that of a thread which the hart's host has launched */
    struct marker_regions regions;
    char *speaker; /* "croft: PROGRAM", the prefix of the regions' warnings */
};

/* Makes a program's state: files, sandbox and symbols. The caller sets up memory and registers, and may give the
 * program threads. Otherwise as user_new(); release with user_free(), or, without threads, with guest_free(). */
struct user *guest_new(struct hart *hart, const struct phys *memory, const struct user_options *options,
                       struct error *err);
void guest_free(struct user *user);

/* Returns whether program and stack, from its lowest address, lie below and above the memory that only accelerators use. */
bool guest_leaves_reserved(const struct user_options *options, uint64_t program_end, uint64_t stack,
                           struct error *err);

/* Return the host address of guest bytes [address, address + length) if the guest may read (write) all of
 * them, else NULL. For virtual memory, the address is valid until the call has been served (kernel_pages.h).
 * For bytes outside of memory (emu/mem/phys/bytes.h) and those of a lane it points to a copy, which is valid until
 * guest_settle(). */
const void *guest_readable(struct user *user, uint64_t address, uint64_t length);
void *guest_writable(struct user *user, uint64_t address, uint64_t length);

/* Returns whether the guest may read (write) all of these bytes. For virtual memory, nothing is copied. */
bool guest_reaches(struct user *user, uint64_t address, uint64_t length, bool write);

/* For virtual memory, ends the views of the current call and stores what it wrote. Calls that transfer many
 * bytes in pieces use it. Views of other memory stay valid. */
void guest_release(struct user *user);

/* Ends the call: writes copies back if the call may have modified them. */
void guest_settle(struct user *user);

/* Copies a terminated string to text[size]. Returns 0, -EFAULT if it leaves readable memory, or -ENAMETOOLONG
 * if its terminator is not within size bytes. */
int64_t guest_string(struct user *user, uint64_t address, char *text, uint64_t size);

/* Copies length bytes to the guest. Returns 0 or -EFAULT. */
int64_t guest_put(struct user *user, uint64_t address, const void *bytes, uint64_t length);

/* Returns the time since the program's start by its own clock, in ns. */
uint64_t guest_nanoseconds(const struct user *user);

/* Return the CPU time of the process, and of the calling thread, in ns: the time that hosts have run its threads. Time slept is
 * none of it. */
uint64_t guest_process_nanoseconds(const struct user *user);
uint64_t guest_thread_nanoseconds(const struct user *user);

/* With several hosts on a timed machine: a host's thread begins or goes on, pauses, or has ended. */
void guest_cpu_run(struct user *user, unsigned host);
void guest_cpu_pause(struct user *user, unsigned host);
void guest_cpu_end(struct user *user, unsigned host);

/* Makes room for the hosts' CPU times, once host_count is set. */
void guest_cpu_init(struct user *user);

/* Lets the program sleep. */
void guest_sleep(struct user *user, uint64_t nanoseconds);

/* Prints "croft: PROGRAM: warning: ..." to standard error. */
void guest_warn(const struct user *user, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Returns the number of the host signal that ends the run (user_options.signal), or 0. */
int guest_interrupted(const struct user *user);

/* Ends the program with the given exit status. */
void guest_end(struct user *user, int status);

#endif
