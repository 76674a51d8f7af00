#include "emu/machine/plan/cut.h"

#include <stdlib.h>

#include "emu/core/config.h"
#include "emu/machine/plan/networks.h"
#include "emu/net/fabric.h"
#include "emu/net/link.h"
#include "emu/sim/alloc.h"
#include "emu/simt/multiprocessor.h"

/* While the cut is made, partitions[] has a parent of each element, which is the element itself at the root of a set. */
static uint32_t root_of(struct cut *cut, uint32_t element)
{
    uint32_t *parent = cut->partitions;
    while (parent[element] != element)
        element = parent[element] = parent[parent[element]];
    return element;
}

static void join(struct cut *cut, uint32_t a, uint32_t b)
{
    a = root_of(cut, a);
    b = root_of(cut, b);
    cut->partitions[a > b ? a : b] = a > b ? b : a;
}

const struct cut_network *cut_network_of(const struct cut *cut, const struct instance *instance)
{
    for (uint32_t i = 0; i < cut->network_count; i++)
        if (cut->networks[i].instance == instance)
            return &cut->networks[i];
    return NULL;
}

static uint32_t router_at(const struct cut_network *network, uint32_t node)
{
    const struct topology *topology = &network->shape.topology;
    return network->first + topology->ports[topology->node_ports[node]].router;
}

/* Joins the parts of a wire with each other, or with the routers between them. Two networks with a wire between them keep their
 * partitions. */
static void join_wire(struct cut *cut, const struct plan *plan, size_t index)
{
    const struct wire *wire = &plan->wiring.wires[index];
    const struct plan_places *places = &plan->places[index];
    const struct cut_network *above = cut_network_of(cut, wire->client),
                             *below = cut_network_of(cut, wire->server);
    if (wire->client->kind == &link_kind)
        return;
    if (!above && !below)
        join(cut, wire->client->number, wire->server->number);
    for (unsigned i = 0; below && !above && i < places->in; i++)
        join(cut, wire->client->number, router_at(below, below->in_nodes[places->first_in + i]));
    for (unsigned i = 0; above && !below && i < places->in * places->out; i++)
        join(cut, wire->server->number, router_at(above, above->out_nodes[places->first_out + i]));
}

/* Gives the inputs and outputs of a network their nodes. */
static bool place_ends(struct cut_network *network, const struct plan *plan, struct error *err)
{
    const struct network_config *config = network->instance->config;
    const uint32_t nodes = network->shape.topology.node_count;
    uint32_t inputs = 0, outputs = 0;
    for (size_t i = 0; i < plan->wiring.count; i++) {
        inputs += plan->wiring.wires[i].server == network->instance ? plan->places[i].in : 0;
        outputs += plan->wiring.wires[i].client == network->instance ? plan->places[i].out : 0;
    }
    network->in_nodes = fabric_nodes(config->in_nodes, inputs, 0, nodes, err);
    network->out_nodes = fabric_nodes(config->out_nodes, outputs, *config->in_nodes ? 0 : inputs, nodes, err);
    return network->in_nodes && network->out_nodes;
}

/* Returns whether components of the kind are lower than those of networks. */
static bool precedes_networks(const struct part_kind *kind)
{
    for (const struct part_kind *const *at = machine_kinds; *at && *at != &network_kind; at++)
        if (*at == kind)
            return true;
    return false;
}

/* Networks with three classes carry messages and requests of slices. All that sends comes before the network at one time. */
static bool is_divisible(const struct instance *network, const struct plan *plan)
{
    const struct network_config *config = network->config;
    bool divisible = network_divisible(config) && config->classes == FABRIC_CLASSES;
    for (size_t i = 0; i < plan->wiring.count; i++) {
        const struct wire *wire = &plan->wiring.wires[i];
        if (wire->server == network)
            divisible = divisible && precedes_networks(wire->client->kind);
        if (wire->client == network)
            divisible = divisible && precedes_networks(wire->server->kind);
    }
    return divisible;
}

static bool find_networks(struct cut *cut, const struct plan *plan, struct error *err)
{
    const struct tree *tree = plan->machine->tree;
    cut->networks = alloc(cut->elements, sizeof *cut->networks);
    for (const struct instance *i = tree_next(tree, NULL); i; i = tree_next(tree, i)) {
        if (i->kind != &network_kind)
            continue;
        struct cut_network *network = &cut->networks[cut->network_count++];
        *network =
            (struct cut_network){.instance = i, .first = cut->elements, .divisible = is_divisible(i, plan)};
        if (!networks_shape(tree, i, &network->shape, err) || !place_ends(network, plan, err))
            return false;
        cut->elements += network->shape.topology.router_count;
    }
    return true;
}

/* Joins what is in a part with it, and what nothing connects with the first core. A group has no part of its own, so what is in it
 * is not joined. Of networks, only routers have places of their own. */
static void join_rest(struct cut *cut, const struct plan *plan, const bool *connected)
{
    const struct tree *tree = plan->machine->tree;
    const struct instance *core = NULL;
    for (const struct instance *i = tree_next(tree, NULL); i && !core; i = tree_next(tree, i))
        if (i->kind == &core_kind)
            core = i;
    for (const struct instance *i = tree_next(tree, NULL); i; i = tree_next(tree, i)) {
        if (i->parent && i->parent->kind->make)
            join(cut, i->number, i->parent->number);
        else if (core && (!connected[i->number] || cut_network_of(cut, i)))
            join(cut, i->number, core->number);
    }
}

static void join_all(struct cut *cut, const struct plan *plan)
{
    const struct wiring *wiring = &plan->wiring;
    bool *connected = alloc(cut->elements, sizeof *connected);
    for (size_t i = 0; i < wiring->count; i++) {
        connected[wiring->wires[i].client->number] = connected[wiring->wires[i].server->number] = true;
        join_wire(cut, plan, i);
    }
    join_rest(cut, plan, connected);
    free(connected);
}

/* Turns parents into numbers of partitions. */
static void number(struct cut *cut)
{
    uint32_t *numbers = alloc(cut->elements, sizeof *numbers), *result = alloc(cut->elements, sizeof *result);
    for (uint32_t i = 0; i < cut->elements; i++) {
        uint32_t *of = &numbers[root_of(cut, i)];
        if (*of == 0)
            *of = ++cut->count;
        result[i] = *of - 1;
    }
    free(cut->partitions);
    free(numbers);
    cut->partitions = result;
}

static void limit(struct cut *cut, uint64_t time, const struct instance *by)
{
    if (time >= cut->lookahead)
        return;
    cut->lookahead = time;
    cut->limit = by->path;
}

/* A flit that a router sends arrives after the router's pipeline, its own length and the wire; a credit is used after the wire
 * and the pipeline of credits (emu/net/network/router.c). */
static bool limit_network(struct cut *cut, const struct cut_network *network, struct error *err)
{
    const struct network_config *config = network->instance->config;
    const struct topology *topology = &network->shape.topology;
    struct clock clock;
    const uint32_t credit = 1 + config->credit_clocks,
                   before = config->speedup > 1 ? 0 : config->switch_clocks - 1;
    if (!clock_set_frequency(&clock, config->clock, err))
        return error_prefix(err, "%s", network->instance->path);
    for (uint32_t p = 0; p < topology->port_count; p++) {
        const struct topology_port *port = &topology->ports[p];
        if (port->wire == TOPOLOGY_NO_WIRE ||
            cut->partitions[network->first + port->router] ==
                cut->partitions[network->first + topology->ports[port->peer].router])
            continue;
        const uint32_t flit = (config->flit + port->width - 1) / port->width +
                              (config->speedup > 1 ? 0 : config->traversal_clocks);
        limit(cut, (port->latency + before + (credit < flit ? credit : flit)) * clock.period,
              network->instance);
    }
    return true;
}

static bool find_lookahead(struct cut *cut, const struct plan *plan, struct error *err)
{
    const struct wiring *wiring = &plan->wiring;
    cut->lookahead = CLOCK_NEVER;
    for (size_t i = 0; i < wiring->count; i++) {
        const struct wire *wire = &wiring->wires[i];
        if (wire->client->kind == &link_kind &&
            cut->partitions[wire->client->number] != cut->partitions[wire->server->number])
            limit(cut, ((const struct link_config *)wire->client->config)->latency, wire->client);
    }
    for (uint32_t i = 0; i < cut->network_count; i++)
        if (!limit_network(cut, &cut->networks[i], err))
            return false;
    return true;
}

bool cut_make(struct cut *cut, const struct plan *plan, struct error *err)
{
    const struct tree *tree = plan->machine->tree;
    *cut = (struct cut){0};
    for (const struct instance *i = tree_next(tree, NULL); i; i = tree_next(tree, i))
        cut->elements++;
    if (!find_networks(cut, plan, err))
        return false;
    cut->partitions = alloc(cut->elements, sizeof *cut->partitions);
    for (uint32_t i = 0; i < cut->elements; i++)
        cut->partitions[i] = i;
    join_all(cut, plan);
    number(cut);
    return find_lookahead(cut, plan, err);
}

void cut_free(struct cut *cut)
{
    for (uint32_t i = 0; i < cut->network_count; i++) {
        shape_free(&cut->networks[i].shape);
        free(cut->networks[i].in_nodes);
        free(cut->networks[i].out_nodes);
    }
    free(cut->partitions);
    free(cut->networks);
}

void cut_share(const uint64_t *weights, uint32_t partitions, unsigned count, uint32_t *groups)
{
    uint64_t *load = alloc(count, sizeof *load);
    bool *done = alloc(partitions, sizeof *done);
    for (uint32_t n = 0; n < partitions; n++) {
        uint32_t next = UINT32_MAX;
        unsigned least = 0;
        for (uint32_t p = 0; p < partitions; p++)
            if (!done[p] && (next == UINT32_MAX || weights[p] > weights[next]))
                next = p;
        for (unsigned g = 1; g < count; g++)
            if (load[g] < load[least])
                least = g;
        done[next] = true;
        load[least] += weights[next];
        groups[next] = least;
    }
    free(done);
    free(load);
}

void cut_divide(const struct cut *cut, const struct plan *plan, unsigned count, uint32_t *groups)
{
    const struct tree *tree = plan->machine->tree;
    uint64_t *weights = alloc(cut->count, sizeof *weights);
    uint32_t *shares = alloc(cut->count, sizeof *shares), first = 0;
    bool found = false;
    for (const struct instance *i = tree_next(tree, NULL); i; i = tree_next(tree, i)) {
        if (i->kind == &core_kind && !found) {
            first = cut_of(cut, i);
            found = true;
        }
        if (i->kind->make)
            weights[cut_of(cut, i)] +=
                i->kind == &simt_kind ? ((const struct simt_config *)i->config)->count : 1;
    }
    cut_share(weights, cut->count, count, shares);
    const uint32_t host = shares[first];
    for (uint32_t i = 0; i < cut->elements; i++) {
        const uint32_t group = shares[cut->partitions[i]];
        groups[i] = group == host ? 0 : group == 0 ? host : group;
    }
    for (uint32_t i = 0; i < cut->network_count; i++)
        for (uint32_t r = 0; !cut->networks[i].divisible && r < cut->networks[i].shape.topology.router_count;
             r++)
            groups[cut->networks[i].first + r] = 0;
    free(shares);
    free(weights);
}
