#include "emu/net/topology/shape.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/sim/text/nearest.h"
#include "emu/sim/text/text.h"

/* Work of shape_make(). */
struct shaping {
    struct network_shape *shape;
    const struct network_config *config;
    const struct part_child *children;
    size_t child_count;
    struct shape_culprit *culprit;
    struct error *err;
};

static bool blame(const struct shaping *shaping, int child, const char *key)
{
    shaping->culprit->child = child;
    (void)snprintf(shaping->culprit->key, sizeof shaping->culprit->key, "%s", key ? key : "");
    return false;
}

/* Blames the key that the message begins with ("size: ..."), and takes it off the message. */
static bool blame_named(const struct shaping *shaping)
{
    char *text = shaping->err->text, key[24] = "";
    size_t length = strcspn(text, ": ");
    if (text[length] == ':' && length < sizeof key) {
        memcpy(key, text, length);
        memmove(text, text + length + 2, strlen(text + length + 2) + 1);
    }
    return blame(shaping, -1, key);
}

/* The place among all children of the n-th one of a kind. */
static int child_of(const struct shaping *shaping, const struct part_kind *kind, int number)
{
    for (size_t i = 0; i < shaping->child_count; i++)
        if (shaping->children[i].kind == kind && number-- == 0)
            return (int)i;
    return -1;
}

/* Finds "ROUTER" or "ROUTER.PORT". The name of a router that has copies ends in a number, too. */
static bool find_end(const struct shaping *shaping, const char *text, uint32_t *router, int *port)
{
    const struct topology *topology = &shaping->shape->topology;
    const char *dot = strrchr(text, '.'), *names[256];
    bool numbered = dot && dot[1] && strspn(dot + 1, "0123456789") == strlen(dot + 1) && strlen(dot + 1) < 4;
    uint32_t count = topology->router_count;
    for (uint32_t r = 0; r < count; r++) {
        const char *name = topology->routers[r].name;
        size_t length = strlen(name);
        if (r < sizeof names / sizeof *names)
            names[r] = name;
        bool whole = strcmp(name, text) == 0;
        if (!whole && !(numbered && (size_t)(dot - text) == length && strncmp(name, text, length) == 0))
            continue;
        *router = r;
        *port = whole ? TOPOLOGY_ANY : atoi(dot + 1);
        return true;
    }
    if (*text)
        (void)error_set(shaping->err, "%s is no router of the graph%s", text_quote(text).text,
                        nearest_hint(text, names, count < 256 ? count : 256).text);
    else
        (void)error_set(shaping->err, "names no router; write ROUTER or ROUTER.PORT");
    return false;
}

/* Makes a wire one of the network's. */
static void take_wire(struct topology_wire *wire, const struct network_config *config)
{
    wire->kind = (uint8_t)config->wires;
    wire->off_chip = config->off_chip;
    wire->energy_bit = config->energy_bit;
    wire->energy_idle = config->energy_idle;
}

void shape_plain_wires(struct topology *topology, const struct network_config *config)
{
    for (uint32_t w = 0; w < topology->wire_count; w++)
        take_wire(&topology->wires[w], config);
}

static bool is_given(const struct part_child *child, const char *key)
{
    return child->given[part_field_find(child->kind, key)];
}

static bool add_wire(const struct shaping *shaping, int index)
{
    const struct part_child *child = &shaping->children[index];
    const struct network_wire_config *wire = child->config;
    uint32_t router[2] = {0};
    int port[2] = {0};
    if (!find_end(shaping, wire->from, &router[0], &port[0]))
        return blame(shaping, index, "from");
    if (!find_end(shaping, wire->to, &router[1], &port[1]))
        return blame(shaping, index, "to");
    struct topology_wire *made =
        topology_add_wire(&shaping->shape->topology, router[0], router[1],
                          is_given(child, "width") ? wire->width : shaping->config->width,
                          is_given(child, "latency") ? wire->latency : shaping->config->latency);
    if (wire->wires == WIRES_NETWORK) {
        take_wire(made, shaping->config);
    } else {
        made->kind = (uint8_t)wire->wires;
        made->off_chip = wires_leave(wire->wires);
        made->energy_bit = wire->energy_bit;
        made->energy_idle = wire->energy_idle;
    }
    (void)snprintf(made->name, sizeof made->name, "%s", child->name);
    memcpy(made->port, port, sizeof port);
    return true;
}

static bool make_graph(const struct shaping *shaping)
{
    int index;
    for (int i = 0; (index = child_of(shaping, &network_router_kind, i)) >= 0; i++) {
        const struct network_router_config *router = shaping->children[index].config;
        if (i == TOPOLOGY_ROUTERS) {
            (void)error_set(shaping->err, "more than %d routers", TOPOLOGY_ROUTERS);
            return blame(shaping, index, NULL);
        }
        topology_add_router(&shaping->shape->topology, shaping->children[index].name, router->nodes);
    }
    for (int i = 0; (index = child_of(shaping, &network_wire_kind, i)) >= 0; i++)
        if (!add_wire(shaping, index))
            return false;
    return true;
}

/* Blames the part that topology_finish() found wrong. */
static bool blame_found(const struct shaping *shaping, const struct topology_culprit *found)
{
    int child = -1;
    if (shaping->config->topology == NETWORK_GRAPH && found->wire >= 0)
        child = child_of(shaping, &network_wire_kind, found->wire);
    else if (shaping->config->topology == NETWORK_GRAPH && found->router >= 0)
        child = child_of(shaping, &network_router_kind, found->router);
    return blame(shaping, child, found->key);
}

static bool make_topology(const struct shaping *shaping)
{
    const struct network_config *config = shaping->config;
    const struct topology_shape size = {config->size, config->nodes, config->width, config->latency};
    if (config->topology == NETWORK_GRAPH) {
        if (!make_graph(shaping))
            return false;
    } else if (shaping->child_count) {
        (void)error_set(shaping->err, "routers and wires are for topology graph, not %s",
                        network_topology_names[config->topology]);
        return blame(shaping, 0, NULL);
    } else if (!topology_generate(&shaping->shape->topology, &size, shaping->err)) {
        return blame_named(shaping);
    } else {
        shape_plain_wires(&shaping->shape->topology, config);
    }
    struct topology_culprit found;
    return topology_finish(&shaping->shape->topology, config->width, config->node_latency, &found,
                           shaping->err) ||
           blame_found(shaping, &found);
}

bool shape_make(struct network_shape *shape, const struct network_config *config,
                const struct part_child *children, size_t child_count, struct shape_culprit *culprit,
                struct error *err)
{
    const struct shaping shaping = {shape, config, children, child_count, culprit, err};
    *shape = (struct network_shape){0};
    *culprit = (struct shape_culprit){.child = -1};
    topology_init(&shape->topology, config->topology);
    if (!make_topology(&shaping))
        return false;
    return routing_make(&shape->routing, &shape->topology, config->routing, err) || blame_named(&shaping);
}

void shape_free(struct network_shape *shape)
{
    topology_free(&shape->topology);
    routing_free(&shape->routing);
}
