/* Grids of blocks of threads: which threads there are, the block's barrier and scratchpad, and their functional run.
 *
 * grid_advance() executes a launch as if in no time: block after block in the order of their numbers (x fastest), each to its
 * end, with its warps by turns, GRID_SLICE instructions each. A quantum ends between two slices, and changes nothing. Results do not depend on the number of multiprocessors
 * unless the program races or asks (smp). As one block ends before the next one begins, a block must not wait for a later
 * one; threads of a block may wait for each other in any way. */
#ifndef EMU_SIMT_GRID_H
#define EMU_SIMT_GRID_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/simt/warp.h"

enum { GRID_SLICE = 2048 };

/* A launch: `grid` blocks of `block` threads, none of the six numbers 0. */
struct grid_launch {
    uint64_t entry, argument, gp;
    uint32_t grid[3], block[3];
    uint32_t scratchpad; /* bytes of each block */
    uint64_t number;     /* for messages */
};

/* What a multiprocessor offers; width is that of the warp_memory. */
struct grid_limits {
    uint32_t count, width, block_threads;
    uint64_t scratchpad;
};

/* Threads of a block and blocks of a grid. */
uint64_t grid_block_threads(const struct grid_launch *launch);
uint64_t grid_blocks(const struct grid_launch *launch);

/* Warps of a block. */
uint32_t grid_block_warps(const struct grid_launch *launch, uint32_t width);

/* Whether the machine can hold a block of it, and its numbers are ones; err names the limit, and the keys that set it. */
bool grid_check(const struct grid_launch *launch, const struct grid_limits *limits, struct error *err);
bool grid_possible(const struct grid_launch *launch, const struct grid_limits *limits);

/* A block that is being executed: its warps and scratchpad. All zero to begin with; it keeps what it has allocated for
 * the next block until grid_block_free(). */
struct grid_block {
    struct warp **warps;
    uint32_t count; /* of the warps that the block has */
    uint32_t room;
    uint8_t *scratchpad; /* reads as zero when the block starts */
    uint64_t scratchpad_room;
};

/* Starts block `index` of the launch on a multiprocessor, its warps' stacks from warp number `stacks` of the window on.
 * False when the host has no memory. */
bool grid_block_start(struct grid_block *block, struct warp_memory *memory, const struct grid_launch *launch,
                      uint64_t index, uint32_t multiprocessor, uint32_t stacks, struct error *err);
void grid_block_free(struct grid_block *block);

/* Opens the barrier when every thread that has not ended waits at it (at whichever of the program's barriers); whether
 * it did. */
bool grid_block_meet(struct grid_block *block);

/* What the environment does for threads. */
struct grid_host {
    /* Serves the ECALL of a lane and says what a0 receives; false: not now, the run stops before it. */
    bool (*call)(void *context, struct warp *warp, unsigned lane, uint64_t *result);
    /* In time: whether to end the run, asked after GRID_SLICE steps of any warps. NULL: no. */
    bool (*stopped)(void *context);
    void *context;
};

enum grid_end {
    GRID_DONE,
    GRID_PAUSE, /* the quantum is over */
    GRID_TRAP,  /* `warp` and `report` say which thread's */
    GRID_STOP,  /* a call (`warp`, `report`) has ended it; in time, `stopped` too */
    GRID_HOST,  /* the host has no memory */
};

/* A functional run; memory, host and limits are the owner's. Counts stay from launch to launch. */
struct grid {
    struct warp_memory *memory;
    const struct grid_host *host;
    struct grid_limits limits;
    struct grid_launch launch;
    struct grid_block block;
    uint64_t next; /* block that has not begun */
    uint32_t turn; /* warp of the block that is, or is to be, executed */
    bool running;  /* a block has begun and not ended */
    struct warp *warp;
    struct warp_report report;
    uint64_t launches, blocks, insns, thread_insns;
    uint64_t until; /* `insns` at which the quantum ends */
};

/* Begins a possible launch; one that has not ended is dropped. */
void grid_begin(struct grid *grid, const struct grid_launch *launch);

/* Executes it to its end, or for a quantum of instructions of warps (at least one slice of one warp), or until something
 * else happens; then a further call tries the same instruction again and goes on. */
enum grid_end grid_advance(struct grid *grid, uint64_t quantum, struct error *err);
void grid_free(struct grid *grid);

#endif
