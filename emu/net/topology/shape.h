/* The shape of a described network: its topology and routes, made from its keys and the parts below it. */
#ifndef EMU_NET_TOPOLOGY_SHAPE_H
#define EMU_NET_TOPOLOGY_SHAPE_H

#include "emu/net/network.h"

struct network_shape {
    struct topology topology;
    struct routing routing;
};

/* The part and the key that an error message is about. */
struct shape_culprit {
    int child;    /* index of the part below, or -1: the network */
    char key[24]; /* or "" */
};

/* Makes topology and routes. children: routers and wires of a graph; other topologies have none. On failure, *culprit says
 * which part and key are wrong; the message in err does not. Release the shape with shape_free() in any case. */
bool shape_make(struct network_shape *shape, const struct network_config *config,
                const struct part_child *children, size_t child_count, struct shape_culprit *culprit,
                struct error *err);
void shape_free(struct network_shape *shape);

/* Gives all wires of a topology the kind and the energies of the network's. */
void shape_plain_wires(struct topology *topology, const struct network_config *config);

#endif
