/* Priorities in the allocators of a network's routers: packets are ordered by age, distance or the oracle, and pairs
 * of ports by their ranks on critical paths (congestion.h). */
#ifndef EMU_NET_NETWORK_ARBITRATION_H
#define EMU_NET_NETWORK_ARBITRATION_H

#include "emu/net/allocator/loads.h"
#include "emu/net/allocator/oracle.h"
#include "emu/net/congestion/congestion.h"
#include "emu/net/network.h"

struct router;

struct arbitration_policy {
    /* Returns whether the packet at the head of input channel `one` goes before that of `other`. Channels are numbered
     * port * vcs + vc over the network. By age, the packet made first goes first, by the oracle the heaviest (oracle.h); of
     * equal ones, that of the lowest source. NULL: no packet goes first; round robin decides. */
    bool (*prefers)(const struct network *network, uint32_t one, uint32_t other);
    /* SA: the same for two channels of an input that bid for one output. */
    bool (*within)(const struct network *network, uint32_t one, uint32_t other);
    /* Makes what prefers() needs. Called once for a network. NULL: nothing */
    void (*prepare)(struct network *network);
    /* VA: the order alone decides: channels are given one by one, and no pointer moves (islip.h) */
    bool greedy;
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

/* State of arbitration in all routers. */
struct arbitration {
    const struct arbitration_policy *vc_policy, *switch_policy;
    const struct congestion_router *ranks; /* of the router being worked on; NULL: all pairs are equal */
    uint8_t *distances;                    /* with NETWORK_DISTANCE: [router * routers + router] */
    struct oracle *oracle;                 /* with NETWORK_ORACLE */
    struct loads *loads;                   /* with NETWORK_LOADS */
    uint64_t random;                       /* state of the generator for config.fairness */
};

/* Returns the rank of a pair of the router's ports. Pairs of lower rank go first. */
static inline uint32_t arbitration_rank(const struct arbitration *arbitration, uint32_t in, uint32_t out)
{
    return arbitration->ranks ? congestion_rank(arbitration->ranks, in, out) : CONGESTION_NONE;
}

/* Sets the policies of both allocators, and makes what they need. */
void arbitration_make(struct network *network);
void arbitration_free(struct arbitration *arbitration);

#endif
