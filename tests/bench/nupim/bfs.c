/* Breadth-first search in two sweeps a level, like Rodinia's: nodes on the frontier mark their neighbours, then marked nodes
 * become the frontier. The graph has 6 edges from each node to any node, as Rodinia's generator makes them. */
#include "aligned.h"

enum { BLOCK = 256, DEGREE = 6 };

struct graph {
    long nodes;
    const uint32_t *edges; /* [node * DEGREE + i] */
    uint8_t *frontier, *marked, *visited;
    int *cost;
    int more; /* set if nodes were marked */
};

/* The kernels copy the graph's pointers first, as a GPU's kernels have them in constant memory. */
static void mark(struct graph *argument)
{
    const struct graph g = *argument;
    long node = (long)thread_id();
    if (node >= g.nodes || !g.frontier[node])
        return;
    g.frontier[node] = 0;
    int cost = g.cost[node] + 1;
    for (long i = node * DEGREE; i < (node + 1) * DEGREE; i++) {
        uint32_t to = g.edges[i];
        if (g.visited[to])
            continue;
        g.cost[to] = cost;
        g.marked[to] = 1;
    }
}

static void advance(struct graph *argument)
{
    const struct graph g = *argument;
    long node = (long)thread_id();
    if (node >= g.nodes || !g.marked[node])
        return;
    g.marked[node] = 0;
    g.frontier[node] = g.visited[node] = 1;
    if (!g.more)
        *(volatile int *)&argument->more = 1;
}

static void bfs_scalar(const struct graph *g, int *cost)
{
    uint32_t *queue = aligned_memory(g->nodes, sizeof *queue);
    long head = 0, tail = 1;
    for (long i = 1; i < g->nodes; i++)
        cost[i] = -1;
    while (head < tail) {
        uint32_t node = queue[head++];
        for (long i = node * (long)DEGREE; i < (node + 1L) * DEGREE; i++)
            if (cost[g->edges[i]] < 0) {
                cost[g->edges[i]] = cost[node] + 1;
                queue[tail++] = g->edges[i];
            }
    }
}

int main(int argc, char **argv)
{
    long nodes = kernel_size(argc, argv, 65536, 2, 1 << 22, 1);
    uint64_t state = 7;
    uint32_t *edges = aligned_memory(nodes * DEGREE, sizeof *edges);
    for (long i = 0; i < nodes * DEGREE; i++)
        edges[i] = (uint32_t)(kernel_random(&state) % nodes);
    struct graph graph = {.nodes = nodes,
                          .edges = edges,
                          .frontier = aligned_memory(nodes, 1),
                          .marked = aligned_memory(nodes, 1),
                          .visited = aligned_memory(nodes, 1),
                          .cost = aligned_memory(nodes, sizeof(int))};
    int *expected = aligned_memory(nodes, sizeof *expected);
    for (long i = 1; i < nodes; i++)
        graph.cost[i] = -1;
    graph.frontier[0] = graph.visited[0] = 1;

    croft_roi_begin("bfs");
    do {
        graph.more = 0;
        KERNEL_RUN(mark, &graph, simt_dim(kernel_blocks(nodes, BLOCK)), simt_dim(BLOCK));
        KERNEL_RUN(advance, &graph, simt_dim(kernel_blocks(nodes, BLOCK)), simt_dim(BLOCK));
    } while (graph.more);
    croft_roi_end("bfs");

    bfs_scalar(&graph, expected);
    int correct = 1;
    for (long i = 0; i < nodes; i++)
        correct = correct && graph.cost[i] == expected[i];
    return kernel_report("bfs", nodes, expected, (size_t)nodes * sizeof *expected, correct);
}
