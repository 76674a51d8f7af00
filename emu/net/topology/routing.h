/* Routes: the output port and the set of virtual channels of a packet, by router and destination.
 *
 * Dimension order visits the dimensions of a mesh, torus, chain or ring one after the other. Minimal routes are shortest;
 * in a dragonfly, they lead to the one wire between two groups. Up-down routes lead up to router 0, or until a way down
 * exists, then down. Natural routes are by dimension order in a mesh, torus, chain or ring, up-down in a tree or graph, and
 * minimal in other topologies.
 *
 * Routing is deterministic. The virtual channels of a class are split into `sets`; a route names the set that a
 * packet may use on the next wire. A torus or ring has two: a packet that passes the dateline, the wire between
 * the last and the first router of a ring, uses set 1 in that ring, all others set 0 (Dally and Seitz,
 * "Deadlock-free message routing in multiprocessor interconnection networks", 1987). A dragonfly has two:
 * packets in their destination's group use set 1, all others set 0. All other routings have one.
 *
 * A routing is free of deadlock if the graph of channels and their dependencies has no cycle (the same paper).
 * routing_make() walks all routes and checks that.
 */
#ifndef EMU_NET_TOPOLOGY_ROUTING_H
#define EMU_NET_TOPOLOGY_ROUTING_H

#include <stddef.h>

#include "emu/net/topology/topology.h"

enum network_routing { NETWORK_NATURAL, NETWORK_ORDER, NETWORK_MINIMAL, NETWORK_UPDOWN };
extern const char *const network_routing_names[];

enum { ROUTING_SETS = 2 };

struct route {
    uint8_t port; /* of the router, from 0 */
    uint8_t set;
};

struct routing {
    uint32_t sets;
    bool rings;          /* a packet stays in its set as long as it moves along one dimension */
    uint32_t node_count; /* length of a row */
    uint8_t *rows;       /* [router][node]: port, and the set in the upper bits */
};

/* Makes the routes of a finished topology. The message names the key and, if channels depend on each other in a
 * cycle, the routers along it. Release the routing with routing_free(), also after a failure. */
bool routing_make(struct routing *routing, const struct topology *topology, enum network_routing kind,
                  struct error *err);
void routing_free(struct routing *routing);

/* The route of a packet that has arrived at a port of a router in a channel of that set. */
static inline struct route routing_next(const struct routing *routing, const struct topology *topology,
                                        uint32_t in_port, uint32_t set, uint32_t node)
{
    const struct topology_port *in = &topology->ports[in_port];
    uint8_t entry = routing->rows[(size_t)in->router * routing->node_count + node];
    struct route route = {entry & (TOPOLOGY_PORTS - 1), entry / TOPOLOGY_PORTS};
    if (routing->rings && in->direction) {
        uint32_t out = topology->routers[in->router].first_port + route.port;
        if (((in->direction - 1) ^ 1) == topology->ports[out].direction - 1)
            route.set = (uint8_t)set;
    }
    return route;
}

#endif
