/* Cache lines of a machine: parts that exchange lines agree on their size, and coherent caches are joined to their last level
 * directly. */
#ifndef EMU_MACHINE_PLAN_LINES_H
#define EMU_MACHINE_PLAN_LINES_H

#include "emu/machine/plan/wiring.h"

/* Checks the line sizes of all caches. A last-level cache must have the line size of all caches whose
 * requests reach it, also through links and crossbars. A line that goes to memory must fit into `request`
 * bytes, the longest request that all memories accept. False with err set, naming file and line. */
bool lines_check(const struct tree *tree, const struct wiring *wiring, uint64_t request, struct error *err);

/* Returns the size of the longest line in bytes, and sets *cache to the cache that has it; 0 without caches. */
uint32_t lines_longest(const struct tree *tree, const struct instance **cache);

#endif
