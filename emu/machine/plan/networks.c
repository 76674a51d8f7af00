#include "emu/machine/plan/networks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/machine/plan/lines.h"
#include "emu/net/fabric.h"
#include "emu/sim/alloc.h"

struct part_child *networks_children(const struct instance *instance, size_t *count)
{
    size_t room = 0, skip = strlen(instance->path) + (*instance->path != '\0');
    for (const struct instance *part = instance->first; part; part = part->next)
        room++;
    struct part_child *children = alloc(room + 1, sizeof *children);
    *count = 0;
    for (const struct instance *part = instance->first; part; part = part->next)
        if (!part->absent && !part->role)
            children[(*count)++] =
                (struct part_child){alloc_text(part->path + skip), part->kind, part->config, part->given};
    return children;
}

void networks_children_free(struct part_child *children, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free((char *)(uintptr_t)children[i].name);
    free(children);
}

bool networks_at(const struct tree *tree, const struct instance *part, const char *key, struct error *err)
{
    int field = part_field_find(part->kind, key);
    if (field >= 0 && part->given[field])
        return tree_at(tree, part, key, err);
    (void)error_prefix(err, *key ? "%s.%s" : "%s%s", part->path, key);
    return tree_at_part(tree, part, err);
}

bool networks_at_named(const struct tree *tree, const struct instance *part, struct error *err)
{
    char key[64];
    size_t length = strcspn(err->text, ": ");
    (void)snprintf(key, sizeof key, "%.*s", length < sizeof key ? (int)length : 0, err->text);
    if (err->text[length] != ':' || part_field_find(part->kind, key) < 0)
        return networks_at(tree, part, "", err);
    memmove(err->text, err->text + length + 2, strlen(err->text + length + 2) + 1);
    return networks_at(tree, part, key, err);
}

/* Returns the part below an instance that networks_children() lists at index `number`; the instance itself if
 * there is none. */
static const struct instance *child_at(const struct instance *instance, int number)
{
    for (const struct instance *part = instance->first; part; part = part->next)
        if (!part->absent && !part->role && number-- == 0)
            return part;
    return instance;
}

bool networks_shape(const struct tree *tree, const struct instance *network, struct network_shape *shape,
                    struct error *err)
{
    size_t count;
    struct part_child *children = networks_children(network, &count);
    struct shape_culprit culprit;
    bool fine = shape_make(shape, network->config, children, count, &culprit, err);
    networks_children_free(children, count);
    if (fine)
        return true;
    return networks_at(tree, culprit.child < 0 ? network : child_at(network, culprit.child), culprit.key,
                       err);
}

/* Checks that all inputs and outputs have nodes. */
static bool check_ends(const struct tree *tree, const struct instance *network, uint32_t nodes,
                       uint32_t inputs, uint32_t outputs, struct error *err)
{
    const struct network_config *config = network->config;
    uint32_t *in = fabric_nodes(config->in_nodes, inputs, 0, nodes, err);
    free(in);
    if (!in)
        return networks_at(tree, network, "in_nodes", err);
    uint32_t *out = fabric_nodes(config->out_nodes, outputs, *config->in_nodes ? 0 : inputs, nodes, err);
    free(out);
    return out || networks_at(tree, network, "out_nodes", err);
}

static bool check_shape(const struct tree *tree, const struct instance *network,
                        const struct network_shape *shape, uint32_t inputs, uint32_t outputs, bool slices,
                        struct error *err)
{
    const struct network_config *config = network->config;
    const struct instance *longest;
    uint32_t bytes = config->header + lines_longest(tree, &longest);
    if (config->classes < FABRIC_CLASSES) {
        (void)error_set(err,
                        "%u; requests and responses of a machine need %d, or they could block each other",
                        config->classes, FABRIC_CLASSES);
        return networks_at(tree, network, "classes", err);
    }
    if (slices && config->classes < FABRIC_ALL) {
        (void)error_set(err,
                        "%u; with the slices of a last level at its nodes, a network needs %d: for requests, "
                        "responses, and requests of the slices",
                        config->classes, FABRIC_ALL);
        return networks_at(tree, network, "classes", err);
    }
    if (!network_fits(config, &shape->topology, &shape->routing, (bytes + config->flit - 1) / config->flit,
                      err))
        return networks_at_named(tree, network, err);
    return check_ends(tree, network, shape->topology.node_count, inputs, outputs, err);
}

bool networks_check(const struct tree *tree, const struct instance *network, uint32_t inputs,
                    uint32_t outputs, bool slices, struct error *err)
{
    struct network_shape shape;
    for (const struct instance *part = network->first; part; part = part->next) {
        if (part->absent || part->kind == &network_router_kind || part->kind == &network_wire_kind)
            continue;
        (void)error_set(err, "%s: a %s cannot stand within a network; routers and wires can", part->path,
                        part->kind->name);
        return tree_at_part(tree, part, err);
    }
    bool fine = networks_shape(tree, network, &shape, err) &&
                check_shape(tree, network, &shape, inputs, outputs, slices, err);
    shape_free(&shape);
    return fine;
}
