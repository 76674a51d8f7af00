/* A network alone, from a description of a part `network`: packets come from a caller, and go to it. */
#ifndef EMU_MACHINE_ALONE_NETWORK_H
#define EMU_MACHINE_ALONE_NETWORK_H

#include "emu/machine/alone/memory.h"
#include "emu/net/network.h"

/* Loads a description of a network, and of traffic for croft net. Returns NULL with err set on failure. Free it with
 * tree_free(). */
struct tree *alone_network_tree(const struct alone_source *source, struct error *err);

struct alone_network;

/* Makes the network that a tree describes, for packets of up to `flits` flits. client is as in network_new(); a packet's
 * owner is the caller's. The tree must outlive it. Returns NULL with err set if it cannot carry such packets. Free it with
 * alone_network_free(). */
struct alone_network *alone_network_new(const struct tree *tree, uint32_t flits,
                                        const struct network_client *client, struct error *err);
void alone_network_free(struct alone_network *network);

/* Its parts: the queue that moves its time, the network itself, and its statistics with energies. */
struct event_queue *alone_network_queue(struct alone_network *network);
struct network *alone_network_inside(struct alone_network *network);
struct stats *alone_network_stats(struct alone_network *network);

/* Return the period of its clock in fs, and its numbers of nodes and message classes. */
uint64_t alone_network_period(const struct alone_network *network);
uint32_t alone_network_nodes(const struct alone_network *network);
uint32_t alone_network_classes(const struct alone_network *network);

#endif
