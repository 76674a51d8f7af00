#include "emu/net/network/router_input.h"

void router_note_head(struct network *network, uint32_t in_port, uint32_t vc, uint32_t packet, uint32_t tick)
{
    if (network->channels.priority)
        network->routers.urgent[in_port] = (network->routers.urgent[in_port] & ~BIT(vc)) |
                                           (network->packets.items[packet].urgent ? BIT(vc) : 0);
    if (network->routers.begun)
        network->routers.begun[in_port * network->channels.vcs + vc] = tick;
}

struct flit router_take_tracker(struct network *network, uint32_t in_port, struct flit flit)
{
    uint32_t router = network->routers.ports[in_port].router;
    flit.flags &= (uint8_t)~FLIT_TRACKER;
    congestion_arrived(network->epochs.congestion, router, in_port - network->routers.all[router].first_port);
    return flit;
}
