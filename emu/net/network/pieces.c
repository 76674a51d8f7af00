#include <assert.h>

#include "emu/net/network/state.h"

struct calendar *pieces_calendar(struct network *network, uint32_t piece)
{
    network->posted |= BIT(piece);
    return &network->pieces[piece]->calendar;
}

void pieces_post_flit(struct network *network, const struct port *out, uint64_t clock, struct flit flit)
{
    struct network *other = network->pieces[out->piece];
    uint32_t *came = &other->came[out->peer * network->channels.vcs + flit.vc], here = flit.packet;
    if (flit.flags & FLIT_HEAD)
        *came = packets_add(&other->packets, &network->packets.items[here]);
    flit.packet = *came;
    calendar_post_flit(pieces_calendar(network, out->piece), clock, out->peer, flit);
    if (flit.flags & FLIT_TAIL)
        packets_drop(&network->packets, here);
}

void pieces_mark(struct network *network)
{
    const struct topology *topology = network->topology;
    for (uint32_t p = 0; p < topology->port_count; p++) {
        const struct topology_port *port = &topology->ports[p];
        const uint32_t router =
            port->wire == TOPOLOGY_NO_WIRE ? port->router : topology->ports[port->peer].router;
        network->routers.ports[p].piece = (uint8_t)network->router_pieces[router];
    }
}
