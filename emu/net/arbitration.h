/* Who goes first in the allocators of a network's routers: packets by age, distance or the oracle, and pairs of ports by the
 * ranks of critical paths. */
#ifndef EMU_NET_ARBITRATION_H
#define EMU_NET_ARBITRATION_H

#include "emu/net/network_state.h"

/* Compares the packets at the heads of two input channels (port * vcs + vc, of the network): whether the first one goes before the
 * other. By age, that is the packet made first, then the one of the lowest source. Neither goes first round robin. */
bool arbitration_prefers(const struct network *network, enum network_arbitration arbitration, uint32_t one,
                         uint32_t other);

/* What choosers know. */
struct choice {
    const struct network *network;
    const struct router *router;
};

/* Returns the rank of a pair of the router's ports; the lower, the earlier it goes. */
static inline uint32_t arbitration_rank(const struct choice *choice, uint32_t in, uint32_t out)
{
    return choice->network->ranks ? congestion_rank(choice->network->ranks, in, out) : CONGESTION_NONE;
}

/* Makes the table of distances, for NETWORK_DISTANCE. */
void arbitration_measure(struct network *network);

#endif
