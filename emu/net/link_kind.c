/* What a link is described by. */
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
     .explanation = "Who sends requests: a crossbar, or another part that asks for memory."},
    {.name = "to", .type = "memory", .direction = PART_ASKS, .explanation = "Where the requests go."},
    {.name = NULL},
};

const struct part_kind link_kind = {
    .name = "link",
    .explanation = "A link between parts at a distance, with a bandwidth for each direction.",
    .config_size = sizeof(struct link_config),
    .fields = fields,
    .field_count = sizeof fields / sizeof *fields,
    .functional = "",
    .ports = ports,
};
