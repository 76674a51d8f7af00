/* What the coherent level can be, and what it tells about itself. */
#include <math.h>
#include <stddef.h>
#include <stdio.h>

#include "emu/mem/llc_state.h"

void llc_config_default(struct llc_config *config)
{
    *config = (struct llc_config){.size = 1 << 20,
                                  .ways = 16,
                                  .line = 64,
                                  .hit_clocks = 12,
                                  .tag_clocks = 4,
                                  .probe_clocks = 6,
                                  .fill_clocks = 2,
                                  .mshrs = 16,
                                  .queue = 32,
                                  .write_buffer = 8,
                                  .accept_clocks = 1,
                                  .replacement = TAGS_LRU};
}

static bool is_power(uint64_t value)
{
    return value > 0 && (value & (value - 1)) == 0;
}

static bool check_shape(const struct llc_config *config, struct error *err)
{
    uint64_t way = (uint64_t)config->ways * config->line;
    if (config->line < 16 || config->line > 256 || !is_power(config->line))
        return error_set(err, "line: %u bytes; allowed is a power of two from 16 to 256", config->line);
    if (config->ways < 1 || config->ways > 32)
        return error_set(err, "ways: %u; allowed is 1 to 32", config->ways);
    if (config->replacement == TAGS_TREE_PLRU && !is_power(config->ways))
        return error_set(err, "ways: %u; tree-PLRU needs a power of two", config->ways);
    if (config->slices > 256 || (config->slices & (config->slices - 1)))
        return error_set(err, "slices: %u; allowed is a power of two up to 256", config->slices);
    if (config->size % way || !is_power(config->size / way) || config->size > UINT32_MAX)
        return error_set(err,
                         "size: %llu bytes; %u ways of %u-byte lines need a power of two times %llu bytes, "
                         "below 4 GiB",
                         (unsigned long long)config->size, config->ways, config->line,
                         (unsigned long long)way);
    return true;
}

bool llc_config_check(const struct llc_config *config, struct error *err)
{
    const struct {
        const char *name;
        uint32_t value, least, most;
    } rows[] = {
        {"hit_clocks", config->hit_clocks, 1, 1000},
        {"tag_clocks", config->tag_clocks, 1, 1000},
        {"probe_clocks", config->probe_clocks, 0, 1000},
        {"fill_clocks", config->fill_clocks, 0, 1000},
        {"mshrs", config->mshrs, 1, 1024},
        {"queue", config->queue, 1, 4096},
        {"write_buffer", config->write_buffer, 1, 1024},
        {"accept_clocks", config->accept_clocks, 1, 1000},
    };
    if (!check_shape(config, err))
        return false;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].value < rows[i].least || rows[i].value > rows[i].most)
            return error_set(err, "%s: %u; allowed is %u to %u", rows[i].name, rows[i].value, rows[i].least,
                             rows[i].most);
    if (config->tag_clocks > config->hit_clocks)
        return error_set(err, "tag_clocks: %u; allowed is at most hit_clocks, %u", config->tag_clocks,
                         config->hit_clocks);
    return true;
}

const char *llc_name(const struct llc *llc)
{
    return llc->name;
}

const struct llc_config *llc_configuration(const struct llc *llc)
{
    return &llc->config;
}

const struct llc_counters *llc_counted(const struct llc *llc)
{
    return &llc->counters;
}

void llc_publish(struct llc *llc, struct stats *stats, const char *prefix)
{
    static const struct {
        const char *name, *unit, *meaning;
        size_t offset;
    } rows[] = {
#define LLC_COUNTER(name, unit, meaning) {#name, unit, meaning, offsetof(struct llc, counters.name)},
        LLC_COUNTERS(LLC_COUNTER)
#undef LLC_COUNTER
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char name[256];
        (void)snprintf(name, sizeof name, "%s.%s", prefix, rows[i].name);
        const uint64_t *value = (const uint64_t *)(const void *)((const char *)llc + rows[i].offset);
        stats_counter(stats, name, value, rows[i].unit, rows[i].meaning);
    }
}

/* CACTI 7 gives 172 pJ for a 64-byte read of 512 KiB, 8 ways, at 32 nm. Other sizes are scaled by the square
 * root of capacity, as the wires that the energy goes into grow with the side of the array, and by width. */
void llc_energy(struct llc *llc, struct energy_ledger *ledger, const char *prefix)
{
    char name[256];
    double side = sqrt((double)llc->config.size / (512 << 10)), width = llc->config.line / 64.0;
    (void)snprintf(name, sizeof name, "%s.access", prefix);
    energy_add(ledger, &(struct energy_account){
                           .name = name,
                           .count = &llc->transfers,
                           .unit = (uint64_t)(172000.0 * side * width),
                           .kind = ENERGY_PER_EVENT,
                           .source = "CACTI 7, itrs-hp, 32 nm, 512 KiB, 8 ways, 64 bytes: 172 pJ; scaled by "
                                     "sqrt(capacity) and by width"});
}
