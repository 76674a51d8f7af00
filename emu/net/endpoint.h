/* The nodes of a network. Packets wait at a node to be sent, and are delivered to the client when their last flit arrives.
 * A packet that the client refuses waits at the node. */
#ifndef EMU_NET_ENDPOINT_H
#define EMU_NET_ENDPOINT_H

#include "emu/net/network_state.h"

/* Returns a node's queue of packets of a class, config.send_queue long. */
static inline uint32_t *endpoint_queue(const struct network *network, uint32_t number, uint32_t class)
{
    return network->sends + (size_t)(number * network->config.classes + class) * network->config.send_queue;
}

/* Takes a flit that arrives at a node. */
void endpoint_take_flit(struct network *network, uint32_t number, struct flit flit);

/* Sends a flit of the class whose turn it is. Returns whether the node has more to do without a credit. */
bool endpoint_step(struct network *network, uint32_t number);

#endif
