/* Checks of a network's invariants in every clock (network_check_always()). They abort with a message if one is broken. */
#ifndef EMU_NET_NETWORK_CHECK_H
#define EMU_NET_NETWORK_CHECK_H

#include "emu/net/flits/calendar.h"

struct network;
struct network_checks;

/* Checks a flit that arrives at port `target` or, if there is no such port, at node target - ports. */
void network_check_arrival(struct network *network, uint32_t target, struct flit flit);

/* Checks all invariants that hold between clocks. */
void network_check_clock(struct network *network);

void network_check_free(struct network_checks *checks); /* accepts NULL */

#endif
