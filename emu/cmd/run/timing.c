#include "emu/cmd/run/timing.h"

#include <stdio.h>
#include <string.h>

#include "emu/sim/text/nearest.h"
#include "emu/sim/text/quantity.h"

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
    (void)error_set(err, "%s: unknown kind '%.64s'%s; allowed: %s, %s%s%s", option, value,
                    nearest_hint(value, names, count).text, names[0], names[1], count > 2 ? ", " : "",
                    count > 2 ? names[2] : "");
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
    if (options->trace_kind)
        return error_set(err, "--trace: only one trace is allowed; '%s' is a second one", value);
    note(options, "--trace");
    return trace_parse(value, &options->trace_kind, &options->trace_path, err);
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

bool timing_start(struct timing *timing, const struct timing_options *options,
                  const struct machine_config *machine, struct hart *harts, unsigned count,
                  struct tasks *tasks, struct log *log, const char *program, struct stats *stats,
                  struct error *err)
{
    *timing = (struct timing){0};
    if (!machine_timed(machine)) {
        timing->untimed = untimed_new(machine, harts, count);
        return true;
    }
    bool traces = options->trace_kind && strcmp(options->trace_kind, "nucd") == 0;
    if ((options->check_tasks || traces) && !tasks)
        return error_set(err,
                         "--%s nucd: machine '%s' has no accelerators that take tasks; it needs nucd, "
                         "accel.count of at least 1, and their firmware",
                         options->check_tasks ? "check" : "trace", machine->name);
    if (options->trace_kind && strcmp(options->trace_kind, "memory") == 0 && !machine->simt)
        return error_set(err,
                         "--trace memory: machine '%s' has no multiprocessors (simt.count), such as gpu has",
                         machine->name);
    if (options->trace_kind && !(timing->trace = trace_open(options->trace_kind, options->trace_path, err)))
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
        .progress = true,
    };
    timing->timed = timed_new(&timed, harts, count, err);
    if (!timing->timed)
        return false;
    timed_publish(timing->timed, stats);
    return true;
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
    if (trace && trace_warning(trace, &warning))
        fprintf(stderr, "croft run: warning: %s\n", warning.text);
    return trace_close(trace, timed_now(timing->timed), err);
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
