#include "emu/analysis/flow/digraph.h"

#include <stdlib.h>

#include "emu/sim/alloc.h"

static struct digraph make(unsigned nodes, const struct digraph_edge *edges, size_t count, bool turned)
{
    struct digraph graph = {.nodes = nodes,
                            .first = alloc(nodes + 2, sizeof *graph.first),
                            .to = alloc(count + 1, sizeof *graph.to)};
    for (size_t i = 0; i < count; i++)
        graph.first[(turned ? edges[i].to : edges[i].from) + 2]++;
    for (unsigned i = 2; i < nodes + 2; i++)
        graph.first[i] += graph.first[i - 1];
    for (size_t i = 0; i < count; i++) /* first[n + 1] runs from the start of n's edges to their end */
        graph.to[graph.first[(turned ? edges[i].to : edges[i].from) + 1]++] =
            turned ? edges[i].from : edges[i].to;
    return graph;
}

struct digraph digraph_new(unsigned nodes, const struct digraph_edge *edges, size_t count)
{
    return make(nodes, edges, count, false);
}

struct digraph digraph_reverse(const struct digraph *graph)
{
    size_t count = graph->first[graph->nodes];
    struct digraph_edge *edges = alloc(count + 1, sizeof *edges);
    for (unsigned node = 0; node < graph->nodes; node++)
        for (unsigned i = graph->first[node]; i < graph->first[node + 1]; i++)
            edges[i] = (struct digraph_edge){node, graph->to[i]};
    struct digraph reverse = make(graph->nodes, edges, count, true);
    free(edges);
    return reverse;
}

void digraph_free(struct digraph *graph)
{
    free(graph->first);
    free(graph->to);
    *graph = (struct digraph){0};
}

unsigned digraph_order(const struct digraph *graph, unsigned root, unsigned *order)
{
    unsigned *next = alloc(graph->nodes + 1, sizeof *next); /* edge to follow next, plus 1; 0: not seen */
    unsigned *path = alloc(graph->nodes + 1, sizeof *path);
    unsigned depth = 0, at = graph->nodes;
    path[depth++] = root;
    next[root] = graph->first[root] + 1;
    while (depth) {
        unsigned node = path[depth - 1], edge = next[node]++ - 1;
        if (edge == graph->first[node + 1]) {
            order[--at] = node;
            depth--;
        } else if (!next[graph->to[edge]]) {
            unsigned to = graph->to[edge];
            path[depth++] = to;
            next[to] = graph->first[to] + 1;
        }
    }
    free(path);
    free(next);
    unsigned count = graph->nodes - at;
    for (unsigned i = 0; i < count; i++)
        order[i] = order[at + i];
    return count;
}
