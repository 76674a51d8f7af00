#include "emu/machine/study/cut.h"

#include <stdlib.h>

#include "emu/core/config.h"
#include "emu/net/fabric.h"
#include "emu/net/link.h"
#include "emu/sim/alloc.h"

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

static const struct cut_network *network_of(const struct cut *cut, const struct instance *instance)
{
    for (uint32_t i = 0; i < cut->network_count; i++)
        if (cut->networks[i].instance == instance)
            return &cut->networks[i];
    return NULL;
}

static uint32_t router_at(const struct cut_network *network, uint32_t node)
{
    const struct topology *topology = network->topology;
    return network->first + topology->ports[topology->node_ports[node]].router;
}

/* Joins the parts of a wire with each other, or with the routers between them. Two networks with a wire between them keep their
 * partitions. */
static void join_wire(struct cut *cut, const struct builder *builder, size_t index)
{
    const struct wire *wire = &builder->plan.wiring.wires[index];
    const struct plan_places *places = &builder->plan.places[index];
    const struct cut_network *above = network_of(cut, wire->client), *below = network_of(cut, wire->server);
    if (wire->client->kind == &link_kind)
        return;
    if (!above && !below)
        join(cut, wire->client->number, wire->server->number);
    for (unsigned i = 0; below && !above && i < places->in; i++) {
        void *port = fabric_port(builder_object(builder, wire->server), places->first_in + i);
        join(cut, wire->client->number, router_at(below, fabric_port_node(port)));
    }
    for (unsigned i = 0; above && !below && i < places->in * places->out; i++) {
        const struct fabric *fabric = builder_object(builder, wire->client);
        join(cut, wire->server->number, router_at(above, fabric_output_node(fabric, places->first_out + i)));
    }
}

static void find_networks(struct cut *cut, const struct builder *builder)
{
    cut->networks = alloc(builder->count, sizeof *cut->networks);
    for (size_t i = 0; i < builder->count; i++) {
        const struct built_part *part = &builder->parts[i];
        if (part->instance->kind != &network_kind || !part->object)
            continue;
        struct cut_network *network = &cut->networks[cut->network_count++];
        *network = (struct cut_network){part->instance, cut->elements, fabric_topology(part->object)};
        cut->elements += network->topology->router_count;
    }
}

/* Joins what is in a part with it, and the parts that nothing connects with the first core's. */
static void join_rest(struct cut *cut, const struct builder *builder, const bool *connected)
{
    const struct tree *tree = builder->plan.machine->tree;
    const struct instance *core = NULL;
    for (size_t i = 0; i < builder->count && !core; i++)
        if (builder->parts[i].object && builder->parts[i].instance->kind == &core_kind)
            core = builder->parts[i].instance;
    for (const struct instance *i = tree_next(tree, NULL); i; i = tree_next(tree, i)) {
        const struct built_part *above = i->parent ? builder->by_number[i->parent->number] : NULL;
        if (above)
            join(cut, i->number, i->parent->number);
        else if (core && !connected[i->number] && !network_of(cut, i))
            join(cut, i->number, core->number);
    }
}

static void join_all(struct cut *cut, const struct builder *builder)
{
    const struct wiring *wiring = &builder->plan.wiring;
    bool *connected = alloc(cut->elements, sizeof *connected);
    for (size_t i = 0; i < wiring->count; i++) {
        connected[wiring->wires[i].client->number] = connected[wiring->wires[i].server->number] = true;
        join_wire(cut, builder, i);
    }
    join_rest(cut, builder, connected);
    free(connected);
}

/* Adds an element's weight to its partition, which gets a number and this name if it is new. numbers: of roots, from 1. */
static void number_element(struct cut *cut, uint32_t *numbers, uint32_t element, const char *name,
                           uint64_t weight)
{
    uint32_t *of = &numbers[root_of(cut, element)];
    if (*of == 0) {
        *of = ++cut->count;
        cut->names[*of - 1] = name;
    }
    cut->weights[*of - 1] += weight;
}

/* Turns parents into numbers of partitions: first those of parts, in the order of making, then routers without parts. */
static void number(struct cut *cut, const struct builder *builder)
{
    uint32_t *numbers = alloc(cut->elements, sizeof *numbers), *result = alloc(cut->elements, sizeof *result);
    cut->names = alloc(cut->elements, sizeof *cut->names);
    cut->weights = alloc(cut->elements, sizeof *cut->weights);
    for (size_t i = 0; i < builder->count; i++) {
        const struct built_part *part = &builder->parts[i];
        if (part->object && part->instance->kind != &network_kind)
            number_element(cut, numbers, part->instance->number, part->instance->path, part->components);
    }
    for (uint32_t i = 0; i < cut->network_count; i++)
        for (uint32_t r = 0; r < cut->networks[i].topology->router_count; r++)
            number_element(cut, numbers, cut->networks[i].first + r, cut->networks[i].instance->path, 1);
    for (uint32_t i = 0; i < cut->elements; i++) {
        const uint32_t own = numbers[root_of(cut, i)];
        result[i] = own ? own - 1 : 0;
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
static void limit_network(struct cut *cut, const struct builder *builder, const struct cut_network *network)
{
    const struct network_config *config = network->instance->config;
    const struct topology *topology = network->topology;
    const uint64_t period = builder->by_number[network->instance->number]->clock.period;
    const uint32_t credit = 1 + config->credit_clocks,
                   before = config->speedup > 1 ? 0 : config->switch_clocks - 1;
    for (uint32_t p = 0; p < topology->port_count; p++) {
        const struct topology_port *port = &topology->ports[p];
        if (port->wire == TOPOLOGY_NO_WIRE ||
            cut->partitions[network->first + port->router] ==
                cut->partitions[network->first + topology->ports[port->peer].router])
            continue;
        const uint32_t flit = (config->flit + port->width - 1) / port->width +
                              (config->speedup > 1 ? 0 : config->traversal_clocks);
        limit(cut, (port->latency + before + (credit < flit ? credit : flit)) * period, network->instance);
    }
}

static void find_lookahead(struct cut *cut, const struct builder *builder)
{
    const struct wiring *wiring = &builder->plan.wiring;
    cut->lookahead = CLOCK_NEVER;
    for (size_t i = 0; i < wiring->count; i++) {
        const struct wire *wire = &wiring->wires[i];
        if (wire->client->kind == &link_kind &&
            cut->partitions[wire->client->number] != cut->partitions[wire->server->number])
            limit(cut, ((const struct link_config *)wire->client->config)->latency, wire->client);
    }
    for (uint32_t i = 0; i < cut->network_count; i++)
        limit_network(cut, builder, &cut->networks[i]);
}

void cut_make(struct cut *cut, const struct builder *builder)
{
    const struct tree *tree = builder->plan.machine->tree;
    *cut = (struct cut){0};
    for (const struct instance *i = tree_next(tree, NULL); i; i = tree_next(tree, i))
        cut->elements++;
    find_networks(cut, builder);
    cut->partitions = alloc(cut->elements, sizeof *cut->partitions);
    for (uint32_t i = 0; i < cut->elements; i++)
        cut->partitions[i] = i;
    join_all(cut, builder);
    number(cut, builder);
    find_lookahead(cut, builder);
}

void cut_free(struct cut *cut)
{
    free(cut->partitions);
    free(cut->names);
    free(cut->weights);
    free(cut->networks);
}
