/* Pointer chase: one random cycle through 32 MiB, a node per cache line; every step depends on the last. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { LINE = 64, NODES = 32 * 1024 * 1024 / LINE };

struct node {
    struct node *next;
    uint32_t number;
    uint32_t payload[(LINE - sizeof(struct node *)) / sizeof(uint32_t) - 1];
};

static struct node nodes[NODES];

/* Sattolo's shuffle makes a permutation of one cycle. */
static void link_nodes(void)
{
    uint64_t state = 88172645463325252u;
    for (uint32_t i = 0; i < NODES; i++)
        nodes[i].number = i;
    for (uint32_t i = NODES - 1; i > 0; i--) {
        state ^= state << 13, state ^= state >> 7, state ^= state << 17;
        uint32_t j = (uint32_t)(state % i), t = nodes[i].number;
        nodes[i].number = nodes[j].number;
        nodes[j].number = t;
    }
    for (uint32_t i = 0; i < NODES; i++)
        nodes[i].next = &nodes[nodes[i].number];
    for (uint32_t i = 0; i < NODES; i++)
        nodes[i].payload[i % 13] = i;
}

int main(int argc, char **argv)
{
    long steps = argc > 1 ? atol(argv[1]) : 25000000;
    link_nodes();
    uint64_t sum = 0;
    const struct node *at = nodes;
    for (long step = 0; step < steps; step++) {
        sum = sum * 3 + at->number;
        for (size_t i = 0; i < sizeof at->payload / sizeof *at->payload; i++)
            sum = sum * 5 + at->payload[i];
        at = at->next;
    }
    printf("chase %ld steps, sum %016llx\n", steps, (unsigned long long)sum);
    return 0;
}
