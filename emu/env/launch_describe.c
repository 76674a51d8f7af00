/* What launches are told of the machine, and what they tell about themselves. */
#include <inttypes.h>
#include <string.h>

#include "emu/env/launch_state.h"

static bool is_power(uint64_t n)
{
    return n && !(n & (n - 1));
}

bool launch_describe(const struct machine_config *machine, struct launch_options *options, struct error *err)
{
    const struct machine_simt *keys = &machine->simt;
    char source[MACHINE_SOURCE];
    const char *name = !is_power(keys->width) ? "simt.width" : !is_power(keys->stack) ? "simt.stack" : NULL;
    *options = (struct launch_options){.limits = {.count = (uint32_t)keys->count,
                                                  .width = (uint32_t)keys->width,
                                                  .block_threads = (uint32_t)keys->block_threads,
                                                  .scratchpad = keys->scratchpad},
                                       .stack = keys->stack};
    if (!name)
        return true;
    machine_source(machine, name, source);
    return error_set(err, "%s: %s: %" PRIu64 " is not allowed; allowed: a power of two", source, name,
                     strcmp(name, "simt.width") == 0 ? keys->width : keys->stack);
}

/* What has executed the launches: a device, or the functional run. */
static struct launch_counts counts_of(const struct launch *launch)
{
    const struct launch_device *device = launch->options->device;
    const struct grid *grid = &launch->grid;
    return device ? *device->count(device->context)
                  : (struct launch_counts){grid->launches, grid->blocks, grid->insns, grid->thread_insns};
}

static uint64_t read_launches(const void *launch)
{
    return counts_of(launch).launches;
}

static uint64_t read_blocks(const void *launch)
{
    return counts_of(launch).blocks;
}

static uint64_t read_insns(const void *launch)
{
    return counts_of(launch).insns;
}

static uint64_t read_thread_insns(const void *launch)
{
    return counts_of(launch).thread_insns;
}

void launch_publish(const struct launch *launch, struct stats *stats)
{
    stats_computed(stats, "simt.launches", read_launches, launch, "launches",
                   "grids of threads that were launched");
    stats_computed(stats, "simt.blocks", read_blocks, launch, "blocks", "blocks of threads that have begun");
    stats_computed(stats, "simt.instructions", read_insns, launch, "instructions",
                   "instructions executed, once for a warp");
    stats_computed(stats, "simt.thread_instructions", read_thread_insns, launch, "instructions",
                   "instructions executed, once for each thread");
}
