/* Virtual-channel allocation (VA) of a network's routers: free channels of outputs go to the packets that bid for them, by
 * iSLIP (islip.h). Input channels are numbered port * vcs + vc within the router. By age, the free channels of an output go
 * to its oldest packets, the lowest channel first; no pointer moves. */
#ifndef EMU_NET_VC_ALLOC_H
#define EMU_NET_VC_ALLOC_H

#include "emu/net/network_state.h"

/* Gives channels to bidders. tick: of the pipeline. */
void vc_alloc_step(struct network *network, struct router *router, uint32_t tick);

/* Returns whether a waiting channel could get one. */
bool vc_alloc_pends(const struct network *network, const struct router *router);

/* Returns whether the configuration, without ranks, asks for round robin among all bidders. */
bool vc_alloc_plain(const struct network *network);

#endif
