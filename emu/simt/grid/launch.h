/* A program's launches. Each is checked, gets stacks for its threads, and is executed by timed
 * multiprocessors (struct launch_device) or, without a clock, by grid.h. struct launch_host serves the calls
 * of the program and of its threads. isa/MANUAL.md, chapter SIMT, describes what programs see. */
#ifndef EMU_SIMT_GRID_LAUNCH_H
#define EMU_SIMT_GRID_LAUNCH_H

#include "emu/analysis/flow/reach.h"
#include "emu/sim/report/stats.h"
#include "emu/simt/grid/grid.h"
#include "emu/simt/multiprocessor.h"
#include "isa/include/croft/simt_call.h"

struct hart;

/* The services of the program's environment. */
struct launch_host {
    struct grid_host grid; /* serves threads' calls; has its own context */
    /* Returns the physical address of `bytes` bytes for stacks, or 0 if there is no room. Called at the first
     * launch. */
    uint64_t (*stacks)(void *context, uint64_t bytes);
    /* As in struct warp_memory_setup. NULL: program addresses are physical. */
    bool (*translate)(void *context, uint64_t address, enum warp_access access, uint64_t *physical);
    /* With a clock: a thread has trapped. Prints which one, and ends the program. */
    void (*fault)(void *context, struct warp *warp, const struct warp_report *report);
    /* With a clock: ends the program because of a thread's call or grid.stopped(). */
    void (*stop)(void *context);
    /* With several threads of the host: a thread has done what needs one, `what`. Prints it, and ends the program. */
    void (*refuse)(void *context, const struct warp *warp, const char *what);
    void *context;
};

/* A launch as given to a device. What it points to is valid until the program ends. */
struct launch_work {
    struct grid_launch launch; /* launches are numbered from 1 */
    uint64_t queue;
    uint32_t registers; /* 32-bit registers per thread, as given by the program; 0: to be determined */
    struct warp_memory *memory;
    const struct launch_host *host;
};

/* Counters of what a device has begun and executed. */
struct launch_counts {
    uint64_t launches, blocks, insns, thread_insns;
};

/* Returns the address of the kernel's function, which the code at a launch's entry calls second, after the runtime's
 * function that prepares a thread (simt_entry() of isa/include/croft/simt.h); the entry itself if it does not. */
uint64_t launch_kernel(const struct decoder *decoder, const struct reach_code *code, uint64_t entry);

/* The fetch() of struct reach_code from threads' memory (a struct warp_memory), the context. */
bool launch_fetch(void *memory, uint64_t pc, uint32_t *bits);

/* The result of a launch or of a step of it. */
enum launch_end {
    LAUNCH_DONE,    /* the launch has ended; with a clock: it is in its queue */
    LAUNCH_REFUSED, /* no multiprocessor can hold one of its blocks */
    LAUNCH_MEMORY,  /* no room for stacks, or the host has no memory */
    LAUNCH_ENDED,   /* with a clock: the run has ended in the meantime */
    /* Without a clock only; launch_advance() continues with the same instruction. */
    LAUNCH_PAUSE, /* the quantum has ended */
    LAUNCH_CALL,  /* grid.call() stopped the run */
    LAUNCH_TRAP,  /* a thread trapped: launch_trapped() */
};

#define LAUNCH_ROOM UINT64_MAX

/* Timed multiprocessors. Without a device, a launch has ended when its call returns. An environment that makes the host's hart
 * wait by itself, such as the kernel, asks ready() instead of calling wait(), and is told of changes by grid.ended(). */
struct launch_device {
    /* Returns LAUNCH_DONE, LAUNCH_REFUSED or LAUNCH_ENDED. Waits in simulated time for room. */
    enum launch_end (*enqueue)(void *context, const struct launch_work *work);
    /* Waits for launch `number`, or for all launches if it is 0. Returns false if the run has ended. */
    bool (*wait)(void *context, uint64_t number);
    const struct launch_counts *(*count)(void *context);
    /* Returns whether launch `number` has ended, or all of them if it is 0, or, for LAUNCH_ROOM, whether enqueue() would
     * not wait. */
    bool (*ready)(void *context, uint64_t number);
    /* For messages: describes launch `number`, or the oldest one for 0 and LAUNCH_ROOM. Returns false if it has ended. */
    bool (*pending)(void *context, uint64_t number, struct grid_pending *pending);
    /* With translation: resume() is called when a page for which a warp has waited is there; forget() ends the use of all
     * earlier translations. */
    void (*resume)(void *context, struct custom_waiter *waiter);
    void (*forget)(void *context);
    /* For debuggers: as launch_warp() and launch_moved(). */
    struct warp *(*warp)(void *context, uint32_t number);
    void (*moved)(void *context);
    void *context;
    /* number of warps that all multiprocessors hold together; each has a share of the stacks */
    uint32_t warps;
};

struct launch_options {
    struct grid_limits limits;
    uint64_t stack; /* bytes per thread, a power of two */
    enum warp_reconvergence reconvergence;
    const struct launch_device *device; /* NULL: none */
    const struct grid_watch *watch;     /* a warp that launch_host.grid.executed() is told of; NULL: none */
    bool observed;                      /* a log is written, which does not see threads: warn */
    bool unwatched;                     /* the coherence checker is used, which does not see threads: warn */
    const char *checks; /* the kind of part that reports some stale copies itself; NULL: none */
};

/* Sets the options for `count` multiprocessors with configuration `simt`. If it is NULL, limits.count is
 * 0. */
void launch_describe(const struct simt_config *simt, uint32_t count, struct launch_options *options);

/* Limits blocks to the number of threads that a timed multiprocessor holds. */
void launch_limit(struct launch_options *options, uint64_t threads);

/* Returns the bytes of memory for all stacks. */
uint64_t launch_stack_bytes(const struct launch_options *options);

/* The parameters of a program's launches. Everything it points to must outlive them. */
struct launch_setup {
    const struct launch_options *options;
    const struct launch_host *host;
    const struct hart *hart;   /* a hart of the program: its decoder, and units of custom instructions */
    const struct phys *memory; /* all physical memory */
    uint64_t write_first;      /* program addresses below this one are read-only */
};

struct launch;

/* Creates the state of a program's launches. Out of memory aborts. Release it with launch_free(), which
 * accepts NULL. */
struct launch *launch_new(const struct launch_setup *setup);
void launch_free(struct launch *launch);

/* Who launches: a host's number, and the program's gp. */
struct launch_caller {
    uint32_t host;
    uint64_t gp;
};

/* Begins a launch; without a clock, also executes it like launch_advance(). Without a clock, it drops a
 * launch that has not ended. Sets err if LAUNCH_REFUSED or LAUNCH_MEMORY is caused by a limit of the machine,
 * which it names; otherwise err->text is empty. */
enum launch_end launch_begin(struct launch *launch, const struct simt_launch_record *record,
                             const struct launch_caller *caller, uint64_t quantum, struct error *err);

/* Without a clock: executes the current launch for about `quantum` warp instructions, until it has ended or
 * is stopped. */
enum launch_end launch_advance(struct launch *launch, uint64_t quantum);

/* Returns the warp of the thread that has trapped, and the report that names the lane. */
struct warp *launch_trapped(const struct launch *launch, const struct warp_report **report);

/* Waits for a launch by its number, or for all launches if it is 0. Returns false if the run ended first. */
bool launch_wait(struct launch *launch, uint64_t number);

/* With a clock: struct launch_device's ready(), resume() and forget(). launch_forget() also discards the translations by
 * which threads reach their bytes; without a clock these alone. */
bool launch_ready(struct launch *launch, uint64_t number);
void launch_resume(const struct launch *launch, struct custom_waiter *waiter);
void launch_forget(struct launch *launch);

/* Puts the launches under a debugger's control, before the first launch; NULL ends it, when nothing runs any more.
 * launch_break() inserts or removes a breakpoint at a program address. It returns false if there is no room or no such
 * breakpoint. */
struct warp_debug;
void launch_debug(struct launch *launch, struct warp_debug *debug);
bool launch_break(struct launch *launch, bool insert, uint64_t address);

/* For debuggers. launch_warps() returns the most warps at a time, launch_width() the number of lanes of each. A warp's number
 * is that of its stacks. launch_warp() returns the warp of a number, or NULL if no warp with threads has it. Call launch_moved()
 * when warps were held or are no longer held. */
uint32_t launch_warps(const struct launch *launch);
unsigned launch_width(const struct launch *launch);
struct warp *launch_warp(const struct launch *launch, uint32_t number);
void launch_moved(const struct launch *launch);

/* Describes launch `number`, or the oldest one for 0 and LAUNCH_ROOM; without a clock, the current one. Returns false if it
 * has ended. launch_function() returns the address of the function that a launch's entry calls, as launch_kernel(). */
bool launch_pending(const struct launch *launch, uint64_t number, struct grid_pending *pending);
uint64_t launch_function(struct launch *launch, uint64_t entry);

/* Returns the number of the last launch, or 0 if there is none. */
uint64_t launch_number(const struct launch *launch);

/* Returns the number of warp instructions executed. */
uint64_t launch_executed(const struct launch *launch);

/* Returns the threads' memory. It is initialized by the first launch. */
struct warp_memory *launch_memory(struct launch *launch);

/* Registers "simt.launches" and the other counters of all multiprocessors. */
void launch_publish(const struct launch *launch, struct stats *stats);

#endif
