/* Topologies: routers, the wires between them, and the nodes at which packets enter and leave.
 *
 * A topology is data. A generator (mesh, torus, crossbar, ...) or a description (graph) lists routers, wires
 * and nodes; topology_finish() numbers the ports and checks the whole. A wire joins one port of each of two
 * routers and carries flits both ways. Ports of routers are numbered over the whole network, router by router;
 * a port of node n has the number ports + n.
 */
#ifndef EMU_NET_TOPOLOGY_TOPOLOGY_H
#define EMU_NET_TOPOLOGY_TOPOLOGY_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/sim/error.h"

enum {
    TOPOLOGY_PORTS = 64,       /* most ports of a router: one word of bits */
    TOPOLOGY_ROUTERS = 16384,  /* most routers */
    TOPOLOGY_ROUTES = 1 << 28, /* most routers times nodes: a route takes a byte */
    TOPOLOGY_NODES = 65535,    /* most nodes: flits name them in 16 bits */
    TOPOLOGY_DIMENSIONS = 4,   /* most dimensions of a mesh or torus */
    TOPOLOGY_NAME = 48,        /* size of a router's name */
    TOPOLOGY_ANY = -1,         /* the port of a wire: the next free one */
};

enum network_topology {
    NETWORK_MESH,
    NETWORK_TORUS,
    NETWORK_CROSSBAR,
    NETWORK_FULL,
    NETWORK_TREE,
    NETWORK_CHAIN,
    NETWORK_RING,
    NETWORK_DRAGONFLY,
    NETWORK_GRAPH,
};
extern const char *const network_topology_names[];

struct topology_router {
    char name[TOPOLOGY_NAME];
    uint32_t nodes;                   /* nodes at the router */
    uint32_t first_node;              /* number of the first one */
    uint32_t first_port, ports;       /* its ports: those of wires, then those of nodes */
    uint16_t at[TOPOLOGY_DIMENSIONS]; /* coordinates; dragonfly: router in the group, group */
};

struct topology_wire {
    char name[TOPOLOGY_NAME]; /* in a description; or "" */
    uint32_t router[2];
    int port[2];             /* port of each router, from 0, or TOPOLOGY_ANY */
    uint32_t width, latency; /* bytes in a clock; clocks */
    bool off_chip;
    uint8_t kind;                     /* enum wires */
    uint64_t energy_bit, energy_idle; /* fJ */
    /* mesh, torus: dimension + 1; from router[0] to router[1] its coordinate grows; else 0 */
    uint8_t dimension;
};

struct topology_port {
    uint32_t router;
    uint32_t peer; /* the port at the other end */
    uint32_t wire; /* TOPOLOGY_NO_WIRE: the port of a node */
    uint32_t width, latency;
    uint8_t direction; /* 0: none; mesh, torus: 1 + 2 * dimension, plus 1 if the coordinate shrinks */
};
#define TOPOLOGY_NO_WIRE UINT32_MAX

struct topology {
    enum network_topology kind;
    uint32_t sizes[TOPOLOGY_DIMENSIONS], dimensions; /* of a mesh, torus, chain or ring */
    struct topology_router *routers;
    uint32_t router_count;
    struct topology_wire *wires;
    uint32_t wire_count;
    struct topology_port *ports; /* of routers; topology_finish() makes them */
    uint32_t port_count;
    uint32_t *node_ports; /* the router's port of each node */
    uint32_t node_count;
};

/* What a message is about: topology_finish() says which part of a description is wrong. */
struct topology_culprit {
    int router, wire; /* -1: none */
    const char *key;  /* key of it, or of the network; NULL: none */
};

/* Makes an empty topology. Release it with topology_free(). */
void topology_init(struct topology *topology, enum network_topology kind);
void topology_free(struct topology *topology);

/* Adds a router with that many nodes; returns its number. */
uint32_t topology_add_router(struct topology *topology, const char *name, uint32_t nodes);

/* Adds a wire between the next free ports of two routers; returns it, so that the caller can set the rest. */
struct topology_wire *topology_add_wire(struct topology *topology, uint32_t from, uint32_t to, uint32_t width,
                                        uint32_t latency);

/* What a generated topology is made of. size: "8x8", routers of each dimension of a mesh or torus, the first first; routers of
 * a chain, ring or fully connected network; "1" of a crossbar; children of a router x levels of a tree; routers of a group x
 * groups of a dragonfly. */
struct topology_shape {
    const char *size; /* "8x8" (network.def) */
    uint32_t nodes;   /* at each router, or at each leaf of a tree */
    uint32_t width, latency;
};

/* The size of a topology for which the description has none. */
const char *topology_default_size(enum network_topology kind);

/* Adds the routers and wires of a topology that is not NETWORK_GRAPH. On failure, err names the key. */
bool topology_generate(struct topology *topology, const struct topology_shape *shape, struct error *err);

/* Numbers ports and nodes. Fails if the network has no node, a router has too many ports, a port has two
 * wires, a wire has no width, or not all routers are connected. */
bool topology_finish(struct topology *topology, uint32_t node_width, uint32_t node_latency,
                     struct topology_culprit *culprit, struct error *err);

/* The router of a node. */
static inline uint32_t topology_node_router(const struct topology *topology, uint32_t node)
{
    return topology->ports[topology->node_ports[node]].router;
}

#endif
