/* The input side of a network's routers: flits and credits arrive, a packet's head begins route computation (RC), and waits for
 * virtual channels and credits are counted. Ports and channels (port * vcs + vc) are numbered over the network, unless a
 * comment says otherwise. */
#ifndef EMU_NET_NETWORK_ROUTER_INPUT_H
#define EMU_NET_NETWORK_ROUTER_INPUT_H

#include "emu/net/network/state.h"

/* Notes whether the packet that has come to the head of a channel is urgent, and when it came. */
void router_note_head(struct network *network, uint32_t in_port, uint32_t vc, uint32_t packet, uint32_t tick)
    __attribute__((cold));

/* Takes the tracker from a flit that arrives at a router. Returns the flit without it. */
struct flit router_take_tracker(struct network *network, uint32_t in_port, struct flit flit)
    __attribute__((cold));

/* Begins RC, at that tick, for a packet whose head has come to the head of its queue. */
static inline void router_begin_packet(struct network *network, struct port *port, uint32_t in_port,
                                       uint32_t vc, uint32_t tick)
{
    struct input_vc *input = &network->routers.inputs[in_port * network->channels.vcs + vc];
    const struct flit *flit =
        &network->routers
             .buffers[(size_t)(in_port * network->channels.vcs + vc) * network->config.buffer + input->first];
    struct router *router = &network->routers.all[port->router];
    struct route route = routing_next(network->routing, network->topology, in_port,
                                      channels_set(&network->channels, vc), flit->value);
    input->out_port = route.port;
    input->group = (uint8_t)(router_class_of(network, vc, flit->packet) * network->channels.sets + route.set);
    if (network->routers.managed)
        router_note_head(network, in_port, vc, flit->packet, tick);
    input->ready = tick + network->routers.head_ticks;
    if (network->config.flow == NETWORK_STORE_AND_FORWARD &&
        input->count < network->packets.items[flit->packet].flits) {
        input->state = VC_PARTIAL;
        return;
    }
    input->state = VC_ROUTING;
    port->routing |= BIT(vc);
    router->routing |= BIT(in_port - router->first_port);
}

/* Lets an active channel, which has a flit and a credit, bid for the switch. */
static inline void router_make_ready(struct network *network, struct port *port, uint32_t in_port,
                                     uint32_t vc)
{
    struct router *router = &network->routers.all[port->router];
    port->ready |= BIT(vc);
    router->ready |= BIT(in_port - router->first_port);
}

/* Notes that a channel begins to wait for a virtual channel or a credit of an output. */
static inline void router_begin_wait(struct network *network, struct input_vc *input, uint32_t out_port,
                                     uint32_t tick)
{
    input->since = tick;
    if (network->epochs.stalls)
        stalls_begin(&network->epochs.stalls[out_port], tick);
}

/* Ends such a wait of an input channel, and adds its clocks to *counter and to the statistics. */
static inline void router_end_wait(struct network *network, uint32_t input, uint32_t out_port,
                                   uint64_t *counter, uint32_t tick)
{
    uint64_t waited = (tick - network->routers.inputs[input].since) / network->speedup;
    *counter += waited;
    network->vc_counters[input].stalls += waited;
    if (network->epochs.stalls)
        stalls_end(&network->epochs.stalls[out_port], tick);
}

/* Takes a flit that arrives at an input. */
static inline void router_take_flit(struct network *network, uint32_t in_port, struct flit flit,
                                    uint32_t tick)
{
    struct port *port = &network->routers.ports[in_port];
    uint32_t vc = flit.vc, buffer = network->config.buffer;
    struct input_vc *input = &network->routers.inputs[in_port * network->channels.vcs + vc];
    uint32_t at = (uint32_t)input->first + input->count++;
    if (flit.flags & FLIT_TRACKER)
        flit = router_take_tracker(network, in_port, flit);
    network->routers
        .buffers[(size_t)(in_port * network->channels.vcs + vc) * buffer + (at < buffer ? at : at - buffer)] =
        flit;
    workset_add(&network->routers.active, port->router);
    if (input->state == VC_IDLE) {
        router_begin_packet(network, port, in_port, vc, tick);
    } else if (input->state == VC_PARTIAL && flit.flags & FLIT_TAIL) {
        input->state = VC_ROUTING;
        port->routing |= BIT(vc);
        network->routers.all[port->router].routing |=
            BIT(in_port - network->routers.all[port->router].first_port);
    } else if (input->state == VC_ACTIVE && input->count == 1) {
        uint32_t out = network->routers.all[port->router].first_port + input->out_port;
        if (network->routers.outputs[out * network->channels.vcs + input->out_vc].credits)
            router_make_ready(network, port, in_port, vc);
        else
            router_begin_wait(network, input, out, tick);
    }
}

/* Takes a credit that arrives at an output channel (port * vcs + vc). */
static inline void router_take_credit(struct network *network, uint32_t target, uint32_t tick)
{
    struct output_vc *output = &network->routers.outputs[target];
    uint32_t out_port = target / network->channels.vcs;
    const struct port *port = &network->routers.ports[out_port];
    struct router *router = &network->routers.all[port->router];
    workset_add(&network->routers.active, port->router);
    if (output->credits++ || output->owner == NO_OWNER)
        return;
    uint32_t in_port = router->first_port + output->owner / network->channels.vcs;
    uint32_t input = router->first_port * network->channels.vcs + output->owner;
    if (network->routers.inputs[input].count == 0)
        return;
    router_end_wait(network, input, out_port, &network->links[out_port].credit_stalls, tick);
    router_make_ready(network, &network->routers.ports[in_port], in_port,
                      output->owner % network->channels.vcs);
}

#endif
