#include "emu/net/router_input.h"

void router_note_head(struct network *network, uint32_t in_port, uint32_t vc, uint32_t packet, uint32_t tick)
{
    if (network->priority_vcs)
        network->urgent[in_port] =
            (network->urgent[in_port] & ~BIT(vc)) | (network->packets[packet].urgent ? BIT(vc) : 0);
    if (network->begun)
        network->begun[in_port * network->vcs + vc] = tick;
}

struct flit router_take_tracker(struct network *network, uint32_t in_port, struct flit flit)
{
    uint32_t router = network->ports[in_port].router;
    flit.flags &= (uint8_t)~FLIT_TRACKER;
    congestion_arrived(network->congestion, router, in_port - network->routers[router].first_port);
    return flit;
}
