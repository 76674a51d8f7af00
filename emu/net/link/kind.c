/* The kind "link": fields, ports and functions. */
#include "emu/net/link.h"

#define PART struct link_config
static const struct part_field fields[] = {
#include "emu/sim/fields_rows.h"

#include "emu/net/link.def"
};

static const struct part_port ports[] = {
    {.name = "from",
     .type = "memory",
     .direction = PART_SERVES,
     .explanation = "Receives requests from a crossbar or another requester."},
    {.name = "to", .type = "memory", .direction = PART_ASKS, .explanation = "Sends requests on."},
    {.name = NULL},
};

static void *make(const void *config, const struct part_site *site, struct error *err)
{
    (void)err;
    return link_new(config, site->queue, part_component(site));
}

static void free_part(void *part)
{
    link_free(part);
}

static struct part_end serve(void *part, unsigned port, unsigned slot)
{
    (void)port;
    (void)slot;
    return (struct part_end){&link_ops, part};
}

static void connect_part(void *part, unsigned port, unsigned slot, const struct part_end *server)
{
    (void)port;
    (void)slot;
    link_connect(part, server->ops, server->object);
}

PART_REPORTS(link)

/* The kind of the lanes gives their energies. */
static void derive(void *part, const bool given[])
{
    struct link_config *config = part;
    const struct wires_energy energy = wires_energy(config->wires);
    if (!given[part_field_find(&link_kind, "energy_bit")])
        config->energy_bit = energy.bit;
    if (!given[part_field_find(&link_kind, "energy_idle")])
        config->energy_idle = energy.idle;
}

static void note(const void *part, const struct part_field *field, char *buffer, size_t size)
{
    wires_note(((const struct link_config *)part)->wires, field->name, buffer, size);
}

const struct part_kind link_kind = {
    .name = "link",
    .explanation = "A serial link between distant parts, with a bandwidth per direction.",
    PART_CONFIG(struct link_config),
    .functional = "",
    .ports = ports,
    .derive = derive,
    .note = note,
    .make = make,
    .free = free_part,
    .serve = serve,
    .connect = connect_part,
    .publish = publish,
    .energy = energy,
    .observe = observe,
};
