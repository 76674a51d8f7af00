/* Switch allocation (SA) of a network's routers. Channels with a flit and a credit bid for outputs; in a speculative router,
 * packets that wait for a virtual channel bid, too. iSLIP (islip.h) matches inputs and outputs. crossed: the clock in which
 * a flit that is sent now has crossed the switch. With input_speedup, each half of the channels (channels.h) has lines of its own
 * into the switch, and is matched for itself. */
#ifndef EMU_NET_NETWORK_SWITCH_ALLOC_H
#define EMU_NET_NETWORK_SWITCH_ALLOC_H

#include "emu/net/network/router.h"

/* State of SA in all routers. */
struct switch_alloc {
    struct islip_turns *turns; /* [half * ports + port] */
    bool plain; /* the present router's bidders are chosen round robin, without ranks or priority buffers */
};

/* Makes the allocator's state, when the policies are set (arbitration.h). */
void switch_alloc_make(struct network *network);
void switch_alloc_free(struct switch_alloc *sa);

/* Returns whether an output, its queue of `queue` flits included, can take one more flit in clock `crossed`. */
static inline bool switch_alloc_open(const struct port *out, uint32_t queue, uint64_t crossed)
{
    return out->busy <= crossed + (uint64_t)queue * out->flit_clocks;
}

/* Adds the bids of ready channels, of those in `channels`. */
void switch_alloc_bid(const struct network *network, const struct router *router, struct islip_switch *match,
                      uint64_t channels, uint64_t crossed);

/* Adds the bids of packets in `channels` that wait for a virtual channel, except for pairs of an input and an output for which a packet
 * that has a virtual channel bids. */
void switch_alloc_speculate(const struct network *network, const struct router *router,
                            struct islip_switch *match, uint64_t channels, uint64_t crossed);

/* Matches inputs and outputs. Returns the matched inputs. */
uint64_t switch_alloc_match(struct network *network, const struct router *router, struct islip_switch *match,
                            uint32_t half);

/* Returns whether the configuration, without ranks, asks for round robin among all bidders. */
bool switch_alloc_plain(const struct network *network);

#endif
