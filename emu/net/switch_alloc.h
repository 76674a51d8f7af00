/* Switch allocation (SA) of a network's routers: channels with a flit and a credit bid for outputs, and packets that wait for a
 * virtual channel if the router is speculative; inputs and outputs are matched by iSLIP (islip.h). crossed: the clock in which a
 * flit has crossed the switch. */
#ifndef EMU_NET_SWITCH_ALLOC_H
#define EMU_NET_SWITCH_ALLOC_H

#include "emu/net/network_state.h"

/* Returns whether the link of an output can take one more flit that crosses the switch from this tick. */
static inline bool switch_alloc_open(const struct network *network, const struct port *out, uint64_t crossed)
{
    return out->busy <= crossed + (uint64_t)network->config.output_queue * out->flit_clocks;
}

/* Adds the bids of all ready channels. */
void switch_alloc_bid(const struct network *network, const struct router *router, struct islip_switch *match,
                      uint64_t crossed);

/* Adds the bids of packets that wait for a virtual channel, where no packet with one bids. */
void switch_alloc_speculate(const struct network *network, const struct router *router,
                            struct islip_switch *match, uint64_t crossed);

/* Matches inputs and outputs. Returns the matched inputs. */
uint64_t switch_alloc_match(struct network *network, const struct router *router, struct islip_switch *match);

/* Returns whether the configuration, without ranks, asks for round robin among all bidders. */
bool switch_alloc_plain(const struct network *network);

#endif
