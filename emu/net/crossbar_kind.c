/* What a crossbar is described by. */
#include "emu/net/crossbar.h"

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
     .explanation = "Where requests come in."},
    {.name = "out",
     .type = "memory",
     .direction = PART_ASKS,
     .many = true,
     .partners = "dram *.dram",
     .explanation = "Where they go: memories, by their controllers, and links."},
    {.name = NULL},
};

const struct part_kind crossbar_kind = {
    .name = "crossbar",
    .explanation = "A crossbar between requesters and memory controllers.",
    .config_size = sizeof(struct crossbar_config),
    .fields = fields,
    .field_count = sizeof fields / sizeof *fields,
    .functional = "",
    .ports = ports,
    .check = check,
};
