/* Runs as tasks of Slurm's job arrays. A task that ends without an outcome is submitted again, as after the failure of a node, unless
 * Slurm ended it because of a limit. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "emu/experiment/engines/remote.h"
#include "emu/experiment/engines/spool.h"
#include "emu/experiment/runs/task.h"
#include "emu/experiment/signals.h"
#include "emu/sim/alloc.h"
#include "emu/sim/host_time.h"

enum {
    TASKS = 500,   /* of one array: Slurm's default limit is 1000 */
    TRIES = 3,     /* most submissions of a run that is lost */
    QUEUED = 2000, /* runs in the queue at most */
    LOOK = 3,      /* s between two looks at the queue */
};

struct slurm {
    struct engine engine;
    struct engine_remote_options options;
    struct spool spool;
    double looked;
    int tried[1 << 16]; /* by run, modulo its size: how often it was lost */
};

/* Returns what a command prints; the caller frees it. NULL: it failed. */
static char *output_of(const char *command)
{
    char *text = NULL, buffer[4096];
    size_t size, got;
    FILE *in = popen(command, "re"), *out = open_memstream(&text, &size);
    if (!out)
        alloc_failed();
    while (in && (got = fread(buffer, 1, sizeof buffer, in)) > 0)
        (void)fwrite(buffer, 1, got, out);
    bool good = in && pclose(in) == 0;
    if (fclose(out) != 0)
        alloc_failed();
    if (good)
        return text;
    free(text);
    return NULL;
}

static bool slurm_room(struct engine *engine)
{
    const struct slurm *slurm = (const struct slurm *)engine;
    return slurm->spool.count < (slurm->options.jobs ? (int)slurm->options.jobs * 4 : QUEUED) ||
           slurm->spool.count == 0;
}

/* Writes the script of an array: task n executes line n of the list of keys. */
static bool write_script(struct slurm *slurm, const char *path, int count, struct error *err)
{
    const struct engine_remote_options *o = &slurm->options;
    FILE *out = fopen(path, "we");
    if (!out)
        return error_set(err, "%s: %s", path, strerror(errno));
    (void)fprintf(
        out, "#!/bin/bash\n#SBATCH --job-name=croft --array=0-%d --ntasks=1 --requeue --output=/dev/null\n",
        count - 1);
    if (o->partition)
        (void)fprintf(out, "#SBATCH --partition=%s\n", o->partition);
    if (o->time)
        (void)fprintf(out, "#SBATCH --time=%s\n", o->time);
    if (o->memory)
        (void)fprintf(out, "#SBATCH --mem=%lluK\n", (unsigned long long)(o->memory / 1024));
    (void)fprintf(out, "keys=(");
    int task = 0;
    for (int i = 0; i < slurm->spool.count && task < count; i++)
        if (!slurm->spool.runs[i].submitted) {
            slurm->spool.runs[i].task = task++;
            (void)fprintf(out, "%s ", slurm->spool.runs[i].key);
        }
    char *words[] = {(char *)(uintptr_t)o->croft, (char *)(uintptr_t) "experiment",
                     (char *)(uintptr_t) "--work", (char *)(uintptr_t)slurm->spool.folder, NULL};
    char *command = experiment_command(words);
    (void)fprintf(out, ")\nexec %s \"${keys[$SLURM_ARRAY_TASK_ID]}\"\n", command);
    free(command);
    return fclose(out) == 0 || error_set(err, "%s: %s", path, strerror(errno));
}

/* Submits up to TASKS runs as one array. */
static bool submit(struct slurm *slurm, int count, struct error *err)
{
    char path[PATH_MAX + 16], *end;
    (void)snprintf(path, sizeof path, "%s/array.sh", slurm->spool.folder);
    if (!write_script(slurm, path, count, err))
        return false;
    char *words[] = {(char *)(uintptr_t) "sbatch", (char *)(uintptr_t) "--parsable", path, NULL};
    char *submission = experiment_command(words), *command;
    if (asprintf(&command, "%s 2>&1 || true", submission) < 0)
        alloc_failed();
    char *answer = output_of(command);
    free(command);
    free(submission);
    long job = answer ? strtol(answer, &end, 10) : 0;
    (void)unlink(path);
    if (job <= 0) {
        (void)error_set(err, "--engine slurm: sbatch has refused the runs%s%.200s",
                        answer ? ": " : "; try: sinfo", answer ? answer : "");
        free(answer);
        return false;
    }
    free(answer);
    for (int i = 0; i < slurm->spool.count && count > 0; i++)
        if (!slurm->spool.runs[i].submitted) {
            slurm->spool.runs[i].submitted = true;
            slurm->spool.runs[i].job = job;
            count--;
        }
    return true;
}

static bool slurm_flush(struct engine *engine, struct error *err)
{
    struct slurm *slurm = (struct slurm *)engine;
    int waiting = 0;
    for (int i = 0; i < slurm->spool.count; i++)
        waiting += !slurm->spool.runs[i].submitted;
    return waiting == 0 || submit(slurm, waiting < TASKS ? waiting : TASKS, err);
}

static int slurm_start(struct engine *engine, const struct engine_run *run, struct error *err)
{
    struct slurm *slurm = (struct slurm *)engine;
    if (!spool_add(&slurm->spool, run, err))
        return -1;
    int waiting = 0;
    for (int i = slurm->spool.count - 1; i >= 0 && !slurm->spool.runs[i].submitted; i--)
        waiting++;
    return waiting < TASKS || submit(slurm, waiting, err) ? 1 : -1;
}

/* Returns the state of a task that is no longer in the queue, as Slurm remembers it. */
static void state_of(const struct spool_run *run, char state[64])
{
    char command[128];
    (void)snprintf(command, sizeof command, "scontrol show job %ld_%d 2>/dev/null", run->job, run->task);
    char *text = output_of(command), *found = text ? strstr(text, "JobState=") : NULL;
    (void)snprintf(state, 64, "UNKNOWN");
    if (found)
        (void)sscanf(found, "JobState=%63[A-Z_]", state);
    free(text);
}

/* Returns whether a task is in a listing of lines "JOB_TASK". */
static bool is_listed(const char *listing, const struct spool_run *run)
{
    char name[64];
    (void)snprintf(name, sizeof name, "%ld_%d\n", run->job, run->task);
    for (const char *found = listing; (found = strstr(found, name)) != NULL; found++)
        if (found == listing || found[-1] == '\n')
            return true;
    return false;
}

/* Looks for tasks that have ended without an outcome. */
static int look(struct slurm *slurm, struct engine_done *done)
{
    char state[64], message[160];
    if (host_seconds() - slurm->looked < LOOK)
        return 0;
    slurm->looked = host_seconds();
    char *listing = output_of("squeue --noheader --array --name=croft --format=%F_%K 2>/dev/null");
    for (int i = 0; listing && i < slurm->spool.count; i++) {
        struct spool_run *run = &slurm->spool.runs[i];
        if (!run->submitted || is_listed(listing, run) || spool_has(&slurm->spool, i))
            continue;
        free(listing);
        state_of(run, state);
        bool limit = strcmp(state, "TIMEOUT") == 0 || strcmp(state, "OUT_OF_MEMORY") == 0;
        int *tried = &slurm->tried[run->number % (1 << 16)];
        (void)snprintf(message, sizeof message, "Slurm has ended the run: %s", state);
        spool_lose(&slurm->spool, i, limit || ++*tried >= TRIES ? message : NULL, done);
        return 1;
    }
    free(listing);
    return 0;
}

static int slurm_next(struct engine *engine, int milliseconds, struct engine_done *done, struct error *err)
{
    struct slurm *slurm = (struct slurm *)engine;
    if (!slurm_flush(engine, err))
        return -1;
    int found = spool_next(&slurm->spool, done, err);
    if (found == 0) {
        signals_wait(milliseconds);
        found = spool_next(&slurm->spool, done, err);
    }
    return found == 0 && !signals_arrived() ? look(slurm, done) : found;
}

static unsigned slurm_running(const struct engine *engine)
{
    return (unsigned)((const struct slurm *)engine)->spool.count;
}

static void slurm_close(struct engine *engine)
{
    struct slurm *slurm = (struct slurm *)engine;
    char command[64];
    long last = 0;
    for (int i = 0; i < slurm->spool.count; i++)
        if (slurm->spool.runs[i].submitted && slurm->spool.runs[i].job != last) {
            last = slurm->spool.runs[i].job;
            (void)snprintf(command, sizeof command, "scancel %ld 2>&1", last);
            free(output_of(command));
        }
    spool_close(&slurm->spool);
    free(slurm);
}

struct engine *engine_slurm(const struct engine_remote_options *options, struct error *err)
{
    static const struct engine_ops ops = {slurm_room, slurm_start,   slurm_flush,
                                          slurm_next, slurm_running, slurm_close};
    char *version = output_of("sbatch --version 2>/dev/null");
    struct slurm *slurm = alloc(1, sizeof *slurm);
    slurm->engine.ops = &ops;
    slurm->options = *options;
    if (!version)
        (void)error_set(err, "--engine slurm: sbatch cannot be executed; Debian's package is slurm-client");
    if (version && spool_open(&slurm->spool, options->out, err)) {
        free(version);
        return &slurm->engine;
    }
    free(version);
    free(slurm);
    return NULL;
}
