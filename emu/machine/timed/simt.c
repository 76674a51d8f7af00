#include "emu/machine/timed/simt.h"

#include <stdio.h>
#include <stdlib.h>

#include "emu/machine/timed/kernels.h"
#include "emu/machine/timed/state.h"
#include "emu/sim/alloc.h"
#include "emu/simt/grid/launch.h"
#include "emu/simt/trace/access_trace.h"

#define TICK UINT64_C(1000000) /* `time` counts nanoseconds, as in user programs */

enum { NAME = 272 };

/* The multiprocessors of one part of the machine. */
struct cluster {
    const struct instance *instance;
    uint32_t count;
    struct simt_site site; /* construction parameters */
};

struct timed_simt {
    struct cluster *clusters;
    uint32_t cluster_count;
    uint32_t count;     /* number of multiprocessors */
    uint32_t component; /* of launches */
    struct simt_grid *grid;
    struct placement_table *table; /* NULL: none */
    struct kernels *kernels;
    struct warp_memory *memory; /* the threads' memory */
    struct track trace;         /* trace of accesses; sink NULL: none */
    bool failed;
    uint64_t changes; /* launches that have ended, and failures */
    timed_simt_fault *fault;
    void *fault_context;
};

/* A multiprocessor of the machine: the i-th one of its cluster. */
struct member {
    const struct cluster *cluster;
    uint32_t i;
};

/* The condition of a wait. */
struct simt_wait {
    const struct timed_simt *simt;
    bool (*met)(const struct simt_grid *grid, uint64_t number);
    uint64_t number;
};

static void failed(void *context, enum grid_end end, struct warp *warp, const struct warp_report *report)
{
    struct timed *timed = context;
    struct timed_simt *simt = timed->simt;
    simt->failed = true;
    simt->changes++;
    simt->fault(simt->fault_context, end, warp, report);
}

static void busy(void *context, bool is)
{
    struct timed *timed = context;
    const struct system *system = timed->scheduler.system;
    /* Several hosts wait asleep. A debugger may hold the hart that waits. */
    if (timed->harts[0].privileged || timed->hosts > 1 || (system && system->slice))
        scheduler_set_beside(&timed->scheduler, is);
}

static struct member member_of(const struct timed_simt *simt, uint32_t multiprocessor)
{
    const struct cluster *cluster = simt->clusters;
    while (multiprocessor - cluster->site.first >= cluster->count)
        cluster++;
    return (struct member){cluster, multiprocessor - cluster->site.first};
}

static struct simt_cluster *made(const struct timed *timed, const struct cluster *cluster)
{
    return builder_object(&timed->builder, cluster->instance);
}

static struct kernels_sample sample_of(const struct timed *timed)
{
    const struct timed_simt *simt = timed->simt;
    struct kernels_sample sample = {.time = timed->queues[0].now};
    for (uint32_t i = 0; i < simt->count; i++) {
        const struct member member = member_of(simt, i);
        const struct simt_config *config = member.cluster->instance->config;
        kernels_add(&sample, simt_cluster_counted(made(timed, member.cluster), member.i), config->schedulers);
    }
    for (size_t i = 0; i < timed->builder.count; i++) {
        const struct built_part *part = &timed->builder.parts[i];
        if (part->instance->kind != &dram_kind || !part->object)
            continue;
        const struct dram_config *config = part->instance->config;
        dram_memory_sync(part->object, timed->queues[0].now);
        sample.bytes += (DRAM_MEMORY_SUM(part->object, reads) + DRAM_MEMORY_SUM(part->object, writes)) *
                        config->burst_bytes;
    }
    return sample;
}

/* Called when a launch begins or ends: updates the figures of its kernel and the trace of accesses. */
static void phase(void *context, const struct grid_launch *launch, bool begins)
{
    const struct timed *timed = context;
    struct timed_simt *simt = timed->simt;
    const struct kernels_sample sample = sample_of(timed);
    const struct reach_code code = {launch_fetch, simt->memory};
    if (!begins) {
        simt->changes++;
        kernels_end(simt->kernels, launch->number, &sample);
        return;
    }
    const uint64_t kernel = launch_kernel(timed->harts[0].decoder, &code, launch->entry);
    kernels_begin(simt->kernels, launch->number, kernel, &sample);
    if (simt->trace.sink)
        access_trace_write(simt->trace, &(struct access_record){.time = timed->queues[0].now,
                                                                .pc = kernel,
                                                                .launch = (uint32_t)launch->number,
                                                                .block = (uint32_t)grid_blocks(launch),
                                                                .kind = ACCESS_IS_LAUNCH});
}

void timed_simt_facts(struct timed *timed, struct stats *stats)
{
    const struct timed_simt *simt = timed->simt;
    uint64_t flops = 0, bytes = 0;
    for (uint32_t i = 0; simt && i < simt->cluster_count; i++) {
        const struct simt_config *config = simt->clusters[i].instance->config;
        flops += 2 * config->clock * config->schedulers * config->width * config->count /
                 config->work[SIMT_WORK_fp32].interval;
    }
    for (size_t i = 0; simt && i < timed->builder.count; i++)
        if (timed->builder.parts[i].instance->kind == &dram_kind && timed->builder.parts[i].object)
            bytes += dram_config_bandwidth(timed->builder.parts[i].instance->config);
    if (simt)
        kernels_facts(simt->kernels, flops, bytes, stats);
}

/* Collects the clusters of the tree, in its order. */
static void find_clusters(struct timed_simt *simt, const struct tree *tree)
{
    for (const struct instance *i = tree_next(tree, NULL); i; i = tree_next(tree, i)) {
        const struct simt_config *config = i->config;
        if (i->kind != &simt_kind || config->count == 0)
            continue;
        simt->clusters = alloc_resize(simt->clusters, (simt->cluster_count + 1) * sizeof *simt->clusters);
        simt->clusters[simt->cluster_count++] =
            (struct cluster){.instance = i, .count = config->count, .site.first = simt->count};
        simt->count += config->count;
    }
}

static struct simt_grid *make_grid(struct timed *timed, struct timed_simt *simt, const struct clock *clock)
{
    const struct simt_config **configs = alloc(simt->count, sizeof *configs);
    uint32_t *numbers = alloc(simt->count, sizeof *numbers);
    for (uint32_t i = 0; i < simt->count; i++) {
        const struct cluster *cluster = member_of(simt, i).cluster;
        configs[i] = cluster->instance->config;
        numbers[i] = (uint32_t)(cluster - simt->clusters);
    }
    const struct simt_grid_parts parts = {
        .queue = timed->queues,
        .queues = timed->options.queues,
        .clock = *clock,
        .component = simt->component = timed->numbers.component++,
        .count = simt->count,
        .configs = configs,
        .placement = timed->options.machine->simt->placement,
        .parts = numbers,
        .table = simt->table,
        .refuses_calls = timed->options.threads > 1,
        .tick = TICK,
        .failed = failed,
        .busy = busy,
        .phase = phase,
        .context = timed,
    };
    struct simt_grid *grid = simt_grid_new(&parts);
    free(configs);
    free(numbers);
    return grid;
}

/* Reads the table that places blocks, if simt.placement is `table`. False with err set on failure. */
static bool read_table(struct timed_simt *simt, const struct simt_config *config, struct error *err)
{
    struct error cause;
    if (config->placement != PLACEMENT_TABLE)
        return true;
    if (!config->placement_table[0])
        return error_set(err,
                         "simt.placement_table: missing; simt.placement: table needs the name of a file");
    simt->table = placement_table_read(config->placement_table, simt->count, &cause);
    return simt->table || error_set(err, "simt.placement_table: %s", cause.text);
}

bool timed_simt_new(struct timed *timed, struct error *err)
{
    const struct simt_config *config = timed->options.machine->simt;
    struct clock clock;
    if (!config)
        return true;
    if (!clock_set_frequency(&clock, config->clock, err))
        return false;
    struct timed_simt *simt = alloc(1, sizeof *simt);
    timed->simt = simt;
    find_clusters(simt, timed->options.machine->tree);
    if (!read_table(simt, config, err))
        return false;
    simt->grid = make_grid(timed, simt, &clock);
    simt->kernels = kernels_new(timed->symbols);
    struct track_sink *sink = trace_tracks(timed->options.trace);
    if (sink && track_takes(sink, TRACK_RECORDS)) {
        simt->trace = access_trace_open(sink);
        access_trace_begin(simt->trace);
    }
    return true;
}

const struct simt_site *timed_simt_site(struct timed *timed, const struct instance *instance,
                                        const struct mem_site *memory)
{
    struct timed_simt *simt = timed->simt;
    for (uint32_t i = 0; simt && i < simt->cluster_count; i++) {
        if (simt->clusters[i].instance != instance)
            continue;
        simt->clusters[i].site.memory = memory;
        simt->clusters[i].site.grid = simt->grid;
        simt->clusters[i].site.hart = timed->harts[0].privileged ? &timed->harts[0] : NULL;
        return &simt->clusters[i].site;
    }
    return NULL;
}

/* Connects a multiprocessor of a cluster with the mechanism. */
static bool offload(struct timed *timed, struct member member, struct error *err)
{
    const struct core_mechanism *mechanism = &timed->options.mechanism;
    const struct simt_beside beside = simt_cluster_beside(made(timed, member.cluster), member.i);
    char name[NAME];
    (void)snprintf(name, sizeof name, "%s.%u", member.cluster->instance->path, member.i);
    return mechanism->ops->join(mechanism->context, name, &beside, &timed->harts[0], err);
}

bool timed_simt_offload(struct timed *timed, struct error *err)
{
    const struct core_mechanism *mechanism = &timed->options.mechanism;
    const struct timed_simt *simt = timed->simt;
    if (!simt || !mechanism->ops || !mechanism->ops->offloads(mechanism->context) ||
        timed->harts[0].privileged)
        return true;
    for (uint32_t i = 0; i < simt->count; i++)
        if (!offload(timed, member_of(simt, i), err))
            return false;
    mechanism->ops->serve(mechanism->context, &timed->builder.units);
    return true;
}

void timed_simt_watch(struct timed *timed)
{
    const struct timed_simt *simt = timed->simt;
    for (uint32_t i = 0; simt && i < simt->count; i++) {
        const struct member member = member_of(simt, i);
        const struct simt_beside beside = simt_cluster_beside(made(timed, member.cluster), member.i);
        if (cache_is_by_word(beside.l1))
            cache_check_words(beside.l1, timed->words,
                              word_versions_agent(timed->words, simt_name(beside.simt)));
    }
}

uint32_t timed_simt_component(const struct timed *timed)
{
    return timed->simt ? timed->simt->component : EVENT_COMPONENTS;
}

struct simt_grid *timed_simt_grid(const struct timed *timed)
{
    return timed->simt ? timed->simt->grid : NULL;
}

bool timed_simt_failed(const struct timed *timed)
{
    return timed->simt && timed->simt->failed;
}

void timed_simt_free(struct timed *timed)
{
    struct timed_simt *simt = timed->simt;
    if (!simt)
        return;
    simt_grid_free(simt->grid);
    kernels_free(simt->kernels);
    placement_table_free(simt->table);
    free(simt->clusters);
    free(simt);
}

/* Puts the stacks of each multiprocessor into the memory that plan_machine() gives it. Once: threads have words there when later
 * launches come, and homes may have changed by then. */
static void place_stacks(const struct timed *timed, struct warp_memory *memory)
{
    const struct plan *plan = &timed->builder.plan;
    struct home home;
    home_resolve(plan->homes, memory->setup.stack_physical, &home);
    warp_memory_set_groups(memory, plan->modules * plan->stacks, home.module * plan->stacks + home.stack);
}

void timed_simt_bind(struct timed *timed, struct warp_memory *memory, const struct grid_host *host,
                     timed_simt_fault *fault, void *context)
{
    timed->simt->memory = memory;
    timed->simt->fault = fault;
    timed->simt->fault_context = context;
    memory->peers = &timed->peers;
    if (timed->options.machine->simt->stack_near && !memory->stack_groups)
        place_stacks(timed, memory);
    timed->peers.threads_stored = warp_memory_stored;
    timed->peers.threads = memory;
    simt_grid_bind(timed->simt->grid, memory, host);
}

bool timed_simt_possible(const struct timed *timed, const struct grid_launch *launch, uint32_t registers)
{
    return grid_block_threads(launch) <= timed->options.machine->simt->block_threads &&
           simt_grid_possible(timed->simt->grid, launch, registers);
}

const struct simt_counters *timed_simt_counted(struct timed *timed, uint32_t multiprocessor)
{
    const struct member member = member_of(timed->simt, multiprocessor);
    return simt_cluster_counted(made(timed, member.cluster), member.i);
}

static bool is_met(const void *context)
{
    const struct simt_wait *wait = context;
    return wait->simt->failed || wait->met(wait->simt->grid, wait->number);
}

static bool wait_until(struct timed *timed, bool (*met)(const struct simt_grid *grid, uint64_t number),
                       uint64_t number)
{
    const struct simt_wait wait = {timed->simt, met, number};
    return scheduler_wait(&timed->scheduler, is_met, &wait, &timed->simt->changes) &&
           met(timed->simt->grid, number);
}

bool timed_simt_wait(struct timed *timed, uint64_t number)
{
    return wait_until(timed, simt_grid_done, number);
}

static bool has_room(const struct simt_grid *grid, uint64_t number)
{
    (void)number;
    return simt_grid_room(grid);
}

bool timed_simt_ready(const struct timed *timed, uint64_t number)
{
    const struct timed_simt *simt = timed->simt;
    return number == LAUNCH_ROOM ? simt_grid_room(simt->grid) : simt_grid_done(simt->grid, number);
}

bool timed_simt_pending(const struct timed *timed, uint64_t number, struct grid_pending *pending)
{
    return simt_grid_pending(timed->simt->grid, number, pending);
}

void timed_simt_resume(struct timed *timed, struct custom_waiter *waiter)
{
    for (uint32_t i = 0; i < timed->simt->cluster_count; i++)
        simt_cluster_refresh(made(timed, &timed->simt->clusters[i]));
    custom_returned(waiter, timed->queues[0].now);
}

void timed_simt_forget(struct timed *timed)
{
    for (uint32_t i = 0; i < timed->simt->cluster_count; i++)
        simt_cluster_forget(made(timed, &timed->simt->clusters[i]));
}

struct warp *timed_simt_warp(const struct timed *timed, uint32_t number)
{
    return simt_grid_warp(timed->simt->grid, number);
}

void timed_simt_moved(struct timed *timed)
{
    simt_grid_moved(timed->simt->grid);
}

bool timed_simt_launch(struct timed *timed, const struct grid_launch *launch, uint32_t registers,
                       uint64_t queue, uint64_t number)
{
    if (!wait_until(timed, has_room, 0))
        return false;
    simt_grid_launch(timed->simt->grid, launch, registers, queue, number);
    return true;
}

void timed_simt_publish(struct timed *timed, struct stats *stats)
{
    if (timed->simt)
        simt_grid_publish(timed->simt->grid, stats, scope_enter(NULL, "simt"));
}
