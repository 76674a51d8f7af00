/* Virtual-channel allocation (VA) of a network's routers: free channels of outputs go to the packets that bid for them, by
 * iSLIP (islip.h). Input channels are numbered port * vcs + vc within the router. By age, the free channels of an output go
 * to its oldest packets, the lowest channel first; no pointer moves. */
#ifndef EMU_NET_NETWORK_VC_ALLOC_H
#define EMU_NET_NETWORK_VC_ALLOC_H

#include <stdbool.h>
#include <stdint.h>

struct network;
struct router;

/* State of VA in all routers. */
struct vc_alloc {
    uint16_t *grants;  /* [port * vcs + vc] as output: input channel with the highest priority */
    uint32_t *accepts; /* [port * vcs + vc] as input: output channel with the highest priority */
    /* of a router: [(output * groups + group) * (1 + ports)]: inputs; then channels of each input */
    uint64_t *bids;
    uint64_t *joint; /* bids of all classes for an output, laid out as those of a group (router_bids()) */
    /* the present router's bidders are chosen round robin, without ranks, priority buffers or need of room */
    bool plain;
};

/* Makes the allocator's state, when the routers are made. */
void vc_alloc_make(struct network *network);
void vc_alloc_free(struct vc_alloc *va);

/* Gives channels to bidders. tick: of the pipeline. */
void vc_alloc_step(struct network *network, struct router *router, uint32_t tick);

/* Returns whether a waiting channel could get one. */
bool vc_alloc_pends(const struct network *network, const struct router *router);

/* Returns whether the configuration, without ranks, asks for round robin among all bidders. */
bool vc_alloc_plain(const struct network *network);

#endif
