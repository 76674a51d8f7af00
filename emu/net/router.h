/* The pipeline of a network's routers: RC, VA (vc_alloc.h), SA (switch_alloc.h) and ST. */
#ifndef EMU_NET_ROUTER_H
#define EMU_NET_ROUTER_H

#include "emu/net/network_state.h"

/* One clock of a router's pipeline. The switch serves channels that were active before this clock. tick: clock of the links times
 * speedup, and the part of it. */
void router_step(struct network *network, struct router *router, uint64_t tick);

#endif
