/* Assembly over the edges of a graph: each edge adds to both of its nodes. Which nodes depends on the data, so tasks must
 * declare all of them as output: by declared ranges they run one after another. The edges lie within clusters of
 * nodes, and each task has whole clusters, so tasks write nodes that no other task writes (nucd.ranges=oracle). With
 * -DFAR=n, one of n edges leads anywhere. */
#include "kernel.h"

#ifndef FAR
#define FAR 0
#endif

enum { NODES = 8192, CLUSTER = 64, EACH = 128, EDGES = NODES / CLUSTER * EACH };

struct edge {
    int32_t from, to;
};

/* y[from] += x[to] - x[from]; y[to] += x[from] - x[to] */
CROFT_REGION(add_edges, CROFT_IN(const struct edge *, edge, (unsigned long)count * sizeof *edge),
             CROFT_IN(const double *, x, NODES * sizeof *x), CROFT_INOUT(double *, y, NODES * sizeof *y),
             CROFT_VALUE(long, count))
{
    for (const struct edge *end = edge + count; edge < end; edge++) {
        double difference = x[edge->to] - x[edge->from];
        y[edge->from] += difference;
        y[edge->to] -= difference;
    }
}

static _Alignas(KERNEL_PAGE) struct edge edges[EDGES];
static _Alignas(KERNEL_PAGE) double x[NODES], y[NODES], expected[NODES];

int main(int argc, char **argv)
{
    long tasks = kernel_tasks(argc, argv);
    uint64_t random = 3;
    for (long i = 0; i < NODES; i++)
        x[i] = (double)(i * i % 1009) / 16;
    for (long i = 0; i < EDGES; i++) {
        int32_t first = (int32_t)(i / EACH * CLUSTER);
        int far = FAR > 0 && kernel_random(&random, FAR > 0 ? FAR : 1) == 0;
        edges[i].from = first + (int32_t)kernel_random(&random, CLUSTER);
        edges[i].to =
            far ? (int32_t)kernel_random(&random, NODES) : first + (int32_t)kernel_random(&random, CLUSTER);
    }

    memset(y, 0, sizeof y);
    kernel_start(argc, argv);
    croft_roi_begin("assemble");
    CROFT_FOR_TASKS(part, EDGES, tasks, EACH)
    add_edges(edges + part.first, x, y, part.count);
    croft_roi_end("assemble");

    for (long i = 0; i < EDGES; i++) {
        double difference = x[edges[i].to] - x[edges[i].from];
        expected[edges[i].from] += difference;
        expected[edges[i].to] -= difference;
    }
    return kernel_report("assemble", tasks, NODES, y, expected, 1e-12);
}
