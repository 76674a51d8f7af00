/* Directed graphs with numbered nodes, for analyses of control flow. */
#ifndef EMU_ANALYSIS_FLOW_DIGRAPH_H
#define EMU_ANALYSIS_FLOW_DIGRAPH_H

#include <stdbool.h>
#include <stddef.h>

#define NODE_NONE (~0u)

struct digraph_edge {
    unsigned from, to;
};

/* The successors of node n are to[first[n]] to to[first[n + 1] - 1], in the order in which they were given. */
struct digraph {
    unsigned nodes;
    unsigned *first, *to;
};

/* Creates a graph. The ends of all edges are below `nodes`; equal edges may be repeated. Release it with
 * digraph_free(). */
struct digraph digraph_new(unsigned nodes, const struct digraph_edge *edges, size_t count);
void digraph_free(struct digraph *graph);

/* Returns the graph with all edges reversed. Release it with digraph_free(). */
struct digraph digraph_reverse(const struct digraph *graph);

/* Stores the nodes that `root` reaches, in reverse post-order of a depth-first search, in order[0..nodes-1]. Returns their
 * number. */
unsigned digraph_order(const struct digraph *graph, unsigned root, unsigned *order);

#endif
