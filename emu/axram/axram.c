/* The part kind `axram`: construction and statistics. */
#include "emu/axram/axram.h"

#include <stdlib.h>

#include "emu/axram/part.h"
#include "emu/axram/site.h"
#include "emu/hart/hart.h"
#include "emu/sim/alloc.h"

const char *const axram_notify_names[] = {"poll", "fixed", NULL}, *const axram_columns_names[] = {
                                                                      "gddr5", "paper", NULL};

static void stored(void *context, uint64_t address, uint64_t size)
{
    struct axram *axram = context;
    phys_note_store(axram->shared.bytes, address, size);
    for (uint64_t at = address; axram->peers && axram->peers->reserved && at < address + size; at += 8) {
        stream_peers_stored(axram->peers, at, 8);
        if (axram->peers->threads_stored)
            (void)axram->peers->threads_stored(axram->peers->threads, at, 8);
    }
}

static void make_fronts(struct axram *axram, const struct axram_site *place)
{
    axram->front_count = simt_clusters_count(place->clusters, place->cluster_count);
    axram->fronts = alloc(axram->front_count + 1, sizeof *axram->fronts);
    for (uint32_t number = 0; number < axram->front_count; number++) {
        struct axram_front *front = &axram->fronts[number];
        const struct simt_beside beside = simt_clusters_beside(place->clusters, number);
        const uint32_t j = beside.in_cluster;
        front->cluster = beside.cluster;
        front->simt = beside.simt;
        front->l1 = beside.l1;
        front->first = j == 0;
        front->input = simt_cluster_input(front->cluster, j);
        front->heads =
            j == 0 || front->input != simt_cluster_input(front->cluster, j - 1) || front->input == UINT32_MAX;
        front->by_line = simt_cluster_by_line(front->cluster);
        front->slice_count = simt_cluster_slices(front->cluster, &front->slices);
    }
}

static void make_shared(struct axram *axram, const struct axram_site *place, const struct clock *clock)
{
    const struct axram_config *config = &axram->config;
    axram->shared =
        (struct axram_shared){.dram = &place->memories[0]->common.config,
                              .homes = place->memory->homes,
                              .bytes = place->bytes,
                              .queue = axram->queue,
                              .component = axram->component,
                              .unit_period = clock->period,
                              .halves = config->halves,
                              .parts = axram_parts(place->memories[0]->common.config.groups, config->halves),
                              .space = axram->base,
                              .message = config->message,
                              .sigmoid = config->sigmoid_clocks,
                              .held = config->held,
                              .poll = config->poll_clocks,
                              .fixed = config->fixed_clocks,
                              .depth = config->queue,
                              .retry = config->message,
                              .notify = config->notify,
                              .stored = stored,
                              .context = axram};
}

static void make_teams(struct axram *axram)
{
    const uint32_t channels = axram->shared.dram->channels, together = axram->config.together;
    const uint32_t whole = axram->memory_count * channels;
    axram->chip_count = whole * axram->config.halves;
    axram->networks = alloc(axram->chip_count, sizeof *axram->networks);
    axram->teams = alloc(axram->chip_count / together, sizeof *axram->teams);
    for (uint32_t chip = 0; chip < axram->chip_count; chip += together)
        axram_team_init(&axram->teams[chip / together], &axram->shared,
                        axram->memories[chip % whole / channels], chip % channels, together, chip / whole);
}

static void *make(const void *config, const struct part_site *site, struct error *err)
{
    const struct axram_site *place = site->place;
    struct axram *axram = alloc(1, sizeof *axram);
    axram->config = *(const struct axram_config *)config;
    if (!clock_set_frequency(site->clock, axram->config.clock, err)) {
        free(axram);
        return NULL;
    }
    axram->queue = site->queue;
    axram->component = part_component(site);
    axram->base = place->base + axram->config.offset;
    axram->harts = place->harts;
    axram->peers = place->peers;
    axram->check = place->check;
    axram->clocks = histogram_log2(8, 16);
    make_fronts(axram, place);
    axram->most_jobs = place->harts;
    for (uint32_t i = 0; i < place->cluster_count; i++)
        axram->most_jobs +=
            simt_cluster_count(place->clusters[i]) * simt_cluster_config(place->clusters[i])->warps;
    make_shared(axram, place, site->clock);
    axram->memories = place->memories;
    axram->memory_count = place->memory_count;
    make_teams(axram);
    if (place->cluster_count && simt_cluster_mmu(place->clusters[0]))
        axram_make_tlbs(axram, simt_cluster_mmu(place->clusters[0]));
    return axram;
}

/* Makes a part without time. */
static void *untimed(const struct assembly *assembly, const struct instance *part)
{
    uint32_t memories;
    const struct dram_config *dram = axram_memory(assembly->tree, &memories);
    if (!dram)
        return NULL;
    struct axram *axram = alloc(1, sizeof *axram);
    axram->config = *(const struct axram_config *)part->config;
    axram->base = assembly->memory_base + axram->config.offset;
    axram->harts = assembly->hart_count;
    axram->chip_count = memories * dram->channels * axram->config.halves;
    axram->networks = alloc(axram->chip_count, sizeof *axram->networks);
    axram->shared = (struct axram_shared){.bytes = assembly->harts->memory,
                                          .parts = 1,
                                          .space = axram->base,
                                          .stored = stored,
                                          .context = axram};
    return axram;
}

static void free_part(void *part)
{
    struct axram *axram = part;
    axram_free_tlbs(axram);
    while (axram->all) {
        struct axram_job *job = axram->all;
        axram->all = job->all;
        event_cancel(axram->queue, &job->event);
        free(job->push);
        free(job->copies);
        free(job);
    }
    while (axram->all_signals) {
        struct axram_signal *signal = axram->all_signals;
        axram->all_signals = signal->all;
        free(signal);
    }
    for (uint32_t i = 0; axram->teams && i < axram->chip_count / axram->config.together; i++)
        axram_team_free(&axram->teams[i]);
    free(axram->teams);
    free(axram->networks);
    free(axram->named);
    free(axram->pending);
    free(axram->fronts);
    free(axram->figures);
    free(axram);
}

static void units(void *part, struct custom_units *table)
{
    custom_serve(table, EXTENSION_Xaxram,
                 &(struct custom_unit){axram_instruction, axram_instruction_lanes, .context = part});
}

static void publish(void *part, struct stats *stats, struct scope scope)
{
    const struct axram *axram = part;
    const struct stats_row rows[] = {
#define AXRAM_COUNTER(name, unit, meaning) {#name, &axram->shared.counters.name, unit, meaning},
        AXRAM_COUNTERS(AXRAM_COUNTER)
#undef AXRAM_COUNTER
            {"dropped_lines", &axram->dropped, "lines", "Lines of results that caches had to drop"},
        {"signals", &axram->signals, "messages",
         "Messages over crossbars to first-level caches about these lines"},
        {"drop_clocks", &axram->drop_clocks, "clocks",
         "Clocks of CK from results to the last drop, over all invocations"},
    };
    stats_counters(stats, scope, rows, sizeof rows / sizeof *rows);
    stats_histogram(stats, scope, "invocation_clocks", &axram->clocks, "clocks", "invocations",
                    "Clocks of CK from wrt_res.axram to its answer");
    axram_publish_tlbs(axram, stats, &scope);
}

static void energy(void *part, struct energy_ledger *ledger, struct scope scope)
{
    axram_energy(part, ledger, scope);
    axram_tlb_energy(part, ledger, &scope);
}

#define PART struct axram_config
static const struct part_field fields[] = {
#include "emu/sim/fields_rows.h"

#include "emu/axram/axram.def"
};

static const struct assembly_hooks hooks = {.reserves = axram_reserves,
                                            .describes = axram_describes,
                                            .plan = axram_plan,
                                            .place = axram_place,
                                            .untimed = untimed,
                                            .findings = axram_findings};

const struct part_kind axram_kind = {
    .name = "axram",
    .explanation = "Accelerators of neural networks inside GDDR5 chips, as in the AxRAM paper.",
    PART_CONFIG(struct axram_config),
    .functional = "offset size together halves",
    .hooks = &hooks,
    .make = make,
    .free = free_part,
    .units = units,
    .publish = publish,
    .energy = energy,
};
