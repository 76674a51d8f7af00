#include "emu/machine/alone/network.h"

#include <stdlib.h>

#include "emu/machine/alone/root.h"
#include "emu/machine/describe/sources.h"
#include "emu/machine/plan/networks.h"
#include "emu/net/traffic.h"
#include "emu/sim/alloc.h"

static const struct part_field root_fields[] = {ALONE_ROOT_FIELD("One line about the network.")};

static const struct part_role root_roles[] = {
    {.name = "network", .kind = &network_kind, .presence = PART_ALWAYS, .explanation = "The network."},
    {.name = "traffic", .kind = &traffic_kind, .presence = PART_ALWAYS, .explanation = "What drives it."},
    {.name = NULL},
};

static const struct part_kind root_kind = {
    .name = "network",
    .explanation = "A network that is driven alone.",
    .config_size = sizeof(struct alone_root),
    .fields = root_fields,
    .field_count = sizeof root_fields / sizeof *root_fields,
    .roles = root_roles,
};

static const struct part_kind *const kinds[] = {&network_router_kind, &network_wire_kind, NULL};

struct tree *alone_network_tree(const struct alone_source *source, struct error *err)
{
    const struct tree_options options = {.root = &root_kind,
                                         .kinds = kinds,
                                         .machine = source->name,
                                         .text = source->text,
                                         .sets = source->sets,
                                         .set_count = source->set_count,
                                         .reader = "croft net FILE.yaml",
                                         .timed = alone_is_timed};
    return tree_load(&options, err);
}

struct alone_network {
    struct event_queue queue;
    struct network_shape shape;
    struct clock clock;
    uint32_t classes;
    struct network *network;
    struct sources source;
    struct energy_sources sources;
    struct energy_ledger ledger;
    struct stats *stats;
};

static void publish(struct alone_network *network)
{
    const struct scope root = scope_root();
    energy_init(&network->ledger);
    network->ledger.sources = &network->sources;
    network->ledger.part = "network";
    network->stats = stats_new();
    network_publish(network->network, network->stats, scope_enter(&root, "network"));
    network_energy(network->network, &network->ledger, scope_enter(&root, "network"));
    energy_publish(&network->ledger, network->stats);
}

struct alone_network *alone_network_new(const struct tree *tree, uint32_t flits,
                                        const struct network_client *client, struct error *err)
{
    const struct instance *instance = tree_find(tree, "network");
    const struct network_config *config = instance->config;
    struct alone_network *network = alloc(1, sizeof *network);
    event_queue_init(&network->queue);
    network->source = (struct sources){tree, instance};
    network->sources = (struct energy_sources){sources_of_field, &network->source};
    network->classes = config->classes;
    if (!networks_shape(tree, instance, &network->shape, err) ||
        !clock_set_frequency(&network->clock, config->clock, err)) {
        alone_network_free(network);
        return NULL;
    }
    if (!network_fits(config, &network->shape.topology, &network->shape.routing, flits, err)) {
        (void)networks_at_named(tree, instance, err);
        alone_network_free(network);
        return NULL;
    }
    network->network = network_new(config, &network->shape.topology, &network->shape.routing, &network->queue,
                                   &network->clock, 1, client);
    publish(network);
    return network;
}

void alone_network_free(struct alone_network *network)
{
    if (!network)
        return;
    if (network->stats) {
        stats_free(network->stats);
        energy_free(&network->ledger);
    }
    if (network->network)
        network_free(network->network);
    shape_free(&network->shape);
    free(network);
}

struct event_queue *alone_network_queue(struct alone_network *network)
{
    return &network->queue;
}

struct network *alone_network_inside(struct alone_network *network)
{
    return network->network;
}

struct stats *alone_network_stats(struct alone_network *network)
{
    return network->stats;
}

uint64_t alone_network_period(const struct alone_network *network)
{
    return network->clock.period;
}

uint32_t alone_network_nodes(const struct alone_network *network)
{
    return network->shape.topology.node_count;
}

uint32_t alone_network_classes(const struct alone_network *network)
{
    return network->classes;
}
