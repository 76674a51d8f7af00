/* Launches on multiprocessors, in time: the block scheduler, and the warps that multiprocessors execute.
 *
 * Launches of one queue run one after the other, those of different queues at the same time, the earlier one's blocks
 * first. In each clock every multiprocessor, in turn, is given at most one block that it has room for (GPGPU-Sim's block
 * scheduler); which one holds a block therefore depends on time. A multiprocessor's first-level cache is emptied when a
 * launch begins, as it is not coherent. Left out: the time from the host's call to the first block, and the answers of
 * the last stores, which a launch does not wait for. */
#ifndef EMU_SIMT_TIMED_GRID_H
#define EMU_SIMT_TIMED_GRID_H

#include "emu/simt/grid.h"
#include "emu/simt/simt.h"

enum { SIMT_LAUNCHES = 1024 };

struct simt_grid;

struct simt_grid_parts {
    struct event_queue *queue;
    struct clock clock; /* the multiprocessors' */
    uint32_t component;
    uint32_t count; /* of multiprocessors, at least 1 */
    const struct simt_config *const
        *configs;  /* of each multiprocessor, of one width; only simt_grid_new() reads the list */
    uint64_t tick; /* fs in which the threads' `time` advances by 1 */
    /* Something has ended the run: `end` is GRID_TRAP, with the warp and its report, GRID_STOP or GRID_HOST. */
    void (*failed)(void *context, enum grid_end end, struct warp *warp, const struct warp_report *report);
    void *context;
};

/* Out of memory aborts; never NULL. Release before the multiprocessors. */
struct simt_grid *simt_grid_new(const struct simt_grid_parts *parts);
void simt_grid_free(struct simt_grid *grid);

/* What threads see and who serves them, before the first launch. The memory has stacks for the warps of each
 * multiprocessor, in the order of their numbers. */
void simt_grid_bind(struct simt_grid *grid, struct warp_memory *memory, const struct grid_host *host);

/* What multiprocessor `number` is to be made with, and that it has been. To be called for each of them. */
struct simt_source simt_grid_source(struct simt_grid *grid, uint32_t number);
void simt_grid_attach(struct simt_grid *grid, uint32_t number, struct simt *simt);

/* Whether any multiprocessor can hold a block of it, whose threads need so many 32-bit halves of registers. */
bool simt_grid_possible(const struct simt_grid *grid, const struct grid_launch *launch, uint32_t registers);

/* Whether fewer than SIMT_LAUNCHES wait or run. */
bool simt_grid_room(const struct simt_grid *grid);

/* Puts a possible launch into its queue at the event queue's time; number is not 0 and above all earlier ones. There
 * must be room. */
void simt_grid_launch(struct simt_grid *grid, const struct grid_launch *launch, uint32_t registers,
                      uint64_t queue, uint64_t number);

/* Whether launch `number`, or each that there has been if it is 0, has ended. */
bool simt_grid_done(const struct simt_grid *grid, uint64_t number);

/* Registers "busy". */
void simt_grid_publish(struct simt_grid *grid, struct stats *stats, struct scope scope);

#endif
