#include "emu/net/network/vc_alloc.h"

#include <stdlib.h>

#include "emu/net/network/router_input.h"
#include "emu/net/network/state.h"
#include "emu/sim/alloc.h"

/* Compares two bidders for an output: by the rank of their inputs, by the arbitration, then round robin from `turn`. */
static bool bidder_wins(const struct choice *choice, const struct islip_channels *channels, uint32_t one,
                        uint32_t other, uint32_t turn)
{
    const struct network *network = choice->network;
    uint32_t vcs = network->channels.vcs, base = choice->router->first_port * vcs, total = channels->total;
    uint32_t rank = arbitration_rank(&network->arbitration, one / vcs, channels->output),
             than = arbitration_rank(&network->arbitration, other / vcs, channels->output);
    if (rank != than)
        return rank < than;
    const struct arbitration_policy *policy = network->arbitration.vc_policy;
    if (arbitration_prefers(policy, network, base + one, base + other))
        return true;
    if (channels->greedy || arbitration_prefers(policy, network, base + other, base + one))
        return false;
    return (one + total - turn) % total < (other + total - turn) % total;
}

/* The chooser of islip_allocate(): the best bidder for which an output channel has room. Of its port, a packet in a priority
 * buffer goes before those in other channels. */
static uint32_t choose_bidder(const void *context, const struct islip_channels *channels,
                              const uint64_t *words, uint32_t channel)
{
    const struct choice *choice = context;
    const struct network *network = choice->network;
    uint32_t vcs = network->channels.vcs, best = ISLIP_NOBODY, turn = channels->grant[channel];
    const struct output_vc *output =
        &network->routers.outputs[(choice->router->first_port + channels->output) * vcs + channel];
    for (uint64_t inputs = words[0]; inputs;) {
        uint32_t i = take_bit(&inputs);
        for (uint64_t left = words[1 + i]; left;) {
            uint32_t input = i * vcs + take_bit(&left);
            if (output_has_room(network, choice->router, input, output) &&
                (best == ISLIP_NOBODY || bidder_wins(choice, channels, input, best, turn)))
                best = input;
        }
    }
    if (best == ISLIP_NOBODY || network->channels.priority & BIT(best % vcs))
        return best;
    for (uint64_t left = words[1 + best / vcs] & network->channels.priority; left;) {
        uint32_t input = best / vcs * vcs + take_bit(&left);
        if (output_has_room(network, choice->router, input, output))
            return input;
    }
    return best;
}

/* Leaves the channels with most credits to a bidder (vc_choice). */
static uint64_t leave_most_credits(const void *context, const struct islip_channels *channels,
                                   uint64_t granted)
{
    const struct choice *choice = context;
    return output_most_credits(
        &choice->network->routers.outputs[(choice->router->first_port + channels->output) * channels->vcs],
        granted);
}

/* An input channel gets an output channel. */
static void give_vc(struct network *network, struct router *router, uint32_t input, uint32_t out, uint32_t vc,
                    uint32_t tick)
{
    uint32_t vcs = network->channels.vcs, in_port = router->first_port + input / vcs,
             out_port = router->first_port + out;
    struct input_vc *in = &network->routers.inputs[router->first_port * vcs + input];
    struct output_vc *output = &network->routers.outputs[out_port * vcs + vc];
    output->owner = (uint16_t)input;
    network->routers.ports[out_port].free &= ~BIT(vc);
    in->state = VC_ACTIVE;
    in->out_vc = (uint8_t)vc;
    router_end_wait(network, router->first_port * vcs + input, out_port, &network->links[out_port].vc_stalls,
                    tick);
    if (output->credits)
        router_make_ready(network, &network->routers.ports[in_port], in_port, input % vcs);
    else
        router_begin_wait(network, in, out_port, tick + 1);
}

/* Gives free channels of an output to bidders, which leave the words. Returns the number of grants. */
static uint32_t allocate(struct network *network, struct router *router, uint32_t out, uint64_t *bids,
                         uint64_t free, struct islip_grant grants[ISLIP_CHANNELS], uint32_t tick)
{
    const uint32_t vcs = network->channels.vcs, base = router->first_port * vcs, total = router->ports * vcs;
    uint16_t *grant = network->va.grants + base + out * vcs;
    uint32_t *accept = network->va.accepts + base;
    const struct choice choice = {network, router};
    const struct islip_channels channels = {
        .vcs = vcs,
        .total = total,
        .iterations = network->config.iterations,
        .output = out,
        .grant = grant,
        .accept = accept,
        .choose = network->va.plain ? NULL : choose_bidder,
        .leave = network->config.vc_choice == NETWORK_CREDITS ? leave_most_credits : NULL,
        .context = &choice,
        .greedy = network->arbitration.vc_policy->greedy};
    uint32_t count = islip_allocate(&channels, bids, free, grants);
    for (uint32_t i = 0; i < count; i++)
        give_vc(network, router, grants[i].input, out, grants[i].vc, tick);
    return count;
}

static void drop_bid(uint64_t *bids, uint32_t i, uint32_t vc)
{
    bids[1 + i] &= ~BIT(vc);
    if (!bids[1 + i])
        bids[0] &= ~BIT(i);
}

/* Gives free channels of an output to the bidders of a group. Bidders that get one leave the words of `bids` and, unless it
 * is NULL, of `others`. */
static __attribute__((noinline)) void allocate_group(struct network *network, struct router *router,
                                                     uint32_t out, uint64_t *bids, uint64_t *others,
                                                     uint64_t free, uint32_t tick)
{
    struct islip_grant grants[ISLIP_CHANNELS];
    uint32_t count = allocate(network, router, out, bids, free, grants, tick);
    for (uint32_t i = 0; others && i < count; i++)
        drop_bid(others, grants[i].input / network->channels.vcs, grants[i].input % network->channels.vcs);
}

/* Free shared channels of an output that are empty: priority buffers, or the others. */
static uint64_t open_shared(const struct network *network, const struct router *router, uint32_t out,
                            uint32_t set, bool buffers)
{
    const struct port *port = &network->routers.ports[router->first_port + out];
    uint64_t channels =
        port->node ? network->channels.shared_node[buffers] : network->channels.shared_wire[buffers][set];
    return output_empty(&network->channels,
                        &network->routers.outputs[(router->first_port + out) * network->channels.vcs],
                        port->free & channels);
}

/* Gives empty shared channels of an output to the bidders of all classes: priority buffers to urgent ones, or to all. */
static void allocate_shared(struct network *network, struct router *router, uint32_t out, uint32_t set,
                            bool buffers, bool urgent, uint32_t tick)
{
    struct islip_grant grants[ISLIP_CHANNELS];
    uint32_t sets = network->channels.sets, first = urgent ? network->channels.groups : 0,
             vcs = network->channels.vcs;
    uint64_t *joint = network->va.joint, free = open_shared(network, router, out, set, buffers);
    joint[0] = 0;
    for (uint32_t group = set; free && group < network->channels.groups; group += sets) {
        const uint64_t *bids = router_bids(network, router, out, first + group);
        for (uint64_t left = bids[0]; left;) {
            uint32_t i = take_bit(&left);
            joint[1 + i] = (joint[0] & BIT(i) ? joint[1 + i] : 0) | bids[1 + i];
            joint[0] |= BIT(i);
        }
    }
    if (!joint[0])
        return;
    uint32_t count = allocate(network, router, out, joint, free, grants, tick);
    for (uint32_t k = 0; k < count; k++) {
        uint32_t input = grants[k].input,
                 group = network->routers.inputs[router->first_port * vcs + input].group;
        drop_bid(router_bids(network, router, out, group), input / vcs, input % vcs);
        if (network->channels.priority)
            drop_bid(router_bids(network, router, out, network->channels.groups + group), input / vcs,
                     input % vcs);
    }
}

/* Free priority buffers of an output with credits. */
static uint64_t open_buffers(const struct network *network, const struct router *router, uint32_t out,
                             uint32_t group)
{
    const struct port *port = &network->routers.ports[router->first_port + out];
    uint64_t open = 0;
    for (uint64_t free = port->free & channels_buffers(&network->channels, port->node, group); free;) {
        uint32_t vc = take_bit(&free);
        open |= network->routers.outputs[(router->first_port + out) * network->channels.vcs + vc].credits
                    ? BIT(vc)
                    : 0;
    }
    return open;
}

/* Gives priority buffers to urgent bidders of a group. With priority_shared, others may have those that are left. */
static void allocate_buffers(struct network *network, struct router *router, uint32_t out, uint32_t group,
                             uint64_t *bids, uint64_t *urgent, uint32_t tick)
{
    uint64_t open = open_buffers(network, router, out, group);
    if (urgent[0] && open)
        allocate_group(network, router, out, urgent, bids, open, tick);
    if (!network->config.priority_shared || urgent[0] || !bids[0])
        return;
    open = open_buffers(network, router, out, group);
    if (open)
        allocate_group(network, router, out, bids, urgent, open, tick);
}

/* Gives a channel to a bidder that is alone. */
static inline void allocate_one(struct network *network, struct router *router, uint32_t out, uint64_t *bids,
                                uint64_t free, uint32_t tick)
{
    const uint32_t vcs = network->channels.vcs, base = router->first_port * vcs;
    struct islip_grant one =
        islip_allocate_one(bids, free, out, vcs, router->ports * vcs, network->va.grants + base + out * vcs,
                           network->va.accepts + base);
    give_vc(network, router, one.input, out, one.vc, tick);
}

/* Gives shared priority buffers of an output to urgent bidders; with priority_shared, those that are left to others. */
static void allocate_shared_buffers(struct network *network, struct router *router, uint32_t out,
                                    uint32_t tick)
{
    for (uint32_t set = 0; set < network->channels.sets; set++) {
        bool waits = false;
        allocate_shared(network, router, out, set, true, true, tick);
        for (uint32_t group = set; group < network->channels.groups; group += network->channels.sets)
            waits |= router_bids(network, router, out, network->channels.groups + group)[0] != 0;
        if (network->config.priority_shared && !waits)
            allocate_shared(network, router, out, set, true, false, tick);
    }
}

void vc_alloc_step(struct network *network, struct router *router, uint32_t tick)
{
    for (uint64_t outputs = router->waiting; outputs;) {
        uint32_t out = take_bit(&outputs);
        const struct port *port = &network->routers.ports[router->first_port + out];
        uint64_t any = 0;
        if (network->channels.shared_node[1])
            allocate_shared_buffers(network, router, out, tick);
        for (uint32_t group = 0; group < network->channels.groups; group++) {
            uint64_t *bids = router_bids(network, router, out, group), *urgent = NULL;
            if (!bids[0])
                continue;
            uint64_t free = port->free & channels_of(&network->channels, port->node, group);
            if (network->channels.priority) {
                urgent = router_bids(network, router, out, network->channels.groups + group);
                allocate_buffers(network, router, out, group, bids, urgent, tick);
            }
            if (free && network->va.plain && islip_alone(bids))
                allocate_one(network, router, out, bids, free, tick);
            else if (free && bids[0])
                allocate_group(network, router, out, bids, urgent, free, tick);
            any |= bids[0];
        }
        if (network->channels.shared_node[0] && any) {
            any = 0;
            for (uint32_t set = 0; set < network->channels.sets; set++)
                allocate_shared(network, router, out, set, false, false, tick);
            for (uint32_t group = 0; group < network->channels.groups; group++)
                any |= router_bids(network, router, out, group)[0];
        }
        if (!any)
            router->waiting &= ~BIT(out);
    }
}

/* Whether a bidder of a group could get a shared channel. */
static bool can_share(const struct network *network, const struct router *router, uint32_t out,
                      uint32_t group)
{
    uint32_t set = group % network->channels.sets;
    bool buffers = network->channels.shared_node[1] &&
                   (network->config.priority_shared ||
                    router_bids(network, router, out, network->channels.groups + group)[0]);
    return (network->channels.shared_node[0] && open_shared(network, router, out, set, false)) ||
           (buffers && open_shared(network, router, out, set, true));
}

/* Whether a bidder of a group could get a priority buffer. */
static bool can_buffer(const struct network *network, const struct router *router, uint32_t out,
                       uint32_t group)
{
    return network->channels.priority &&
           (network->config.priority_shared ||
            router_bids(network, router, out, network->channels.groups + group)[0]) &&
           open_buffers(network, router, out, group);
}

bool vc_alloc_pends(const struct network *network, const struct router *router)
{
    for (uint64_t outputs = router->waiting; outputs;) {
        uint32_t out = take_bit(&outputs);
        const struct port *port = &network->routers.ports[router->first_port + out];
        for (uint32_t group = 0; group < network->channels.groups; group++)
            if (router_bids(network, router, out, group)[0] &&
                (port->free & channels_of(&network->channels, port->node, group) ||
                 can_buffer(network, router, out, group) || can_share(network, router, out, group)))
                return true;
    }
    return false;
}

bool vc_alloc_plain(const struct network *network)
{
    return !network->arbitration.vc_policy->prefers && network->config.flow == NETWORK_WORMHOLE &&
           !network->channels.priority && network->config.vc_choice == NETWORK_TURN;
}

void vc_alloc_make(struct network *network)
{
    const struct topology *topology = network->topology;
    const struct channels *channels = &network->channels;
    size_t bids = 0, inputs = (size_t)topology->port_count * channels->vcs;
    for (uint32_t r = 0; r < topology->router_count; r++) {
        struct router *router = &network->routers.all[r];
        router->bids = bids;
        bids += (size_t)router->ports * channels->groups * (channels->priority ? 2 : 1) * (1 + router->ports);
    }
    network->va = (struct vc_alloc){.grants = alloc(inputs, sizeof *network->va.grants),
                                    .accepts = alloc(inputs, sizeof *network->va.accepts),
                                    .bids = alloc(bids, sizeof *network->va.bids)};
    if (channels->shared)
        network->va.joint = alloc(1 + TOPOLOGY_PORTS, sizeof *network->va.joint);
    network->va.plain = vc_alloc_plain(network);
}

void vc_alloc_free(struct vc_alloc *va)
{
    free(va->grants);
    free(va->accepts);
    free(va->bids);
    free(va->joint);
}
