/* Runs through GNU parallel, on this host or, by ssh, on others. It reads the keys of runs from a pipe. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "emu/experiment/engines/remote.h"
#include "emu/experiment/engines/spool.h"
#include "emu/experiment/runs/task.h"
#include "emu/experiment/signals.h"
#include "emu/sim/alloc.h"

enum { AHEAD = 256 }; /* most runs whose keys are written to GNU parallel: more could fill the pipe */

struct parallel {
    struct engine engine;
    struct engine_remote_options options;
    struct spool spool;
    pid_t process; /* 0: none */
    int keys;      /* the pipe; -1: closed, as GNU parallel starts the last runs only at its end */
};

/* Executes GNU parallel in the child, with `keys` as its input. */
static _Noreturn void become(const struct parallel *parallel, int keys)
{
    char jobs[32];
    const struct engine_remote_options *o = &parallel->options;
    (void)setpgid(0, 0);
    (void)prctl(PR_SET_PDEATHSIG, SIGTERM);
    signals_child();
    (void)dup2(keys, STDIN_FILENO);
    /* GNU parallel quotes for this shell; with neither this nor SHELL in the environment, it does not reach other hosts. */
    (void)setenv("PARALLEL_SHELL", "/bin/sh", 1);
    (void)snprintf(jobs, sizeof jobs, "%u", o->jobs);
    char *words[] = {(char *)(uintptr_t)o->croft, (char *)(uintptr_t) "experiment",
                     (char *)(uintptr_t) "--work", (char *)(uintptr_t)parallel->spool.folder, NULL};
    char *command;
    if (asprintf(&command, "%s {}", experiment_command(words)) < 0)
        alloc_failed();
    if (o->hosts)
        (void)execlp("parallel", "parallel", "--will-cite", "--plain", "--jobs", jobs, "--sshlogin", o->hosts,
                     command, (char *)NULL);
    else
        (void)execlp("parallel", "parallel", "--will-cite", "--plain", "--jobs", jobs, command, (char *)NULL);
    (void)fprintf(stderr, "croft experiment: --engine parallel: parallel: %s\n", strerror(errno));
    _exit(127);
}

static bool begin(struct parallel *parallel, struct error *err)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return error_set(err, "--engine parallel: %s", strerror(errno));
    (void)fflush(stdout);
    parallel->process = fork();
    if (parallel->process == 0)
        become(parallel, ends[0]);
    (void)close(ends[0]);
    if (parallel->process < 0) {
        (void)close(ends[1]);
        parallel->process = 0;
        return error_set(err, "--engine parallel: no process can be made: %s", strerror(errno));
    }
    (void)setpgid(parallel->process, parallel->process);
    parallel->keys = ends[1];
    return true;
}

static bool parallel_room(struct engine *engine)
{
    const struct parallel *parallel = (const struct parallel *)engine;
    return parallel->spool.count < AHEAD && (parallel->keys >= 0 || parallel->process == 0);
}

static int parallel_start(struct engine *engine, const struct engine_run *run, struct error *err)
{
    struct parallel *parallel = (struct parallel *)engine;
    if ((parallel->keys < 0 && !begin(parallel, err)) || !spool_add(&parallel->spool, run, err))
        return -1;
    if (dprintf(parallel->keys, "%s\n", parallel->spool.runs[parallel->spool.count - 1].key) > 0)
        return 1;
    (void)error_set(err, "--engine parallel: GNU parallel has ended: %s", strerror(errno));
    return -1;
}

static bool parallel_flush(struct engine *engine, struct error *err)
{
    struct parallel *parallel = (struct parallel *)engine;
    (void)err;
    if (parallel->keys >= 0)
        (void)close(parallel->keys);
    parallel->keys = -1;
    return true;
}

static int parallel_next(struct engine *engine, int milliseconds, struct engine_done *done, struct error *err)
{
    struct parallel *parallel = (struct parallel *)engine;
    int found = spool_next(&parallel->spool, done, err);
    if (found)
        return found;
    signals_wait(milliseconds);
    if (parallel->process && waitpid(parallel->process, NULL, WNOHANG) == parallel->process)
        parallel->process = 0;
    found = spool_next(&parallel->spool, done, err);
    if (found || parallel->process || parallel->spool.count == 0 || signals_arrived())
        return found;
    (void)error_set(err,
                    "--engine parallel: GNU parallel has ended without the results of %d runs; can each host "
                    "be reached by ssh "
                    "without a password, and does it have %s, too?",
                    parallel->spool.count, parallel->spool.folder);
    return -1;
}

static unsigned parallel_running(const struct engine *engine)
{
    return (unsigned)((const struct parallel *)engine)->spool.count;
}

static void parallel_close(struct engine *engine)
{
    struct parallel *parallel = (struct parallel *)engine;
    (void)parallel_flush(engine, NULL);
    bool idle = parallel->spool.count == 0;
    spool_close(&parallel->spool); /* workers end with the lock */
    if (parallel->process > 0) {
        if (!idle)
            (void)kill(-parallel->process, SIGTERM);
        for (int i = 0; i < 50 && parallel->process; i++) {
            if (waitpid(parallel->process, NULL, WNOHANG) == parallel->process)
                parallel->process = 0;
            else
                (void)usleep(100000);
        }
        if (parallel->process) {
            (void)kill(-parallel->process, SIGKILL);
            (void)waitpid(parallel->process, NULL, 0);
        }
    }
    free(parallel);
}

struct engine *engine_parallel(const struct engine_remote_options *options, struct error *err)
{
    static const struct engine_ops ops = {parallel_room, parallel_start,   parallel_flush,
                                          parallel_next, parallel_running, parallel_close};
    struct parallel *parallel = alloc(1, sizeof *parallel);
    parallel->engine.ops = &ops;
    parallel->options = *options;
    parallel->keys = -1;
    (void)signal(SIGPIPE, SIG_IGN); /* GNU parallel may end first */
    if (system("parallel --version >/dev/null 2>&1") != 0)
        (void)error_set(err, "--engine parallel: parallel cannot be executed; Debian's package is parallel");
    else if (spool_open(&parallel->spool, options->out, err))
        return &parallel->engine;
    free(parallel);
    return NULL;
}
