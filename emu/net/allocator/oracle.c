#include "emu/net/allocator/oracle.h"

#include <stdlib.h>

#include "emu/sim/alloc.h"

struct oracle {
    const struct topology *topology;
    const struct routing *routing;
    size_t *rows;   /* by input port: the place of its first pair */
    uint32_t *left; /* by pair */
};

struct oracle *oracle_new(const struct topology *topology, const struct routing *routing)
{
    struct oracle *oracle = alloc(1, sizeof *oracle);
    size_t pairs = 0;
    *oracle = (struct oracle){.topology = topology, .routing = routing};
    oracle->rows = alloc(topology->port_count, sizeof *oracle->rows);
    for (uint32_t p = 0; p < topology->port_count; p++) {
        oracle->rows[p] = pairs;
        pairs += topology->routers[topology->ports[p].router].ports;
    }
    oracle->left = alloc(pairs, sizeof *oracle->left);
    return oracle;
}

void oracle_free(struct oracle *oracle)
{
    if (!oracle)
        return;
    free(oracle->rows);
    free(oracle->left);
    free(oracle);
}

static uint32_t *pair_of(const struct oracle *oracle, uint32_t in_port, uint32_t out_port)
{
    const struct topology_router *router =
        &oracle->topology->routers[oracle->topology->ports[in_port].router];
    return &oracle->left[oracle->rows[in_port] + out_port - router->first_port];
}

void oracle_sent(struct oracle *oracle, uint32_t source, uint32_t destination, uint32_t flits)
{
    const struct topology *topology = oracle->topology;
    uint32_t in = topology->node_ports[source], set = 0;
    for (;;) {
        struct route route = routing_next(oracle->routing, topology, in, set, destination);
        uint32_t out = topology->routers[topology->ports[in].router].first_port + route.port;
        *pair_of(oracle, in, out) += flits;
        if (topology->ports[out].wire == TOPOLOGY_NO_WIRE)
            return;
        in = topology->ports[out].peer;
        set = route.set;
    }
}

void oracle_passed(struct oracle *oracle, uint32_t in_port, uint32_t out_port)
{
    (*pair_of(oracle, in_port, out_port))--;
}

uint32_t oracle_left(const struct oracle *oracle, uint32_t in_port, uint32_t out_port)
{
    return *pair_of(oracle, in_port, out_port);
}
