/* Natural loops: for each node h with an edge from a node that h dominates (a back edge), the nodes that reach such an edge
 * without passing h. Back edges to one header make one loop. Other cycles have several entries; they are counted, but are
 * no loops. */
#ifndef EMU_ANALYSIS_FLOW_LOOPS_H
#define EMU_ANALYSIS_FLOW_LOOPS_H

#include "emu/analysis/flow/dominators.h"

struct loop {
    unsigned header;
    unsigned parent; /* the smallest loop around it, or NODE_NONE */
    unsigned depth;  /* 1: no loop around it */
    unsigned first,
        count; /* its nodes are members[first] to members[first + count - 1]; the header is the first */
};

struct loops {
    unsigned count;
    struct loop *list; /* a loop comes after the loops around it */
    unsigned *members;
    unsigned *inner;      /* by node: the innermost loop, or NODE_NONE */
    unsigned irreducible; /* number of edges to earlier nodes in depth-first order that are no back edges */
};

/* Release the result with loops_free(). */
struct loops loops_of(const struct digraph *graph, const struct dominators *dominators);
void loops_free(struct loops *loops);

/* Returns whether the node belongs to the loop. */
bool loops_contain(const struct loops *loops, unsigned loop, unsigned node);

#endif
