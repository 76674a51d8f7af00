/* The kind "dram": its fields, ports and callbacks. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/dram/map.h"
#include "emu/dram/memory.h"
#include "emu/dram/standard.h"
#include "emu/mem/site.h"
#include "emu/sim/alloc.h"

static bool is_power_of_two(uint32_t value)
{
    return (value & (value - 1)) == 0;
}

/* Sets the standard's values, and fits the map and hashing to the organisation. */
static void derive(void *part, const bool given[])
{
    struct dram_config *config = part, standard;
    dram_config_default(&standard, config->standard);
    part_take(&dram_kind, 0, config, &standard, given);
    if (!given[part_field_find(&dram_kind, "channel_hash")] && !is_power_of_two(config->channels))
        config->channel_hash = false;
    if (given[part_field_find(&dram_kind, "map")] ||
        (config->channels == standard.channels && config->ranks == standard.ranks &&
         config->groups == standard.groups && config->banks == standard.banks &&
         config->rows == standard.rows && config->row_bytes == standard.row_bytes &&
         config->burst_bytes == standard.burst_bytes))
        return;
    /* Keep a map that cannot be fitted; check() explains the error. */
    struct error ignored;
    struct home_layout layout = dram_map_layout(config);
    char fitted[HOME_TEXT];
    if (home_text_fit(config->map, &layout.geometry, fitted, &ignored))
        strcpy(config->map, fitted);
}

/* Refuses what the standard's rules do not know. */
static bool check(const void *part, struct error *err)
{
    const struct dram_config *config = part;
    struct dram_config standard;
    struct dram_table table;
    dram_config_default(&standard, config->standard);
    if (config->bank_groups && standard.groups == 1)
        return error_set(err, "bank_groups: %s has no bank groups", dram_rows(config)->name);
    bool refreshes_banks = config->refresh != DRAM_REFRESH_BANK;
    dram_table_init(&table, config);
    for (size_t i = 0; i < table.rule_count; i++)
        refreshes_banks |= (table.rules[i].later & DRAM_SET(REFB)) != 0;
    if (!refreshes_banks)
        return error_set(err, "refresh: %s has no refresh of single banks", dram_rows(config)->name);
    return dram_config_check(config, err);
}

/* Writes the standard's name and, if it has one, the source of its value. */
static void note(const void *part, const struct part_field *field, char *buffer, size_t size)
{
    const struct dram_config *config = part;
    const char *source = dram_standard_source(config->standard, field->name);
    (void)snprintf(buffer, size, "%s%s%s", dram_standard_name(config->standard), source ? ": " : "",
                   source ? source : "");
}

#define PART struct dram_config
static const struct part_field fields[] = {
#include "emu/sim/fields_rows.h"

#include "emu/dram/dram.def"
};

static const struct part_port ports[] = {
    {.name = "in",
     .type = "memory",
     .direction = PART_SERVES,
     .many = true,
     .optional = true,
     .explanation = "The controllers, one per channel."},
    {.name = NULL},
};

static unsigned channels(const void *config)
{
    return ((const struct dram_config *)config)->channels;
}

static void *make(const void *config, const struct part_site *site, struct error *err)
{
    const struct mem_site *place = site->place;
    struct dram_memory *memory = alloc(1, sizeof *memory);
    (void)err;
    dram_memory_init(memory, config, site->queue, part_component(site), place->homes);
    dram_memory_serve(memory, place->module, place->stack);
    return memory;
}

static void free_part(void *part)
{
    dram_memory_free(part);
    free(part);
}

static struct part_end serve(void *part, unsigned port, unsigned slot)
{
    (void)port;
    (void)slot;
    return (struct part_end){&dram_memory_ops, part};
}

PART_REPORTS(dram_memory)

static void sync_part(void *part, uint64_t now)
{
    dram_memory_sync(part, now);
}

const struct part_kind dram_kind = {
    .name = "dram",
    .explanation = "Memory devices and their controllers, one per channel.",
    PART_CONFIG(struct dram_config),
    .functional = "",
    .ports = ports,
    .derive = derive,
    .note = note,
    .check = check,
    .channels = channels,
    .make = make,
    .free = free_part,
    .serve = serve,
    .publish = publish,
    .energy = energy,
    .observe = observe,
    .sync = sync_part,
};
