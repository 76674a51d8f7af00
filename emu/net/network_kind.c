/* The kinds of parts that describe a network. */
#include "emu/net/network.h"

static const char *const network_flow_names[] = {[NETWORK_WORMHOLE] = "wormhole",
                                                 [NETWORK_CUT_THROUGH] = "cut_through",
                                                 [NETWORK_STORE_AND_FORWARD] = "store_and_forward",
                                                 NULL};
static const char *const network_arbitration_names[] = {
    [NETWORK_ROUND_ROBIN] = "round_robin", [NETWORK_AGE] = "age", NULL};

#define PART struct network_config
static const struct part_field fields[] = {
#include "emu/sim/fields_rows.h"

#include "emu/net/network.def"
};
#undef PART

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
};

const struct part_kind network_kind = {
    .name = "network",
    .explanation = "A packet network: routers, wires, and nodes at which packets enter and leave.",
    .config_size = sizeof(struct network_config),
    .fields = fields,
    .field_count = sizeof fields / sizeof *fields,
    .open = true,
};

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
};
