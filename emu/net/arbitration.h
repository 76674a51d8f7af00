/* Priorities in the allocators of a network's routers: packets are ordered by age, distance or the oracle, and pairs
 * of ports by their ranks on critical paths (congestion.h). */
#ifndef EMU_NET_ARBITRATION_H
#define EMU_NET_ARBITRATION_H

#include "emu/net/network_state.h"

struct arbitration_policy {
    /* Returns whether the packet at the head of input channel `one` goes before that of `other`. Channels are numbered
     * port * vcs + vc over the network. By age, the packet made first goes first, by the oracle the heaviest (oracle.h); of
     * equal ones, that of the lowest source. NULL: no packet goes first; round robin decides. */
    bool (*prefers)(const struct network *network, uint32_t one, uint32_t other);
    /* Makes what prefers() needs. Called once for a network. NULL: nothing */
    void (*prepare)(struct network *network);
    bool
        greedy; /* VA: the order alone decides: channels are given one by one, and no pointer moves (islip.h) */
    bool total;      /* SA: no two packets are equal */
    bool exhaustive; /* SA: matches until nothing is left to match, whatever `iterations` is */
};

extern const struct arbitration_policy arbitration_policies[]; /* by enum network_arbitration */

/* Returns whether a policy lets the packet of one input channel go before that of another. */
static inline bool arbitration_prefers(const struct arbitration_policy *policy, const struct network *network,
                                       uint32_t one, uint32_t other)
{
    return policy->prefers && policy->prefers(network, one, other);
}

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

/* Sets the policies of both allocators, and makes what they need. */
void arbitration_make(struct network *network);

#endif
