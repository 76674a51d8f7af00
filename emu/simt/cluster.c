#include "emu/simt/cluster.h"

#include <stdio.h>
#include <stdlib.h>

#include "emu/mem/denovo_domain.h"
#include "emu/mem/llc_slices.h"
#include "emu/net/crossbar.h"
#include "emu/sim/alloc.h"

enum { NAME = 272 };

struct multiprocessor {
    char name[NAME]; /* such as "simt.3" */
    struct cache *l1;
    struct simt *core;
    uint16_t number; /* requester number */
};

struct simt_cluster {
    const struct simt_config *config;
    struct clock clock, crossbar_clock, l2_clock;
    struct crossbar *crossbar; /* NULL: none */
    struct llc **slices;
    uint32_t slice_count; /* 0: no second level */
    bool by_line;         /* lines take turns among the slices */
    struct multiprocessor *cores;
    struct cache *walk_cache; /* NULL: addresses are physical */
    struct simt_mmu *mmu;
};

static void *array_of(size_t count, size_t size)
{
    return alloc(count ? count : 1, size);
}

/* Returns the number of inputs of the crossbar, without that of page walks. */
static uint32_t inputs_of(const struct simt_config *config)
{
    return (config->count + config->cluster - 1) / config->cluster;
}

/* Makes the crossbar below the first-level caches. Its outputs are the slices, interleaved by line or by
 * memory partition, or the memory that the cluster is connected to. */
static bool make_crossbar(struct simt_cluster *cluster, const struct part_site *site, struct error *err)
{
    const struct cache_config *l1 = site->below[SIMT_L1];
    const struct llc_config *l2 = site->below[SIMT_L2];
    const struct simt_site *place = site->place;
    const struct mem_site *memory = place->memory;
    struct crossbar_config config = *(const struct crossbar_config *)site->below[SIMT_CROSSBAR];
    struct crossbar_route route = {.shift = (uint32_t)__builtin_ctz(l1->line)};
    if (l2 && l2->interleave == LLC_BY_PARTITION)
        route =
            (struct crossbar_route){.homes = memory->homes,
                                    .modules = memory->modules,
                                    .stacks = memory->stacks,
                                    .controllers = memory->controllers,
                                    .shift = route.shift,
                                    .partitions = true,
                                    .line_bursts = l1->line > memory->burst ? l1->line / memory->burst : 1};
    config.inputs = inputs_of(cluster->config) + (place->hart != NULL); /* the last one: page walks */
    config.outputs = cluster->slice_count ? cluster->slice_count : 1;
    if (!clock_set_frequency(&cluster->crossbar_clock, config.clock, err))
        return false;
    cluster->crossbar =
        crossbar_new(&config, site->queue, &cluster->crossbar_clock, part_component(site), &route);
    return true;
}

/* Returns whether the crossbar sends requests for the line to the slice. */
static bool has_line(const void *context, uint32_t number, uint64_t line)
{
    const struct simt_cluster *cluster = context;
    return crossbar_output(cluster->crossbar, line) == number;
}

static bool make_slices(struct simt_cluster *cluster, const struct part_site *site, struct error *err)
{
    const struct simt_site *place = site->place;
    const struct llc_config *config = site->below[SIMT_L2];
    if (!clock_set_frequency(&cluster->l2_clock, config->clock, err))
        return false;
    for (uint32_t i = 0; i < cluster->slice_count; i++) {
        char name[NAME];
        (void)snprintf(name, sizeof name, "%s.l2.%u", site->name, i);
        cluster->slices[i] = llc_new(name, config, site->queue, &cluster->l2_clock, part_component(site),
                                     part_requester(site), NULL, NULL);
        if (place->memory->last)
            llc_set_homes(cluster->slices[i], place->memory->homes);
        if (!cluster->crossbar)
            continue;
        crossbar_connect(cluster->crossbar, i, &llc_ops, cluster->slices[i]);
        if (cluster->slice_count > 1)
            llc_set_share(cluster->slices[i], &(struct llc_share){has_line, cluster, i});
    }
    return true;
}

/* Returns the port inside the cluster that takes the requests of input number `input`; NULLs if the port is outside. */
static struct part_end below(const struct simt_cluster *cluster, uint32_t input)
{
    if (cluster->crossbar)
        return (struct part_end){&crossbar_ops, crossbar_port(cluster->crossbar, input)};
    return cluster->slice_count ? (struct part_end){&llc_ops, cluster->slices[0]}
                                : (struct part_end){NULL, NULL};
}

/* Makes a first-level cache a unit of the domain of the last level to which its requests go, if that has one. */
static void join(const struct simt_cluster *cluster, const struct part_site *site, struct cache *l1,
                 uint32_t i)
{
    const struct simt_site *place = site->place;
    struct denovo_domain *domain = place->memory->level ? llc_slices_domain(place->memory->level) : NULL;
    if (!domain || cluster->slice_count)
        return;
    const struct denovo_place where = denovo_place_of(&place->memory->mail, cluster->crossbar ? 0 : i);
    cache_join(l1, domain, &where);
}

static void make_core(struct simt_cluster *cluster, const struct part_site *site, uint32_t i)
{
    const struct simt_site *place = site->place;
    struct multiprocessor *core = &cluster->cores[i];
    struct home_map *homes = place->memory->last && !cluster->slice_count ? place->memory->homes : NULL;
    const struct part_end end = below(cluster, i / cluster->config->cluster);
    uint16_t requester = core->number = part_requester(site);
    char name[NAME + 8];
    (void)snprintf(core->name, sizeof core->name, "%s.%u", site->name, i);
    (void)snprintf(name, sizeof name, "%s.l1", core->name);
    core->l1 = cache_new(name, site->below[SIMT_L1], site->queue, &cluster->clock, part_component(site),
                         requester, end.ops, end.object);
    cache_set_homes(core->l1, homes);
    join(cluster, site, core->l1, i);
    struct simt_parts parts = {
        .name = core->name,
        .queue = site->queue,
        .clock = cluster->clock,
        .component = part_component(site),
        .number = requester,
        .l1 = core->l1,
        .lower_ops = end.ops,
        .lower = end.object,
        .homes = homes,
        .mmu = cluster->mmu,
        .source = simt_grid_source(place->grid, place->first + i),
    };
    core->core = simt_new(cluster->config, &parts);
    simt_grid_attach(place->grid, place->first + i, core->core);
}

/* Makes the walk cache and the shared TLB. The walk cache stands beside the first-level caches; without a crossbar and a
 * second level, it shares the way of the first multiprocessor's. */
static void make_mmu(struct simt_cluster *cluster, const struct part_site *site)
{
    const struct simt_site *place = site->place;
    struct simt_mmu_setup setup = {.tlb = site->below[SIMT_TLB],
                                   .walkers = cluster->config->walkers,
                                   .hart = place->hart,
                                   .queue = site->queue,
                                   .clock = &cluster->clock};
    char name[NAME + 16];
    if (!place->hart)
        return;
    const struct part_end end = below(cluster, inputs_of(cluster->config));
    (void)snprintf(name, sizeof name, "%s.walk_cache", site->name);
    setup.requester = part_requester(site);
    setup.cache = cluster->walk_cache =
        cache_new(name, site->below[SIMT_WALK_CACHE], site->queue, &cluster->clock, part_component(site),
                  setup.requester, end.ops, end.object);
    if (place->memory->last && !cluster->slice_count)
        cache_set_homes(cluster->walk_cache, place->memory->homes);
    setup.component = part_component(site);
    cluster->mmu = simt_mmu_new(&setup);
}

/* Checks the parts against DeNovo's registries. */
static bool allows(const struct part_site *site, struct error *err)
{
    const struct simt_site *place = site->place;
    const struct llc_config *l2 = site->below[SIMT_L2];
    if (l2 && l2->coherence == LLC_DENOVO)
        return error_set(err, "l2.coherence: denovo is only possible in the machine's l2; allowed: mesi");
    return l2 || !place->memory->level || !llc_slices_domain(place->memory->level) ||
           cache_may_join(site->below[SIMT_L1], "l1", err);
}

void *simt_cluster_make(const void *config, const struct part_site *site, struct error *err)
{
    const struct llc_config *l2 = site->below[SIMT_L2];
    struct simt_cluster *cluster = array_of(1, sizeof *cluster);
    cluster->config = config;
    cluster->slice_count = l2 ? l2->slices : 0;
    cluster->by_line = l2 && l2->interleave == LLC_BY_LINE;
    cluster->slices = array_of(cluster->slice_count, sizeof *cluster->slices);
    cluster->cores = array_of(cluster->config->count, sizeof *cluster->cores);
    if (!clock_set_frequency(&cluster->clock, cluster->config->clock, err) || !allows(site, err) ||
        (site->below[SIMT_CROSSBAR] && !make_crossbar(cluster, site, err)) ||
        (l2 && !make_slices(cluster, site, err))) {
        simt_cluster_free(cluster);
        return NULL;
    }
    make_mmu(cluster, site);
    for (uint32_t i = 0; i < cluster->config->count; i++)
        make_core(cluster, site, i);
    return cluster;
}

void simt_cluster_free(void *part)
{
    struct simt_cluster *cluster = part;
    for (uint32_t i = 0; i < cluster->config->count; i++) {
        simt_free(cluster->cores[i].core);
        cache_free(cluster->cores[i].l1);
    }
    simt_mmu_free(cluster->mmu);
    if (cluster->walk_cache)
        cache_free(cluster->walk_cache);
    for (uint32_t i = 0; i < cluster->slice_count; i++)
        if (cluster->slices[i])
            llc_free(cluster->slices[i]);
    if (cluster->crossbar)
        crossbar_free(cluster->crossbar);
    free(cluster->slices);
    free(cluster->cores);
    free(cluster);
}

void simt_cluster_connect(void *part, unsigned port, unsigned slot, const struct part_end *server)
{
    struct simt_cluster *cluster = part;
    (void)port;
    if (cluster->slice_count) {
        llc_connect(cluster->slices[slot], server->ops, server->object);
    } else if (cluster->crossbar) {
        crossbar_connect(cluster->crossbar, slot, server->ops, server->object);
    } else {
        cache_connect(cluster->cores[slot].l1, server->ops, server->object);
        simt_connect(cluster->cores[slot].core, server->ops, server->object);
        if (cluster->walk_cache && slot == 0)
            cache_connect(cluster->walk_cache, server->ops, server->object);
    }
}

struct simt_mmu *simt_cluster_mmu(const struct simt_cluster *cluster)
{
    return cluster->mmu;
}

void simt_cluster_forget(struct simt_cluster *cluster)
{
    if (cluster->mmu)
        simt_mmu_forget(cluster->mmu);
}

void simt_cluster_refresh(struct simt_cluster *cluster)
{
    if (cluster->mmu)
        simt_mmu_refresh(cluster->mmu);
}

const struct simt_counters *simt_cluster_counted(const struct simt_cluster *cluster, uint32_t multiprocessor)
{
    return simt_counted(cluster->cores[multiprocessor].core);
}

struct simt_beside simt_cluster_beside(struct simt_cluster *cluster, uint32_t multiprocessor)
{
    const struct multiprocessor *core = &cluster->cores[multiprocessor];
    return (struct simt_beside){
        .cluster = cluster,
        .in_cluster = multiprocessor,
        .simt = core->core,
        .l1 = core->l1,
        .clock = cluster->clock,
        .number = core->number,
        .block = cluster->slice_count > 1 ? cache_configuration(core->l1)->line : 0,
    };
}

uint32_t simt_cluster_count(const struct simt_cluster *cluster)
{
    return cluster->config->count;
}

uint32_t simt_clusters_count(void *const *clusters, uint32_t count)
{
    uint32_t sum = 0;
    for (uint32_t i = 0; i < count; i++)
        sum += simt_cluster_count(clusters[i]);
    return sum;
}

struct simt_beside simt_clusters_beside(void *const *clusters, uint32_t number)
{
    for (; number >= simt_cluster_count(*clusters); clusters++)
        number -= simt_cluster_count(*clusters);
    return simt_cluster_beside(*clusters, number);
}

const struct simt_config *simt_cluster_config(const struct simt_cluster *cluster)
{
    return cluster->config;
}

bool simt_cluster_by_line(const struct simt_cluster *cluster)
{
    return cluster->by_line;
}

uint32_t simt_cluster_slices(const struct simt_cluster *cluster, struct llc *const **slices)
{
    *slices = cluster->slices;
    return cluster->slice_count;
}

uint32_t simt_cluster_input(const struct simt_cluster *cluster, uint32_t multiprocessor)
{
    return cluster->crossbar ? multiprocessor / cluster->config->cluster : UINT32_MAX;
}

void simt_cluster_signal(struct simt_cluster *cluster, uint32_t input, struct mem_request *request,
                         uint64_t now)
{
    const uint32_t output = crossbar_output(cluster->crossbar, request->address);
    crossbar_signal(cluster->crossbar, output, input, request, now);
}

void simt_cluster_publish(void *part, struct stats *stats, struct scope scope)
{
    struct simt_cluster *cluster = part;
    for (uint32_t i = 0; i < cluster->config->count; i++) {
        const struct scope core = scope_number(&scope, i);
        simt_publish(cluster->cores[i].core, stats, core);
        cache_publish(cluster->cores[i].l1, stats, scope_enter(&core, "l1"));
        cache_publish_stacks(cluster->cores[i].l1, stats, scope_enter(&core, "l1"));
        if (cluster->mmu)
            simt_tlb_publish(simt_translation(cluster->cores[i].core), stats, scope_enter(&core, "tlb"));
    }
    if (cluster->mmu) {
        simt_mmu_publish(cluster->mmu, stats, scope_enter(&scope, "tlb"));
        cache_publish(cluster->walk_cache, stats, scope_enter(&scope, "walk_cache"));
    }
    if (cluster->crossbar)
        crossbar_publish(cluster->crossbar, stats, scope_enter(&scope, "crossbar"));
    for (uint32_t i = 0; i < cluster->slice_count; i++)
        llc_publish(cluster->slices[i], stats, scope_at(&scope, "l2", i));
}

void simt_cluster_energy(void *part, struct energy_ledger *ledger, struct scope scope)
{
    struct simt_cluster *cluster = part;
    for (uint32_t i = 0; i < cluster->config->count; i++) {
        const struct scope core = scope_number(&scope, i);
        simt_energy(cluster->cores[i].core, ledger, core);
        cache_energy(cluster->cores[i].l1, ledger, scope_enter(&core, "l1"));
        if (cluster->mmu)
            simt_tlb_energy(simt_translation(cluster->cores[i].core), ledger, scope_enter(&core, "tlb"),
                            NULL);
    }
    if (cluster->mmu) {
        simt_mmu_energy(cluster->mmu, ledger, scope_enter(&scope, "tlb"));
        cache_energy(cluster->walk_cache, ledger, scope_enter(&scope, "walk_cache"));
    }
    if (cluster->crossbar)
        crossbar_energy(cluster->crossbar, ledger, scope_enter(&scope, "crossbar"));
    for (uint32_t i = 0; i < cluster->slice_count; i++)
        llc_energy(cluster->slices[i], ledger, scope_at(&scope, "l2", i));
}

void simt_cluster_observe(void *part, struct track_sink *sink, const char *name)
{
    struct simt_cluster *cluster = part;
    for (uint32_t i = 0; i < cluster->config->count; i++)
        cache_track(cluster->cores[i].l1, sink);
    for (uint32_t i = 0; i < cluster->config->count; i++)
        simt_track(cluster->cores[i].core, sink);
    if (cluster->crossbar) {
        char *crossbar = scope_path(scope_enter(NULL, name), "crossbar");
        crossbar_track(cluster->crossbar, sink, crossbar);
        free(crossbar);
    }
    for (uint32_t i = 0; i < cluster->slice_count; i++)
        llc_track(cluster->slices[i], sink);
}
