/* A program's launches on timed multiprocessors. Launches are asynchronous; the host's core sleeps while it
 * waits for them.
 *
 * The number of registers of a thread is given by the program, or it is the number that the reachable code
 * needs at a time (emu/analysis/pressure.h), determined once per entry. If a block does not fit only because of its
 * registers, it is executed as if compiled with as few registers as fit (a compiler's bound on registers),
 * after one warning; the spills that this would cause are not modelled. */
#ifndef EMU_SIMT_GRID_TIMED_LAUNCH_H
#define EMU_SIMT_GRID_TIMED_LAUNCH_H

#include "emu/analysis/pressure.h"
#include "emu/simt/grid/launch.h"
#include "isa/decode.h"

enum { TIMED_LAUNCH_ENTRIES = 64 };

/* Called once when launches cannot continue. The report is that of the trap for GRID_TRAP, otherwise NULL. */
typedef void timed_launch_fault(void *context, enum grid_end end, struct warp *warp,
                                const struct warp_report *report);

/* The machine's multiprocessors, as its builder connects them to launches. `halves` is the number of 32-bit
 * registers of a thread. */
struct timed_launch_machine {
    /* Called before each launch: sets the threads' memory, the environment, and the function to call when
     * launches cannot continue. */
    void (*bind)(void *context, struct warp_memory *memory, const struct grid_host *host,
                 timed_launch_fault *fault, void *fault_context);
    /* Returns whether any multiprocessor can hold a block of the launch. */
    bool (*possible)(void *context, const struct grid_launch *launch, uint32_t halves);
    /* Queues a possible launch, after waiting for room. launch() and wait() return false if the run has ended
     * in the meantime. */
    bool (*launch)(void *context, const struct grid_launch *launch, uint32_t halves, uint64_t queue);
    bool (*wait)(void *context, uint64_t number);
    const struct simt_counters *(*counted)(void *context, uint32_t multiprocessor);
    /* as in struct launch_device */
    bool (*ready)(void *context, uint64_t number);
    bool (*pending)(void *context, uint64_t number, struct grid_pending *pending);
    void (*resume)(void *context, struct custom_waiter *waiter);
    void (*forget)(void *context);
    struct warp *(*warp)(void *context, uint32_t number);
    void (*moved)(void *context);
    void *context;
};

struct timed_launch {
    struct launch_device device;
    struct timed_launch_machine machine;
    const struct simt_config *simt;
    uint32_t count; /* number of multiprocessors */
    const struct decoder *decoder;
    struct launch_work work; /* the last launch */
    struct launch_counts counts;
    bool waited; /* the program has waited for a launch since the last one */
    bool warned;
    /* Print the registers and the occupancy of each launch's kernel, once per kernel and block size. */
    bool verbose;
    struct {
        uint64_t entry;
        uint32_t halves; /* 0: unknown */
        struct pressure pressure;
        uint64_t told_entry, told; /* kernel and threads of a block last printed; told 0: none */
    } demands[TIMED_LAUNCH_ENTRIES];
};

/* Initializes the device of `count` multiprocessors, which hold `warps` warps together and have the warp
 * width and the registers of `simt`. *t must not move; what it points to must outlive it. Set `machine`
 * before the first launch. */
void timed_launch_init(struct timed_launch *t, const struct simt_config *simt, uint32_t count, uint32_t warps,
                       const struct decoder *decoder);

#endif
