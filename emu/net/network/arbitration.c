#include "emu/net/network/arbitration.h"

#include <stdlib.h>
#include <string.h>

#include "emu/net/network/state.h"
#include "emu/sim/alloc.h"
#include "emu/sim/mix.h"

static bool older(const struct network *network, uint32_t one, uint32_t other)
{
    const struct network_packet *a = input_packet(network, one), *b = input_packet(network, other);
    return a->time != b->time ? a->time < b->time : a->source < b->source;
}

/* Routers from a packet's source to the router of an input channel. */
static uint32_t distance_of(const struct network *network, uint32_t input)
{
    uint32_t from = topology_node_router(network->topology, input_packet(network, input)->source);
    return network->arbitration.distances[from * network->topology->router_count +
                                          network->routers.ports[input / network->channels.vcs].router];
}

static bool farther(const struct network *network, uint32_t one, uint32_t other)
{
    return distance_of(network, one) > distance_of(network, other);
}

/* The time at which the pair of ports of an input channel's packet is done at the earliest, a clock for each flit left, less
 * the time at which the packet was made. All packets of a router have the same present time, which is left out. */
static int64_t oracle_weight(const struct network *network, uint32_t input)
{
    uint32_t in_port = input / network->channels.vcs,
             first = network->routers.all[network->routers.ports[in_port].router].first_port;
    uint32_t left =
        oracle_left(network->arbitration.oracle, in_port, first + network->routers.inputs[input].out_port);
    return (int64_t)clock_time(network->clock, left) - (int64_t)input_packet(network, input)->time;
}

static bool heavier(const struct network *network, uint32_t one, uint32_t other)
{
    int64_t a = oracle_weight(network, one), b = oracle_weight(network, other);
    return a != b ? a > b : input_packet(network, one)->source < input_packet(network, other)->source;
}

/* The weight of loads.h. */
static uint64_t loaded_weight(const struct network *network, uint32_t input)
{
    uint32_t in_port = input / network->channels.vcs,
             first = network->routers.all[network->routers.ports[in_port].router].first_port;
    uint64_t now = clock_time(network->clock, network->now), made = input_packet(network, input)->time;
    uint64_t age = now > made ? (now - made) / network->clock->period : 0;
    uint32_t load = loads_of(network->arbitration.loads, in_port,
                             first + network->routers.inputs[input].out_port, network->now);
    return (age < LOADS_OLDEST ? age : LOADS_OLDEST) + LOADS_WEIGHT * load;
}

static bool loaded(const struct network *network, uint32_t one, uint32_t other)
{
    uint64_t a = loaded_weight(network, one), b = loaded_weight(network, other);
    return a != b ? a > b : input_packet(network, one)->source < input_packet(network, other)->source;
}

/* Counts the wires between all routers, breadth first from each. */
static void measure(struct network *network)
{
    const struct topology *topology = network->topology;
    uint32_t count = topology->router_count, *queue = alloc(count, sizeof *queue);
    network->arbitration.distances = alloc((size_t)count * count, sizeof *network->arbitration.distances);
    memset(network->arbitration.distances, UINT8_MAX, (size_t)count * count);
    for (uint32_t from = 0; from < count; from++) {
        uint8_t *row = &network->arbitration.distances[(size_t)from * count];
        uint32_t reached = 1;
        queue[0] = from;
        row[from] = 0;
        for (uint32_t k = 0; k < reached; k++)
            for (uint32_t p = 0; p < topology->routers[queue[k]].ports; p++) {
                const struct topology_port *port =
                    &topology->ports[topology->routers[queue[k]].first_port + p];
                uint32_t to = port->wire == TOPOLOGY_NO_WIRE ? from : topology->ports[port->peer].router;
                if (row[to] != UINT8_MAX)
                    continue;
                row[to] = (uint8_t)(row[queue[k]] < UINT8_MAX - 1 ? row[queue[k]] + 1 : UINT8_MAX - 1);
                queue[reached++] = to;
            }
    }
    free(queue);
}

static void make_oracle(struct network *network)
{
    network->arbitration.oracle = oracle_new(network->topology, network->routing);
}

static void make_loads(struct network *network)
{
    network->arbitration.loads = loads_new(network->topology);
}

#define POLICY_ROW(NAME, key, meaning, ...) [NETWORK_##NAME] = {__VA_ARGS__},
const struct arbitration_policy arbitration_policies[] = {NETWORK_POLICIES(POLICY_ROW)};

void arbitration_make(struct network *network)
{
    const struct network_config *config = &network->config;
    network->arbitration.random = MIX_FACTOR;
    network->arbitration.vc_policy = &arbitration_policies[config->vc_arbitration];
    network->arbitration.switch_policy = &arbitration_policies[config->switch_arbitration];
    if (network->arbitration.vc_policy->prepare)
        network->arbitration.vc_policy->prepare(network);
    if (network->arbitration.switch_policy->prepare &&
        network->arbitration.switch_policy != network->arbitration.vc_policy)
        network->arbitration.switch_policy->prepare(network);
}

void arbitration_free(struct arbitration *arbitration)
{
    free(arbitration->distances);
    oracle_free(arbitration->oracle);
    loads_free(arbitration->loads);
}
