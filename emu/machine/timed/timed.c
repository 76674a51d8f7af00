#include "emu/machine/timed.h"

#include <inttypes.h>
#include <stdio.h>

#include "emu/machine/timed/state.h"
#include "emu/machine/timed/windows.h"
#include "emu/sim/text/say.h"

bool timed_cut_short(const struct timed *timed)
{
    return timed_windows_failed(timed);
}

struct event_queue *timed_queue(struct timed *timed)
{
    return timed->queues;
}

uint64_t timed_now(const struct timed *timed)
{
    return timed->queues[0].now;
}

const char *timed_limit(const struct timed *timed)
{
    return timed->scheduler.expired;
}

void timed_study(struct timed *timed, FILE *file)
{
    if (timed->study)
        study_print(timed->study, file);
}

void timed_attach(struct timed *timed, struct system *system)
{
    scheduler_attach(&timed->scheduler, system);
}

static void add_facts(struct timed *timed, struct stats *stats)
{
    char name[64], value[64];
    (void)snprintf(value, sizeof value, "%" PRIu64 ".%015" PRIu64, timed->queues[0].now / CLOCK_SECOND,
                   timed->queues[0].now % CLOCK_SECOND);
    stats_fact_text(stats, "simulated_seconds", value);
    if (timed->options.roi)
        stats_fact_text(stats, "detail", "roi");
    for (unsigned i = 0; i < timed->count; i++) {
        const struct timed_core *core = &timed->cores[i];
        uint64_t cycles = core->core->cycles;
        double ipc = cycles ? (double)timed->harts[i].instret / (double)cycles : 0;
        (void)snprintf(name, sizeof name, "%s.ipc", core->name);
        (void)snprintf(value, sizeof value, "%.4f", ipc);
        stats_fact_text(stats, name, value);
    }
    timed_simt_facts(timed, stats);
    if (timed->options.mechanism.ops)
        timed->options.mechanism.ops->facts(timed->options.mechanism.context, stats);
}

/* Reports the first rule that a memory's commands break, if any. Returns the number of findings, 0 or 1. */
static unsigned report_commands(const struct timed *timed, const struct checked_memory *memory)
{
    const struct dram_checker *checker = &memory->checker;
    bool several = timed->memory_count > 1;
    if (checker->violations == 0)
        return 0;
    fprintf(say_stream(),
            "croft: --check dram: %s%s%" PRIu64 " of %" PRIu64 " commands break a rule; the first: %s\n",
            several ? memory->name : "", several ? ": " : "", checker->violations, checker->commands,
            checker->first.text);
    return 1;
}

/* Races are the program's, and no finding: programs race on purpose, when they spin. */
static unsigned report_words(const struct word_versions *words)
{
    const uint64_t stale = word_versions_found(words, WORD_STALE),
                   split = word_versions_found(words, WORD_SPLIT);
    const uint64_t races = word_versions_found(words, WORD_RACE);
    if (stale | split | races)
        fprintf(say_stream(),
                "croft: --check coherence: %" PRIu64 " stale loads, %" PRIu64
                " accesses to words that a cache and a stash share, %" PRIu64 " loads that race\n",
                stale, split, races);
    return stale | split ? 1 : 0;
}

/* Returns the number of findings of --check coherence in the caches of cores, 0 or 1. */
static unsigned report_coherence(const struct timed *timed)
{
    if (timed->words)
        return report_words(timed->words);
    if (!timed->coherence || !coherence_counted(timed->coherence)->reports)
        return 0;
    const struct coherence_counters *counted = coherence_counted(timed->coherence);
    fprintf(say_stream(),
            "croft: --check coherence: %" PRIu64 " stale loads, %" PRIu64 " stores to stale lines, %" PRIu64
            " lost updates, at %" PRIu64 " pairs of pcs\n",
            counted->problems[COHERENCE_STALE_LOAD], counted->problems[COHERENCE_STALE_STORE],
            counted->problems[COHERENCE_LOST_UPDATE], counted->reports);
    return 1;
}

/* Warns if hosts have run regions and no core can offload them. */
static void warn_inlined(const struct timed *timed)
{
    const struct machine_config *machine = timed->options.machine;
    bool inlined = false;
    for (unsigned i = 0; i < timed->hosts; i++)
        inlined = inlined || timed->harts[i].offload.inlined;
    for (const struct part_kind *const *kind = machine_kinds; inlined && *kind; kind++)
        if ((*kind)->hooks && (*kind)->hooks->inlined)
            (*kind)->hooks->inlined(machine->tree, machine->name, timed->options.mechanism.ops);
}

unsigned timed_finish(struct timed *timed, struct stats *stats)
{
    unsigned findings = 0;
    progress_hide(&timed->scheduler.progress);
    if (timed_windows_failed(timed)) /* the queues are at different times, and nothing is counted */
        return 0;
    builder_sync(&timed->builder, timed->queues[0].now);
    if (stats) {
        add_facts(timed, stats);
        timed_windows_facts(timed, stats);
    }
    if (timed->options.roi && !timed->entered)
        say_warning("--detail roi: no region of interest was entered, so no instruction was "
                    "timed; croft_roi_begin() begins a region");
    warn_inlined(timed);
    for (size_t i = 0; i < timed->memory_count; i++)
        findings += report_commands(timed, &timed->memories[i]);
    findings += report_coherence(timed);
    if (timed->options.mechanism.ops)
        findings += timed->options.mechanism.ops->findings(timed->options.mechanism.context);
    builder_finish(&timed->builder);
    return findings + builder_findings(&timed->builder);
}
