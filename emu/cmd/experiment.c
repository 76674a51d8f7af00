/* croft experiment: executes the runs that a description asks for, and writes tables of their statistics. */
#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "emu/cmd/cmd.h"
#include "emu/cmd/options.h"
#include "emu/cmd/paths.h"
#include "emu/cmd/run/setting.h"
#include "emu/experiment/engines/spool.h"
#include "emu/experiment/grid.h"
#include "emu/experiment/plan.h"
#include "emu/experiment/results/evaluate.h"
#include "emu/experiment/results/files.h"
#include "emu/experiment/results/markdown.h"
#include "emu/experiment/results/tables.h"
#include "emu/experiment/runs/check.h"
#include "emu/experiment/runs/execute.h"
#include "emu/experiment/signals.h"
#include "emu/sim/alloc.h"
#include "emu/sim/text/nearest.h"
#include "emu/sim/text/quantity.h"

enum {
    OPTION_OUT,
    OPTION_RESULTS,
    OPTION_JOBS,
    OPTION_MEMORY,
    OPTION_SET,
    OPTION_SIZE,
    OPTION_ONLY,
    OPTION_RETRY,
    OPTION_FILES,
    OPTION_YES,
    OPTION_ENGINE,
    OPTION_PARTITION,
    OPTION_TIME,
    OPTION_HOSTS,
    OPTION_WORK,
    JOBS_MOST = 1024,
    WITHOUT_YES = 10000 /* most runs that croft experiment does not ask about */
};

static const struct option_row rows[] = {
    [OPTION_OUT] = {"out", 'o', "DIR", "folder for results (default: the description's name and .results)"},
    [OPTION_RESULTS] = {"results", 0, "FILE",
                        "file of runs' results, which experiments can share (default: DIR/results.db)"},
    [OPTION_JOBS] = {"jobs", 'j', "N",
                     "number of parallel runs (default: number of processors; fewer if memory is short)"},
    [OPTION_MEMORY] = {"memory", 0, "SIZE", "memory for all runs together (default: what is free)"},
    [OPTION_SET] = {"set", 0, "NAME=VALUE", "change a key of the machine in all runs; may be repeated"},
    [OPTION_SIZE] = {"size", 0, "NAME", "one of the description's sizes (default: the first)"},
    [OPTION_ONLY] = {"only", 0, "AXIS=POINT,...", "run these points of an axis only; may be repeated"},
    [OPTION_RETRY] = {"retry-failed", 0, NULL, "run again what has failed"},
    [OPTION_FILES] = {"files", 0, NULL,
                      "write each run's command, output, statistics and machine to files in DIR/runs, too"},
    [OPTION_ENGINE] = {"engine", 0, "local|slurm|parallel",
                       "where runs are executed: here (default), by Slurm, or by GNU parallel"},
    [OPTION_PARTITION] = {"partition", 0, "NAME", "Slurm's partition; --memory is that of each run then"},
    [OPTION_TIME] = {"time", 0, "T", "Slurm's limit for each run, as 10:00"},
    [OPTION_HOSTS] = {"hosts", 0, "LIST",
                      "hosts of GNU parallel, as for its --sshlogin; they share the folders"},
    [OPTION_WORK] = {"work", 0, "FOLDER", "execute one run for an engine; used by croft itself"},
    [OPTION_YES] = {"yes", 'y', NULL, "do not ask before an experiment of more than 10000 runs"},
};

const struct option_set experiment_interface = {
    .command = "croft experiment",
    .synopsis = "[options] FILE.yaml",
    .summary = "Runs programs on variants of a machine, and makes tables of their statistics.",
    .example = "croft experiment $DOC/examples/papers/nucd/figure8.yaml --out figure8",
    .notes = "DIR gets results.csv, results.json, tables.txt and results.db, which has each run's output, "
             "statistics "
             "and machine.\ncroft report makes a page of them. The status is 1 if a run fails; the others' "
             "results are "
             "kept.\n$DOC/emu/experiment/description.h and\n$DOC/examples/README.md explain descriptions.\n",
    .count = sizeof rows / sizeof rows[0],
    .rows = rows,
};

/* The parsed command line. */
struct request {
    const char *file, *out, *results, *size;
    unsigned jobs;
    uint64_t memory;
    bool retry, files, yes;
    enum experiment_engine engine;
    const char *partition, *time, *hosts, *work;
    const char **sets, **only; /* room for argc entries each */
    size_t set_count, only_count;
};

static bool parse_jobs(const char *value, unsigned *jobs)
{
    char *end;
    unsigned long number = strtoul(value, &end, 10);
    *jobs = (unsigned)number;
    return end != value && *end == '\0' && number >= 1 && number <= JOBS_MOST;
}

static int take_engine(struct request *request, const char *value)
{
    static const char *const names[] = {"local", "slurm", "parallel"};
    for (int i = 0; i < 3; i++)
        if (strcmp(value, names[i]) == 0) {
            request->engine = (enum experiment_engine)i;
            return OPTIONS_TAKEN;
        }
    return options_usage_error(&experiment_interface, "--engine: unknown engine '%s'%s", value,
                               nearest_allowed(value, names, 3).text);
}

static int take(void *context, int option, const char *value)
{
    struct request *request = context;
    if (option == OPTION_OUT)
        request->out = value;
    else if (option == OPTION_RESULTS)
        request->results = value;
    else if (option == OPTION_SIZE)
        request->size = value;
    else if (option == OPTION_ONLY)
        request->only[request->only_count++] = value;
    else if (option == OPTION_RETRY)
        request->retry = true;
    else if (option == OPTION_FILES)
        request->files = true;
    else if (option == OPTION_YES)
        request->yes = true;
    else if (option == OPTION_ENGINE)
        return take_engine(request, value);
    else if (option == OPTION_PARTITION)
        request->partition = value;
    else if (option == OPTION_TIME)
        request->time = value;
    else if (option == OPTION_HOSTS)
        request->hosts = value;
    else if (option == OPTION_WORK)
        request->work = value;
    else if (option == OPTION_MEMORY) {
        struct error err;
        if (!quantity_parse(QUANTITY_SIZE, value, &request->memory, &err) || request->memory == 0)
            return options_usage_error(&experiment_interface,
                                       "--memory: a size such as 8 GiB is expected, not '%s'", value);
    } else if (option == OPTION_SET)
        request->sets[request->set_count++] = value;
    else if (option == OPTION_JOBS && !parse_jobs(value, &request->jobs))
        return options_usage_error(&experiment_interface, "--jobs: 1 to %d are allowed, not '%s'", JOBS_MOST,
                                   value);
    else if (option == OPTION_ARGUMENT && request->file)
        return options_usage_error(&experiment_interface, "one FILE at a time; '%s' is a second one", value);
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

static unsigned processors(void)
{
    cpu_set_t set;
    int count = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
    return count < JOBS_MOST ? (unsigned)count : JOBS_MOST;
}

static bool make_folder(const char *path, struct error *err)
{
    struct stat status;
    if (mkdir(path, 0777) == 0)
        return true;
    int failure = errno;
    if (failure != EEXIST)
        return error_set(err, "%s: %s", path, strerror(failure));
    return (stat(path, &status) == 0 && S_ISDIR(status.st_mode)) ||
           error_set(err, "%s: not a folder; --out names another place for the results", path);
}

/* A run in a process of its own: croft run. */
static int body(int argc, char **argv, int statistics, const struct engine_machine *machine)
{
    return run_measured(argc - 1, argv + 1, statistics, machine);
}

/* Counts the runs in a state. */
static int count(const struct experiment *e, const struct experiment_run *runs, enum experiment_state state)
{
    int number = 0;
    for (int n = 0; n < experiment_runs(e); n++)
        number += runs[n].state == state;
    return number;
}

/* Counts the runs that were wanted and have not ended. */
static int left_of(const struct experiment *e, const struct experiment_run *runs)
{
    int number = 0;
    for (int n = 0; n < experiment_runs(e); n++)
        number += runs[n].wanted && runs[n].state == EXPERIMENT_LEFT;
    return number;
}

/* Executes the runs, then evaluates and writes the results that there are, also after a signal. */
static bool conduct(const struct experiment *e, const struct experiment_where *where, bool files,
                    struct results *results, struct experiment_run *runs, struct error *err)
{
    struct error ignored;
    bool good = experiment_execute(e, where, results, runs, err);
    experiment_evaluate(e, where, results, runs);
    bool written = experiment_write(e, where, results, runs, good ? err : &ignored);
    if (good && written && files)
        written = experiment_files(e, where, results, runs, err);
    return good && written;
}

/* Asks the user to confirm an experiment of more than WITHOUT_YES runs. Returns false if it is not confirmed. */
static bool ask(const struct experiment *e, bool yes, struct error *err)
{
    char answer[16] = "";
    int point[EXPERIMENT_AXES], runs = 0;
    for (int n = 0; n < experiment_runs(e); n++) {
        experiment_place(e, n, point);
        runs += !experiment_skipped(e, point);
    }
    if (yes || runs <= WITHOUT_YES || e->search_count)
        return true;
    if (isatty(STDIN_FILENO) != 1)
        return doc_wrong(&e->doc, e->axes_node, err, "axes: these are %d runs; if they are meant, say --yes",
                         runs);
    (void)doc_wrong(&e->doc, e->axes_node, err, "axes: these are %d runs. Execute them? [y/N] ", runs);
    (void)fprintf(stderr, "croft experiment: %s", err->text);
    if (fgets(answer, sizeof answer, stdin) && (answer[0] == 'y' || answer[0] == 'Y')) {
        err->text[0] = '\0';
        return true;
    }
    return error_set(err, "%s: nothing was run", e->doc.path);
}

static int run(const struct experiment *e, const struct experiment_where *where, bool files, bool yes,
               struct error *err)
{
    if (!markdown_page(e, NULL, NULL, err) || !experiment_check(e, where, err) || !ask(e, yes, err))
        return 2;
    struct experiment_run *runs = experiment_plan(e, err);
    if (!runs)
        return 2;
    struct results *results = make_folder(where->out, err) ? results_open(where->results, true, err) : NULL;
    bool good = results && conduct(e, where, files, results, runs, err);
    struct error ignored;
    bool closed = results_close(results, good ? err : &ignored);
    int failed = count(e, runs, EXPERIMENT_FAILED), left = left_of(e, runs),
        skipped = count(e, runs, EXPERIMENT_SKIPPED), all = failed + left + count(e, runs, EXPERIMENT_DONE);
    experiment_unplan(e, runs);
    if (signals_arrived())
        (void)fprintf(stderr,
                      "croft experiment: ended by signal %d; %d runs left: the same command goes on\n",
                      signals_arrived(), left);
    if (!good || !closed)
        return 1;
    (void)fprintf(stderr,
                  "croft experiment: %d runs, %d failed, %d skipped by the description; results in %s\n", all,
                  failed, skipped, where->out);
    return signals_arrived() ? 128 + signals_arrived() : failed ? 1 : 0;
}

/* The files of croft that runs depend on. */
struct own_files {
    char croft[PATH_MAX], machines[PATH_MAX], kernel[PATH_MAX], firmware[PATH_MAX], results[PATH_MAX + 16];
};

static bool find_own(struct own_files *own, struct error *err)
{
    ssize_t length = readlink("/proc/self/exe", own->croft, sizeof own->croft - 1);
    if (length <= 0)
        return error_set(err, "croft itself cannot be found: %s", strerror(errno));
    own->croft[length] = '\0';
    return paths_share("machines", own->machines, sizeof own->machines, err) &&
           paths_share("kernel/kernel.elf", own->kernel, sizeof own->kernel, err) &&
           setting_own_firmware(own->firmware, err);
}

/* Reads the description, and takes those of its runs that the command line chooses. */
static bool read_description(const struct request *request, struct experiment *e, struct error *err)
{
    if (!experiment_read(e, request->file, request->size, err))
        return false;
    for (size_t i = 0; i < request->only_count; i++)
        if (!experiment_only(e, request->only[i], err)) {
            experiment_free(e);
            return false;
        }
    return true;
}

static int experiment(const struct request *request)
{
    char folder[PATH_MAX], out[PATH_MAX];
    struct own_files own;
    struct error err = {.text = ""};
    struct experiment e;
    if (!request->file)
        return options_usage_error(&experiment_interface, "no FILE given");
    if (request->work)
        return spool_work(request->work, request->file, body);
    int status = 2; /* the description is part of the command line, so an error in it is a usage error */
    if (!find_own(&own, &err))
        status = 1;
    else if (locate(request, folder, out, &err) && read_description(request, &e, &err)) {
        (void)snprintf(own.results, sizeof own.results, "%s/results.db", out);
        const struct experiment_where where = {
            .croft = own.croft,
            .out = out,
            .folder = folder,
            .results = request->results ? request->results : own.results,
            .machines = own.machines,
            .parts = {own.kernel, own.firmware, NULL},
            .sets = request->sets,
            .set_count = request->set_count,
            .jobs = request->jobs ? request->jobs : processors(),
            .memory = request->memory,
            .engine = request->engine,
            .partition = request->partition,
            .time = request->time,
            .hosts = request->hosts,
            .retry_failed = request->retry,
            .body = body,
        };
        err.text[0] = '\0';
        status = run(&e, &where, request->files, request->yes, &err);
        experiment_free(&e);
    }
    if (err.text[0])
        (void)fprintf(stderr, "croft experiment: %s\n", err.text);
    return status;
}

int cmd_experiment(int argc, char **argv)
{
    struct request request = {.sets = alloc((size_t)argc + 1, sizeof *request.sets),
                              .only = alloc((size_t)argc + 1, sizeof *request.only)};
    int status = options_parse(&experiment_interface, argc, argv, take, &request);
    if (status == OPTIONS_TAKEN)
        status = experiment(&request);
    free(request.sets);
    free(request.only);
    return status;
}
