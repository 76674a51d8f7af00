/* Cache lines of a machine: parts that exchange lines agree on their size, and coherent caches are joined to their last level
 * directly. */
#ifndef EMU_MACHINE_PLAN_LINES_H
#define EMU_MACHINE_PLAN_LINES_H

#include "emu/machine/plan/wiring.h"

/* Checks the line sizes of all caches. A last-level cache must have the line size of all caches whose
 * requests reach it, also through links and crossbars. A line that goes to memory must fit into `request`
 * bytes, the longest request that all memories accept. False with err set, naming file and line. */
bool lines_check(const struct tree *tree, const struct wiring *wiring, uint64_t request, struct error *err);

/* Returns the last level to which a part's requests go: the one that it is connected to, or whose slices are the outputs of the
 * network that it is connected to (then *far is true). NULL: none, or the part is that cache. */
const struct instance *lines_level(const struct wiring *wiring, const struct instance *part, bool *far);

/* Returns the slices' wire from a network; NULL: it has none. */
const struct wire *lines_slices(const struct wiring *wiring, const struct instance *network);

/* Returns the size of the longest line in bytes, and sets *cache to the cache that has it; 0 without caches. */
uint32_t lines_longest(const struct tree *tree, const struct instance **cache);

#endif
