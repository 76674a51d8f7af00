/* croft experiment: executes the runs that a description asks for, and writes tables of their statistics. */
#include "emu/cmd/experiment.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "emu/cmd/cmd.h"
#include "emu/cmd/options.h"
#include "emu/sim/alloc.h"

enum { OPTION_OUT, OPTION_JOBS, OPTION_SET, JOBS_MOST = 256 };

static const struct option_row rows[] = {
    [OPTION_OUT] = {"out", 'o', "DIR", "folder for results (default: the description's name and .results)"},
    [OPTION_JOBS] = {"jobs", 'j', "N", "number of parallel runs (default: number of processors)"},
    [OPTION_SET] = {"set", 0, "NAME=VALUE", "change a key of the machine in all runs; may be repeated"},
};

static const struct option_set interface = {
    .command = "croft experiment",
    .synopsis = "[options] FILE.yaml",
    .summary = "Runs programs on variants of a machine, and makes tables of their statistics.",
    .example = "croft experiment examples/nucd/figure8.yaml --out figure8",
    .notes =
        "DIR gets results.csv, results.json, tables.txt, and in runs/ each run's command, output, statistics "
        "and "
        "machine.\nThe status is 1 if a run fails; the others' results are kept. emu/cmd/experiment.h and "
        "examples/README.md explain descriptions.\n",
    .count = sizeof rows / sizeof rows[0],
    .rows = rows,
};

/* The parsed command line. */
struct request {
    const char *file, *out;
    unsigned jobs;
    const char **sets; /* room for argc entries */
    size_t set_count;
};

static bool parse_jobs(const char *value, unsigned *jobs)
{
    char *end;
    unsigned long number = strtoul(value, &end, 10);
    *jobs = (unsigned)number;
    return end != value && *end == '\0' && number >= 1 && number <= JOBS_MOST;
}

static int take(void *context, int option, const char *value)
{
    struct request *request = context;
    if (option == OPTION_OUT)
        request->out = value;
    else if (option == OPTION_SET)
        request->sets[request->set_count++] = value;
    else if (option == OPTION_JOBS && !parse_jobs(value, &request->jobs))
        return options_usage_error(&interface, "--jobs: 1 to %d are allowed, not '%s'", JOBS_MOST, value);
    else if (option == OPTION_ARGUMENT && request->file)
        return options_usage_error(&interface, "one FILE at a time; '%s' is a second one", value);
    else if (option == OPTION_ARGUMENT)
        request->file = value;
    return OPTIONS_TAKEN;
}

/* Finds the absolute paths of the description's folder and of the folder for results; commands name them. */
static bool locate(const struct request *request, char folder[PATH_MAX], char out[PATH_MAX],
                   struct error *err)
{
    char own[PATH_MAX], file[PATH_MAX];
    if (!realpath(request->file, file))
        return error_set(err, "%s: %s", request->file, strerror(errno));
    char *slash = strrchr(file, '/');
    (void)snprintf(folder, PATH_MAX, "%.*s", (int)(slash - file), file);
    if (!getcwd(own, sizeof own))
        return error_set(err, "the current folder: %s", strerror(errno));
    char *ending = strrchr(slash, '.');
    if (ending)
        *ending = '\0';
    bool absolute = request->out && request->out[0] == '/';
    int length = snprintf(out, PATH_MAX, "%s%s%s%s", absolute ? "" : own, absolute ? "" : "/",
                          request->out ? request->out : slash + 1, request->out ? "" : ".results");
    return (length > 0 && length < PATH_MAX) || error_set(err, "%s: the path is too long", request->file);
}

static int run(const struct experiment *e, const struct experiment_where *where, struct error *err)
{
    struct experiment_run *runs = experiment_plan(e, where, err);
    int failed = 0, skipped = 0, all = experiment_runs(e);
    if (!runs)
        return 2;
    for (int n = 0; n < all; n++)
        skipped += runs[n].skipped;
    if (skipped == all) {
        experiment_unplan(e, runs);
        (void)error_set(err, "%s: 'skip' leaves no run", e->tree.path);
        return 2;
    }
    bool good = experiment_execute(e, where, runs, err);
    if (good) {
        experiment_evaluate(e, where, runs);
        good = experiment_write(e, where, runs, err);
    }
    for (int n = 0; n < all; n++)
        failed += runs[n].failed;
    if (good)
        (void)fprintf(stderr,
                      "croft experiment: %d runs, %d failed, %d skipped by the description; results in %s\n",
                      all - skipped, failed, skipped, where->out);
    experiment_unplan(e, runs);
    return good && !failed ? 0 : 1;
}

static int experiment(const struct request *request)
{
    char folder[PATH_MAX], out[PATH_MAX], croft[PATH_MAX] = "";
    struct error err = {.text = ""};
    struct experiment e;
    if (!request->file)
        return options_usage_error(&interface, "no FILE given");
    int status = 2; /* the description is part of the command line, so an error in it is a usage error */
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    if (readlink("/proc/self/exe", croft, sizeof croft - 1) <= 0) {
        (void)error_set(&err, "croft itself cannot be found: %s", strerror(errno));
        status = 1;
    } else if (locate(request, folder, out, &err) && experiment_read(&e, request->file, &err)) {
        const struct experiment_where where = {
            .croft = croft,
            .out = out,
            .folder = folder,
            .sets = request->sets,
            .set_count = request->set_count,
            .jobs = request->jobs    ? request->jobs
                    : processors > 0 ? (unsigned)processors
                                     : 1,
        };
        err.text[0] = '\0';
        status = run(&e, &where, &err);
        experiment_free(&e);
    }
    if (err.text[0])
        (void)fprintf(stderr, "croft experiment: %s\n", err.text);
    return status;
}

int cmd_experiment(int argc, char **argv)
{
    struct request request = {.sets = alloc((size_t)argc + 1, sizeof *request.sets)};
    int status = options_parse(&interface, argc, argv, take, &request);
    if (status == OPTIONS_TAKEN)
        status = experiment(&request);
    free(request.sets);
    return status;
}
