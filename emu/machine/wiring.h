/* Wiring: which port of which part is joined to which, as a description says or as the kinds' defaults have it. */
#ifndef EMU_MACHINE_WIRING_H
#define EMU_MACHINE_WIRING_H

#include "emu/schema/tree.h"

struct wire {
    struct instance *client, *server;
    unsigned client_port, server_port; /* of their kinds */
    unsigned client_slot;              /* number among the client port's partners, counted from 0 */
    unsigned server_slot;              /* likewise of the server's port */
};

struct wiring {
    struct wire *wires; /* in the order of making of their clients */
    size_t count;
};

/* Joins all ports of the tree's parts. Slots that the description does not number are given in the order of the kinds in
 * kinds[], then of the tree. Fails with a message that names file, line and part when a port stays open that must not, is used
 * twice, or is joined to one of another type or direction. Free with wiring_free(), also after a failure. */
bool wiring_plan(struct wiring *wiring, const struct tree *tree, const struct part_kind *const *kinds,
                 struct error *err);
void wiring_free(struct wiring *wiring);

/* The n-th wire of a client's port, or NULL. */
const struct wire *wiring_of_client(const struct wiring *wiring, const struct instance *client, unsigned port,
                                    unsigned slot);

/* How many wires end at the ports of a server, and leave a client. */
unsigned wiring_inputs(const struct wiring *wiring, const struct instance *server);
unsigned wiring_outputs(const struct wiring *wiring, const struct instance *client);

/* Wires that a request passes from each part to a target, UINT32_MAX where there is no way: distances[i] belongs to the
 * i-th part by tree_next(). Returns the number of parts; free() *distances. */
size_t wiring_distances(const struct wiring *wiring, const struct tree *tree, const struct instance *target,
                        uint32_t **distances);

#endif
