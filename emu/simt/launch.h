/* The launches of a program: each is checked, gets memory for its threads' stacks, and is executed by multiprocessors that
 * take time (struct launch_device) or, without a clock, by grid.h. Who serves the program's calls, and those of its threads,
 * is behind struct launch_host. isa/MANUAL.md, chapter SIMT, has what programs see. */
#ifndef EMU_SIMT_LAUNCH_H
#define EMU_SIMT_LAUNCH_H

#include "emu/sim/stats.h"
#include "emu/simt/grid.h"
#include "emu/simt/simt.h"
#include "isa/include/croft/simt_call.h"

struct hart;

/* What launches ask of the program's environment. */
struct launch_host {
    struct grid_host grid; /* serves threads' calls; has a context of its own */
    /* The physical address of so many bytes for stacks, asked when the first launch needs them; 0: there is no room. */
    uint64_t (*stacks)(void *context, uint64_t bytes);
    /* As in struct warp_memory_setup. NULL: program addresses are physical. */
    bool (*translate)(void *context, uint64_t address, enum warp_access access, uint64_t *physical);
    /* In time. A thread has trapped: prints which, and ends the program. */
    void (*fault)(void *context, struct warp *warp, const struct warp_report *report);
    /* In time. A call of a thread, or grid.stopped(), ends the program. */
    void (*stop)(void *context);
    void *context;
};

/* A launch as a machine with a clock takes it. What is pointed to stays until the program ends. */
struct launch_work {
    struct grid_launch launch; /* numbers count from 1 */
    uint64_t queue;
    uint32_t registers; /* 64-bit ones of a thread, as the program says; 0: to be found out */
    struct warp_memory *memory;
    const struct launch_host *host;
};

/* What a device has begun and executed. */
struct launch_counts {
    uint64_t launches, blocks, insns, thread_insns;
};

/* What has become of a launch, or of a step of it. */
enum launch_end {
    LAUNCH_DONE,    /* it has ended or, in time, stands in its queue */
    LAUNCH_REFUSED, /* no multiprocessor can hold a block of it */
    LAUNCH_MEMORY,  /* there is no room for stacks, or the host has no memory */
    LAUNCH_ENDED,   /* in time: something has ended the run meanwhile */
    /* Without a clock; launch_advance() goes on, with the same instruction. */
    LAUNCH_PAUSE, /* the quantum is over */
    LAUNCH_CALL,  /* grid.call() has stopped it */
    LAUNCH_TRAP,  /* a thread has trapped: launch_trapped() */
};

/* Multiprocessors that take time. Without one, a launch has ended when its call returns. Under the kernel there is none:
 * a thread whose page is missing stops the run until the kernel, on the calling hart, has brought it in, and in time that hart
 * would have gone on, and could not be interrupted for it. */
struct launch_device {
    /* LAUNCH_DONE, LAUNCH_REFUSED or LAUNCH_ENDED; may take time until there is room. */
    enum launch_end (*enqueue)(void *context, const struct launch_work *work);
    bool (*wait)(void *context, uint64_t number); /* for all, if number is 0; false: the run has ended */
    const struct launch_counts *(*count)(void *context);
    void *context;
    uint32_t warps; /* that all multiprocessors hold at a time: each takes a share of the stacks */
};

struct launch_options {
    struct grid_limits limits;
    uint64_t stack;                     /* bytes of a thread's, a power of two */
    const struct launch_device *device; /* or NULL */
    bool observed;                      /* by gdb or a log, which do not see threads: is warned of */
    bool untimed;                       /* no device, though the machine has a clock: is warned of */
};

/* Fills the options for `count` multiprocessors like simt; limits.count is 0 without any (NULL). */
void launch_describe(const struct simt_config *simt, uint32_t count, struct launch_options *options);

/* What a block can have in time: no more threads than a multiprocessor holds. */
void launch_limit(struct launch_options *options, uint64_t threads);

/* Bytes of memory that the stacks take. */
uint64_t launch_stack_bytes(const struct launch_options *options);

/* Where a program's launches happen; all of it must outlive them. */
struct launch_setup {
    const struct launch_options *options;
    const struct launch_host *host;
    const struct hart *hart;   /* the program's: its decoder, who serves its custom instructions, its gp */
    const struct phys *memory; /* all that physical addresses name */
    uint64_t write_first;      /* program addresses below are read-only */
};

struct launch;

/* Out of memory aborts. Release with launch_free(). */
struct launch *launch_new(const struct launch_setup *setup);
void launch_free(struct launch *launch);

/* Begins a launch, and without a clock executes it as launch_advance() does. A launch that has not ended there is dropped.
 * err is set when LAUNCH_REFUSED or LAUNCH_MEMORY is for a limit of the machine, which it names; its text is empty
 * otherwise. */
enum launch_end launch_begin(struct launch *launch, const struct simt_launch_record *record, uint64_t quantum,
                             struct error *err);

/* Without a clock: executes the launch that has begun, for about so many instructions of warps, until it has ended or
 * something stops it. */
enum launch_end launch_advance(struct launch *launch, uint64_t quantum);

/* The thread that has trapped: its warp, and the report that names the lane. */
struct warp *launch_trapped(const struct launch *launch, const struct warp_report **report);

/* Waits for a launch that there has been, or for all (0). False when the run has ended before. */
bool launch_wait(struct launch *launch, uint64_t number);

/* The number of the last launch; 0: none yet. */
uint64_t launch_number(const struct launch *launch);

/* Instructions of warps. */
uint64_t launch_executed(const struct launch *launch);

/* What threads see, ready once there has been a launch. */
struct warp_memory *launch_memory(struct launch *launch);

/* What multiprocessors have executed, as "simt.launches" and so on. */
void launch_publish(const struct launch *launch, struct stats *stats);

#endif
