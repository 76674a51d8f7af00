/* Grids of blocks of threads: their sizes, a block's barrier and scratchpad, and functional execution.
 *
 * grid_advance() executes a launch without time: one block after another in the order of their numbers (x
 * fastest), each to its end, its warps in turns of GRID_SLICE instructions. A quantum ends between two turns
 * and does not affect results. Results do not depend on the number of multiprocessors unless the program has
 * races or reads the CSR smp. Because a block ends before the next one begins, a block must not wait for a
 * later one; threads of a block may wait for each other in any way. */
#ifndef EMU_SIMT_GRID_GRID_H
#define EMU_SIMT_GRID_GRID_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/simt/warp.h"

enum { GRID_SLICE = 2048 };

/* A launch of `grid` blocks of `block` threads. None of the six extents is 0. */
struct grid_launch {
    uint64_t entry, argument, gp;
    uint32_t grid[3], block[3];
    uint32_t scratchpad; /* bytes per block */
    uint64_t number;     /* number of the launch, for messages */
    uint32_t host;       /* number of the host that launches it */
};

/* A launch that has not ended, for messages. */
struct grid_pending {
    struct grid_launch launch;
    uint64_t blocks, begun, ended; /* number of its blocks; of these, how many have begun, and ended */
    uint64_t others;               /* other launches that have not ended and are waited for, too */
};

/* The limits of a multiprocessor. `width` equals that of the warp_memory. */
struct grid_limits {
    uint32_t count, width, block_threads;
    uint64_t scratchpad;
};

/* Return the number of threads of a block, and of blocks of a grid. */
uint64_t grid_block_threads(const struct grid_launch *launch);
uint64_t grid_blocks(const struct grid_launch *launch);

/* Returns the number of warps of a block. */
uint32_t grid_block_warps(const struct grid_launch *launch, uint32_t width);

/* Check whether the machine can execute the launch: the extents are in range and a multiprocessor can hold a
 * block. err names the limit and its keys. */
bool grid_check(const struct grid_launch *launch, const struct grid_limits *limits, struct error *err);
bool grid_possible(const struct grid_launch *launch, const struct grid_limits *limits);

/* A block under execution: its warps and scratchpad. Initialize with zeroes. Its allocations are reused for
 * the next block until grid_block_free(). */
struct grid_block {
    struct warp **warps;
    uint32_t count; /* number of the block's warps */
    uint32_t room;
    uint8_t *scratchpad; /* zero when the block starts */
    uint64_t scratchpad_room;
};

/* Starts block `index` of the launch on a multiprocessor. Its warps use stacks of the stack window from warp
 * number `stacks` on. Returns false with err set when the host has no memory. */
bool grid_block_start(struct grid_block *block, struct warp_memory *memory, const struct grid_launch *launch,
                      uint64_t index, uint32_t multiprocessor, uint32_t stacks, struct error *err);
void grid_block_free(struct grid_block *block);

/* Opens the barrier if every thread that has not ended waits at it; threads may wait at different barriers of
 * the program. Returns whether it opened. */
bool grid_block_meet(struct grid_block *block);

/* A warp that is watched: number of the launch, of the block in its grid (x fastest), and of the warp in the block. */
struct grid_watch {
    uint64_t launch;
    uint32_t block, warp;
};

/* The environment's services for threads. */
struct grid_host {
    /* Serves the ECALL of a lane and stores the value for a0. Returns false to stop the run before the
     * call. */
    bool (*call)(void *context, struct warp *warp, unsigned lane, uint64_t *result);
    /* With a clock: returns whether to end the run; called every GRID_SLICE steps of all warps. NULL:
     * never. */
    bool (*stopped)(void *context);
    /* With a clock: the environment can make the warp wait. missing() returns whether the access that trapped is allowed
     * and only its page is missing. later() is called after call() has returned false (trap is NULL), or when the walk for
     * a missing page has ended. It returns whether the environment will call custom_returned() for the waiter, so that the
     * warp tries again; after missing() has returned true, it must. ended() is called when launches have ended. NULL: the
     * environment never makes warps wait, or has nothing to do. */
    bool (*missing)(void *context, const struct trap *trap);
    bool (*later)(void *context, struct warp *warp, unsigned lane, const struct trap *trap,
                  struct custom_waiter *waiter);
    void (*ended)(void *context);
    /* A warp whose steps executed() is told of, after each; NULL: none. */
    const struct grid_watch *watch;
    void (*executed)(void *context, struct warp *warp, const struct warp_report *report);
    void *context;
};

/* Returns whether the warp is watched. */
bool grid_watched(const struct grid_host *host, const struct warp *warp);

enum grid_end {
    GRID_DONE,
    GRID_PAUSE, /* the quantum has ended, or a debugger stops the run or holds all warps (warp_debug.h) */
    GRID_TRAP,  /* `warp` and `report` name the thread that trapped */
    GRID_STOP,  /* a call (`warp`, `report`) or, with a clock, stopped() stopped the run */
    GRID_HOST,  /* the host has no memory */
    GRID_CALL,  /* with several threads of the host: `warp` makes a call, which needs one */
    GRID_CODE,  /* with several threads of the host: `warp` has stored to code, which needs one */
};

/* A functional run. The owner sets memory, host and limits. Counters continue from launch to launch. */
struct grid {
    struct warp_memory *memory;
    const struct grid_host *host;
    struct grid_limits limits;
    struct grid_launch launch;
    struct grid_block block;
    uint64_t next; /* next block to begin */
    uint32_t turn; /* index of the warp that is executed now or next */
    bool running;  /* a block has begun and not ended */
    struct warp *warp;
    struct warp_report report;
    uint64_t launches, blocks, insns, thread_insns;
    uint64_t until; /* value of `insns` at which the quantum ends */
};

/* Begins a launch that has passed grid_check(). Drops a launch that has not ended. */
void grid_begin(struct grid *grid, const struct grid_launch *launch);

/* Executes the launch until it ends, for a quantum of warp instructions (at least one slice of one warp), or
 * until another event stops it. Call it again to continue, with the same instruction. */
enum grid_end grid_advance(struct grid *grid, uint64_t quantum, struct error *err);
void grid_free(struct grid *grid);

/* Describes the current launch. Returns false if it has ended. */
bool grid_pending(const struct grid *grid, struct grid_pending *pending);

#endif
