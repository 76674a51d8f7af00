/* An oracle for arbitration: it knows all flits in a network, queued at nodes and routers or on wires, and so how many of them
 * are still to pass each pair of an input and an output of a router. No router could; it shows what is left to gain.
 *
 * A packet's weight is the clocks since it was made and one for each flit that its pair has left to pass: its share of the
 * longest wait that is still to come. Heavier packets go first; both allocators match until nothing is left to match. (Queues'
 * lengths and ages are the two weights whose matchings give a switch its full throughput: McKeown et al., "Achieving 100%
 * throughput in an input-queued switch", 1999. By length alone, packets of short queues starve.) */
#ifndef EMU_NET_ALLOCATOR_ORACLE_H
#define EMU_NET_ALLOCATOR_ORACLE_H

#include "emu/net/topology/routing.h"
#include "emu/net/topology/topology.h"

struct oracle;

/* Makes the oracle of a network without packets. Never NULL; aborts when out of memory. Both must outlive it. Free it with
 * oracle_free(), which accepts NULL. */
struct oracle *oracle_new(const struct topology *topology, const struct routing *routing);
void oracle_free(struct oracle *oracle);

/* Counts the flits of a packet that a node's queue has taken, at each router on its way. */
void oracle_sent(struct oracle *oracle, uint32_t source, uint32_t destination, uint32_t flits);

/* Counts a flit that passes a router from one port of the network to another. */
void oracle_passed(struct oracle *oracle, uint32_t in_port, uint32_t out_port);

/* Returns the flits that are still to pass from a port of a router to another one of it, both numbers of the network. */
uint32_t oracle_left(const struct oracle *oracle, uint32_t in_port, uint32_t out_port);

#endif
