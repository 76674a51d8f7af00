/* An in-order core like Cortex-A53: it issues up to `width` instructions a cycle in program order, and stalls when
 * an instruction uses an operand that is not ready.
 *
 * Front end: one block of fetch_bytes a cycle leaves the instruction cache and waits in a queue; fetch needs room in
 * the queue and follows the branch predictor. After a mispredicted branch, the right path is fetched once the branch
 * has executed. Until then the front end fetches straight on from the predicted place, through the instruction cache
 * but without executing, at most to the end of the page.
 *
 * Issue: an instruction issues beside those before it in a cycle if its operands are ready, the cycle has fewer than
 * `width` instructions, its unit has room, and no branch or jump is before it. Units are memory, multiplication and
 * division, and floating point: each takes one instruction a cycle, or two with pair_memory, pair_multiply and
 * pair_float; integer instructions have as many units as there are slots. With pair_branch, instructions also issue
 * beside branches and jumps before them, if fetch has them: one block a cycle, so wide cores need large blocks.
 *
 * Instructions of fixed latency, loads that hit and stores do not block. A load that misses leaves its register
 * pending; the first reader or writer of that register waits. Results are written to each register in program order.
 * Stores move from the store buffer to the data cache in program order, one a cycle, with several misses under way;
 * entries are freed in program order. A load takes its bytes from the youngest store in the buffer that has all of
 * them, and waits for a store that has only a part.
 *
 * With an offload mechanism (struct core_parts, offload), a task is executed alone: the core drains its stores, gives
 * the task to the mechanism and waits until it is complete or an interrupt is due (offload.c).
 *
 * Not modelled: contention of draining stores and loads for the data cache's port, merging of stores in the buffer,
 * operand-dependent divide times, late reading of store data and addends. */
#ifndef EMU_CORE_INORDER_H
#define EMU_CORE_INORDER_H

#include "emu/core/config.h"

enum { INORDER_LOADS = 32, INORDER_STORES = 64, INORDER_BLOCKS = 128 };

/* Makes a core, which sleeps until core_wake(). Config must have passed the check; what parts points to must outlive
 * the core. Returns NULL if the host has no memory. Release with core_free(). */
struct core *inorder_new(const struct core_config *config, const struct core_parts *parts, struct error *err);

#endif
