#include "emu/analysis/flow/dominators.h"

#include <stdlib.h>

#include "emu/sim/alloc.h"

/* The state of the iteration; numbers are positions in reverse post-order. */
struct search {
    const unsigned *order;
    unsigned *number; /* by node; NODE_NONE: not reached */
    unsigned *parent; /* by number; NODE_NONE: not found yet */
};

static unsigned meet(const unsigned *parent, unsigned a, unsigned b)
{
    while (a != b) {
        while (a > b)
            a = parent[a];
        while (b > a)
            b = parent[b];
    }
    return a;
}

/* Improves the immediate dominator of the node with this number. Returns whether it changes. */
static bool improve(const struct search *search, const struct digraph *reverse, unsigned number)
{
    unsigned node = search->order[number], best = NODE_NONE;
    for (unsigned i = reverse->first[node]; i < reverse->first[node + 1]; i++) {
        unsigned from = search->number[reverse->to[i]];
        if (from == NODE_NONE || search->parent[from] == NODE_NONE)
            continue;
        best = best == NODE_NONE ? from : meet(search->parent, best, from);
    }
    bool changed = search->parent[number] != best;
    search->parent[number] = best;
    return changed;
}

static void iterate(const struct search *search, const struct digraph *graph, unsigned count)
{
    struct digraph reverse = digraph_reverse(graph);
    for (unsigned i = 0; i < count; i++)
        search->parent[i] = NODE_NONE;
    search->parent[0] = 0;
    for (bool changed = true; changed;) {
        changed = false;
        for (unsigned i = 1; i < count; i++)
            changed |= improve(search, &reverse, i);
    }
    digraph_free(&reverse);
}

struct dominators dominators_of(const struct digraph *graph, unsigned root)
{
    unsigned *order = alloc(graph->nodes + 1, sizeof *order);
    unsigned count = digraph_order(graph, root, order);
    struct search search = {.order = order,
                            .number = alloc(graph->nodes + 1, sizeof *search.number),
                            .parent = alloc(count + 1, sizeof *search.parent)};
    struct dominators found = {.root = root,
                               .parent = alloc(graph->nodes + 1, sizeof *found.parent),
                               .depth = alloc(graph->nodes + 1, sizeof *found.depth)};
    for (unsigned i = 0; i < graph->nodes; i++)
        search.number[i] = found.parent[i] = NODE_NONE;
    for (unsigned i = 0; i < count; i++)
        search.number[order[i]] = i;
    iterate(&search, graph, count);
    found.depth[root] = 1;
    for (unsigned i = 1; i < count; i++) {
        found.parent[order[i]] = order[search.parent[i]];
        found.depth[order[i]] = found.depth[found.parent[order[i]]] + 1;
    }
    free(search.number);
    free(search.parent);
    free(order);
    return found;
}

void dominators_free(struct dominators *dominators)
{
    free(dominators->parent);
    free(dominators->depth);
    *dominators = (struct dominators){0};
}

bool dominates(const struct dominators *dominators, unsigned a, unsigned b)
{
    if (!dominators->depth[a] || !dominators->depth[b])
        return false;
    while (dominators->depth[b] > dominators->depth[a])
        b = dominators->parent[b];
    return a == b;
}

unsigned dominators_common(const struct dominators *dominators, unsigned a, unsigned b)
{
    if (!dominators->depth[a] || !dominators->depth[b])
        return NODE_NONE;
    while (a != b) {
        if (dominators->depth[a] < dominators->depth[b])
            b = dominators->parent[b];
        else
            a = dominators->parent[a];
    }
    return a;
}
