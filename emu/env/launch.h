/* The calls by which programs run threads on multiprocessors: launch, wait and query (isa/MANUAL.md, chapter SIMT). */
#ifndef EMU_ENV_LAUNCH_H
#define EMU_ENV_LAUNCH_H

#include "emu/env/guest.h"
#include "emu/machine/machine.h"
#include "emu/simt/grid.h"

/* A launch as a machine with a clock takes it. What is pointed to stays until the program ends. */
struct launch_work {
    struct grid_launch launch;
    uint64_t queue, number; /* launches count from 1 */
    uint32_t registers;     /* 64-bit ones of a thread, as the program says; 0: to be found out */
    struct warp_memory *memory;
    const struct grid_host *host;
    const struct grid_limits *limits;
    /* A thread has trapped: prints which, and ends the program. */
    void (*fault)(void *fault_context, struct warp *warp, const struct warp_report *report);
    /* A call of a thread, or host->stopped, ends the program. */
    void (*stop)(void *fault_context);
    void *fault_context;
};

/* What a device has begun and executed. */
struct launch_counts {
    uint64_t launches, blocks, insns, thread_insns;
};

/* Multiprocessors that take time. Without one, a launch has ended when its call returns. Under the kernel there is none:
 * a thread whose page is missing stops the run until the kernel, on the calling hart, has brought it in, and in time that hart
 * would have gone on, and could not be interrupted for it. */
struct launch_device {
    int64_t (*enqueue)(void *context,
                       const struct launch_work *work); /* 0 or -errno; may take time until there is room */
    int64_t (*wait)(void *context, uint64_t number);    /* 0 (all, if number is 0) or -errno */
    const struct launch_counts *(*count)(void *context);
    void *context;
    uint32_t warps; /* that all multiprocessors hold at a time: each takes a share of the stacks */
};

struct launch_options {
    struct grid_limits limits;
    uint64_t stack;                     /* bytes of a thread's, a power of two */
    const struct launch_device *device; /* or NULL */
    bool debugged;                      /* by gdb, which does not see threads: is warned of */
    bool untimed;                       /* no device, though the machine has a clock: is warned of */
};

/* Fills the options from the machine's description; limits.count is 0 without multiprocessors. */
void launch_describe(const struct machine_config *machine, struct launch_options *options);

/* Bytes of memory that the stacks take. */
uint64_t launch_stack_bytes(const struct launch_options *options);

/* Gives the program threads. memory: all that physical addresses name; stacks: where the stacks' bytes are in it, or 0:
 * they are mapped in the program's heap when first needed. options must outlive it. Release with launch_free(). */
struct launch *launch_new(struct user *user, const struct launch_options *options, const struct phys *memory,
                          uint64_t stacks);
void launch_free(struct launch *launch);

/* While a thread's call is served: bytes of stacks and of its scratchpad, a copy that goes back when the call has been
 * served. NULL when they are not all there, or no thread calls. */
void *launch_view(struct launch *launch, uint64_t address, uint64_t length, bool write);

/* Of threads under the kernel, which serves calls about memory itself. After a call: whether a thread has made one, whose
 * number and arguments go to call[0] and [1..6]; then the program's call is to be made again after launch_answer(). */
bool launch_asks(struct launch *launch, uint64_t call[7]);
void launch_answer(struct launch *launch, uint64_t result);

/* What multiprocessors have executed, as "simt.launches" and so on. */
void launch_publish(const struct launch *launch, struct stats *stats);

#endif
