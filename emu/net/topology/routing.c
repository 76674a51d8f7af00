#include "emu/net/topology/routing.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/sim/alloc.h"

const char *const network_routing_names[] = {[NETWORK_NATURAL] = "natural",
                                             [NETWORK_ORDER] = "order",
                                             [NETWORK_MINIMAL] = "minimal",
                                             [NETWORK_UPDOWN] = "updown",
                                             NULL};

/* Work of routing_make(). */
struct routes {
    struct routing *routing;
    const struct topology *topology;
};

static const struct topology_router *router_of(const struct routes *routes, uint32_t router)
{
    return &routes->topology->routers[router];
}

/* The router at the other end of a port, or UINT32_MAX for a node's port. */
static uint32_t neighbour(const struct topology *topology, uint32_t port)
{
    const struct topology_port *at = &topology->ports[port];
    return at->wire == TOPOLOGY_NO_WIRE ? UINT32_MAX : topology->ports[at->peer].router;
}

/* Sets the route from a router to all nodes of another one. `port` is a number in the whole network. */
static void put(const struct routes *routes, uint32_t from, uint32_t to, uint32_t port, uint32_t set)
{
    const struct topology_router *target = router_of(routes, to);
    uint8_t *row = routes->routing->rows + (size_t)from * routes->routing->node_count;
    uint32_t local = port - router_of(routes, from)->first_port;
    for (uint32_t n = 0; n < target->nodes; n++)
        row[target->first_node + n] = (uint8_t)(local + set * TOPOLOGY_PORTS);
}

/* The routes to a router's own nodes. */
static void put_own(const struct routes *routes)
{
    for (uint32_t n = 0; n < routes->topology->node_count; n++) {
        uint32_t port = routes->topology->node_ports[n], router = routes->topology->ports[port].router;
        routes->routing->rows[(size_t)router * routes->routing->node_count + n] =
            (uint8_t)(port - router_of(routes, router)->first_port);
    }
}

static uint32_t port_towards(const struct topology *topology, uint32_t router, uint32_t direction)
{
    uint32_t port = topology->routers[router].first_port;
    while (topology->ports[port].direction != direction)
        port++;
    return port;
}

/* Dimension order: the first dimension first. In a ring, the shorter way; of two equal ones, routers with even
 * coordinates take the growing one, which loads both alike. */
static void order_route(const struct routes *routes, uint32_t from, uint32_t to)
{
    const struct topology *topology = routes->topology;
    const uint16_t *here = router_of(routes, from)->at, *there = router_of(routes, to)->at;
    uint32_t d = 0;
    while (here[d] == there[d])
        d++;
    uint32_t size = topology->sizes[d];
    bool grows = there[d] > here[d];
    if (routes->routing->rings && size > 2) {
        uint32_t forward = (there[d] + size - here[d]) % size;
        grows = 2 * forward < size || (2 * forward == size && here[d] % 2 == 0);
    }
    bool passes = grows != (there[d] > here[d]);
    put(routes, from, to, port_towards(topology, from, 1 + 2 * d + !grows), passes);
}

static void make_order(const struct routes *routes)
{
    for (uint32_t to = 0; to < routes->topology->router_count; to++)
        for (uint32_t from = 0; from < routes->topology->router_count; from++)
            if (from != to && router_of(routes, to)->nodes)
                order_route(routes, from, to);
}

/* Distances of all routers to one, in wires. */
static void measure(const struct topology *topology, uint32_t to, uint32_t *distance, uint32_t *queue)
{
    memset(distance, 0xff, topology->router_count * sizeof *distance);
    uint32_t first = 0, last = 0;
    distance[to] = 0;
    queue[last++] = to;
    for (; first < last; first++) {
        const struct topology_router *router = &topology->routers[queue[first]];
        for (uint32_t p = router->first_port; p < router->first_port + router->ports; p++) {
            uint32_t next = neighbour(topology, p);
            if (next == UINT32_MAX || distance[next] != UINT32_MAX)
                continue;
            distance[next] = distance[queue[first]] + 1;
            queue[last++] = next;
        }
    }
}

/* The port of `from` to a router at that distance; several are taken in turn by destination. */
static uint32_t nearer_port(const struct topology *topology, uint32_t from, uint32_t to,
                            const uint32_t *distance)
{
    const struct topology_router *router = &topology->routers[from];
    uint32_t ports[TOPOLOGY_PORTS], count = 0;
    for (uint32_t p = router->first_port; p < router->first_port + router->ports; p++) {
        uint32_t next = neighbour(topology, p);
        if (next != UINT32_MAX && distance[next] + 1 == distance[from])
            ports[count++] = p;
    }
    assert(count);
    return ports[to % count];
}

static void make_minimal(const struct routes *routes)
{
    const struct topology *topology = routes->topology;
    uint32_t *distance = alloc(topology->router_count, sizeof *distance);
    uint32_t *queue = alloc(topology->router_count, sizeof *queue);
    for (uint32_t to = 0; to < topology->router_count; to++) {
        if (!router_of(routes, to)->nodes)
            continue;
        measure(topology, to, distance, queue);
        for (uint32_t from = 0; from < topology->router_count; from++)
            if (from != to)
                put(routes, from, to, nearer_port(topology, from, to, distance), 0);
    }
    free(distance);
    free(queue);
}

/* The port of `from` whose wire leads to a router of that group, or to that router. */
static uint32_t port_to(const struct topology *topology, uint32_t from, uint32_t group, uint32_t router)
{
    const struct topology_router *at = &topology->routers[from];
    for (uint32_t p = at->first_port; p < at->first_port + at->ports; p++) {
        uint32_t next = neighbour(topology, p);
        if (next != UINT32_MAX &&
            (router == UINT32_MAX ? topology->routers[next].at[1] == group : next == router))
            return p;
    }
    return UINT32_MAX;
}

/* Packets within a group go directly, others over the group's one wire to the destination's group. */
static void make_dragonfly(const struct routes *routes)
{
    const struct topology *topology = routes->topology;
    uint32_t per_group = topology->sizes[0];
    for (uint32_t to = 0; to < topology->router_count; to++)
        for (uint32_t from = 0; from < topology->router_count; from++) {
            uint32_t here = router_of(routes, from)->at[1], there = router_of(routes, to)->at[1];
            if (from == to || !router_of(routes, to)->nodes)
                continue;
            if (here == there) {
                put(routes, from, to, port_to(topology, from, here, to), 1);
                continue;
            }
            uint32_t port = port_to(topology, from, there, UINT32_MAX);
            for (uint32_t exit = here * per_group; port == UINT32_MAX; exit++)
                if (port_to(topology, exit, there, UINT32_MAX) != UINT32_MAX)
                    port = port_to(topology, from, here, exit);
            put(routes, from, to, port, 0);
        }
}

/* A wire leads up if it leads nearer to router 0, or as near to a router of a smaller number. A packet goes down as soon as
 * a path down exists, else up; so it never goes up again (Schroeder et al., "Autonet", 1991). */
static bool leads_up(const uint32_t *level, uint32_t from, uint32_t to)
{
    return level[to] != level[from] ? level[to] < level[from] : to < from;
}

/* Lengths of the paths down to `to`, in an order in which a router comes after all routers below it. */
static void measure_down(const struct topology *topology, const uint32_t *level, const uint32_t *falling,
                         uint32_t to, uint32_t *down)
{
    memset(down, 0xff, topology->router_count * sizeof *down);
    down[to] = 0;
    for (uint32_t i = 0; i < topology->router_count; i++) {
        uint32_t from = falling[i];
        const struct topology_router *router = &topology->routers[from];
        for (uint32_t p = router->first_port; p < router->first_port + router->ports; p++) {
            uint32_t next = neighbour(topology, p);
            if (next != UINT32_MAX && !leads_up(level, from, next) && down[next] != UINT32_MAX &&
                down[next] + 1 < down[from])
                down[from] = down[next] + 1;
        }
    }
}

/* The port of the best next router: down along `down`, else up to the shortest of `whole`. */
static uint32_t updown_port(const struct topology *topology, const uint32_t *level, uint32_t from,
                            const uint32_t *down, const uint32_t *whole)
{
    const struct topology_router *router = &topology->routers[from];
    uint32_t best = UINT32_MAX, port = 0;
    bool descends = down[from] != UINT32_MAX;
    for (uint32_t p = router->first_port; p < router->first_port + router->ports; p++) {
        uint32_t next = neighbour(topology, p);
        if (next == UINT32_MAX || leads_up(level, from, next) == descends)
            continue;
        uint32_t length = descends ? down[next] : whole[next];
        if (length < best) {
            best = length;
            port = p;
        }
    }
    return port;
}

static void make_updown(const struct routes *routes)
{
    const struct topology *topology = routes->topology;
    uint32_t count = topology->router_count;
    uint32_t *level = alloc(count, sizeof *level), *queue = alloc(count, sizeof *queue);
    uint32_t *down = alloc(count, sizeof *down), *whole = alloc(count, sizeof *whole);
    uint32_t *rising = alloc(count, sizeof *rising), *falling = alloc(count, sizeof *falling);
    measure(topology, 0, level, queue);
    uint32_t placed = 0;
    for (uint32_t depth = 0; placed < count; depth++) /* by level, then by number: a topological order */
        for (uint32_t r = 0; r < count; r++)
            if (level[r] == depth)
                rising[placed++] = r;
    for (uint32_t i = 0; i < count; i++)
        falling[i] = rising[count - 1 - i];
    for (uint32_t to = 0; to < count; to++) {
        if (!router_of(routes, to)->nodes)
            continue;
        measure_down(topology, level, falling, to, down);
        for (uint32_t i = 0; i < count; i++) {
            uint32_t from = rising[i];
            whole[from] = down[from];
            if (from == to)
                continue;
            uint32_t port = updown_port(topology, level, from, down, whole);
            if (down[from] == UINT32_MAX)
                whole[from] = whole[neighbour(topology, port)] + 1;
            put(routes, from, to, port, 0);
        }
    }
    free(level), free(queue), free(down), free(whole), free(rising), free(falling);
}

/* Channels: a wire's direction and a set, numbered by the port where it arrives. */
struct channels {
    const struct routing *routing;
    const struct topology *topology;
    uint64_t
        *next; /* [channel * sets + set]: ports of the router at its end where packets go on in that set */
    uint32_t *seen;   /* by channel: the destination of the last walk through it */
    uint32_t *parent; /* by channel, in the search: the channel before it */
    uint8_t *state;   /* by channel: 0 not searched, 1 being searched, 2 done */
};

/* Walks from a router to a node and enters the dependencies of the channels on the way. */
static void walk(struct channels *channels, uint32_t from, uint32_t node)
{
    const struct topology *topology = channels->topology;
    uint32_t sets = channels->routing->sets;
    uint32_t in = topology->routers[from].first_port + topology->routers[from].ports - 1; /* a node's */
    uint32_t channel = UINT32_MAX, set = 0;
    for (;;) {
        struct route route = routing_next(channels->routing, topology, in, set, node);
        uint32_t out = topology->routers[topology->ports[in].router].first_port + route.port;
        if (topology->ports[out].wire == TOPOLOGY_NO_WIRE)
            return;
        if (channel != UINT32_MAX)
            channels->next[channel * sets + route.set] |= UINT64_C(1) << route.port;
        in = topology->ports[out].peer;
        set = route.set;
        channel = in * sets + set;
        if (channels->seen[channel] == node + 1)
            return;
        channels->seen[channel] = node + 1;
    }
}

/* Returns the next channel that depends on this one and takes it off the list, or UINT32_MAX. */
static uint32_t take_next(struct channels *channels, uint32_t channel)
{
    uint32_t sets = channels->routing->sets;
    for (uint32_t set = 0; set < sets; set++) {
        uint64_t *ports = &channels->next[channel * sets + set];
        if (!*ports)
            continue;
        uint32_t router = channels->topology->ports[channel / sets].router;
        uint32_t out = channels->topology->routers[router].first_port + (uint32_t)__builtin_ctzll(*ports);
        *ports &= *ports - 1;
        return channels->topology->ports[out].peer * sets + set;
    }
    return UINT32_MAX;
}

/* Names the routers along a cycle that ends with the dependency of `first` on `last`. */
static bool report_cycle(const struct channels *channels, uint32_t first, uint32_t last, struct error *err)
{
    const struct topology *topology = channels->topology;
    uint32_t sets = channels->routing->sets, length = 1;
    for (uint32_t c = last; c != first; c = channels->parent[c])
        length++;
    uint32_t *cycle = alloc(length, sizeof *cycle);
    for (uint32_t c = last, i = length; i-- > 0; c = channels->parent[c])
        cycle[i] = c;
    char text[768];
    size_t used = 0;
    for (uint32_t i = 0; i <= length && used < sizeof text - 2 * TOPOLOGY_NAME; i++) {
        uint32_t in = cycle[i % length] / sets;
        const struct topology_port *from = &topology->ports[topology->ports[in].peer];
        int wrote = snprintf(text + used, sizeof text - used, "%s%s", i ? " -> " : "",
                             topology->routers[from->router].name);
        used += (size_t)wrote;
        if (i < length && used >= sizeof text - 2 * TOPOLOGY_NAME)
            used += (size_t)snprintf(text + used, sizeof text - used, " -> ...");
    }
    free(cycle);
    return error_set(err, "routing: packets can wait for each other in a cycle of %u wires: %s", length,
                     text);
}

/* Searches the dependencies of a channel in depth; false if one leads back to a channel being searched. */
static bool search(struct channels *channels, uint32_t start, struct error *err)
{
    uint32_t at = start;
    channels->parent[start] = UINT32_MAX;
    channels->state[start] = 1;
    while (at != UINT32_MAX) {
        uint32_t next = take_next(channels, at);
        if (next == UINT32_MAX) {
            channels->state[at] = 2;
            at = channels->parent[at];
        } else if (channels->state[next] == 1) {
            return report_cycle(channels, next, at, err);
        } else if (channels->state[next] == 0) {
            channels->parent[next] = at;
            channels->state[next] = 1;
            at = next;
        }
    }
    return true;
}

static bool check_cycles(const struct routing *routing, const struct topology *topology, struct error *err)
{
    uint32_t count = topology->port_count * routing->sets;
    struct channels channels = {.routing = routing,
                                .topology = topology,
                                .next = alloc((size_t)count * routing->sets, sizeof *channels.next),
                                .seen = alloc(count, sizeof *channels.seen),
                                .parent = alloc(count, sizeof *channels.parent),
                                .state = alloc(count, sizeof *channels.state)};
    for (uint32_t node = 0; node < topology->node_count; node++)
        for (uint32_t from = 0; from < topology->router_count; from++)
            if (topology->routers[from].nodes)
                walk(&channels, from, node);
    bool fine = true;
    for (uint32_t c = 0; c < count && fine; c++)
        fine = channels.state[c] != 0 || search(&channels, c, err);
    free(channels.next), free(channels.seen), free(channels.parent), free(channels.state);
    return fine;
}

static bool is_grid(enum network_topology kind)
{
    return kind == NETWORK_MESH || kind == NETWORK_TORUS || kind == NETWORK_CHAIN || kind == NETWORK_RING;
}

bool routing_make(struct routing *routing, const struct topology *topology, enum network_routing kind,
                  struct error *err)
{
    *routing = (struct routing){.sets = 1, .node_count = topology->node_count};
    routing->rows = alloc((size_t)topology->router_count * topology->node_count, sizeof *routing->rows);
    const struct routes routes = {routing, topology};
    if (kind == NETWORK_NATURAL)
        kind = is_grid(topology->kind)                                             ? NETWORK_ORDER
               : topology->kind == NETWORK_TREE || topology->kind == NETWORK_GRAPH ? NETWORK_UPDOWN
                                                                                   : NETWORK_MINIMAL;
    if (kind == NETWORK_ORDER && !is_grid(topology->kind))
        return error_set(err, "routing: a %s has no dimensions; order is for mesh, torus, chain and ring",
                         network_topology_names[topology->kind]);
    put_own(&routes);
    if (kind == NETWORK_ORDER) {
        routing->rings = topology->kind == NETWORK_TORUS || topology->kind == NETWORK_RING;
        routing->sets = routing->rings ? 2 : 1;
        make_order(&routes);
    } else if (kind == NETWORK_UPDOWN) {
        make_updown(&routes);
    } else if (topology->kind == NETWORK_DRAGONFLY) {
        routing->sets = 2;
        make_dragonfly(&routes);
    } else {
        make_minimal(&routes);
    }
    return check_cycles(routing, topology, err);
}

void routing_free(struct routing *routing)
{
    free(routing->rows);
}
