#include "emu/net/network/switch_alloc.h"

#include <stdlib.h>

#include "emu/net/network/state.h"
#include "emu/sim/alloc.h"

/* Whether a channel of an input bids instead of another one. base: the input's channel 0. */
static inline bool replaces(const struct network *network, uint32_t base, uint32_t vc, uint32_t other)
{
    bool urgent = network->channels.priority & BIT(vc);
    if (urgent != ((network->channels.priority & BIT(other)) != 0))
        return urgent;
    const struct arbitration_policy *policy = network->arbitration.switch_policy;
    return policy->within && policy->within(network, base + vc, base + other);
}

/* Adds the bids of some channels of an input. Of several for one output, a priority buffer bids, or the one that the
 * arbitration prefers, or the one at or after the input's turn. */
static inline void bid_channels(const struct network *network, const struct router *router,
                                struct islip_switch *match, uint32_t i, uint64_t channels, uint64_t taken,
                                uint64_t crossed)
{
    uint32_t in_port = router->first_port + i;
    uint32_t turn = network->routers.ports[in_port].turn;
    uint64_t high = channels >> turn << turn, low = channels ^ high;
    while (high | low) {
        uint32_t vc = take_bit(high ? &high : &low), base = in_port * network->channels.vcs;
        uint32_t out = network->routers.inputs[base + vc].out_port;
        if (taken & BIT(out))
            continue;
        bool again = islip_bids(match, i, out);
        if (again ? network->sa.plain || !replaces(network, base, vc, match->vc[i][out])
                  : !switch_alloc_open(&network->routers.ports[router->first_port + out],
                                       network->config.output_queue, crossed))
            continue;
        islip_bid(match, i, out, vc);
    }
}

void switch_alloc_bid(const struct network *network, const struct router *router, struct islip_switch *match,
                      uint64_t channels, uint64_t crossed)
{
    for (uint64_t inputs = router->ready; inputs;) {
        uint32_t i = take_bit(&inputs);
        bid_channels(network, router, match, i,
                     network->routers.ports[router->first_port + i].ready & channels, 0, crossed);
    }
}

/* The channels of `waiting` that may speculate: a free channel of the output that they want has a credit, or room for
 * the packet if the flow control asks for that. Without room, no virtual channel would be given, and an old packet
 * could keep the switch from others for ever. */
static uint64_t speculating(const struct network *network, const struct router *router, uint32_t out,
                            uint32_t group, uint32_t i, uint64_t waiting)
{
    const struct port *port = &network->routers.ports[router->first_port + out];
    const struct output_vc *outputs =
        &network->routers.outputs[(router->first_port + out) * network->channels.vcs];
    uint64_t shared = port->node ? network->channels.shared_node[0]
                                 : network->channels.shared_wire[0][group % network->channels.sets];
    uint64_t able = 0, free = port->free & channels_of(&network->channels, port->node, group);
    free |= output_empty(&network->channels, outputs, port->free & shared);
    while (free && able != waiting) {
        const struct output_vc *output = &outputs[take_bit(&free)];
        if (!output->credits)
            continue;
        if (network->config.flow == NETWORK_WORMHOLE)
            return waiting;
        for (uint64_t left = waiting & ~able; left;) {
            uint32_t vc = take_bit(&left);
            able |= output_has_room(network, router, i * network->channels.vcs + vc, output) ? BIT(vc) : 0;
        }
    }
    return able;
}

void switch_alloc_speculate(const struct network *network, const struct router *router,
                            struct islip_switch *match, uint64_t channels, uint64_t crossed)
{
    uint64_t waiting[TOPOLOGY_PORTS], inputs = 0; /* channels by input */
    for (uint64_t outputs = router->waiting; outputs;) {
        uint32_t out = take_bit(&outputs);
        for (uint32_t group = 0; group < network->channels.groups; group++) {
            const uint64_t *bids = router_bids(network, router, out, group);
            for (uint64_t left = bids[0]; left;) {
                uint32_t i = take_bit(&left);
                uint64_t able = speculating(network, router, out, group, i, bids[1 + i] & channels);
                waiting[i] = (inputs & BIT(i) ? waiting[i] : 0) | able;
                inputs |= able ? BIT(i) : 0;
            }
        }
    }
    while (inputs) {
        uint32_t i = take_bit(&inputs);
        uint64_t taken = match->inputs & BIT(i) ? match->by_input[i] : 0;
        bid_channels(network, router, match, i, waiting[i], taken, crossed);
    }
}

/* The chooser of islip_match(): by rank, then a priority buffer of the same input, then by the arbitration. */
static uint64_t best_inputs(const void *context, const struct islip_switch *match, uint32_t out,
                            uint64_t inputs)
{
    const struct choice *choice = context;
    const struct network *network = choice->network;
    const struct arbitration_policy *policy = network->arbitration.switch_policy;
    uint32_t best = take_bit(&inputs), rank = arbitration_rank(&network->arbitration, best, out),
             vcs = network->channels.vcs;
    const uint32_t base = choice->router->first_port;
    uint64_t equal = BIT(best);
    while (inputs) {
        uint32_t i = take_bit(&inputs), other = arbitration_rank(&network->arbitration, i, out);
        uint32_t one = (base + i) * vcs + match->vc[i][out], two = (base + best) * vcs + match->vc[best][out];
        if (other < rank || (other == rank && arbitration_prefers(policy, network, one, two))) {
            best = i;
            rank = other;
            equal = BIT(i);
        } else if (other == rank && !policy->total && !arbitration_prefers(policy, network, two, one)) {
            equal |= BIT(i);
        }
    }
    return equal;
}

static uint64_t best_outputs(const void *context, const struct islip_switch *match, uint32_t i,
                             uint64_t outputs)
{
    const struct choice *choice = context;
    const struct network *network = choice->network;
    const struct arbitration_policy *policy = network->arbitration.switch_policy;
    const uint32_t base = (choice->router->first_port + i) * network->channels.vcs;
    uint32_t best = ISLIP_PORTS;
    uint64_t equal = 0;
    while (outputs) {
        uint32_t out = take_bit(&outputs);
        uint32_t rank = arbitration_rank(&network->arbitration, i, out),
                 than = equal ? arbitration_rank(&network->arbitration, i, best) : 0;
        bool urgent = network->channels.priority & BIT(match->vc[i][out]);
        bool other = equal && network->channels.priority & BIT(match->vc[i][best]);
        bool same = equal && rank == than && urgent == other;
        if (!equal || rank < than || (rank == than && urgent && !other) ||
            (same &&
             arbitration_prefers(policy, network, base + match->vc[i][out], base + match->vc[i][best]))) {
            best = out;
            equal = BIT(out);
        } else if (same && !policy->total &&
                   !arbitration_prefers(policy, network, base + match->vc[i][best],
                                        base + match->vc[i][out])) {
            equal |= BIT(out);
        }
    }
    return equal;
}

uint64_t switch_alloc_match(struct network *network, const struct router *router, struct islip_switch *match,
                            uint32_t half)
{
    struct islip_turns *turns = network->sa.turns + half * network->topology->port_count;
    const struct choice choice = {network, router};
    const struct islip_chooser chooser = {best_inputs, best_outputs, &choice};
    /* Both sides of a switch choose by the same weights, so iterations to the end match the heaviest pairs first. */
    uint32_t iterations =
        network->arbitration.switch_policy->exhaustive ? router->ports : network->config.iterations;
    return islip_match(match, &turns[router->first_port], router->ports, iterations,
                       network->sa.plain ? NULL : &chooser);
}

bool switch_alloc_plain(const struct network *network)
{
    const struct arbitration_policy *policy = network->arbitration.switch_policy;
    return !policy->prefers && !policy->within && !network->channels.priority;
}

void switch_alloc_make(struct network *network)
{
    network->sa.turns = alloc((size_t)network->topology->port_count * network->config.input_speedup,
                              sizeof *network->sa.turns);
    network->sa.plain = switch_alloc_plain(network);
}

void switch_alloc_free(struct switch_alloc *sa)
{
    free(sa->turns);
}
