/* The kinds of parts that describe a network. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/mem/site.h"
#include "emu/net/fabric.h"

static const char *const network_flow_names[] = {[NETWORK_WORMHOLE] = "wormhole",
                                                 [NETWORK_CUT_THROUGH] = "cut_through",
                                                 [NETWORK_STORE_AND_FORWARD] = "store_and_forward",
                                                 NULL};
static const char *const network_arbitration_names[] = {NETWORK_POLICIES(POLICY_KEY) NULL};
static const char *const network_change_names[] = {[NETWORK_STOP] = "stop", [NETWORK_LATE] = "late", NULL};

static const char *const network_choice_names[] = {
    [NETWORK_TURN] = "turn", [NETWORK_CREDITS] = "credits", NULL};
static const char *const network_order_names[] = {
    [NETWORK_FIRST] = "first", [NETWORK_LATEST] = "latest", NULL};
static const char *const network_stall_names[] = {
    [NETWORK_CLOCKS] = "clocks", [NETWORK_HEADS] = "heads", NULL};

static const char *const network_candidate_names[] = {
    [NETWORK_LINKS] = "links", [NETWORK_ALL_PORTS] = "all", NULL};
static const char *const network_floor_names[] = {
    [NETWORK_EIGHTH] = "eighth", [NETWORK_FLITS] = "flits", NULL};

#define PART struct network_config
static const struct part_field fields[] = {
#include "emu/sim/fields_rows.h"

#include "emu/net/network.def"
};
#undef PART

static const struct part_port ports[] = {
    {.name = "in",
     .type = "memory",
     .direction = PART_SERVES,
     .many = true,
     .optional = true,
     .explanation = "Receives requests."},
    {.name = "out",
     .type = "memory",
     .direction = PART_ASKS,
     .many = true,
     .spreads = true,
     .partners = "dram *.dram",
     .explanation = "Sends requests to memories, by their controllers, to crossbars and links; or to slices "
                    "of a last level."},
    {.name = NULL},
};

/* Gives every input and output its node. */
static bool place_ends(struct fabric_plan *plan, const struct network_config *config, struct error *err)
{
    uint32_t nodes = plan->shape->topology.node_count;
    plan->input_nodes = fabric_nodes(config->in_nodes, plan->inputs, 0, nodes, err);
    if (!plan->input_nodes)
        return error_prefix(err, "in_nodes");
    uint32_t first = *config->in_nodes ? 0 : plan->inputs;
    plan->output_nodes = fabric_nodes(config->out_nodes, plan->outputs, first, nodes, err);
    if (plan->output_nodes)
        return true;
    free(plan->input_nodes);
    return error_prefix(err, "out_nodes");
}

static void *make(const void *config, const struct part_site *site, struct error *err)
{
    const struct mem_site *place = site->place;
    const struct network_config *own = config;
    struct network_shape shape;
    struct shape_culprit culprit;
    struct fabric_plan plan = {.shape = &shape,
                               .inputs = place->inputs,
                               .outputs = place->outputs,
                               .route = {.homes = place->homes,
                                         .modules = place->modules,
                                         .stacks = place->stacks,
                                         .controllers = place->controllers,
                                         .outputs = place->routes},
                               .slices = place->slices,
                               .pieces = site->pieces};
    if (clock_set_frequency(site->clock, own->clock, err) &&
        shape_make(&shape, own, site->children, site->child_count, &culprit, err)) {
        if (network_fits(own, &shape.topology, &shape.routing, 1, err) && place_ends(&plan, own, err))
            return fabric_new(own, &plan, site->queue, site->clock, part_component(site));
    }
    shape_free(&shape);
    return NULL;
}

static void free_part(void *part)
{
    fabric_free(part);
}

static struct part_end serve(void *part, unsigned port, unsigned slot)
{
    (void)port;
    return (struct part_end){&fabric_ops, fabric_port(part, slot)};
}

static void connect_part(void *part, unsigned port, unsigned slot, const struct part_end *server)
{
    (void)port;
    fabric_connect(part, slot, server->ops, server->object);
}

static void sync_part(void *part, uint64_t now)
{
    network_sync(fabric_network(part), now);
}

static void publish(void *part, struct stats *stats, struct scope scope)
{
    fabric_publish(part, stats, scope);
}

static void observe(void *part, struct track_sink *sink, const char *name)
{
    fabric_track(part, sink, name);
}

static void energy(void *part, struct energy_ledger *ledger, struct scope scope)
{
    network_energy(fabric_network(part), ledger, scope);
}

/* The topology gives a size by default, the kind of the wires their energies. */
static void derive(void *part, const bool given[])
{
    struct network_config *config = part;
    const struct wires_energy energy = wires_energy(config->wires);
    if (!given[part_field_find(&network_kind, "size")])
        (void)snprintf(config->size, sizeof config->size, "%s", topology_default_size(config->topology));
    if (!given[part_field_find(&network_kind, "off_chip")])
        config->off_chip = wires_leave(config->wires);
    if (!given[part_field_find(&network_kind, "energy_bit")])
        config->energy_bit = energy.bit;
    if (!given[part_field_find(&network_kind, "energy_idle")])
        config->energy_idle = energy.idle;
}

static void note(const void *part, const struct part_field *field, char *buffer, size_t size)
{
    const struct network_config *config = part;
    if (strcmp(field->name, "off_chip") == 0)
        (void)snprintf(buffer, size, "by `wires`");
    else if (strcmp(field->name, "size") == 0)
        (void)snprintf(buffer, size, "default of the topology");
    else
        wires_note(config->wires, field->name, buffer, size);
}

static bool check(const void *part, struct error *err)
{
    const struct network_config *config = part;
    if (config->wires == WIRES_UNKNOWN || config->off_chip == wires_leave(config->wires))
        return true;
    return error_set(err, "off_chip: %s, but wires: %s %s the chip; allowed: leave one of the two keys out",
                     config->off_chip ? "true" : "false", wires_names[config->wires],
                     config->off_chip ? "do not leave" : "leave");
}

const struct part_kind network_kind = {
    .name = "network",
    .explanation = "A packet network: routers, wires, and nodes at which packets enter and leave.",
    PART_CONFIG(struct network_config),
    .functional = "",
    .ports = ports,
    .open = true,
    .routed = true,
    .derive = derive,
    .note = note,
    .check = check,
    .make = make,
    .free = free_part,
    .serve = serve,
    .connect = connect_part,
    .sync = sync_part,
    .publish = publish,
    .energy = energy,
    .observe = observe,
};
