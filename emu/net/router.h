/* The pipeline of a network's routers: RC, VA (vc_alloc.h), SA (switch_alloc.h) and ST. */
#ifndef EMU_NET_ROUTER_H
#define EMU_NET_ROUTER_H

#include "emu/net/network_state.h"

/* Runs one tick of a router's pipeline. The switch serves channels that were active before this tick. tick: the clock of
 * the links times speedup, plus the number of the tick within that clock. */
void router_step(struct network *network, struct router *router, uint64_t tick);

#endif
