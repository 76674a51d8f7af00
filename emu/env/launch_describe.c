/* What launches are told of the machine, and what they tell about themselves. */
#include "emu/env/launch_state.h"

void launch_describe(const struct machine_config *machine, struct launch_options *options)
{
    const struct simt_config *simt = machine->simt;
    *options = (struct launch_options){.limits = {.count = 0}};
    if (!simt)
        return;
    options->stack = simt->stack;
    options->limits = (struct grid_limits){.count = machine->multiprocessors,
                                           .width = simt->width,
                                           .block_threads = simt->block_threads,
                                           .scratchpad = simt->scratchpad};
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
    const struct scope simt = scope_enter(NULL, "simt");
    stats_computed(stats, simt, "launches", read_launches, launch, "launches",
                   "grids of threads that were launched");
    stats_computed(stats, simt, "blocks", read_blocks, launch, "blocks", "blocks of threads that have begun");
    stats_computed(stats, simt, "instructions", read_insns, launch, "instructions",
                   "instructions executed, once for a warp");
    stats_computed(stats, simt, "thread_instructions", read_thread_insns, launch, "instructions",
                   "instructions executed, once for each thread");
}
