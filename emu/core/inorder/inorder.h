/* An in-order core of the kind of Cortex-A53: it issues one or two instructions a cycle in program order and
 * stalls when an operand is used that is not there yet.
 *
 * Front end: blocks of fetch_bytes leave the instruction cache one a cycle and wait in a queue; a block can
 * be fetched when the queue has room. The branch predictor steers it. What is behind a mispredicted branch
 * comes from the right place once the branch has executed; until then the front end fetches straight on from
 * the mispredicted place, through the instruction cache but without executing, to the end of the page at
 * most. Issue: results of fixed latency, loads that hit and stores go on; a load that misses leaves its
 * register pending, and the first reader or writer of the register waits. Results are written in program
 * order to each register. Stores leave the store buffer for the data cache in program order, one a cycle,
 * several misses at a time; entries become free in program order. A load takes its bytes from the youngest
 * store in the buffer that has all of them, and waits for one that has a part.
 *
 * With an offload mechanism (struct core_parts, offload), a task is an instruction that is executed alone: the core lets
 * its stores leave, gives the task away and waits until it is complete, as long as no interrupt is due (offload.c).
 *
 * Left out: competition of leaving stores with loads for the data cache's port, merging of stores in the
 * buffer, operand-dependent divide times, late reading of store data and addends.
 */
#ifndef EMU_CORE_INORDER_INORDER_H
#define EMU_CORE_INORDER_INORDER_H

#include "emu/core/config.h"

enum { INORDER_LOADS = 32, INORDER_STORES = 64, INORDER_BLOCKS = 128 };

/* A core, asleep until core_wake(). Config must have passed the check; what parts points to must outlive it.
 * NULL when the host has no memory. Release with core_free(). */
struct core *inorder_new(const struct core_config *config, const struct core_parts *parts, struct error *err);

#endif
