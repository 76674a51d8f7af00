/* Breadth-first search: the distances of a graph's nodes from node 0, one level per launch. Each node on the
 * frontier marks its neighbours. Several may mark the same node, with the same distance. */
#include <stdatomic.h>

#include "kernel.h"

enum { BLOCK = 256, DEGREE = 6, FAR = -1 };

struct graph {
    long nodes;
    const uint32_t *first; /* first edge of each node; one more at the end */
    const uint32_t *edges;
    atomic_int *distance;
    atomic_int more; /* set if nodes were marked */
    int level;
};

static void expand(struct graph *g)
{
    long node = (long)thread_id();
    if (node >= g->nodes || atomic_load_explicit(&g->distance[node], memory_order_relaxed) != g->level)
        return;
    for (uint32_t i = g->first[node]; i < g->first[node + 1]; i++) {
        atomic_int *neighbour = &g->distance[g->edges[i]];
        if (atomic_load_explicit(neighbour, memory_order_relaxed) != FAR)
            continue;
        atomic_store_explicit(neighbour, g->level + 1, memory_order_relaxed);
        atomic_store_explicit(&g->more, 1, memory_order_relaxed);
    }
}

/* Each node has 1 to 2 * DEGREE - 1 edges, most of them to close nodes, some to any node. */
static void graph_make(struct graph *g)
{
    uint64_t state = 10;
    uint32_t *first = kernel_memory(g->nodes + 1, sizeof *first);
    uint32_t *edges = kernel_memory(g->nodes * 2 * DEGREE, sizeof *edges);
    for (long node = 0; node < g->nodes; node++) {
        uint32_t count = 1 + kernel_random(&state) % (2 * DEGREE - 1), end = first[node];
        for (uint32_t i = 0; i < count; i++) {
            uint32_t reach = i == 0 ? (uint32_t)g->nodes : 64;
            edges[end++] = (uint32_t)((node + kernel_random(&state) % reach) % g->nodes);
        }
        first[node + 1] = end;
    }
    g->first = first;
    g->edges = edges;
}

static void bfs_scalar(const struct graph *g, int *distance)
{
    uint32_t *queue = kernel_memory(g->nodes, sizeof *queue);
    long head = 0, tail = 1;
    for (long i = 1; i < g->nodes; i++)
        distance[i] = FAR;
    while (head < tail) {
        uint32_t node = queue[head++];
        for (uint32_t i = g->first[node]; i < g->first[node + 1]; i++)
            if (distance[g->edges[i]] == FAR) {
                distance[g->edges[i]] = distance[node] + 1;
                queue[tail++] = g->edges[i];
            }
    }
}

int main(int argc, char **argv)
{
    long nodes = kernel_size(argc, argv, 4096, 2, 1 << 22, 1);
    struct graph graph = {.nodes = nodes, .distance = kernel_memory(nodes, sizeof(atomic_int))};
    int *expected = kernel_memory(nodes, sizeof *expected);
    graph_make(&graph);
    for (long i = 1; i < nodes; i++)
        graph.distance[i] = FAR;

    croft_roi_begin("bfs");
    do {
        graph.more = 0;
        KERNEL_RUN(expand, &graph, simt_dim(kernel_blocks(nodes, BLOCK)), simt_dim(BLOCK));
        graph.level++;
    } while (graph.more);
    croft_roi_end("bfs");

    bfs_scalar(&graph, expected);
    int correct = 1;
    for (long i = 0; i < nodes; i++)
        correct = correct && graph.distance[i] == expected[i];
    return kernel_report("bfs", nodes, expected, (size_t)nodes * sizeof *expected, correct);
}
