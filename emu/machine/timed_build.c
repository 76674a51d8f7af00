/* Making a machine with a clock, and its statistics. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "emu/machine/offload.h"
#include "emu/machine/timed_state.h"
#include "emu/nucd/engine.h"

/* Memory with whoever watches its commands. */
static bool make_memory(struct timed *timed, const struct phys *phys, struct error *err)
{
    const struct dram_config *config = tree_config(timed->options.machine->tree, "dram");
    const struct timed_options *o = &timed->options;
    timed->homes = dram_map_homes(config, phys->base);
    timed->memory_made = dram_memory_init(&timed->memory, config, &timed->queue, timed_component(timed),
                                          timed->homes, phys, err);
    if (!timed->memory_made)
        return false;
    if (o->check_dram) {
        dram_checker_init(&timed->dram_checker, config);
        dram_memory_observe(&timed->memory, dram_checker_observer(&timed->dram_checker));
    }
    struct track_sink *sink = trace_tracks(o->trace);
    if (sink)
        dram_memory_track(&timed->memory, sink, "dram");
    if (!o->trace)
        return true;
    if (!trace_dram(o->trace, "dram", config, &timed->dram_traced, err))
        return false;
    if (timed->dram_traced.command)
        dram_memory_observe(&timed->memory, &timed->dram_traced);
    return true;
}

/* The crossbar and the second level above memory. */
static void make_levels(struct timed *timed)
{
    const struct machine_config *machine = timed->options.machine;
    const struct crossbar_config *described = tree_config(machine->tree, "crossbar");
    const struct dram_config *dram = tree_config(machine->tree, "dram");
    uint32_t component = timed_component(timed);
    if (described) {
        struct crossbar_config crossbar = *described;
        crossbar.inputs = 1 + machine->accel_count + timed_simt_inputs(machine);
        crossbar.outputs = dram->channels;
        const struct crossbar_route route = {
            .homes = timed->homes, .modules = 1, .stacks = 1, .controllers = crossbar.outputs};
        timed->crossbar = crossbar_new(&crossbar, &timed->queue, &timed->crossbar_clock, component, &route);
        for (uint32_t i = 0; i < crossbar.outputs; i++)
            crossbar_connect(timed->crossbar, i, &dram_memory_ops, &timed->memory);
    }
    const struct mem_port_ops *ops = timed->crossbar ? &crossbar_ops : &dram_memory_ops;
    void *lower = timed->crossbar ? crossbar_port(timed->crossbar, 0) : &timed->memory;
    timed->llc = llc_new("l2", tree_config(machine->tree, "l2"), &timed->queue, &timed->l2_clock,
                         timed_component(timed), SYSTEM_HARTS, ops, lower);
    llc_set_homes(timed->llc, timed->homes);
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

static bool set_clocks(struct timed *timed, struct error *err)
{
    const struct machine_config *machine = timed->options.machine;
    const struct crossbar_config *crossbar = tree_config(machine->tree, "crossbar");
    const struct llc_config *l2 = tree_config(machine->tree, "l2");
    return clock_set_frequency(&timed->host_clock, machine->host->clock, err) &&
           clock_set_frequency(&timed->l2_clock, l2->clock, err) &&
           (!machine->accel || clock_set_frequency(&timed->accel_clock, machine->accel->clock, err)) &&
           (!crossbar || clock_set_frequency(&timed->crossbar_clock, crossbar->clock, err));
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
    if (set_clocks(timed, err) && make_memory(timed, memory, err)) {
        make_levels(timed);
        if (make_cores(timed, err) && timed_simt_new(timed, err)) {
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
    engine_free(timed->nucd);
    if (timed->coherence)
        coherence_free(timed->coherence);
    footprint_check_free(timed->footprint);
    symbols_free(timed->symbols);
    if (timed->llc)
        llc_free(timed->llc);
    if (timed->crossbar)
        crossbar_free(timed->crossbar);
    if (timed->memory_made)
        dram_memory_free(&timed->memory);
    home_map_free(timed->homes);
    if (timed->options.check_dram)
        dram_checker_free(&timed->dram_checker);
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
    if (timed->nucd)
        engine_publish(timed->nucd, stats, scope_enter(NULL, "nucd"));
    if (timed->coherence)
        coherence_publish(timed->coherence, stats, scope_enter(NULL, "coherence"));
    if (timed->footprint)
        footprint_check_publish(timed->footprint, stats, scope_enter(NULL, "nucd.check"));
    llc_publish(timed->llc, stats, scope_enter(NULL, "l2"));
    llc_energy(timed->llc, &timed->ledger, scope_enter(NULL, "l2"));
    timed_simt_publish(timed, stats);
    if (timed->crossbar)
        crossbar_publish(timed->crossbar, stats, scope_enter(NULL, "crossbar"));
    if (timed->crossbar)
        crossbar_energy(timed->crossbar, &timed->ledger, scope_enter(NULL, "crossbar"));
    dram_memory_publish(&timed->memory, stats, scope_enter(NULL, "dram"));
    dram_memory_energy(&timed->memory, &timed->ledger, scope_enter(NULL, "dram"));
    energy_publish(&timed->ledger, stats);
}
