#include "emu/net/network/router.h"

#include <stdlib.h>

#include "emu/net/network/router_input.h"
#include "emu/net/network/state.h"
#include "emu/sim/alloc.h"

/* Channels that have finished RC bid for a virtual channel. */
static void finish_routing(struct network *network, struct router *router, uint32_t tick)
{
    for (uint64_t inputs = router->routing; inputs;) {
        uint32_t i = take_bit(&inputs), in_port = router->first_port + i;
        struct port *port = &network->routers.ports[in_port];
        for (uint64_t left = port->routing; left;) {
            uint32_t vc = take_bit(&left);
            struct input_vc *input = &network->routers.inputs[in_port * network->channels.vcs + vc];
            if (tick_later(input->ready, tick))
                continue;
            input->state = VC_WAITING;
            router_begin_wait(network, input, router->first_port + input->out_port, tick);
            port->routing &= ~BIT(vc);
            uint64_t *bids = router_bids(network, router, input->out_port, input->group);
            bids[0] |= BIT(i);
            bids[1 + i] |= BIT(vc);
            if (network->channels.priority && network->routers.urgent[in_port] & BIT(vc)) {
                bids = router_bids(network, router, input->out_port, network->channels.groups + input->group);
                bids[0] |= BIT(i);
                bids[1 + i] |= BIT(vc);
            }
            router->waiting |= BIT(input->out_port);
        }
        if (!port->routing)
            router->routing &= ~BIT(i);
    }
}

static void tell_hop(const struct network *network, const struct router *router, uint32_t i, uint32_t vc,
                     const struct input_vc *input, struct flit flit)
{
    const struct network_hop hop = {.clock = network->now,
                                    .in_port = router->first_port + i,
                                    .out_port = router->first_port + input->out_port,
                                    .in_vc = (uint8_t)vc,
                                    .out_vc = input->out_vc,
                                    .head = flit.flags & FLIT_HEAD,
                                    .tail = flit.flags & FLIT_TAIL,
                                    .flit = flit.flags & FLIT_HEAD ? 0 : flit.value};
    OBSERVER_TELL(&network->observers, struct network_observer, hop, &hop,
                  &network->packets.items[flit.packet]);
}

/* Counts how the packet of a flit that leaves was treated. Returns the flit, with the tracker that is pending, if any. */
static __attribute__((noinline, cold)) struct flit manage(struct network *network, struct router *router,
                                                          uint32_t i, uint32_t vc, uint32_t out,
                                                          struct flit flit, uint32_t tick)
{
    uint32_t number = (uint32_t)(router - network->routers.all), in_port = router->first_port + i;
    if (network->channels.priority && network->routers.urgent[in_port] & BIT(vc)) {
        network->totals->urgent++;
        network->totals->buffered += (network->channels.priority & BIT(vc)) != 0;
    }
    if (network->routers.begun && flit.flags & FLIT_HEAD) {
        struct network_waits *waits = &network->routers.waits;
        uint64_t clocks =
            (tick - network->routers.begun[in_port * network->channels.vcs + vc]) / network->speedup;
        bool critical =
            congestion_rank(&network->epochs.congestion->routers[number], i, out) != CONGESTION_NONE;
        waits->packets[critical]++;
        waits->clocks[critical] += clocks;
        waits->longest[critical] = clocks > waits->longest[critical] ? clocks : waits->longest[critical];
    }
    if (network->epochs.congestion && congestion_pends(network->epochs.congestion, number, out)) {
        congestion_send(network->epochs.congestion, number, out);
        if (!network->routers.ports[router->first_port + out].node)
            flit.flags |= FLIT_TRACKER;
    }
    return flit;
}

/* Sends the flit at the head of an input channel over the switch and the link. */
static inline void forward(struct network *network, struct router *router, uint32_t i, uint32_t vc,
                           uint64_t tick, uint64_t crossed)
{
    uint32_t vcs = network->channels.vcs, in_port = router->first_port + i;
    struct port *in = &network->routers.ports[in_port];
    struct input_vc *input = &network->routers.inputs[in_port * vcs + vc];
    struct flit flit =
        network->routers.buffers[(size_t)(in_port * vcs + vc) * network->config.buffer + input->first];
    uint32_t out_port = router->first_port + input->out_port;
    struct port *out = &network->routers.ports[out_port];
    struct output_vc *output = &network->routers.outputs[out_port * vcs + input->out_vc];
    if (network->observers.first)
        tell_hop(network, router, i, vc, input, flit);
    if (network->arbitration.oracle)
        oracle_passed(network->arbitration.oracle, in_port, out_port);
    if (network->arbitration.loads)
        loads_passed(network->arbitration.loads, in_port, out_port, network->now);
    if (network->routers.managed)
        flit = manage(network, router, i, vc, input->out_port, flit, (uint32_t)tick);
    input->first = (uint16_t)(input->first + 1 == (uint16_t)network->config.buffer ? 0 : input->first + 1);
    input->count--;
    output->credits--;
    uint64_t depart = crossed > out->busy ? crossed : out->busy;
    out->busy = depart + out->flit_clocks;
    flit.vc = input->out_vc;
    if (__builtin_expect(out->piece == network->piece, 1))
        calendar_post_flit(&network->calendar, depart + out->latency + out->flit_clocks, out->peer, flit);
    else
        pieces_post_flit(network, out, depart + out->latency + out->flit_clocks, flit);
    uint64_t leaves = tick + network->config.switch_clocks - 1;
    if (network->speedup > 1)
        leaves /= network->speedup;
    const uint64_t returns = leaves + in->latency + 1 + (in->node ? 0 : network->config.credit_clocks);
    if (__builtin_expect(in->piece == network->piece, 1))
        calendar_post_credit(&network->calendar, returns, in->peer * vcs + vc);
    else
        pieces_post_credit(network, in->piece, returns, in->peer * vcs + vc);
    network->links[out_port].flits++;
    network->links[out_port].busy += out->flit_clocks;
    network->vc_counters[in_port * vcs + vc].flits++;
    network->totals->hops++;
    network->totals->wire_flits += !out->node;
    if (flit.flags & FLIT_TAIL) {
        output->owner = NO_OWNER;
        out->free |= BIT(input->out_vc);
        input->state = VC_IDLE;
        in->ready &= ~BIT(vc);
        if (input->count)
            router_begin_packet(network, in, in_port, vc, (uint32_t)tick + 1);
    } else if (input->count == 0) {
        in->ready &= ~BIT(vc);
    } else if (output->credits == 0) {
        in->ready &= ~BIT(vc);
        router_begin_wait(network, input, out_port, (uint32_t)tick + 1);
    }
    if (!in->ready)
        router->ready &= ~BIT(i);
}

/* Sets whether the ranks of a router's pairs decide in this clock: not if there are none, nor in `fairness` percent of
 * the clocks. */
static void set_ranks(struct network *network, const struct router *router)
{
    const struct congestion_router *ranks =
        &network->epochs.congestion->routers[router - network->routers.all];
    uint64_t *random = &network->arbitration.random; /* xorshift64 (Marsaglia, 2003) */
    network->arbitration.ranks = ranks->pair_count ? ranks : NULL;
    if (network->arbitration.ranks && network->config.fairness) {
        *random ^= *random << 13;
        *random ^= *random >> 7;
        *random ^= *random << 17;
        if ((*random >> 32) * 100 >> 32 < network->config.fairness)
            network->arbitration.ranks = NULL;
    }
    network->va.plain = !network->arbitration.ranks && vc_alloc_plain(network);
    network->sa.plain = !network->arbitration.ranks && switch_alloc_plain(network);
}

/* Counts the stalls of flits whose link is busy with the one before. */
static void note_busy_links(struct network *network, const struct router *router, uint32_t tick,
                            uint64_t crossed)
{
    for (uint64_t inputs = router->ready; inputs;) {
        uint32_t in_port = router->first_port + take_bit(&inputs);
        for (uint64_t left = network->routers.ports[in_port].ready; left;) {
            uint32_t vc = take_bit(&left);
            uint32_t out =
                router->first_port + network->routers.inputs[in_port * network->channels.vcs + vc].out_port;
            if (!switch_alloc_open(&network->routers.ports[out], network->config.output_queue, crossed))
                stalls_note(&network->epochs.stalls[out], tick);
        }
    }
}

/* Sends the flits of matched channels. */
static void serve(struct network *network, struct router *router, const struct islip_switch *match,
                  uint64_t matched, uint64_t tick, uint64_t crossed)
{
    while (matched) {
        uint32_t i = take_bit(&matched), vc = match->vc[i][match->out[i]];
        struct port *in = &network->routers.ports[router->first_port + i];
        if (!(network->channels.priority & BIT(vc)))
            in->turn = (uint8_t)(vc + 1 == network->channels.vcs ? 0 : vc + 1);
        if (in->ready & BIT(vc)) /* else a speculation that failed */
            forward(network, router, i, vc, tick, crossed);
    }
}

/* Adds the bids of a part of the channels. */
static void bid(const struct network *network, const struct router *router, struct islip_switch *match,
                uint64_t channels, uint64_t crossed)
{
    islip_begin(match);
    switch_alloc_bid(network, router, match, channels, crossed);
    if (router->waiting && network->config.speculative)
        switch_alloc_speculate(network, router, match, channels, crossed);
}

/* Lets both halves of the channels bid for the switch, each with lines of its own, in turn the first. */
static void step_twice(struct network *network, struct router *router, uint64_t tick, uint64_t crossed)
{
    struct islip_switch match[2];
    for (uint32_t half = 0; half < 2; half++)
        bid(network, router, &match[half], network->channels.halves[half], crossed);
    if (router->waiting)
        vc_alloc_step(network, router, (uint32_t)tick);
    uint64_t taken = 0;
    for (uint32_t turn = 0; turn < 2; turn++) {
        uint32_t half = (uint32_t)(tick + turn) % 2;
        match[half].outputs &= ~taken;
        uint64_t matched = switch_alloc_match(network, router, &match[half], half);
        for (uint64_t left = matched; left;)
            taken |= BIT(match[half].out[take_bit(&left)]);
        serve(network, router, &match[half], matched, tick, crossed);
    }
}

void router_step(struct network *network, struct router *router, uint64_t tick)
{
    struct islip_switch match;
    uint64_t crossed = tick + network->config.switch_clocks - 1 + network->config.traversal_clocks;
    if (network->speedup > 1)
        crossed /= network->speedup;
    if (network->config.path_priority)
        set_ranks(network, router);
    if (router->routing)
        finish_routing(network, router, (uint32_t)tick);
    if (network->epochs.stalls)
        note_busy_links(network, router, (uint32_t)tick, crossed);
    if (network->config.input_speedup > 1) {
        step_twice(network, router, tick, crossed);
        return;
    }
    bid(network, router, &match, UINT64_MAX, crossed);
    if (router->waiting)
        vc_alloc_step(network, router, (uint32_t)tick);
    if (match.outputs)
        serve(network, router, &match, switch_alloc_match(network, router, &match, 0), tick, crossed);
}

/* Making. */

static void make_ports(struct network *network)
{
    const struct topology *topology = network->topology;
    for (uint32_t p = 0; p < topology->port_count; p++) {
        const struct topology_port *from = &topology->ports[p];
        network->routers.ports[p] =
            (struct port){.free = low_bits(network->channels.vcs),
                          .router = from->router,
                          .peer = from->peer,
                          .latency = (uint16_t)from->latency,
                          .flit_clocks = (uint16_t)link_flit_clocks(network->config.flit, from->width),
                          .node = from->wire == TOPOLOGY_NO_WIRE};
    }
}

void routers_make(struct network *network)
{
    const struct topology *topology = network->topology;
    const struct network_config *config = &network->config;
    const struct channels *channels = &network->channels;
    struct routers *routers = &network->routers;
    size_t vcs = channels->vcs, ports = topology->port_count, outputs = (ports + topology->node_count) * vcs;
    *routers = (struct routers){.ports = alloc(ports, sizeof *routers->ports),
                                .all = alloc(topology->router_count, sizeof *routers->all),
                                .inputs = alloc(ports * vcs, sizeof *routers->inputs),
                                .outputs = alloc(outputs, sizeof *routers->outputs),
                                .buffers = alloc(ports * vcs * config->buffer, sizeof *routers->buffers),
                                .head_ticks = config->routing_clocks + config->vc_clocks - 1,
                                .active = workset_new(topology->router_count),
                                .busy = workset_new(topology->router_count)};
    for (size_t i = 0; i < outputs; i++)
        routers->outputs[i] = (struct output_vc){.credits = channels->depth[i % vcs], .owner = NO_OWNER};
    for (uint32_t r = 0; r < topology->router_count; r++) {
        const struct topology_router *from = &topology->routers[r];
        routers->all[r] = (struct router){.first_port = from->first_port, .ports = from->ports};
    }
    make_ports(network);
    routers->managed = config->track || channels->priority;
    if (channels->priority)
        routers->urgent = alloc(ports, sizeof *routers->urgent);
    if (config->track && config->path_priority)
        routers->begun = alloc(ports * vcs, sizeof *routers->begun);
}

void routers_free(struct routers *routers)
{
    void *blocks[] = {routers->ports,   routers->all,    routers->inputs, routers->outputs,
                      routers->buffers, routers->urgent, routers->begun};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        free(blocks[i]);
    workset_free(&routers->active);
    workset_free(&routers->busy);
}
