/* The kind "crossbar": fields, ports and functions. */
#include "emu/net/crossbar.h"

#include "emu/mem/site.h"

static bool check(const void *part, struct error *err)
{
    const struct crossbar_config *config = part;
    bool inputs = config->inputs > CROSSBAR_PORTS;
    if (inputs || config->outputs > CROSSBAR_PORTS)
        return error_set(err, "%s: %u are connected; at most %d are allowed", inputs ? "inputs" : "outputs",
                         inputs ? config->inputs : config->outputs, CROSSBAR_PORTS);
    return true;
}

#define PART struct crossbar_config
static const struct part_field fields[] = {
#include "emu/sim/fields_rows.h"

#include "emu/net/crossbar.def"
};

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
     .explanation = "Sends requests to memories, by their controllers, and to links."},
    {.name = NULL},
};

static void *make(const void *config, const struct part_site *site, struct error *err)
{
    const struct mem_site *place = site->place;
    struct crossbar_config sized = *(const struct crossbar_config *)config;
    const struct crossbar_route route = {.homes = place->homes,
                                         .modules = place->modules,
                                         .stacks = place->stacks,
                                         .controllers = place->controllers,
                                         .outputs = place->routes};
    sized.inputs = place->inputs;
    sized.outputs = place->outputs;
    if (!clock_set_frequency(site->clock, sized.clock, err) || !check(&sized, err))
        return NULL;
    return crossbar_new(&sized, site->queue, site->clock, part_component(site), &route);
}

static void free_part(void *part)
{
    crossbar_free(part);
}

static struct part_end serve(void *part, unsigned port, unsigned slot)
{
    (void)port;
    return (struct part_end){&crossbar_ops, crossbar_port(part, slot)};
}

static void connect_part(void *part, unsigned port, unsigned slot, const struct part_end *server)
{
    (void)port;
    crossbar_connect(part, slot, server->ops, server->object);
}

PART_REPORTS(crossbar)

const struct part_kind crossbar_kind = {
    .name = "crossbar",
    .explanation = "A crossbar between requesters and memory controllers.",
    PART_CONFIG(struct crossbar_config),
    .functional = "",
    .ports = ports,
    .routed = true,
    .check = check,
    .make = make,
    .free = free_part,
    .serve = serve,
    .connect = connect_part,
    .publish = publish,
    .energy = energy,
    .observe = observe,
};
