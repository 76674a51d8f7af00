/* Networks in descriptions: from instances to shapes, and from messages to places. */
#ifndef EMU_MACHINE_NETWORKS_H
#define EMU_MACHINE_NETWORKS_H

#include "emu/net/shape.h"
#include "emu/schema/tree.h"

/* Returns the custom parts below an instance, in the tree's order, and their number. The caller frees the array with
 * networks_children_free(). */
struct part_child *networks_children(const struct instance *instance, size_t *count);
void networks_children_free(struct part_child *children, size_t count);

/* Makes the shape of a network (shape.h). Messages name file, line and key. Release the shape in any case. */
bool networks_shape(const struct tree *tree, const struct instance *network, struct network_shape *shape,
                    struct error *err);

/* Prefixes a message about a key with its place: the key's or, if it has its default, the part's. Returns false. */
bool networks_at(const struct tree *tree, const struct instance *part, const char *key, struct error *err);

/* Prefixes a message that begins with a key's name ("vcs: ...") with its place. Returns false. */
bool networks_at_named(const struct tree *tree, const struct instance *part, struct error *err);

/* Checks a network of a machine with that many inputs and outputs: it can be made, has room for requests and responses, and
 * a node for each part that is connected. */
bool networks_check(const struct tree *tree, const struct instance *network, uint32_t inputs,
                    uint32_t outputs, struct error *err);

#endif
