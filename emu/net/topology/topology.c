#include "emu/net/topology/topology.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/sim/alloc.h"
#include "emu/sim/text/text.h"

const char *const network_topology_names[] = {
    [NETWORK_MESH] = "mesh",         [NETWORK_TORUS] = "torus",
    [NETWORK_CROSSBAR] = "crossbar", [NETWORK_FULL] = "full",
    [NETWORK_TREE] = "tree",         [NETWORK_CHAIN] = "chain",
    [NETWORK_RING] = "ring",         [NETWORK_DRAGONFLY] = "dragonfly",
    [NETWORK_GRAPH] = "graph",       NULL};

void topology_init(struct topology *topology, enum network_topology kind)
{
    *topology = (struct topology){.kind = kind};
}

void topology_free(struct topology *topology)
{
    free(topology->routers);
    free(topology->wires);
    free(topology->ports);
    free(topology->node_ports);
}

/* Makes room for one more element: the room doubles at each power of two. */
static void *grown(void *array, uint32_t count, size_t size)
{
    if ((count & (count - 1)) == 0)
        return alloc_resize(array, (count ? 2 * (size_t)count : 1) * size);
    return array;
}

uint32_t topology_add_router(struct topology *topology, const char *name, uint32_t nodes)
{
    topology->routers = grown(topology->routers, topology->router_count, sizeof *topology->routers);
    struct topology_router *router = &topology->routers[topology->router_count];
    *router = (struct topology_router){.nodes = nodes};
    (void)snprintf(router->name, sizeof router->name, "%s", name);
    return topology->router_count++;
}

struct topology_wire *topology_add_wire(struct topology *topology, uint32_t from, uint32_t to, uint32_t width,
                                        uint32_t latency)
{
    topology->wires = grown(topology->wires, topology->wire_count, sizeof *topology->wires);
    struct topology_wire *wire = &topology->wires[topology->wire_count++];
    *wire = (struct topology_wire){
        .router = {from, to}, .port = {TOPOLOGY_ANY, TOPOLOGY_ANY}, .width = width, .latency = latency};
    return wire;
}

/* Reads "8x8" into at most `most` numbers, each at least 1. */
static bool read_sizes(const char *text, uint32_t *sizes, uint32_t *count, uint32_t least, uint32_t most,
                       const char *form, struct error *err)
{
    const char *at = text;
    for (*count = 0; *count < most; at++) {
        char *end;
        unsigned long number = *at >= '0' && *at <= '9' ? strtoul(at, &end, 10) : 0;
        if (number == 0 || number > TOPOLOGY_ROUTERS)
            break;
        sizes[(*count)++] = (uint32_t)number;
        at = end;
        if (*at == '\0' && *count >= least)
            return true;
        if (*at != 'x')
            break;
    }
    return error_set(err, "size: %s is not %s, each from 1 to %d", text_quote(text).text, form,
                     TOPOLOGY_ROUTERS);
}

/* Adds that many routers named by their numbers. */
static bool add_routers(struct topology *topology, uint64_t count, uint32_t nodes, struct error *err)
{
    if (count > TOPOLOGY_ROUTERS)
        return error_set(err, "size: %llu routers; a network has at most %d", (unsigned long long)count,
                         TOPOLOGY_ROUTERS);
    for (uint32_t i = 0; i < count; i++) {
        char name[TOPOLOGY_NAME];
        (void)snprintf(name, sizeof name, "r%u", i);
        topology_add_router(topology, name, nodes);
    }
    return true;
}

/* Mesh, torus, chain, ring: routers in rows, the first dimension fastest. */
static bool make_grid(struct topology *topology, const struct topology_shape *shape, bool wraps,
                      struct error *err)
{
    const uint32_t *sizes = topology->sizes;
    uint64_t count = 1;
    for (uint32_t d = 0; d < topology->dimensions; d++)
        count = count * sizes[d] > TOPOLOGY_ROUTERS ? TOPOLOGY_ROUTERS + 1 : count * sizes[d];
    if (!add_routers(topology, count, shape->nodes, err))
        return false;
    uint32_t step = 1;
    for (uint32_t d = 0; d < topology->dimensions; step *= sizes[d++]) {
        assert(sizes[d] && step);
        for (uint32_t r = 0; r < count; r++) {
            uint32_t at = r / step % sizes[d];
            topology->routers[r].at[d] = (uint16_t)at;
            bool last = at + 1 == sizes[d];
            if (last && (!wraps || sizes[d] < 3)) /* two routers of a ring have one wire */
                continue;
            struct topology_wire *wire =
                topology_add_wire(topology, r, last ? r - at * step : r + step, shape->width, shape->latency);
            wire->dimension = (uint8_t)(d + 1);
        }
    }
    return true;
}

static bool make_full(struct topology *topology, const struct topology_shape *shape, uint32_t first,
                      uint32_t count)
{
    for (uint32_t a = first; a < first + count; a++)
        for (uint32_t b = a + 1; b < first + count; b++)
            topology_add_wire(topology, a, b, shape->width, shape->latency);
    return true;
}

/* A tree of `levels` levels of routers; only the leaves have nodes. */
static bool make_tree(struct topology *topology, const struct topology_shape *shape, uint32_t children,
                      uint32_t levels, struct error *err)
{
    uint64_t count = 1, inner = 0, level = 1;
    assert(children);
    for (uint32_t i = 1; i < levels && count <= TOPOLOGY_ROUTERS; i++) {
        inner = count;
        level *= children;
        count += level;
    }
    if (!add_routers(topology, count, shape->nodes, err))
        return false;
    for (uint32_t r = 0; r < inner; r++)
        topology->routers[r].nodes = 0;
    for (uint32_t r = 1; r < count; r++)
        topology_add_wire(topology, (r - 1) / children, r, shape->width, shape->latency);
    return true;
}

/* Groups of fully connected routers, and one wire between each two groups: the wires of a group are dealt to
 * its routers in turn (Kim et al., "Technology-driven, highly-scalable dragonfly topology", 2008). */
static bool make_dragonfly(struct topology *topology, const struct topology_shape *shape, uint32_t routers,
                           uint32_t groups, struct error *err)
{
    assert(routers);
    if (routers > TOPOLOGY_PORTS + 1 || groups - 1 > routers * TOPOLOGY_PORTS)
        return error_set(
            err, "size: the %u routers of a group have at most %d wires each, to each other and to %u groups",
            routers, TOPOLOGY_PORTS, groups - 1);
    if (!add_routers(topology, (uint64_t)routers * groups, shape->nodes, err))
        return false;
    for (uint32_t g = 0; g < groups; g++) {
        make_full(topology, shape, g * routers, routers);
        for (uint32_t r = 0; r < routers; r++) {
            topology->routers[g * routers + r].at[0] = (uint16_t)r;
            topology->routers[g * routers + r].at[1] = (uint16_t)g;
        }
    }
    for (uint32_t a = 0; a < groups; a++)
        for (uint32_t b = a + 1; b < groups; b++)
            topology_add_wire(topology, a * routers + (b - 1) % routers, b * routers + a % routers,
                              shape->width, shape->latency);
    return true;
}

/* The sizes of the topologies: how many numbers they have, and the default. */
static const struct {
    uint32_t least, most;
    const char *form, *initial;
} forms[] = {
    [NETWORK_MESH] = {1, TOPOLOGY_DIMENSIONS, "1 to 4 numbers such as 8x8", "8x8"},
    [NETWORK_TORUS] = {1, TOPOLOGY_DIMENSIONS, "1 to 4 numbers such as 8x8", "8x8"},
    [NETWORK_CROSSBAR] = {1, 1, "the number 1", "1"},
    [NETWORK_FULL] = {1, 1, "a number of routers", "8"},
    [NETWORK_TREE] = {2, 2, "children of a router x levels, such as 2x4", "2x3"},
    [NETWORK_CHAIN] = {1, 1, "a number of routers", "8"},
    [NETWORK_RING] = {1, 1, "a number of routers", "8"},
    [NETWORK_DRAGONFLY] = {2, 2, "routers of a group x groups, such as 4x9", "4x5"},
    [NETWORK_GRAPH] = {0, 0, "", ""}, /* its parts `router` and `wire` are its size */
};

const char *topology_default_size(enum network_topology kind)
{
    return forms[kind].initial;
}

bool topology_generate(struct topology *topology, const struct topology_shape *shape, struct error *err)
{
    enum network_topology kind = topology->kind;
    uint32_t *sizes = topology->sizes;
    if (!read_sizes(shape->size, sizes, &topology->dimensions, forms[kind].least, forms[kind].most,
                    forms[kind].form, err))
        return false;
    switch (kind) {
    case NETWORK_MESH:
    case NETWORK_CHAIN: return make_grid(topology, shape, false, err);
    case NETWORK_TORUS:
    case NETWORK_RING: return make_grid(topology, shape, true, err);
    case NETWORK_CROSSBAR:
        if (sizes[0] != 1)
            return error_set(err, "size: a crossbar is 1 router, not %u; `nodes` sets its ports", sizes[0]);
        return add_routers(topology, 1, shape->nodes, err);
    case NETWORK_FULL:
        if (sizes[0] > TOPOLOGY_PORTS + 1)
            return error_set(err, "size: each of %u routers would have %u wires; the most is %d", sizes[0],
                             sizes[0] - 1, TOPOLOGY_PORTS);
        return add_routers(topology, sizes[0], shape->nodes, err) && make_full(topology, shape, 0, sizes[0]);
    case NETWORK_TREE: return make_tree(topology, shape, sizes[0], sizes[1], err);
    case NETWORK_DRAGONFLY: return make_dragonfly(topology, shape, sizes[0], sizes[1], err);
    case NETWORK_GRAPH: break;
    }
    return true;
}

static bool blame(struct topology_culprit *culprit, int router, int wire, const char *key)
{
    *culprit = (struct topology_culprit){router, wire, key};
    return false;
}

/* Writes how a message names a wire. */
static const char *wire_name(const struct topology *topology, uint32_t number, char *text, size_t size)
{
    const struct topology_wire *wire = &topology->wires[number];
    (void)snprintf(text, size, "%s%s%s-%s", wire->name, *wire->name ? " " : "",
                   topology->routers[wire->router[0]].name, topology->routers[wire->router[1]].name);
    return text;
}

/* owners[port] of one router: the wire end (2 * wire + end + 1) that has it, or 0. */
struct port_owners {
    uint32_t owner[TOPOLOGY_PORTS];
};

static bool claim(const struct topology *topology, struct port_owners *owners, uint32_t end, int port,
                  struct topology_culprit *culprit, struct error *err)
{
    const struct topology_wire *wire = &topology->wires[end / 2];
    uint32_t router = wire->router[end % 2];
    uint32_t *owner = &owners[router].owner[port];
    if (!*owner) {
        *owner = end + 1;
        return true;
    }
    char one[4 * TOPOLOGY_NAME], other[4 * TOPOLOGY_NAME];
    error_set(err, "port %d of router %s has two wires: %s and %s", port, topology->routers[router].name,
              wire_name(topology, (*owner - 1) / 2, one, sizeof one),
              wire_name(topology, end / 2, other, sizeof other));
    return blame(culprit, -1, (int)(end / 2), end % 2 ? "to" : "from");
}

/* Gives each end of a wire its port: first the ends that name one, then the others in order. */
static bool place_wires(const struct topology *topology, struct port_owners *owners,
                        struct topology_culprit *culprit, struct error *err)
{
    for (uint32_t end = 0; end < 2 * topology->wire_count; end++) {
        const struct topology_wire *wire = &topology->wires[end / 2];
        int port = wire->port[end % 2];
        const char *key = end % 2 ? "to" : "from";
        if (port >= TOPOLOGY_PORTS) {
            error_set(err, "port %d; a router has ports 0 to %d", port, TOPOLOGY_PORTS - 1);
            return blame(culprit, -1, (int)(end / 2), key);
        }
        if (wire->width == 0) {
            error_set(err, "wire %s carries 0 B in a clock; the least is 1 B", wire->name);
            return blame(culprit, -1, (int)(end / 2), "width");
        }
        if (wire->router[0] == wire->router[1]) {
            error_set(err, "wire %s joins router %s to itself", wire->name,
                      topology->routers[wire->router[0]].name);
            return blame(culprit, -1, (int)(end / 2), "to");
        }
        if (port != TOPOLOGY_ANY && !claim(topology, owners, end, port, culprit, err))
            return false;
    }
    for (uint32_t end = 0; end < 2 * topology->wire_count; end++) {
        struct topology_wire *wire = &topology->wires[end / 2];
        struct port_owners *mine = &owners[wire->router[end % 2]];
        if (wire->port[end % 2] != TOPOLOGY_ANY)
            continue;
        int port = 0;
        while (port < TOPOLOGY_PORTS && mine->owner[port])
            port++;
        if (port == TOPOLOGY_PORTS) {
            error_set(err, "router %s has more than %d wires", topology->routers[wire->router[end % 2]].name,
                      TOPOLOGY_PORTS);
            return blame(culprit, -1, *wire->name ? (int)(end / 2) : -1, *wire->name ? "from" : "size");
        }
        wire->port[end % 2] = port;
        mine->owner[port] = end + 1;
    }
    return true;
}

/* Numbers the ports of all routers: wires first, in the order of their ports, then nodes. */
static bool number_ports(struct topology *topology, const struct port_owners *owners,
                         struct topology_culprit *culprit, struct error *err)
{
    for (uint32_t r = 0; r < topology->router_count; r++) {
        struct topology_router *router = &topology->routers[r];
        router->first_port = topology->port_count;
        router->first_node = topology->node_count;
        for (uint32_t p = 0; p < TOPOLOGY_PORTS; p++)
            router->ports += owners[r].owner[p] != 0;
        router->ports += router->nodes;
        topology->port_count += router->ports;
        topology->node_count += router->nodes;
        if (router->ports > TOPOLOGY_PORTS) {
            error_set(err, "router %s has %u ports for wires and nodes; the most is %d", router->name,
                      router->ports, TOPOLOGY_PORTS);
            return blame(culprit, (int)r, -1, "nodes");
        }
        if (topology->node_count > TOPOLOGY_NODES) {
            error_set(err, "more than %d nodes", TOPOLOGY_NODES);
            return blame(culprit, (int)r, -1, "nodes");
        }
    }
    if ((uint64_t)topology->node_count * topology->router_count > TOPOLOGY_ROUTES) {
        error_set(err, "%u routers times %u nodes; at most %d routes are possible", topology->router_count,
                  topology->node_count, TOPOLOGY_ROUTES);
        return blame(culprit, -1, -1, "nodes");
    }
    if (topology->node_count)
        return true;
    error_set(err, "the network has no node");
    return blame(culprit, -1, -1, "nodes");
}

/* Fills in the ports. */
static void make_ports(struct topology *topology, const struct port_owners *owners, uint32_t node_width,
                       uint32_t node_latency)
{
    topology->ports = alloc(topology->port_count, sizeof *topology->ports);
    topology->node_ports = alloc(topology->node_count, sizeof *topology->node_ports);
    uint32_t *place = alloc((size_t)topology->wire_count * 2 + 1, sizeof *place); /* port of each end */
    for (uint32_t r = 0; r < topology->router_count; r++) {
        uint32_t port = topology->routers[r].first_port;
        for (uint32_t p = 0; p < TOPOLOGY_PORTS; p++)
            if (owners[r].owner[p])
                place[owners[r].owner[p] - 1] = port++;
        for (uint32_t n = 0; n < topology->routers[r].nodes; n++, port++) {
            uint32_t node = topology->routers[r].first_node + n;
            topology->node_ports[node] = port;
            topology->ports[port] = (struct topology_port){.router = r,
                                                           .peer = topology->port_count + node,
                                                           .wire = TOPOLOGY_NO_WIRE,
                                                           .width = node_width,
                                                           .latency = node_latency};
        }
    }
    for (uint32_t end = 0; end < 2 * topology->wire_count; end++) {
        const struct topology_wire *wire = &topology->wires[end / 2];
        uint8_t direction = (uint8_t)(wire->dimension ? 1U + 2U * (wire->dimension - 1U) + (end & 1) : 0);
        topology->ports[place[end]] = (struct topology_port){.router = wire->router[end % 2],
                                                             .peer = place[end ^ 1],
                                                             .wire = end / 2,
                                                             .width = wire->width,
                                                             .latency = wire->latency,
                                                             .direction = direction};
    }
    free(place);
}

/* Finds a router that router 0 does not reach. */
static bool check_connected(const struct topology *topology, struct topology_culprit *culprit,
                            struct error *err)
{
    uint32_t *queue = alloc(topology->router_count, sizeof *queue);
    bool *seen = alloc(topology->router_count, sizeof *seen);
    uint32_t first = 0, last = 1;
    seen[0] = true;
    for (; first < last; first++) {
        const struct topology_router *router = &topology->routers[queue[first]];
        for (uint32_t p = router->first_port; p < router->first_port + router->ports; p++) {
            if (topology->ports[p].wire == TOPOLOGY_NO_WIRE)
                continue;
            uint32_t next = topology->ports[topology->ports[p].peer].router;
            if (!seen[next])
                queue[last++] = next;
            seen[next] = true;
        }
    }
    uint32_t lost = 0;
    while (lost < topology->router_count && seen[lost])
        lost++;
    free(queue);
    free(seen);
    if (lost == topology->router_count)
        return true;
    error_set(err, "the network is not connected: no wires lead from router %s to router %s",
              topology->routers[0].name, topology->routers[lost].name);
    return blame(culprit, (int)lost, -1, NULL);
}

bool topology_finish(struct topology *topology, uint32_t node_width, uint32_t node_latency,
                     struct topology_culprit *culprit, struct error *err)
{
    *culprit = (struct topology_culprit){-1, -1, NULL};
    if (topology->router_count == 0) {
        error_set(err, "the network has no router");
        return blame(culprit, -1, -1, "topology");
    }
    if (node_width == 0) {
        error_set(err, "0 B in a clock; the least is 1 B");
        return blame(culprit, -1, -1, "width");
    }
    struct port_owners *owners = alloc(topology->router_count, sizeof *owners);
    bool fine = place_wires(topology, owners, culprit, err) && number_ports(topology, owners, culprit, err);
    if (fine)
        make_ports(topology, owners, node_width, node_latency);
    free(owners);
    return fine && check_connected(topology, culprit, err);
}
