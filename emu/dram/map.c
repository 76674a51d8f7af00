#include "emu/dram/map.h"

#include <assert.h>

#include <string.h>

struct home_layout dram_map_layout(const struct dram_config *config)
{
    struct home_layout layout = {
        .geometry = {.modules = 1,
                     .stacks = 1,
                     .controllers = config->channels,
                     .ranks = config->ranks,
                     .groups = config->groups,
                     .banks = config->banks,
                     .rows = config->rows,
                     .columns = config->row_bytes / config->burst_bytes,
                     .burst = config->burst_bytes},
        .controller_hash = config->channel_hash,
        .bank_hash = config->bank_hash,
    };
    memcpy(layout.text, config->map, sizeof layout.text);
    return layout;
}

bool dram_map_init(struct home_bits *map, const struct dram_config *config, struct error *err)
{
    const struct home_layout layout = dram_map_layout(config);
    return home_bits_init(map, &layout, err);
}

struct home_map *dram_map_homes(const struct dram_config *config, uint64_t base)
{
    const struct home_layout layout = dram_map_layout(config);
    struct home_map *map = home_map_new();
    struct error err;
    bool added = home_range_add(map, base, dram_config_bytes(config), &layout, &err);
    assert(added); /* the configuration has passed its check */
    (void)added;
    return map;
}
