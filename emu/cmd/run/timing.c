#include "emu/cmd/run/timing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/io/output.h"
#include "emu/sim/text/nearest.h"
#include "emu/sim/text/quantity.h"
#include "emu/sim/text/say.h"

enum { STATUS_FINDINGS = 3 };

void timing_init(struct timing_options *options)
{
    *options = (struct timing_options){.max_time = UINT64_MAX};
}

static void note(struct timing_options *options, const char *option)
{
    if (!options->first)
        options->first = option;
}

bool timing_take_max_time(struct timing_options *options, const char *value, struct error *err)
{
    note(options, "--max-time");
    if (!quantity_parse(QUANTITY_TIME, value, &options->max_time, err))
        return error_prefix(err, "--max-time");
    return options->max_time > 0 ||
           error_set(err, "--max-time: '%s' is not allowed; it must be greater than 0", value);
}

/* Returns the index of value in names, or -1 with err set. */
static int choose(const char *option, const char *value, const char *const *names, size_t count,
                  struct error *err)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(value, names[i]) == 0)
            return (int)i;
    (void)error_set(err, "%s: unknown kind '%.64s'%s", option, value,
                    nearest_allowed(value, names, count).text);
    return -1;
}

bool timing_take_detail(struct timing_options *options, const char *value, struct error *err)
{
    static const char *const names[] = {"all", "roi"};
    int chosen = choose("--detail", value, names, 2, err);
    note(options, "--detail");
    options->roi = chosen == 1;
    return chosen >= 0;
}

bool timing_take_check(struct timing_options *options, const char *value, struct error *err)
{
    static const char *const names[] = {"coherence", "dram", "nucd"};
    int chosen = choose("--check", value, names, 3, err);
    note(options, "--check");
    options->check_coherence = options->check_coherence || chosen == 0;
    options->check_dram = options->check_dram || chosen == 1;
    options->check_tasks = options->check_tasks || chosen == 2;
    return chosen >= 0;
}

bool timing_take_trace(struct timing_options *options, const char *value, struct error *err)
{
    const char *kind, *path;
    note(options, "--trace");
    if (!trace_parse(value, &kind, &path, err))
        return false;
    for (size_t i = 0; i < options->trace_count; i++) {
        const char *file = trace_path(options->traces[i].kind, options->traces[i].path);
        if (strcmp(options->traces[i].kind, kind) == 0)
            return error_set(err, "--trace: '%s' is a second trace of kind %s; a run has one of each kind",
                             value, kind);
        if (strcmp(file, trace_path(kind, path)) == 0)
            return error_set(
                err, "--trace: '%s' and the trace of kind %s have the same file, %s; give each its own",
                value, options->traces[i].kind, file);
    }
    options->traces[options->trace_count].kind = kind;
    options->traces[options->trace_count++].path = path;
    return true;
}

bool timing_take_study(struct timing_options *options, const char *value, struct error *err)
{
    note(options, "--partition-study");
    if (!value[0])
        return error_set(err, "--partition-study needs a file ('-': standard output)");
    options->study = value;
    return true;
}

bool timing_take_threads(struct timing_options *options, const char *value, struct error *err)
{
    char *end;
    const unsigned long threads = value[0] >= '0' && value[0] <= '9' ? strtoul(value, &end, 10) : 0;
    if (!threads || *end || threads > EVENT_QUEUES)
        return error_set(err, "--threads needs a number from 1 to %d, not '%s'", EVENT_QUEUES, value);
    if (threads > 1)
        note(options, "--threads");
    options->threads = (unsigned)threads;
    return true;
}

static bool wants(const struct timing_options *options, const char *kind)
{
    for (size_t i = 0; i < options->trace_count; i++)
        if (strcmp(options->traces[i].kind, kind) == 0)
            return true;
    return false;
}

bool timing_check(const struct timing_options *options, const struct machine_config *machine,
                  struct error *err)
{
    if (!options->first || machine_timed(machine))
        return true;
    return error_set(
        err, "%s: machine '%s' has no clock; it needs one with host.core inorder or ooo, such as nucd",
        options->first, machine->name);
}

static void observe(void *context, struct hart *hart, const struct step_report *report)
{
    log_report(context, hart, report);
}

/* Returns whether the machine has what the checks and traces are about. */
static bool can_trace(const struct timing_options *options, const struct machine_config *machine,
                      const struct tasks *tasks, struct error *err)
{
    if ((options->check_tasks || wants(options, "nucd")) && !tasks)
        return error_set(err,
                         "--%s nucd: machine '%s' has no accelerators that take tasks; it needs nucd, "
                         "accel.count of at least 1, and their firmware",
                         options->check_tasks ? "check" : "trace", machine->name);
    return !wants(options, "memory") || machine->simt ||
           error_set(err, "--trace memory: machine '%s' has no multiprocessors (simt.count), such as gpu has",
                     machine->name);
}

/* Opens the traces. On failure, timing->trace owns those that are open. */
static bool open_traces(struct timing *timing, const struct timing_options *options, struct error *err)
{
    bool opened = true;
    for (size_t i = 0; opened && i < options->trace_count; i++) {
        struct trace *trace = trace_open(options->traces[i].kind, options->traces[i].path, err);
        opened = trace != NULL;
        if (opened)
            timing->traces[timing->trace_count++] = trace;
    }
    timing->trace = trace_join(timing->traces, timing->trace_count);
    return opened;
}

/* Returns whether the study, if one is wanted, can be written, which a long run should not find out at its end. */
static bool can_study(const struct timing_options *options, struct error *err)
{
    bool created = false;
    if (options->study && options->trace_count > 0)
        return error_set(
            err, "--partition-study and --trace exclude each other: traces change what an event costs");
    if (!options->study || strcmp(options->study, "-") == 0)
        return true;
    if (!output_try(options->study, &created, err))
        return error_prefix(err, "--partition-study");
    if (created)
        (void)remove(options->study);
    return true;
}

bool timing_start(struct timing *timing, const struct timing_options *options,
                  const struct machine_config *machine, struct hart *harts, unsigned count,
                  struct tasks *tasks, struct log *log, const char *program, uint64_t bias,
                  struct stats *stats, struct error *err)
{
    *timing = (struct timing){0};
    if (!machine_timed(machine)) {
        timing->untimed = untimed_new(machine, harts, count);
        return true;
    }
    if (!can_study(options, err))
        return false;
    if (!can_trace(options, machine, tasks, err) || !open_traces(timing, options, err))
        return false;
    const struct timed_options timed = {
        .machine = machine,
        .max_time = options->max_time,
        .roi = options->roi,
        .check_coherence = options->check_coherence,
        .check_dram = options->check_dram,
        .check_tasks = options->check_tasks,
        .trace = timing->trace,
        .observe = log ? observe : NULL,
        .context = log,
        .mechanism = tasks ? tasks->mechanism : (struct core_mechanism){0},
        .program = program,
        .bias = bias,
        .study = options->study,
        .threads = options->threads,
        .progress = true,
    };
    timing->timed = timed_new(&timed, harts, count, err);
    if (!timing->timed)
        return false;
    timing->study = options->study;
    timed_publish(timing->timed, stats);
    return true;
}

static bool write_study(const struct timing *timing, struct error *err)
{
    struct output *output;
    if (!timing->study)
        return true;
    if (strcmp(timing->study, "-") == 0) {
        timed_study(timing->timed, stdout);
        return true;
    }
    if (!(output = output_open(timing->study, err)))
        return false;
    timed_study(timing->timed, output_stream(output));
    return output_keep(output, err);
}

bool timing_finish(struct timing *timing, struct stats *stats, int *status, struct error *err)
{
    struct trace *trace = timing->trace;
    struct error warning;
    if (!timing->timed)
        return true;
    if (timed_finish(timing->timed, stats) > 0)
        *status = STATUS_FINDINGS;
    timing->trace = NULL;
    for (size_t i = 0; i < timing->trace_count; i++)
        if (trace_warning(timing->traces[i], &warning))
            say_warning("%s", warning.text);
    return write_study(timing, err) && trace_close(trace, timed_now(timing->timed), err);
}

bool timing_counts(const struct timing *timing)
{
    if (!timing->timed || !timed_cut_short(timing->timed))
        return true;
    say_warning("no statistics are written, and a file of an earlier run is left as it was: the run ended "
                "while other threads of the host had executed more; --threads 1 writes them");
    return false;
}

void timing_doubt(const struct timing *timing)
{
    struct error doubts[ENERGY_DOUBTS];
    const unsigned count = timing->timed ? energy_doubts(timed_energies(timing->timed), doubts) : 0;
    for (unsigned i = 0; i < count; i++)
        say_warning("%s", doubts[i].text);
}

void timing_free(struct timing *timing)
{
    struct error ignored; /* the run never began or has failed otherwise */
    uint64_t now = timing->timed ? timed_now(timing->timed) : 0;
    (void)trace_close(timing->trace, now, &ignored);
    timed_free(timing->timed);
    untimed_free(timing->untimed);
    *timing = (struct timing){0};
}
