/* Dominators: node a dominates b if every path from the root to b contains a. On the reversed graph with the exit as root
 * they are post-dominators. The tree is found by iteration in reverse post-order (Cooper, Harvey, Kennedy, "A simple, fast
 * dominance algorithm", 2001). */
#ifndef EMU_ANALYSIS_FLOW_DOMINATORS_H
#define EMU_ANALYSIS_FLOW_DOMINATORS_H

#include "emu/analysis/flow/digraph.h"

struct dominators {
    unsigned root;
    /* Immediate dominator; of the root itself, and of nodes that it does not reach, NODE_NONE. */
    unsigned *parent;
    unsigned *depth; /* in the tree: root 1; 0: the root does not reach the node */
};

/* Release the result with dominators_free(). */
struct dominators dominators_of(const struct digraph *graph, unsigned root);
void dominators_free(struct dominators *dominators);

/* Returns whether a dominates b; each node dominates itself. False if the root does not reach one of them. */
bool dominates(const struct dominators *dominators, unsigned a, unsigned b);

/* Returns the nearest node that dominates both, or NODE_NONE if the root does not reach one of them. */
unsigned dominators_common(const struct dominators *dominators, unsigned a, unsigned b);

#endif
