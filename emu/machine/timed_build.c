/* Making a machine with a clock, and its statistics. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "emu/machine/offload.h"
#include "emu/machine/timed_state.h"

/* Whoever watches the commands of a memory. */
static bool watch_memory(struct timed *timed, const struct instance *instance, struct error *err)
{
    const struct timed_options *o = &timed->options;
    struct watched_memory *watched = &timed->memories[timed->memory_count++];
    struct dram_memory *memory = builder_object(&timed->builder, instance);
    watched->name = instance->path;
    if (o->check_dram) {
        dram_checker_init(&watched->checker, instance->config);
        dram_memory_observe(memory, dram_checker_observer(&watched->checker));
    }
    if (!o->trace)
        return true;
    if (!trace_dram(o->trace, instance->path, instance->config, &watched->traced, err))
        return false;
    if (watched->traced.command)
        dram_memory_observe(memory, &watched->traced);
    return true;
}

static bool make_parts(struct timed *timed, const struct phys *phys, struct error *err)
{
    struct builder *builder = &timed->builder;
    if (!builder_plan(builder, timed->options.machine, phys, err) ||
        !builder_make(builder, &timed->queue, &timed->components, trace_tracks(timed->options.trace), err))
        return false;
    timed->memories = calloc(builder->count + 1, sizeof *timed->memories);
    if (!timed->memories)
        abort();
    for (size_t i = 0; i < builder->count; i++)
        if (builder->parts[i].instance->kind == &dram_kind &&
            !watch_memory(timed, builder->parts[i].instance, err))
            return false;
    return true;
}

static bool make_cores(struct timed *timed, struct error *err)
{
    for (unsigned i = 0; i < timed->count; i++) {
        if (!timed_make_core(timed, i, i < timed->hosts, err))
            return false;
        timed->cores[i].core->warming = timed->warming;
        scheduler_add(&timed->scheduler, timed->cores[i].core);
    }
    return true;
}

struct timed *timed_new(const struct timed_options *options, struct hart *harts, unsigned count,
                        struct phys *memory, struct error *err)
{
    struct timed *timed = calloc(1, sizeof *timed);
    if (!timed)
        abort();
    timed->options = *options;
    timed->harts = harts;
    timed->count = count;
    timed->hosts = options->offload ? count - offload_count(options->offload) : options->machine->host_count;
    timed->peers = (struct stream_peers){.harts = harts, .count = count};
    timed->warming = options->roi;
    timed->symbols = symbols_new(options->program ? options->program : "");
    event_queue_init(&timed->queue);
    energy_init(&timed->ledger);
    scheduler_init(&timed->scheduler, &timed->queue, timed->components);
    timed->components += SCHEDULER_COMPONENTS;
    if (options->progress)
        scheduler_show_progress(&timed->scheduler);
    if (make_parts(timed, memory, err) && make_cores(timed, err) && timed_simt_new(timed, err)) {
        if (options->check_coherence)
            timed_watch_coherence(timed);
        if (options->offload)
            offload_attach(options->offload, timed);
        if (options->check_nucd && options->offload)
            timed_watch_tasks(timed);
        if (options->max_time != UINT64_MAX)
            scheduler_limit_time(&timed->scheduler, options->max_time);
        return timed;
    }
    timed_free(timed);
    return NULL;
}

void timed_free(struct timed *timed)
{
    if (!timed)
        return;
    scheduler_free(&timed->scheduler);
    for (unsigned i = 0; i < timed->count; i++)
        timed_free_core(&timed->cores[i]);
    timed_simt_free(timed);
    timed_free_engines(timed);
    if (timed->coherence)
        coherence_free(timed->coherence);
    footprint_check_free(timed->footprint);
    symbols_free(timed->symbols);
    builder_free(&timed->builder);
    for (size_t i = 0; i < timed->memory_count; i++)
        if (timed->options.check_dram)
            dram_checker_free(&timed->memories[i].checker);
    free(timed->memories);
    energy_free(&timed->ledger);
    free(timed);
}

static uint64_t read_time(const void *context)
{
    return ((const struct timed *)context)->queue.now;
}

static void publish_core(struct timed_core *core, struct stats *stats, struct energy_ledger *ledger)
{
    const struct scope scope = scope_enter(NULL, core->name);
    const struct scope l1i = scope_enter(&scope, "l1i"), l1d = scope_enter(&scope, "l1d");
    core_publish(core->core, stats, scope);
    stats_counter(stats, scope, "instructions", &core->core->parts.hart->instret, "instructions",
                  "instructions retired");
    cache_publish(core->l1i, stats, l1i);
    cache_energy(core->l1i, ledger, l1i);
    cache_publish(core->l1d, stats, l1d);
    cache_energy(core->l1d, ledger, l1d);
    if (core->tlb)
        tlb_publish(core->tlb, stats, scope_enter(&scope, "tlb"));
    if (core->tlb)
        tlb_energy(core->tlb, ledger, scope_enter(&scope, "tlb"));
    core_energy_add(&core->core->energy, ledger, scope);
}

void timed_publish(struct timed *timed, struct stats *stats)
{
    stats_computed(stats, scope_enter(NULL, "sim"), "time", read_time, timed, "fs", "simulated time");
    for (unsigned i = 0; i < timed->count; i++)
        publish_core(&timed->cores[i], stats, &timed->ledger);
    if (timed->options.offload)
        offload_publish(timed->options.offload, stats);
    timed_publish_engines(timed, stats);
    if (timed->coherence)
        coherence_publish(timed->coherence, stats, scope_enter(NULL, "coherence"));
    if (timed->footprint)
        footprint_check_publish(timed->footprint, stats, scope_enter(NULL, "nucd.check"));
    builder_publish(&timed->builder, true, stats, &timed->ledger);
    timed_simt_publish(timed, stats);
    builder_publish(&timed->builder, false, stats, &timed->ledger);
    energy_publish(&timed->ledger, stats);
}
