/* Making a timed machine, and publishing its statistics. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "emu/machine/timed/state.h"
#include "emu/machine/timed/windows.h"
#include "emu/sim/alloc.h"

/* Attaches a checker to the commands of each memory (--check dram). */
static void check_memories(struct timed *timed)
{
    const struct builder *builder = &timed->builder;
    timed->memories = alloc(builder->count + 1, sizeof *timed->memories);
    for (size_t i = 0; i < builder->count; i++) {
        const struct instance *instance = builder->parts[i].instance;
        if (instance->kind != &dram_kind || !timed->options.check_dram)
            continue;
        struct checked_memory *memory = &timed->memories[timed->memory_count++];
        memory->name = instance->path;
        dram_checker_init(&memory->checker, instance->config);
        dram_memory_observe(builder->parts[i].object, dram_checker_observer(&memory->checker));
    }
}

/* Returns the value of part_site.place for an instance (builder_making.place()); NULL: the part is left
 * out. */
static const void *place_of(void *context, const struct instance *instance, const struct mem_site *memory)
{
    struct timed *timed = context;
    const struct assembly_hooks *hooks = instance->kind->hooks;
    if (instance->kind == &core_kind)
        return timed_core_site(timed, instance, memory);
    if (instance->kind == &simt_kind)
        return timed_simt_site(timed, instance, memory);
    return hooks && hooks->place ? hooks->place(&timed->assembly, instance, memory) : (const void *)memory;
}

static bool step_team(void *context, struct event_queue *queue)
{
    struct timed *timed = context;
    (void)queue;
    return timed_windows_step(timed) || event_team_step(&timed->team);
}

static void make_queues(struct timed *timed)
{
    const unsigned count = timed->options.queues ? timed->options.queues : 1;
    timed->queues = alloc(count, sizeof *timed->queues);
    for (unsigned i = 0; i < count; i++)
        event_queue_init(&timed->queues[i]);
    scheduler_init(&timed->scheduler, timed->queues, timed->numbers.component);
}

/* Makes the queues a team. There are not more than partitions. */
static void join_queues(struct timed *timed)
{
    if (timed->cut.count < timed->options.queues)
        timed->options.queues = timed->cut.count;
    if (timed->options.queues < 2)
        return;
    event_team_init(&timed->team, timed->queues, timed->options.queues);
    timed->scheduler.step = step_team;
    timed->scheduler.step_context = timed;
}

/* Divides the planned machine's partitions over the queues, so that the hosts get the first one. */
static bool divide(struct timed *timed, struct error *err)
{
    if (timed->options.queues < 2)
        return true;
    if (!cut_make(&timed->cut, &timed->builder.plan, err))
        return false;
    join_queues(timed);
    timed->queue_of = alloc(timed->cut.elements, sizeof *timed->queue_of);
    cut_divide(&timed->cut, &timed->builder.plan, timed->options.queues, timed->queue_of);
    return true;
}

static bool plan_parts(struct timed *timed, struct error *err)
{
    return builder_plan(&timed->builder, timed->options.machine, err) && divide(timed, err) &&
           timed_windows_check(timed, err);
}

static bool make_parts(struct timed *timed, struct error *err)
{
    const struct builder_making making = {.queues = timed->queues,
                                          .queue_count = timed->options.queues,
                                          .cut = timed->queue_of ? &timed->cut : NULL,
                                          .queue_of = timed->queue_of,
                                          .numbers = &timed->numbers,
                                          .sink = timed->study ? study_sink(timed->study)
                                                               : trace_tracks(timed->options.trace),
                                          .place = place_of,
                                          .context = timed};
    timed_assemble(timed);
    if (!builder_make(&timed->builder, &making, err) || !trace_ready(timed->options.trace, err))
        return false;
    check_memories(timed);
    for (unsigned i = 0; i < timed->count; i++) {
        timed->harts[i].custom = &timed->builder.units;
        timed_add_core(timed, i);
    }
    return true;
}

static bool is_coherent(const struct timed *timed, struct error *err)
{
    const struct core_mechanism *mechanism = &timed->options.mechanism;
    return !timed->options.check_coherence || !mechanism->ops ||
           mechanism->ops->coherent(mechanism->context, err);
}

static unsigned count_hosts(const struct timed *timed)
{
    const struct core_mechanism *mechanism = &timed->options.mechanism;
    return mechanism->ops ? mechanism->ops->hosts(mechanism->context) : timed->options.machine->host_count;
}

/* Connects the mechanism with the cores, and sets up what the options ask of it. */
static void attach_mechanism(struct timed *timed)
{
    const struct core_mechanism *mechanism = &timed->options.mechanism;
    if (!mechanism->ops)
        return;
    for (unsigned i = 0; i < timed->count; i++)
        mechanism->ops->attach(mechanism->context, i, timed->cores[i].core);
    if (timed->options.check_tasks)
        timed_check_tasks(timed);
    if (timed->options.trace)
        mechanism->ops->trace(mechanism->context, trace_tracks(timed->options.trace));
}

static bool start_study(struct timed *timed, struct error *err)
{
    return !timed->study ||
           study_watch(timed->study, &timed->builder, &timed->scheduler, timed->numbers.component,
                       timed_simt_component(timed), &timed->warming, err);
}

static void reset_parts(void *context)
{
    const struct timed *timed = context;
    builder_reset(&timed->builder);
}

struct timed *timed_new(const struct timed_options *options, struct hart *harts, unsigned count,
                        struct error *err)
{
    struct timed *timed = alloc(1, sizeof *timed);
    timed->options = *options;
    if (options->threads > 1)
        timed->options.queues = options->threads;
    timed->harts = harts;
    timed->count = count;
    timed->hosts = count_hosts(timed);
    timed->cores = alloc(count, sizeof *timed->cores);
    timed->peers = (struct stream_peers){.harts = harts, .count = count};
    timed->warming = options->roi;
    timed->symbols = symbols_new(options->program ? options->program : "");
    symbols_move(timed->symbols, options->bias);
    energy_init(&timed->ledger);
    make_queues(timed);
    timed->scheduler.reset = reset_parts;
    timed->scheduler.reset_context = timed;
    timed->numbers = (struct part_numbers){.component = SCHEDULER_COMPONENTS, .requester = count};
    if (options->progress)
        scheduler_show_progress(&timed->scheduler);
    if (options->study)
        timed->study = study_new();
    timed_start_mechanism(timed);
    if (is_coherent(timed, err) && plan_parts(timed, err) && timed_simt_new(timed, err) &&
        make_parts(timed, err) && timed_simt_offload(timed, err) && start_study(timed, err) &&
        timed_windows_start(timed, err)) {
        if (options->check_coherence)
            timed_watch_coherence(timed);
        attach_mechanism(timed);
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
    timed_windows_free(timed);
    scheduler_free(&timed->scheduler);
    for (unsigned i = 0; i < timed->count; i++)
        timed->harts[i].custom = NULL;
    timed_simt_free(timed);
    builder_free(&timed->builder);
    study_free(timed->study);
    timed_free_kept(timed);
    if (timed->options.mechanism.ops)
        timed->options.mechanism.ops->stop(timed->options.mechanism.context);
    if (timed->coherence)
        coherence_free(timed->coherence);
    word_versions_free(timed->words);
    symbols_free(timed->symbols);
    for (size_t i = 0; i < timed->memory_count; i++)
        dram_checker_free(&timed->memories[i].checker);
    free(timed->memories);
    energy_free(&timed->ledger);
    free(timed->cores);
    free(timed->queue_of);
    cut_free(&timed->cut);
    free(timed->queues);
    free(timed);
}

static uint64_t read_time(const void *context)
{
    return ((const struct timed *)context)->queues[0].now;
}

/* Publishes the parts that only carry requests, in the reverse order of the kinds. */
static void publish_carriers(const struct timed *timed, struct stats *stats, struct energy_ledger *ledger)
{
    size_t kind = 0;
    while (machine_kinds[kind])
        kind++;
    while (kind-- > 0)
        if (machine_kinds[kind] != &core_kind && machine_kinds[kind] != &llc_kind &&
            machine_kinds[kind] != &simt_kind)
            builder_publish(&timed->builder, machine_kinds[kind], stats, ledger);
}

const struct energy_ledger *timed_energies(const struct timed *timed)
{
    return &timed->ledger;
}

void timed_publish(struct timed *timed, struct stats *stats)
{
    const struct core_mechanism *mechanism = &timed->options.mechanism;
    stats_computed(stats, scope_enter(NULL, "sim"), "time", read_time, timed, "fs", "simulated time");
    builder_publish(&timed->builder, &core_kind, stats, &timed->ledger);
    if (mechanism->ops)
        mechanism->ops->publish(mechanism->context, stats);
    if (timed->coherence)
        coherence_publish(timed->coherence, stats, scope_enter(NULL, "coherence"));
    if (timed->words)
        word_versions_publish(timed->words, stats, scope_enter(NULL, "coherence"));
    builder_publish(&timed->builder, &llc_kind, stats, &timed->ledger);
    timed_simt_publish(timed, stats);
    builder_publish(&timed->builder, &simt_kind, stats, &timed->ledger);
    publish_carriers(timed, stats, &timed->ledger);
    energy_publish(&timed->ledger, stats);
}
