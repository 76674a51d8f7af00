/* Launches on timed multiprocessors: the block scheduler, and the warps that multiprocessors execute.
 *
 * Launches of one queue run one after another. Launches of different queues run at the same time; the blocks
 * of the earlier one are placed first. In each clock, every multiprocessor in turn gets at most one of the blocks that
 * it may run (placement.h) and for which it has room, so with most policies the place of a block depends on timing.
 * First-level caches, which are not coherent, are emptied when a launch begins.
 *
 * Not modelled: the time from the host's call to the first block; the answers to the last stores, for which a
 * launch does not wait. */
#ifndef EMU_SIMT_GRID_TIMED_GRID_H
#define EMU_SIMT_GRID_TIMED_GRID_H

#include "emu/simt/grid/grid.h"
#include "emu/simt/multiprocessor.h"

enum { SIMT_LAUNCHES = 1024 };

struct simt_grid;

struct simt_grid_parts {
    struct event_queue *queue; /* the scheduler's own: the first of those that the multiprocessors use */
    unsigned queues;           /* their number; 0: one */
    struct clock clock;        /* of the block scheduler */
    uint32_t component;
    uint32_t count; /* number of multiprocessors, at least 1 */
    /* configs[i]: configuration of multiprocessor i; all have the same width; only simt_grid_new() reads the array */
    const struct simt_config *const *configs;
    /* The placement of blocks. parts[i]: number of the part of multiprocessor i, ascending; NULL: all are in one.
     * Copied by simt_grid_new(). The table must outlive the scheduler; NULL: none. */
    enum placement_policy placement;
    const uint32_t *parts;
    const struct placement_table *table;
    /* A thread's call ends the run (GRID_CALL). Set it if there may be windows (below): the call may read the time, which is that of
     * the last event anywhere. */
    bool refuses_calls;
    uint64_t tick; /* fs after which the threads' `time` advances by 1 */
    /* Called when the run has ended: `end` is GRID_TRAP, with the warp and its report, or GRID_STOP or
     * GRID_HOST. */
    void (*failed)(void *context, enum grid_end end, struct warp *warp, const struct warp_report *report);
    /* Called when a launch's first block is placed, and when its last one has ended. NULL: not called. */
    void (*phase)(void *context, const struct grid_launch *launch, bool begins);
    /* Called when the first of some launches begins to wait, and when none waits or runs any more. NULL: not called. */
    void (*busy)(void *context, bool busy);
    void *context;
};

/* Creates the block scheduler. Never returns NULL: out of memory aborts. Release it before the
 * multiprocessors; simt_grid_free() accepts NULL. */
struct simt_grid *simt_grid_new(const struct simt_grid_parts *parts);
void simt_grid_free(struct simt_grid *grid);

/* Sets the threads' memory and the environment, before the first launch. The memory has stacks for the warps
 * of each multiprocessor, in the order of their numbers. */
void simt_grid_bind(struct simt_grid *grid, struct warp_memory *memory, const struct grid_host *host);

/* simt_grid_source() returns the source with which multiprocessor `number` must be created;
 * simt_grid_attach() connects it when it has been. Call both for each multiprocessor. */
struct simt_source simt_grid_source(struct simt_grid *grid, uint32_t number);
void simt_grid_attach(struct simt_grid *grid, uint32_t number, struct simt *simt);

/* A warp as a multiprocessor's source names it. */
struct simt_member {
    struct warp *warp;
    /* for a mechanism that stands between the source and a multiprocessor; NULL when the warp's block begins */
    void *attached;
    /* if the warp waits for a page: the waiter, trap and lane of its step */
    struct custom_waiter *waiter;
    struct trap trap;
    uint8_t lane;
};

/* For a mechanism between source and multiprocessor, also for warps that it has made. simt_grid_execute() executes the next
 * step of a warp as simt_source.step() does, except that it does not handle barriers and ends of threads; `shown`: --log shows
 * the step if the warp is watched. simt_grid_missing() does what simt_source.missing() does. */
void simt_grid_execute(struct simt_grid *grid, const struct simt *simt, struct simt_member *member,
                       uint64_t cycle, struct custom_waiter *waiter, struct warp_report *report, bool shown);
void simt_grid_missing(struct simt_grid *grid, const struct simt_member *member);

/* For windows in which each queue's events fire on a thread of their own (emu/sim/threads/turns.h).
 *
 * Accesses of threads and what else they share are executed in turn. The end of a launch must be seen by all at its place in the order:
 * a queue whose multiprocessors have no block of some launch left waits for its turn before each event, and the end of a launch's
 * last block ends the window. A launch cannot have ended before the position of a queue that has a block of it.
 *
 * simt_grid_quiet() returns whether a window can begin: all blocks have begun, and each queue has some of each launch. *end becomes the
 * time of the scheduler's next event if that is earlier. simt_grid_part() begins a window, and simt_grid_join() ends it; then parts.failed
 * is called if a thread has failed. */
bool simt_grid_quiet(const struct simt_grid *grid, uint64_t *end);
void simt_grid_part(struct simt_grid *grid);
void simt_grid_join(struct simt_grid *grid);

/* Returns the threads' memory; NULL before the first launch. */
struct warp_memory *simt_grid_memory(const struct simt_grid *grid);

/* Returns whether any multiprocessor can hold a block of the launch, whose threads need `registers` 32-bit
 * registers each. */
bool simt_grid_possible(const struct simt_grid *grid, const struct grid_launch *launch, uint32_t registers);

/* Returns whether fewer than SIMT_LAUNCHES launches wait or run. */
bool simt_grid_room(const struct simt_grid *grid);

/* Adds a launch to its queue at the event queue's time. simt_grid_room() and simt_grid_possible() must be
 * true; `number` is greater than 0 and than all earlier numbers. */
void simt_grid_launch(struct simt_grid *grid, const struct grid_launch *launch, uint32_t registers,
                      uint64_t queue, uint64_t number);

/* Returns whether launch `number` has ended; for 0, whether all launches have. */
bool simt_grid_done(const struct simt_grid *grid, uint64_t number);

/* Describes launch `number`, or for 0 and LAUNCH_ROOM (launch.h) the oldest launch that has not ended. Returns false if it has
 * ended. */
bool simt_grid_pending(const struct simt_grid *grid, uint64_t number, struct grid_pending *pending);

/* For debuggers: as launch_warp() and launch_moved() (launch.h). */
struct warp *simt_grid_warp(const struct simt_grid *grid, uint32_t number);
void simt_grid_moved(struct simt_grid *grid);

/* Registers "busy". */
void simt_grid_publish(struct simt_grid *grid, struct stats *stats, struct scope scope);

#endif
