/* The multiprocessors on which the blocks of a launch run: the policies of simt.placement.
 *
 *   round_robin  every block on any multiprocessor, in the order of their numbers (GPGPU-Sim's block scheduler)
 *   contiguous   equal ranges of adjacent blocks, one for each multiprocessor
 *   module       ranges of adjacent blocks, one for each part of multiprocessors, in proportion to their number in it;
 *                within a part, any (distributed CTA scheduling: Arunkumar et al., "MCM-GPU", ISCA 2017, section 5.2)
 *   table        as a file says; blocks that it does not name, on any multiprocessor
 *
 * A multiprocessor takes the blocks that it may run in order, one at a time, when it has room. Multiprocessors that cannot
 * hold a block of the launch count as absent; blocks that a table places only on such multiprocessors run on any other.
 *
 * The file has a line for blocks and one or more multiprocessors, by their numbers from 0, or ranges of them:
 *
 *   # comment
 *   0-7   0        blocks 0 to 7 on multiprocessor 0
 *   8     1-3      block 8 on one of three
 *   launch 2       the lines that follow are for launch 2 only
 *   0     3
 *
 * The lines before the first `launch` are for all launches without lines of their own. */
#ifndef EMU_SIMT_GRID_PLACEMENT_H
#define EMU_SIMT_GRID_PLACEMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/sim/error.h"

enum placement_policy { PLACEMENT_ROUND_ROBIN, PLACEMENT_CONTIGUOUS, PLACEMENT_MODULE, PLACEMENT_TABLE };
extern const char *const placement_policy_names[]; /* by value, then NULL */

struct placement_table;

/* Reads a table for `count` multiprocessors. Returns NULL with err set (file, line, what is allowed) if the file cannot
 * be read or has an error. Release it with placement_table_free(), which accepts NULL. */
struct placement_table *placement_table_read(const char *path, uint32_t count, struct error *err);
void placement_table_free(struct placement_table *table);

/* The parameters of a launch's placement. */
struct placement_setup {
    enum placement_policy policy;
    const struct placement_table *table; /* of PLACEMENT_TABLE */
    uint64_t launch, blocks;             /* number of the launch, from 1; how many blocks it has */
    uint32_t count;                      /* how many multiprocessors there are */
    const uint32_t *parts;               /* by multiprocessor: number of its part, ascending */
    const bool *able;                    /* by multiprocessor: it can hold a block; at least one can */
};

struct placement;

/* Makes a launch's placement. Never returns NULL: out of memory aborts. Release it with placement_free(), which accepts NULL. */
struct placement *placement_new(const struct placement_setup *setup);
void placement_free(struct placement *placement);

/* Stores the number of the block that the multiprocessor takes next. Returns false if none is left for it. */
bool placement_next(struct placement *placement, uint32_t multiprocessor, uint64_t *block);

/* Notes that the multiprocessor takes the block that placement_next() has just stored for it. */
void placement_take(struct placement *placement, uint32_t multiprocessor);

#endif
