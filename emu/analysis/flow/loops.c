#include "emu/analysis/flow/loops.h"

#include <stdlib.h>

#include "emu/sim/alloc.h"

/* The state of a search for loops. */
struct search {
    const struct digraph *graph;
    const struct dominators *dominators;
    struct digraph reverse;
    unsigned *mark; /* by node: number of the loop that has collected it last, plus 1 */
    struct loops found;
    unsigned members, room;
};

static void add(struct search *search, struct loop *loop, unsigned node)
{
    unsigned mark = search->found.count + 1;
    if (search->mark[node] == mark || !search->dominators->depth[node])
        return;
    search->mark[node] = mark;
    if (search->members == search->room) {
        search->room = search->room ? 2 * search->room : 64;
        search->found.members =
            alloc_resize(search->found.members, search->room * sizeof *search->found.members);
    }
    search->found.members[search->members++] = node;
    loop->count++;
}

/* Collects the loop of a header. Does nothing if no back edge leads to it. */
static void collect(struct search *search, unsigned header)
{
    const struct digraph *reverse = &search->reverse;
    struct loop loop = {
        .header = header, .parent = NODE_NONE, .depth = 1, .first = search->members, .count = 0};
    for (unsigned i = reverse->first[header]; i < reverse->first[header + 1]; i++) {
        if (!dominates(search->dominators, header, reverse->to[i]))
            continue;
        add(search, &loop, header);
        add(search, &loop, reverse->to[i]);
    }
    for (unsigned i = 1; i < loop.count; i++) {
        unsigned node = search->found.members[loop.first + i];
        for (unsigned j = reverse->first[node]; j < reverse->first[node + 1]; j++)
            add(search, &loop, reverse->to[j]);
    }
    if (!loop.count)
        return;
    loop.parent = search->found.inner[header];
    if (loop.parent != NODE_NONE)
        loop.depth = search->found.list[loop.parent].depth + 1;
    search->found.list[search->found.count++] = loop;
    for (unsigned i = 0; i < loop.count; i++)
        search->found.inner[search->found.members[loop.first + i]] = search->found.count - 1;
}

/* Counts the edges to the same or an earlier node of `order` whose target does not dominate their source. */
static unsigned count_irreducible(const struct search *search, const unsigned *order, unsigned count)
{
    unsigned *number = alloc(search->graph->nodes + 1, sizeof *number), edges = 0;
    for (unsigned i = 0; i < count; i++)
        number[order[i]] = i;
    for (unsigned i = 0; i < count; i++) {
        unsigned from = order[i];
        for (unsigned j = search->graph->first[from]; j < search->graph->first[from + 1]; j++) {
            unsigned to = search->graph->to[j];
            edges += number[to] <= i && !dominates(search->dominators, to, from);
        }
    }
    free(number);
    return edges;
}

struct loops loops_of(const struct digraph *graph, const struct dominators *dominators)
{
    struct search search = {.graph = graph,
                            .dominators = dominators,
                            .reverse = digraph_reverse(graph),
                            .mark = alloc(graph->nodes + 1, sizeof *search.mark)};
    unsigned *order = alloc(graph->nodes + 1, sizeof *order);
    unsigned count = digraph_order(graph, dominators->root, order);
    search.found.list = alloc(count + 1, sizeof *search.found.list);
    search.found.inner = alloc(graph->nodes + 1, sizeof *search.found.inner);
    for (unsigned i = 0; i < graph->nodes; i++)
        search.found.inner[i] = NODE_NONE;
    /* The header of a loop dominates those of the loops in it, so it comes first. */
    for (unsigned i = 0; i < count; i++)
        collect(&search, order[i]);
    search.found.irreducible = count_irreducible(&search, order, count);
    free(order);
    free(search.mark);
    digraph_free(&search.reverse);
    return search.found;
}

void loops_free(struct loops *loops)
{
    free(loops->list);
    free(loops->members);
    free(loops->inner);
    *loops = (struct loops){0};
}

bool loops_contain(const struct loops *loops, unsigned loop, unsigned node)
{
    unsigned at = loops->inner[node];
    while (at != NODE_NONE && at != loop)
        at = loops->list[at].parent;
    return at == loop && loop != NODE_NONE;
}
