/* Priorities in the allocators of a network's routers: packets are ordered by age, distance or the oracle, and pairs
 * of ports by their ranks on critical paths (congestion.h). */
#ifndef EMU_NET_ARBITRATION_H
#define EMU_NET_ARBITRATION_H

#include "emu/net/network_state.h"

/* Returns whether the packet at the head of input channel `one` goes before that of `other`. Channels are numbered
 * port * vcs + vc over the network. By age, the packet made first goes first, by the oracle the heaviest (oracle.h); of equal
 * ones, that of the lowest source. With round robin, neither goes first. */
bool arbitration_prefers(const struct network *network, enum network_arbitration arbitration, uint32_t one,
                         uint32_t other);

/* The context of the allocators' choosers (islip.h). */
struct choice {
    const struct network *network;
    const struct router *router;
};

/* Returns the rank of a pair of the router's ports. Pairs of lower rank go first. */
static inline uint32_t arbitration_rank(const struct choice *choice, uint32_t in, uint32_t out)
{
    return choice->network->ranks ? congestion_rank(choice->network->ranks, in, out) : CONGESTION_NONE;
}

/* Makes the table of distances, for NETWORK_DISTANCE. */
void arbitration_measure(struct network *network);

#endif
