/* The kinds of parts that describe the routers and wires of a graph. */
#include "emu/net/network.h"

#define PLACE(tag, member) offsetof(struct tag, member), sizeof(((struct tag *)0)->member)

static const struct part_field router_fields[] = {
    {"nodes",
     FIELD_COUNT,
     PLACE(network_router_config, nodes),
     "0",
     "64",
     "1",
     NULL,
     {"1", "1"},
     0,
     "Nodes at this router.",
     {"", ""}},
};

static const struct part_field wire_fields[] = {
    {"from",
     FIELD_TEXT,
     PLACE(network_wire_config, from),
     NULL,
     NULL,
     NULL,
     NULL,
     {"", ""},
     0,
     "One end: ROUTER, or ROUTER.PORT with a port number from 0.",
     {"", ""}},
    {"to",
     FIELD_TEXT,
     PLACE(network_wire_config, to),
     NULL,
     NULL,
     NULL,
     NULL,
     {"", ""},
     0,
     "The other end.",
     {"", ""}},
    {"width",
     FIELD_SIZE,
     PLACE(network_wire_config, width),
     "1 B",
     "4 KiB",
     "1 B",
     NULL,
     {"32 B", "32 B"},
     0,
     "Bytes that the wire carries in a clock and direction; without this key, the network's `width`.",
     {"", ""}},
    {"latency",
     FIELD_COUNT,
     PLACE(network_wire_config, latency),
     "1",
     "4000",
     "1",
     NULL,
     {"1", "1"},
     0,
     "Clocks of the wire; without this key, the network's `latency`.",
     {"", ""}},
    {"wires",
     FIELD_CHOICE,
     PLACE(network_wire_config, wires),
     NULL,
     NULL,
     NULL,
     wires_wire_names,
     {"network", "network"},
     0,
     "What the wire is: it gives its energies, and says whether it leaves the chip. network: as the "
     "network's `wires`.",
     {"", ""}},
    {"energy_bit",
     FIELD_ENERGY,
     PLACE(network_wire_config, energy_bit),
     "0 fJ",
     "1 nJ",
     "1 fJ",
     NULL,
     {NULL, NULL},
     0,
     "Energy per bit; with `wires: network`, the network's.",
     {"", ""}},
    {"energy_idle",
     FIELD_ENERGY,
     PLACE(network_wire_config, energy_idle),
     "0 fJ",
     "1 nJ",
     "1 fJ",
     NULL,
     {NULL, NULL},
     0,
     "Energy per bit that the idle wire could have carried; with `wires: network`, the network's.",
     {"", ""}},
};

static void derive(void *part, const bool given[])
{
    struct network_wire_config *wire = part;
    const struct wires_energy energy = wires_energy(wire->wires);
    if (!given[part_field_find(&network_wire_kind, "energy_bit")])
        wire->energy_bit = energy.bit;
    if (!given[part_field_find(&network_wire_kind, "energy_idle")])
        wire->energy_idle = energy.idle;
}

static void note(const void *part, const struct part_field *field, char *buffer, size_t size)
{
    wires_note(((const struct network_wire_config *)part)->wires, field->name, buffer, size);
}

const struct part_kind network_router_kind = {
    .name = "router",
    .explanation = "A router of a graph.",
    .config_size = sizeof(struct network_router_config),
    .fields = router_fields,
    .field_count = sizeof router_fields / sizeof *router_fields,
};

const struct part_kind network_wire_kind = {
    .name = "wire",
    .explanation =
        "A wire between two routers of a graph, with one port at each; it carries flits both ways.",
    .config_size = sizeof(struct network_wire_config),
    .fields = wire_fields,
    .field_count = sizeof wire_fields / sizeof *wire_fields,
    .derive = derive,
    .note = note,
};
