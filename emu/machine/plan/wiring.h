/* Wiring: which ports are connected, as given by the description or by the kinds' defaults. */
#ifndef EMU_MACHINE_PLAN_WIRING_H
#define EMU_MACHINE_PLAN_WIRING_H

#include "emu/schema/tree.h"

struct wire {
    struct instance *client, *server;
    unsigned client_port, server_port; /* index in their kinds */
    unsigned client_slot;              /* number among the client port's partners, from 0 */
    unsigned server_slot;              /* number among the server port's partners, from 0 */
};

struct wiring {
    struct wire *wires; /* in the order in which their clients are made */
    size_t count;
};

/* Connects the ports of all parts. Slots that the description does not number are the lowest free ones, in
 * the order of kinds[], then of the tree; the slots of a port have no gaps. False with err set, naming file,
 * line and part, when a port that requires a partner has none, a slot is used twice or leaves a gap, or the
 * two ports differ in type or have the same direction. Free with wiring_free(), also after a failure. */
bool wiring_plan(struct wiring *wiring, const struct tree *tree, const struct part_kind *const *kinds,
                 struct error *err);
void wiring_free(struct wiring *wiring);

/* Counts the wires that a request passes from each part to the target. (*distances)[part->number] is that of
 * a part; UINT32_MAX: no path. Returns the number of parts. The caller frees *distances. */
size_t wiring_distances(const struct wiring *wiring, const struct tree *tree, const struct instance *target,
                        uint32_t **distances);

#endif
