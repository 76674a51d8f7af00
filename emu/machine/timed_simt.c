#include "emu/machine/timed_simt.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "emu/machine/timed_state.h"
#include "emu/net/crossbar.h"

enum {
    REQUESTERS = 256, /* of multiprocessors, from here on; the slices are behind the last */
    NAME = TREE_NAME + 16,
};

#define TICK UINT64_C(1000000) /* `time` counts nanoseconds, as a user program's */

struct multiprocessor {
    char name[NAME]; /* "simt.3" */
    struct cache *l1;
    struct simt *core;
};

/* The multiprocessors of one part of the description, with what they share. */
struct cluster {
    const struct instance *instance;
    const struct simt_config *config;
    const struct cache_config *l1;
    const struct llc_config *l2;               /* NULL: none */
    const struct crossbar_config *crossbar_of; /* likewise */
    struct clock clock, crossbar_clock, l2_clock;
    struct crossbar *crossbar;
    struct llc **slices;
    uint32_t slice_count;
    struct multiprocessor *cores;
    uint32_t first, count; /* of all multiprocessors */
};

struct timed_simt {
    struct cluster *clusters;
    uint32_t cluster_count;
    uint32_t count;     /* of multiprocessors */
    uint16_t requester; /* the next slice's */
    struct simt_grid *grid;
    bool failed;
    timed_simt_fault *fault;
    void *fault_context;
};

bool timed_simt_present(const struct timed *timed)
{
    return timed->simt != NULL;
}

/* What a wait is for. */
struct simt_wait {
    const struct timed_simt *simt;
    bool (*met)(const struct simt_grid *grid, uint64_t number);
    uint64_t number;
};

/* What a place of the cluster's own is joined to. */
static struct part_end below(const struct timed *timed, const struct cluster *cluster, uint32_t place)
{
    return builder_server(&timed->builder, cluster->instance, "memory", place, NULL);
}

/* The crossbar below the first-level caches: to slices by lines in turn, or to what the cluster is joined to. */
static bool make_crossbar(struct timed *timed, struct cluster *cluster, struct error *err)
{
    struct crossbar_config config = *cluster->crossbar_of;
    const struct crossbar_route route = {.shift = (uint32_t)__builtin_ctz(cluster->l1->line)};
    config.inputs = cluster->count;
    config.outputs = cluster->l2 ? cluster->slice_count : 1;
    if (!clock_set_frequency(&cluster->crossbar_clock, config.clock, err))
        return false;
    cluster->crossbar =
        crossbar_new(&config, &timed->queue, &cluster->crossbar_clock, timed_component(timed), &route);
    if (!cluster->l2) {
        const struct part_end end = below(timed, cluster, 0);
        crossbar_connect(cluster->crossbar, 0, end.ops, end.object);
    }
    return true;
}

static bool make_slices(struct timed *timed, struct timed_simt *simt, struct cluster *cluster,
                        struct error *err)
{
    cluster->slices = calloc(cluster->slice_count, sizeof(struct llc *));
    if (!cluster->slices)
        abort();
    if (!clock_set_frequency(&cluster->l2_clock, cluster->l2->clock, err))
        return false;
    for (uint32_t i = 0; i < cluster->slice_count; i++) {
        char name[NAME];
        const struct part_end end = below(timed, cluster, i);
        (void)snprintf(name, sizeof name, "%s.l2.%u", cluster->instance->path, i);
        cluster->slices[i] = llc_new(name, cluster->l2, &timed->queue, &cluster->l2_clock,
                                     timed_component(timed), simt->requester++, end.ops, end.object);
        llc_set_homes(cluster->slices[i], timed->builder.homes);
        if (cluster->crossbar)
            crossbar_connect(cluster->crossbar, i, &llc_ops, cluster->slices[i]);
    }
    return true;
}

/* Where the requests of a first-level cache go. */
static struct part_end below_l1(const struct timed *timed, const struct cluster *cluster, uint32_t i)
{
    if (cluster->crossbar)
        return (struct part_end){&crossbar_ops, crossbar_port(cluster->crossbar, i)};
    return cluster->l2 ? (struct part_end){&llc_ops, cluster->slices[0]} : below(timed, cluster, i);
}

static void make_core(struct timed *timed, struct timed_simt *simt, struct cluster *cluster, uint32_t i)
{
    struct multiprocessor *core = &cluster->cores[i];
    uint32_t number = cluster->first + i;
    char name[NAME + 8];
    const struct part_end end = below_l1(timed, cluster, i);
    (void)snprintf(core->name, sizeof core->name, "%s.%u", cluster->instance->path, i);
    (void)snprintf(name, sizeof name, "%s.l1", core->name);
    core->l1 = cache_new(name, cluster->l1, &timed->queue, &cluster->clock, timed_component(timed),
                         (uint16_t)(REQUESTERS + number), end.ops, end.object);
    struct simt_parts parts = {
        .name = core->name,
        .queue = &timed->queue,
        .clock = cluster->clock,
        .component = timed_component(timed),
        .number = (uint16_t)(REQUESTERS + number),
        .l1 = core->l1,
        .lower_ops = end.ops,
        .lower = end.object,
        .source = simt_grid_source(simt->grid, number),
    };
    if (!cluster->l2) {
        cache_set_homes(core->l1, timed->builder.homes);
        parts.homes = timed->builder.homes;
    }
    core->core = simt_new(cluster->config, &parts);
    simt_grid_attach(simt->grid, number, core->core);
    struct track_sink *sink = trace_tracks(timed->options.trace);
    if (sink)
        cache_track(core->l1, sink);
}

static void failed(void *context, enum grid_end end, struct warp *warp, const struct warp_report *report)
{
    struct timed *timed = context;
    struct timed_simt *simt = timed->simt;
    simt->failed = true;
    simt->fault(simt->fault_context, end, warp, report);
}

/* The clusters of the description, in the tree's order. */
static void find_clusters(struct timed_simt *simt, const struct tree *tree)
{
    for (const struct instance *i = tree_next(tree, NULL); i; i = tree_next(tree, i)) {
        const struct simt_config *config = i->config;
        if (i->kind != &simt_kind || config->count == 0)
            continue;
        simt->clusters = realloc(simt->clusters, (simt->cluster_count + 1) * sizeof *simt->clusters);
        if (!simt->clusters)
            abort();
        struct cluster *cluster = &simt->clusters[simt->cluster_count++];
        const struct instance *l2 = builder_below(i, "l2"), *crossbar = builder_below(i, "crossbar");
        *cluster = (struct cluster){.instance = i,
                                    .config = config,
                                    .l1 = builder_below(i, "l1")->config,
                                    .l2 = l2 ? l2->config : NULL,
                                    .crossbar_of = crossbar ? crossbar->config : NULL,
                                    .first = simt->count,
                                    .count = config->count};
        cluster->slice_count = cluster->l2 ? cluster->l2->slices : 0;
        cluster->cores = calloc(cluster->count, sizeof *cluster->cores);
        if (!cluster->cores)
            abort();
        simt->count += cluster->count;
    }
}

static bool make_shared(struct timed *timed, struct timed_simt *simt, struct cluster *cluster,
                        struct error *err)
{
    return clock_set_frequency(&cluster->clock, cluster->config->clock, err) &&
           (!cluster->crossbar_of || make_crossbar(timed, cluster, err)) &&
           (!cluster->l2 || make_slices(timed, simt, cluster, err));
}

bool timed_simt_new(struct timed *timed, struct error *err)
{
    const struct machine_config *machine = timed->options.machine;
    if (!machine->simt)
        return true;
    struct timed_simt *simt = calloc(1, sizeof *simt);
    if (!simt)
        abort();
    timed->simt = simt;
    find_clusters(simt, machine->tree);
    assert(simt->clusters); /* machine->simt is one's configuration */
    simt->requester = (uint16_t)(REQUESTERS + simt->count);
    for (uint32_t i = 0; i < simt->cluster_count; i++)
        if (!make_shared(timed, simt, &simt->clusters[i], err))
            return false;
    const struct simt_config **configs = calloc(simt->count, sizeof *configs);
    if (!configs)
        abort();
    for (uint32_t i = 0; i < simt->cluster_count; i++)
        for (uint32_t j = 0; j < simt->clusters[i].count; j++)
            configs[simt->clusters[i].first + j] = simt->clusters[i].config;
    const struct simt_grid_parts parts = {
        .queue = &timed->queue,
        .clock = simt->clusters[0].clock,
        .component = timed_component(timed),
        .count = simt->count,
        .configs = configs,
        .tick = TICK,
        .failed = failed,
        .context = timed,
    };
    simt->grid = simt_grid_new(&parts);
    free(configs);
    for (uint32_t i = 0; i < simt->cluster_count; i++)
        for (uint32_t j = 0; j < simt->clusters[i].count; j++)
            make_core(timed, simt, &simt->clusters[i], j);
    return true;
}

static void free_cluster(struct cluster *cluster)
{
    for (uint32_t i = 0; i < cluster->count; i++) {
        simt_free(cluster->cores[i].core);
        if (cluster->cores[i].l1)
            cache_free(cluster->cores[i].l1);
    }
    for (uint32_t i = 0; cluster->slices && i < cluster->slice_count; i++)
        if (cluster->slices[i])
            llc_free(cluster->slices[i]);
    free(cluster->slices);
    if (cluster->crossbar)
        crossbar_free(cluster->crossbar);
    free(cluster->cores);
}

void timed_simt_free(struct timed *timed)
{
    struct timed_simt *simt = timed->simt;
    if (!simt)
        return;
    simt_grid_free(simt->grid);
    for (uint32_t i = 0; i < simt->cluster_count; i++)
        free_cluster(&simt->clusters[i]);
    free(simt->clusters);
    free(simt);
}

void timed_simt_bind(struct timed *timed, struct warp_memory *memory, const struct grid_host *host,
                     timed_simt_fault *fault, void *context)
{
    timed->simt->fault = fault;
    timed->simt->fault_context = context;
    memory->peers = &timed->peers;
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
    const struct cluster *cluster = timed->simt->clusters;
    while (multiprocessor - cluster->first >= cluster->count)
        cluster++;
    return simt_counted(cluster->cores[multiprocessor - cluster->first].core);
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
    return scheduler_wait(&timed->scheduler, is_met, &wait) && met(timed->simt->grid, number);
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

bool timed_simt_launch(struct timed *timed, const struct grid_launch *launch, uint32_t registers,
                       uint64_t queue, uint64_t number)
{
    if (!wait_until(timed, has_room, 0))
        return false;
    simt_grid_launch(timed->simt->grid, launch, registers, queue, number);
    return true;
}

static void publish_cluster(const struct cluster *cluster, struct stats *stats, struct energy_ledger *ledger)
{
    const struct scope scope = scope_enter(NULL, cluster->instance->path);
    for (uint32_t i = 0; i < cluster->count; i++) {
        const struct multiprocessor *multiprocessor = &cluster->cores[i];
        const struct scope core = scope_number(&scope, i), l1 = scope_enter(&core, "l1");
        simt_publish(multiprocessor->core, stats, core);
        simt_energy(multiprocessor->core, ledger, core);
        cache_publish(multiprocessor->l1, stats, l1);
        cache_energy(multiprocessor->l1, ledger, l1);
    }
    if (cluster->crossbar) {
        crossbar_publish(cluster->crossbar, stats, scope_enter(&scope, "crossbar"));
        crossbar_energy(cluster->crossbar, ledger, scope_enter(&scope, "crossbar"));
    }
    for (uint32_t i = 0; i < cluster->slice_count; i++) {
        const struct scope slice = scope_at(&scope, "l2", i);
        llc_publish(cluster->slices[i], stats, slice);
        llc_energy(cluster->slices[i], ledger, slice);
    }
}

void timed_simt_publish(struct timed *timed, struct stats *stats)
{
    struct timed_simt *simt = timed->simt;
    if (!simt)
        return;
    simt_grid_publish(simt->grid, stats, scope_enter(NULL, "simt"));
    for (uint32_t i = 0; i < simt->cluster_count; i++)
        publish_cluster(&simt->clusters[i], stats, &timed->ledger);
}
