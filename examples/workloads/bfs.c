/* Breadth-first search in two sweeps a level, like Rodinia's: nodes on the frontier mark their neighbours, then marked nodes
 * become the frontier. In the graph, as in those of Rodinia's generator, each node draws two to four neighbours among all nodes,
 * and each edge leads both ways: six edges a node on average. */
#include "../simt/kernel.h"

enum { BLOCK = 512, DRAWN_LEAST = 2, DRAWN_MOST = 4 };

struct node {
    uint32_t first, edges;
};

struct graph {
    long nodes;
    const struct node *node;
    const uint32_t *edges;
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
    struct node own = g.node[node];
    int cost = g.cost[node] + 1;
    for (uint32_t i = own.first; i < own.first + own.edges; i++) {
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

static void graph_make(struct graph *g)
{
    uint64_t state = 7;
    uint32_t(*drawn)[2] = kernel_memory(g->nodes * DRAWN_MOST, sizeof *drawn);
    struct node *nodes = kernel_array(g->nodes, sizeof *nodes);
    long count = 0;
    for (long i = 0; i < g->nodes; i++) {
        uint32_t draws = DRAWN_LEAST + kernel_random(&state) % (DRAWN_MOST - DRAWN_LEAST + 1);
        for (; draws > 0; draws--, count++) {
            drawn[count][0] = (uint32_t)i;
            drawn[count][1] = (uint32_t)(kernel_random(&state) % g->nodes);
            nodes[i].edges++;
            nodes[drawn[count][1]].edges++;
        }
    }
    uint32_t *edges = kernel_array(2 * count, sizeof *edges), first = 0;
    for (long i = 0; i < g->nodes; i++) {
        nodes[i].first = first;
        first += nodes[i].edges;
        nodes[i].edges = 0;
    }
    for (long i = 0; i < count; i++)
        for (int from = 0; from < 2; from++) {
            struct node *node = &nodes[drawn[i][from]];
            edges[node->first + node->edges++] = drawn[i][!from];
        }
    free(drawn);
    g->node = nodes;
    g->edges = edges;
}

static void bfs_scalar(const struct graph *g, int *cost)
{
    uint32_t *queue = kernel_memory(g->nodes, sizeof *queue);
    long head = 0, tail = 1;
    for (long i = 1; i < g->nodes; i++)
        cost[i] = -1;
    while (head < tail) {
        uint32_t node = queue[head++];
        const uint32_t *edge = g->edges + g->node[node].first;
        for (const uint32_t *end = edge + g->node[node].edges; edge < end; edge++)
            if (cost[*edge] < 0) {
                cost[*edge] = cost[node] + 1;
                queue[tail++] = *edge;
            }
    }
}

int main(int argc, char **argv)
{
    long nodes = kernel_size(argc, argv, 4096, 2, 1 << 22, 1);
    struct graph graph = {.nodes = nodes,
                          .frontier = kernel_array(nodes, 1),
                          .marked = kernel_array(nodes, 1),
                          .visited = kernel_array(nodes, 1),
                          .cost = kernel_array(nodes, sizeof(int))};
    int *expected = kernel_array(nodes, sizeof *expected);
    graph_make(&graph);
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
