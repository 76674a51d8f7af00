/* Writes a matrix with the structure of a circuit simulator's, in Matrix Market format, to standard output:
 * generate [SEED]. The same seed gives the same bytes everywhere. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* 2,624 nodes and 35,823 non-zeros: the size of the circuit matrix used in the literature on near-data SpMV.
 * Off-diagonal non-zeros come in mirrored pairs, as conductances do; a single one without a mirror stands for
 * a controlled source. */
enum {
    NODES = 2624,
    NON_ZEROS = 35823,
    PAIRS = (NON_ZEROS - NODES) / 2,
    SUPPLY_NODES = 4,   /* supply rails: dense rows and columns */
    SUPPLY_PAIRS = 400, /* nodes connected to each rail */
    REACH = 40,         /* maximum distance of connections between other nodes */
};

/* Conductances in millionths; 0: no connection. */
struct circuit {
    int32_t conductance[NODES][NODES]; /* [row][column] */
    int64_t diagonal[NODES];
    uint64_t random;
};

/* xorshift64*, Vigna 2016. */
static uint32_t circuit_random(struct circuit *circuit, uint32_t below)
{
    circuit->random ^= circuit->random >> 12;
    circuit->random ^= circuit->random << 25;
    circuit->random ^= circuit->random >> 27;
    return (uint32_t)((circuit->random * UINT64_C(2685821657736338717)) >> 32) % below;
}

/* Connects two different nodes that are not connected yet. Returns whether it did. */
static int circuit_connect(struct circuit *circuit, uint32_t a, uint32_t b)
{
    if (a == b || circuit->conductance[a][b] != 0)
        return 0;
    int32_t conductance = 1 + (int32_t)circuit_random(circuit, 1000000);
    circuit->conductance[a][b] = circuit->conductance[b][a] = conductance;
    circuit->diagonal[a] += conductance;
    circuit->diagonal[b] += conductance;
    return 1;
}

static void circuit_build(struct circuit *circuit, uint64_t seed)
{
    memset(circuit, 0, sizeof *circuit);
    /* splitmix64's odd constant, so that the state is not 0 for small seeds. */
    circuit->random = (seed + 1) * UINT64_C(0x9e3779b97f4a7c15);
    if (circuit->random == 0)
        circuit->random = 1;

    int pairs = 0;
    for (uint32_t rail = 0; rail < SUPPLY_NODES; rail++) {
        uint32_t node = (2 * rail + 1) * NODES / (2 * SUPPLY_NODES);
        for (int tied = 0; tied < SUPPLY_PAIRS;)
            tied += circuit_connect(circuit, node, circuit_random(circuit, NODES));
        pairs += SUPPLY_PAIRS;
    }
    while (pairs < PAIRS) {
        /* The product of two random numbers favours short connections. */
        uint32_t distance = 1 + circuit_random(circuit, REACH) * circuit_random(circuit, REACH) / REACH;
        uint32_t node = circuit_random(circuit, NODES - distance);
        pairs += circuit_connect(circuit, node, node + distance);
    }
    uint32_t source, node;
    do {
        source = circuit_random(circuit, NODES);
        node = circuit_random(circuit, NODES);
    } while (source == node || circuit->conductance[source][node] != 0);
    circuit->conductance[source][node] = 1 + (int32_t)circuit_random(circuit, 1000000);
}

static void circuit_print(const struct circuit *circuit, uint64_t seed)
{
    printf("%%%%MatrixMarket matrix coordinate real general\n");
    printf("%% circuit-like matrix, seed %llu\n", (unsigned long long)seed);
    printf("%d %d %d\n", NODES, NODES, NON_ZEROS);
    for (int column = 0; column < NODES; column++)
        for (int row = 0; row < NODES; row++) {
            int32_t conductance = circuit->conductance[row][column];
            /* Each node also leaks to ground, so that the diagonal dominates. */
            int64_t diagonal = circuit->diagonal[row] + 1000000;
            if (row == column)
                printf("%d %d %lld.%06lld\n", row + 1, column + 1, (long long)(diagonal / 1000000),
                       (long long)(diagonal % 1000000));
            else if (conductance != 0)
                printf("%d %d -%d.%06d\n", row + 1, column + 1, conductance / 1000000, conductance % 1000000);
        }
}

int main(int argc, char **argv)
{
    char *end = NULL;
    uint64_t seed = argc > 1 ? strtoull(argv[1], &end, 10) : 1;
    if (argc > 2 || (end && (*end != '\0' || end == argv[1]))) {
        fprintf(stderr, "usage: generate [SEED]\n");
        return 2;
    }
    struct circuit *circuit = malloc(sizeof *circuit);
    if (!circuit) {
        fprintf(stderr, "generate: not enough memory\n");
        return 1;
    }
    circuit_build(circuit, seed);
    circuit_print(circuit, seed);
    free(circuit);
    return fflush(stdout) == 0 && !ferror(stdout) ? 0 : 1;
}
