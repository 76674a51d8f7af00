/* What a last-level cache is described by. */
#include <inttypes.h>

#include "emu/mem/llc.h"

static bool is_power(uint64_t value)
{
    return value > 0 && (value & (value - 1)) == 0;
}

static bool check(const void *part, struct error *err)
{
    const struct llc_config *config = part;
    uint64_t way = (uint64_t)config->ways * config->line;
    if (config->replacement == TAGS_TREE_PLRU && !is_power(config->ways))
        return error_set(err, "ways: %u; tree-PLRU needs a power of two", config->ways);
    if (!is_power(config->slices))
        return error_set(err, "slices: %u; allowed is a power of two up to 256", config->slices);
    if (config->size % way || !is_power(config->size / way))
        return error_set(err,
                         "size: %" PRIu64
                         " bytes; %u ways of %u-byte lines need a power of two times %" PRIu64 " bytes",
                         config->size, config->ways, config->line, way);
    if (config->tag_clocks > config->hit_clocks)
        return error_set(err, "tag_clocks: %u; allowed is at most hit_clocks, %u", config->tag_clocks,
                         config->hit_clocks);
    return true;
}

#define PART struct llc_config
static const struct part_field fields[] = {
#include "emu/sim/fields_rows.h"

#include "emu/mem/llc.def"
};

static const struct part_port ports[] = {
    {.name = "in",
     .type = "memory",
     .direction = PART_SERVES,
     .many = true,
     .optional = true,
     .explanation = "The caches above it."},
    {.name = "memory",
     .type = "memory",
     .direction = PART_ASKS,
     .partners = "crossbar dram",
     .explanation = "Where its misses go."},
    {.name = NULL},
};

const struct part_kind llc_kind = {
    .name = "llc",
    .explanation = "A shared, inclusive last-level cache, with the directory of the caches above it.",
    .config_size = sizeof(struct llc_config),
    .fields = fields,
    .field_count = sizeof fields / sizeof *fields,
    .functional = "",
    .ports = ports,
    .check = check,
};
