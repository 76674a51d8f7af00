/* A program's launches on the multiprocessors of a machine with a clock: they are asynchronous, and the host's core sleeps
 * while it waits for them.
 *
 * How many registers a thread takes is what the program says, or what its reachable code names (emu/analysis/reach.h), found
 * out once for each entry. A block that its registers alone keep from fitting is taken for compiled with as few as fit (as
 * by a compiler's bound on registers), which is warned of once; the spills that this would mean are left out. */
#ifndef EMU_SIMT_TIMED_LAUNCH_H
#define EMU_SIMT_TIMED_LAUNCH_H

#include "emu/simt/launch.h"
#include "isa/decode.h"

enum { TIMED_LAUNCH_ENTRIES = 64 };

/* Told once that launches cannot go on; the report is that of a trap (GRID_TRAP), else NULL. */
typedef void timed_launch_fault(void *context, enum grid_end end, struct warp *warp,
                                const struct warp_report *report);

/* The machine's multiprocessors, as its builder joins them to launches. Threads need so many 32-bit halves of registers. */
struct timed_launch_machine {
    /* Before each launch: what threads see, who serves them, and who is told of their end. */
    void (*bind)(void *context, struct warp_memory *memory, const struct grid_host *host,
                 timed_launch_fault *fault, void *fault_context);
    /* Whether any multiprocessor can hold a block of it. */
    bool (*possible)(void *context, const struct grid_launch *launch, uint32_t halves);
    /* Queues a possible launch, when there is room. False, as of wait(), when something has ended the run meanwhile. */
    bool (*launch)(void *context, const struct grid_launch *launch, uint32_t halves, uint64_t queue);
    bool (*wait)(void *context, uint64_t number);
    const struct simt_counters *(*counted)(void *context, uint32_t multiprocessor);
    void *context;
};

struct timed_launch {
    struct launch_device device;
    struct timed_launch_machine machine;
    const struct simt_config *simt;
    uint32_t count; /* of multiprocessors */
    const struct decoder *decoder;
    struct launch_work work; /* the last one */
    struct launch_counts counts;
    bool warned;
    struct {
        uint64_t entry;
        uint32_t halves; /* 0: unknown */
    } demands[TIMED_LAUNCH_ENTRIES];
};

/* The device of `count` multiprocessors that hold so many warps together; they are like simt in the width of a warp and in
 * registers. *t must stay where it is, and what is pointed to must outlive it. `machine` is set before the first launch. */
void timed_launch_init(struct timed_launch *t, const struct simt_config *simt, uint32_t count, uint32_t warps,
                       const struct decoder *decoder);

#endif
