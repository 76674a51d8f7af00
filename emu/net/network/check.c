#include "emu/net/network/check.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "emu/net/network/state.h"
#include "emu/sim/alloc.h"

/* The packet that a channel is in the middle of. */
struct passage {
    uint32_t packet;
    uint32_t next; /* number of its next flit; 0: between packets */
};

struct network_checks {
    struct passage *passages; /* [target * vcs + vc] */
    uint32_t *under_way;      /* flits and credits on the wire, by receiving channel of the flits */
};

static _Noreturn void broken(const struct network *network, const char *what, uint32_t target, uint32_t vc)
{
    (void)dprintf(STDERR_FILENO, "network: clock %" PRIu64 ", port %u, virtual channel %u: %s\n",
                  network->now, target, vc, what);
    abort();
}

/* Flits that a channel has, with those for which it owes a credit. */
static uint32_t held_at(const struct network *network, uint32_t target, uint32_t vc)
{
    uint32_t ports = network->topology->port_count, place = target * network->channels.vcs + vc;
    if (target < ports)
        return network->routers.inputs[place].count;
    const struct arrivals *held = &network->endpoints.arrivals[place - ports * network->channels.vcs];
    return held->count + held->owes;
}

void network_check_arrival(struct network *network, uint32_t target, struct flit flit)
{
    struct passage *passage = &network->checks->passages[target * network->channels.vcs + flit.vc];
    const struct network_packet *packet = &network->packets.items[flit.packet];
    bool head = flit.flags & FLIT_HEAD;
    if (head != (passage->next == 0) ||
        (!head && (flit.packet != passage->packet || flit.value != passage->next)))
        broken(network, "a flit is out of order", target, flit.vc);
    if (router_class_of(network, flit.vc, flit.packet) != packet->class)
        broken(network, "a packet is in a channel of another class", target, flit.vc);
    if (network->channels.shared & BIT(flit.vc) && head && held_at(network, target, flit.vc))
        broken(network, "a shared channel has two packets", target, flit.vc);
    if (network->channels.priority & BIT(flit.vc) && !packet->urgent && !network->config.priority_shared)
        broken(network, "a divergent packet is in a priority buffer", target, flit.vc);
    passage->packet = flit.packet;
    passage->next++;
    if (((flit.flags & FLIT_TAIL) != 0) != (passage->next == packet->flits))
        broken(network, "a packet has too few or too many flits", target, flit.vc);
    if (flit.flags & FLIT_TAIL)
        passage->next = 0;
    uint32_t ports = network->topology->port_count;
    if (target >= ports && packet->destination != target - ports)
        broken(network, "a packet is at a wrong node", target, flit.vc);
}

/* The output channel that sends to an input channel of a port, or of a node. */
static uint32_t sender_of(const struct network *network, uint32_t target, uint32_t vc)
{
    uint32_t ports = network->topology->port_count;
    uint32_t from = target < ports ? network->topology->ports[target].peer
                                   : network->topology->node_ports[target - ports];
    return from * network->channels.vcs + vc;
}

static void check_credits(const struct network *network, uint32_t target, uint32_t vc)
{
    uint32_t place = target * network->channels.vcs + vc, sender = sender_of(network, target, vc);
    uint32_t held = held_at(network, target, vc);
    if (held + network->checks->under_way[place] + network->routers.outputs[sender].credits !=
        network->channels.depth[vc])
        broken(network, "credits and flits do not add up to the buffer", target, vc);
}

static void check_owner(const struct network *network, uint32_t out_port, uint32_t vc)
{
    const struct port *port = &network->routers.ports[out_port];
    const struct router *router = &network->routers.all[port->router];
    uint32_t owner = network->routers.outputs[out_port * network->channels.vcs + vc].owner;
    if ((owner == NO_OWNER) != ((port->free >> vc & 1) != 0))
        broken(network, "a channel is both free and in use", out_port, vc);
    if (owner == NO_OWNER)
        return;
    const struct input_vc *input =
        &network->routers.inputs[router->first_port * network->channels.vcs + owner];
    if (input->state != VC_ACTIVE || input->out_vc != vc || router->first_port + input->out_port != out_port)
        broken(network, "a channel is in use by a packet that does not have it", out_port, vc);
    const struct port *in = &network->routers.ports[router->first_port + owner / network->channels.vcs];
    bool ready = input->count && network->routers.outputs[out_port * network->channels.vcs + vc].credits;
    if (ready != ((in->ready >> owner % network->channels.vcs & 1) != 0))
        broken(network, "a channel bids without a flit or a credit, or does not bid with both", out_port, vc);
}

void network_check_clock(struct network *network)
{
    uint32_t ports = network->topology->port_count, nodes = network->topology->node_count,
             vcs = network->channels.vcs;
    uint32_t *under_way = network->checks->under_way;
    memset(under_way, 0, (size_t)(ports + nodes) * vcs * sizeof *under_way);
    uint64_t flits = 0;
    for (uint32_t s = 0; s <= network->calendar.mask; s++) {
        const struct calendar_slot *slot = &network->calendar.slots[s];
        for (uint32_t k = 0; k < slot->flit_count; k++)
            under_way[slot->flits[k].target * vcs + slot->flits[k].flit.vc]++;
        flits += slot->flit_count;
        for (uint32_t k = 0; k < slot->credit_count; k++) {
            uint32_t sender = slot->credits[k] / vcs;
            uint32_t target = sender < ports ? network->topology->ports[sender].peer
                                             : network->topology->node_ports[sender - ports];
            under_way[target * vcs + slot->credits[k] % vcs]++;
        }
    }
    for (uint32_t place = 0; place < (ports + nodes) * vcs; place++) {
        check_credits(network, place / vcs, place % vcs);
        if (place < ports * vcs)
            check_owner(network, place / vcs, place % vcs);
        flits += place < ports * vcs ? network->routers.inputs[place].count
                                     : network->endpoints.arrivals[place - ports * vcs].count;
    }
    if (flits != network->totals->flits_entered - network->totals->flits_left)
        broken(network, "a flit is lost or made", 0, 0);
}

void network_check_always(struct network *network)
{
    uint32_t ends = network->topology->port_count + network->topology->node_count;
    network->checks = alloc(1, sizeof *network->checks);
    network->checks->passages =
        alloc((size_t)ends * network->channels.vcs, sizeof *network->checks->passages);
    network->checks->under_way =
        alloc((size_t)ends * network->channels.vcs, sizeof *network->checks->under_way);
}

void network_check_free(struct network_checks *checks)
{
    if (!checks)
        return;
    free(checks->passages);
    free(checks->under_way);
    free(checks);
}
