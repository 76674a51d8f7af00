/* Networks in descriptions: makes their shapes, and adds file and line to messages about them. */
#ifndef EMU_MACHINE_PLAN_NETWORKS_H
#define EMU_MACHINE_PLAN_NETWORKS_H

#include "emu/net/topology/shape.h"
#include "emu/schema/tree.h"

/* Returns the parts below an instance to which the description gave their names, in the tree's order, and
 * sets *count. The caller frees the array with networks_children_free(). */
struct part_child *networks_children(const struct instance *instance, size_t *count);
void networks_children_free(struct part_child *children, size_t count);

/* Makes the shape of a network (shape.h). Messages name file, line and key. Release the shape in any case. */
bool networks_shape(const struct tree *tree, const struct instance *network, struct network_shape *shape,
                    struct error *err);

/* Prefixes a message about a part's key with file and line of the key's setting; those of the part if the key
 * has its default. Returns false. */
bool networks_at(const struct tree *tree, const struct instance *part, const char *key, struct error *err);

/* Prefixes a message that begins with a key's name ("vcs: ...") with its place. Returns false. */
bool networks_at_named(const struct tree *tree, const struct instance *part, struct error *err);

/* Checks that a network with this many inputs and outputs can be made, has message classes for requests and
 * responses, and one more if there are `slices` of a last level at its nodes, and has a node for each connected part. False with err set. */
bool networks_check(const struct tree *tree, const struct instance *network, uint32_t inputs,
                    uint32_t outputs, bool slices, struct error *err);

#endif
