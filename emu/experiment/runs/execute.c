#include "emu/experiment/runs/execute.h"

#include <errno.h>
#include <glob.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "emu/experiment/engines/local.h"
#include "emu/experiment/engines/remote.h"
#include "emu/experiment/grid.h"
#include "emu/experiment/results/evaluate.h"
#include "emu/experiment/runs/foresee.h"
#include "emu/experiment/runs/identity.h"
#include "emu/experiment/runs/prepare.h"
#include "emu/experiment/runs/search.h"
#include "emu/experiment/runs/tally.h"
#include "emu/experiment/runs/task.h"
#include "emu/experiment/signals.h"
#include "emu/sim/alloc.h"
#include "emu/sim/host_time.h"

enum {
    TEXT = 4096,
    TAIL = 2048,
    WAIT = 100, /* ms after which runs that have ended are committed, at the latest */
};

static bool folder(const char *out, const char *name, struct error *err)
{
    char path[TEXT];
    (void)snprintf(path, sizeof path, "%s%s", out, name);
    return mkdir(path, 0777) == 0 || errno == EEXIST || error_set(err, "%s: %s", path, strerror(errno));
}

/* Prints the end of a text, indented. */
static void print_tail(const struct outcome_text *text)
{
    size_t begin = text->size > TAIL ? text->size - TAIL : 0;
    while (begin > 0 && begin < text->size && text->bytes[begin - 1] != '\n') /* skips an incomplete line */
        begin++;
    for (const char *line = text->bytes + begin; text->bytes && *line;) {
        int length = (int)strcspn(line, "\n");
        (void)fprintf(stderr, "    %.*s\n", length, line);
        line += length + (line[length] == '\n');
    }
}

static void report_failure(const char *label, char *const *words, const struct outcome *outcome)
{
    char *command = experiment_command(words);
    (void)fprintf(stderr, "croft experiment: %s ", label);
    if (outcome->status >= 0 && WIFSIGNALED(outcome->status))
        (void)fprintf(stderr, "was ended by signal %d: ", WTERMSIG(outcome->status));
    else
        (void)fprintf(stderr,
                      "failed with status %d: ", outcome->status < 0 ? -1 : WEXITSTATUS(outcome->status));
    (void)fprintf(stderr, "%s\n", command);
    print_tail(&outcome->streams[OUTCOME_OUTPUT]);
    print_tail(&outcome->streams[OUTCOME_MESSAGES]);
    free(command);
}

/* Texts that the words of a compiler's command are in. */
struct compile_texts {
    char source[TEXT], names[TEXT];
};

/* Returns the words of: croft cc FLAGS SOURCE -o PROGRAM. Libraries among the flags must follow the sources,
 * as the linker requires. Names of files that assertions have are those from the description's folder: data would lie
 * elsewhere, and take other times, in a checkout of another name. */
static char **compile_command(const struct experiment_point *point, const struct experiment_where *where,
                              struct compile_texts *texts, const char *program)
{
    const struct experiment_texts *flags = &point->program->flags;
    char **command = alloc((size_t)flags->count + 7, sizeof *command);
    int used = 0;
    bool absolute = point->program->source[0] == '/';
    (void)snprintf(texts->source, TEXT, "%s%s%s", absolute ? "" : where->folder, absolute ? "" : "/",
                   point->program->source);
    (void)snprintf(texts->names, TEXT, "-fmacro-prefix-map=%s/=", where->folder);
    command[used++] = (char *)(uintptr_t)where->croft;
    command[used++] = (char *)(uintptr_t) "cc";
    for (int libraries = 0; libraries < 2; libraries++) {
        for (int i = 0; i < flags->count; i++)
            if ((strncmp(flags->items[i], "-l", 2) == 0) == libraries)
                command[used++] = (char *)(uintptr_t)flags->items[i];
        if (!libraries)
            command[used++] = texts->source;
    }
    command[used++] = texts->names;
    command[used++] = (char *)(uintptr_t) "-o";
    command[used++] = (char *)(uintptr_t)program;
    return command;
}

static void part_name(const struct experiment_where *where, const char *name, char part[TEXT])
{
    (void)snprintf(part, TEXT, "%s/programs/%s.%ld.part", where->out, name, (long)getpid());
}

/* Removes the paths of folders from a failure, so that tables do not depend on them. */
static void cut_folders(const struct experiment_where *where, char *failure)
{
    const char *const folders[] = {where->out, where->folder, where->machines};
    for (size_t i = 0; failure && i < sizeof folders / sizeof *folders; i++) {
        size_t length = strlen(folders[i]);
        for (char *found = failure; (found = strstr(found, folders[i])) != NULL;)
            if (found[length] == '/')
                memmove(found, found + length + 1, strlen(found + length + 1) + 1);
            else
                found += length;
    }
}

static char *failure_of(const struct experiment_where *where, const struct outcome *outcome, bool compiler)
{
    char *failure = outcome_failure(outcome, compiler);
    cut_folders(where, failure);
    return failure;
}

/* Marks the runs of a program that are left as failed. */
static void fail_program(const struct experiment *e, struct experiment_run *runs, int program,
                         const char *what, const char *failure)
{
    int each = experiment_runs(e) / e->axes[0].count;
    for (int n = program * each; n < (program + 1) * each; n++) {
        char *text = NULL;
        if (runs[n].state != EXPERIMENT_LEFT)
            continue;
        if (asprintf(&text, "%s %s: %s", e->axes[0].points[program].name, what, failure) < 0)
            alloc_failed();
        runs[n].state = EXPERIMENT_FAILED;
        runs[n].failure = text;
    }
}

/* Moves a compiled program to its place. If it does not compile, marks its runs as failed. */
static void compiled(const struct experiment *e, const struct experiment_where *where,
                     struct experiment_run *runs, const struct engine_done *done)
{
    struct compile_texts texts;
    char part[TEXT], program[TEXT];
    const struct experiment_point *point = &e->axes[0].points[done->number];
    char *failure = failure_of(where, &done->outcome, true);
    (void)snprintf(program, sizeof program, "%s/programs/%s", where->out, point->name);
    part_name(where, point->name, part);
    if (!failure && rename(part, program) == 0)
        return;
    (void)unlink(part);
    char **words = compile_command(point, where, &texts, program);
    report_failure(point->name, words, &done->outcome);
    free(words);
    fail_program(e, runs, done->number, "does not compile", failure ? failure : strerror(errno));
    free(failure);
}

/* Returns whether one of a program's runs is left. */
static bool has_left(const struct experiment *e, const struct experiment_run *runs, int program)
{
    int each = experiment_runs(e) / e->axes[0].count;
    for (int n = program * each; n < (program + 1) * each; n++)
        if (runs[n].state == EXPERIMENT_LEFT)
            return true;
    return false;
}

/* Starts the compiler for a program with a source. Returns as engine_ops.start(). */
static int start_compiler(const struct experiment *e, const struct experiment_where *where, int program,
                          struct engine *engine, struct error *err)
{
    struct compile_texts texts;
    char part[TEXT];
    const struct experiment_point *point = &e->axes[0].points[program];
    if (!engine->ops->room(engine))
        return 0;
    part_name(where, point->name, part);
    char **words = compile_command(point, where, &texts, part);
    const struct engine_run run = {.number = program, .words = words};
    int started = engine->ops->start(engine, &run, err);
    free(words);
    return started;
}

/* Removes the unfinished programs of this croft's compilers. */
static void remove_own_parts(const struct experiment *e, const struct experiment_where *where)
{
    char part[TEXT];
    for (int i = 0; i < e->axes[0].count; i++) {
        part_name(where, e->axes[0].points[i].name, part);
        (void)unlink(part);
    }
}

/* Removes unfinished programs of crofts that no longer run. */
static void remove_parts(const struct experiment_where *where)
{
    char pattern[TEXT];
    glob_t found;
    (void)snprintf(pattern, sizeof pattern, "%s/programs/*.part", where->out);
    if (glob(pattern, GLOB_NOSORT, NULL, &found) != 0)
        return;
    for (size_t i = 0; i < found.gl_pathc; i++) {
        char *ending = found.gl_pathv[i] + strlen(found.gl_pathv[i]) - strlen(".part"), *number = ending;
        while (number[-1] >= '0' && number[-1] <= '9')
            number--;
        /* EPERM: another user's croft, which runs. */
        if (kill((pid_t)strtol(number, NULL, 10), 0) != 0 && errno == ESRCH)
            (void)unlink(found.gl_pathv[i]);
    }
    globfree(&found);
}

/* Compiles the programs that have sources. Each is renamed into place when it is complete. */
static bool compile(const struct experiment *e, const struct experiment_where *where,
                    struct experiment_run *runs, struct error *err)
{
    const struct engine_local_options options = {.out = where->out, .jobs = where->jobs};
    struct engine *engine = engine_local(&options);
    struct engine_done done;
    int next = 0, started = 0, ended = 0;
    remove_parts(where);
    while (!signals_arrived() && (next < e->axes[0].count || engine->ops->running(engine) > 0)) {
        bool needed =
            next < e->axes[0].count && e->axes[0].points[next].program->source && has_left(e, runs, next);
        started = needed ? start_compiler(e, where, next, engine, err) : next < e->axes[0].count;
        next += started > 0;
        if (started > 0)
            continue;
        ended = started < 0 ? -1 : engine->ops->next(engine, WAIT, &done, err);
        if (ended < 0)
            break;
        if (ended > 0 && !signals_arrived())
            compiled(e, where, runs, &done);
        if (ended > 0)
            outcome_free(&done.outcome);
    }
    engine->ops->close(engine);
    if (signals_arrived())
        remove_own_parts(e, where);
    return started >= 0 && ended >= 0;
}

/* Executes the commands that come before the runs of each program with runs that are left. */
static bool prepare(const struct experiment *e, const struct experiment_where *where,
                    struct experiment_run *runs, struct error *err)
{
    for (int program = 0; program < e->axes[0].count && !signals_arrived(); program++) {
        char *failure = NULL;
        if (has_left(e, runs, program) && !prepare_program(e, where, program, &failure, err))
            return false;
        if (failure) {
            cut_folders(where, failure);
            (void)fprintf(stderr, "croft experiment: %s cannot be prepared: %s\n",
                          e->axes[0].points[program].name, failure);
            fail_program(e, runs, program, "cannot be prepared", failure);
        }
        free(failure);
    }
    return true;
}

/* The execution of all runs. */
struct execution {
    const struct experiment *e;
    const struct experiment_where *where;
    struct results *results;
    struct experiment_run *runs;
    struct identity *identity;
    struct engine *engine;
    struct tally tally;
    struct digest *begun; /* hash table of the keys of runs that have begun; all zeros: free */
    size_t room;
    int *again, again_count; /* runs to be started again */
    int *fresh, fresh_count; /* runs that have been recorded since the last commit */
    double committed;
    bool evaluated; /* a run of this execution was */
    bool foreseen;  /* the first run was looked at */
};

/* Notes that a run begins. Returns false if an equal run has begun already. */
static bool first_of_its_kind(struct execution *x, const struct digest *key)
{
    static const struct digest none;
    uint64_t hash;
    memcpy(&hash, key->bytes, sizeof hash);
    struct digest *place = &x->begun[hash % x->room];
    while (memcmp(place, &none, sizeof none) != 0) {
        if (memcmp(place, key, sizeof *key) == 0)
            return false;
        place = place + 1 == x->begun + x->room ? x->begun : place + 1;
    }
    *place = *key;
    return true;
}

static void settle(struct execution *x, int n, const char *label, double seconds, const char *failure)
{
    struct experiment_run *run = &x->runs[n];
    run->state = failure ? EXPERIMENT_FAILED : EXPERIMENT_DONE;
    free(run->failure);
    run->failure = failure ? alloc_text(failure) : NULL;
    tally_run(&x->tally, label, seconds, failure);
}

/* Settles a run from results.db. Returns 1, 0 if it is not there, or -1 with err set. */
static int find(struct execution *x, int n, const char *label, bool retry, struct error *err)
{
    struct results_run known = {NULL, 0, 0};
    int found = results_find(x->results, &x->runs[n].key, &known, err);
    if (found > 0 && retry && known.failure)
        found = 0;
    if (found > 0) {
        x->tally.found++;
        settle(x, n, label, known.seconds, known.failure);
    }
    free(known.failure);
    return found;
}

/* Starts a run, unless its results are known, it cannot begin, or an equal run has begun. Notes a run that finds no room in
 * `again`. Returns as engine_ops.start(). */
static int start(struct execution *x, int n, bool again, struct error *err)
{
    int point[EXPERIMENT_AXES], started = 1;
    struct experiment_task task;
    struct identity_run identity;
    struct error wrong;
    struct engine_run run = {.number = n};
    experiment_place(x->e, n, point);
    experiment_task(x->e, x->where, point, &task);
    if (!identity_find(x->identity, &task, &identity, &wrong)) {
        tally_hide(&x->tally);
        cut_folders(x->where, wrong.text);
        settle(x, n, task.label, 0, wrong.text);
    } else {
        x->runs[n].key = identity.key;
        x->runs[n].known = true;
        const struct engine_machine machine = {identity.loaded, task.machine, task.sets};
        run.key = &identity.key;
        run.own = !task.croft;
        run.machine = identity.loaded ? &machine : NULL;
        started = again ? 0 : find(x, n, task.label, x->where->retry_failed, err);
        if (started == 0 && (again || first_of_its_kind(x, &identity.key))) {
            if (!x->foreseen)
                experiment_foresee(x->e, x->where, point);
            x->foreseen = true;
            run.words = experiment_words(x->where, &task, &run.statistics);
            started = x->engine->ops->start(x->engine, &run, err);
            free(run.words);
            if (started == 0)
                x->again[x->again_count++] = n;
        } else if (started == 0)
            started = 1; /* find_twins() settles it */
    }
    experiment_task_free(&task);
    return started;
}

/* Adds a run that has ended to the results. */
static bool record(struct execution *x, const struct engine_done *done, struct error *err)
{
    int point[EXPERIMENT_AXES];
    struct experiment_task task;
    struct identity_run identity = {.inputs = ""};
    struct error ignored;
    experiment_place(x->e, done->number, point);
    experiment_task(x->e, x->where, point, &task);
    (void)identity_find(x->identity, &task, &identity, &ignored);
    char **words = experiment_words(x->where, &task, NULL), *command = experiment_command(words),
         *failure = failure_of(x->where, &done->outcome, false), *damage = NULL;
    const struct results_note note = {identity.inputs, command, identity.machine, failure};
    bool good = results_add(x->results, &x->runs[done->number].key, &done->outcome, &note, &damage, err);
    if (good) {
        x->fresh[x->fresh_count++] = done->number;
        if (failure) {
            tally_hide(&x->tally);
            report_failure(task.label, words, &done->outcome);
        }
        settle(x, done->number, task.label, done->outcome.seconds, damage ? damage : failure);
        if (!x->evaluated && !damage &&
            !failure) { /* a wrong name is reported after the first run, not the last */
            tally_hide(&x->tally);
            experiment_evaluate_run(x->e, x->where, x->results, x->runs, done->number);
            x->evaluated = true;
        }
    }
    free(damage);
    free(failure);
    free(command);
    free(words);
    experiment_task_free(&task);
    return good;
}

/* Starts runs while there is room. Returns false with err set on failure. */
static bool fill(struct execution *x, int *next, struct error *err)
{
    int all = experiment_runs(x->e), started = 1;
    while (started > 0 && !signals_arrived()) {
        while (*next < all && !(x->runs[*next].wanted && x->runs[*next].state == EXPERIMENT_LEFT))
            ++*next;
        if (x->again_count == 0 && *next == all)
            return x->engine->ops->flush(x->engine, err);
        if (!x->engine->ops->room(x->engine))
            return true;
        bool again = x->again_count > 0;
        started = start(x, again ? x->again[--x->again_count] : (*next)++, again, err);
        tally_show(&x->tally, x->engine->ops->running(x->engine));
    }
    return started >= 0;
}

/* Commits what was recorded. If this fails, the runs recorded since the last commit are left to run. */
static bool commit(struct execution *x, struct error *err)
{
    bool good = results_commit(x->results, err);
    for (; !good && x->fresh_count > 0; x->fresh_count--) {
        struct experiment_run *run = &x->runs[x->fresh[x->fresh_count - 1]];
        run->state = EXPERIMENT_LEFT;
        run->evaluated = false;
        free(run->failure);
        run->failure = NULL;
    }
    x->fresh_count = 0;
    x->committed = host_seconds();
    return good;
}

/* Waits for a run to end, starts others in its place and then records it, so that no processor waits for the results file; commits
 * from time to time. Returns false with err set on failure. */
static bool take(struct execution *x, int *next, struct error *err)
{
    struct engine_done done;
    int ended = x->engine->ops->next(x->engine, WAIT, &done, err);
    bool good = ended >= 0;
    if (ended > 0 && done.again)
        x->again[x->again_count++] = done.number;
    else if (ended > 0) {
        struct error later;
        bool filled = fill(x, next, &later);
        good = signals_arrived() || record(x, &done, err); /* the signal may have ended the run, too */
        if (good && !filled) {
            *err = later;
            good = false;
        }
        outcome_free(&done.outcome);
    }
    if (good && host_seconds() - x->committed > WAIT * 1e-3)
        good = commit(x, err);
    return good;
}

/* Gives the runs that equal another run its results. */
static bool find_twins(struct execution *x, struct error *err)
{
    int point[EXPERIMENT_AXES], found = 0;
    for (int n = 0; n < experiment_runs(x->e) && found >= 0; n++) {
        struct experiment_task task;
        if (x->runs[n].state != EXPERIMENT_LEFT || !x->runs[n].known || !x->runs[n].wanted)
            continue;
        experiment_place(x->e, n, point);
        experiment_task(x->e, x->where, point, &task);
        found = find(x, n, task.label, false, err);
        experiment_task_free(&task);
    }
    return found >= 0;
}

static bool execute_all(struct execution *x, struct error *err)
{
    int next = 0, all = experiment_runs(x->e);
    bool good = true;
    while (good && !signals_arrived() &&
           (next < all || x->again_count > 0 || x->engine->ops->running(x->engine) > 0)) {
        good = fill(x, &next, err);
        if (good && x->engine->ops->running(x->engine) > 0)
            good = take(x, &next, err);
        tally_show(&x->tally, x->engine->ops->running(x->engine));
    }
    tally_hide(&x->tally);
    struct error ignored;
    bool kept = commit(x, good ? err : &ignored);
    return good && kept && find_twins(x, err);
}

/* Executes rounds of wanted runs until no run is wanted. */
static bool execute_rounds(struct execution *x, struct error *err)
{
    bool good = true;
    while (good && !signals_arrived() && experiment_want(x->e, x->runs)) {
        int wanted = 0;
        for (int n = 0; n < experiment_runs(x->e); n++)
            wanted += x->runs[n].wanted;
        x->tally.all = x->tally.done + wanted;
        good = execute_all(x, err);
        experiment_evaluate(x->e, x->where, x->results, x->runs);
    }
    return good;
}

static struct engine *open_engine(const struct experiment_where *where, struct error *err)
{
    const struct engine_local_options local = {
        .out = where->out, .jobs = where->jobs, .memory = where->memory, .body = where->body};
    const struct engine_remote_options remote = {.out = where->out,
                                                 .croft = where->croft,
                                                 .jobs = where->jobs,
                                                 .partition = where->partition,
                                                 .time = where->time,
                                                 .memory = where->memory,
                                                 .hosts = where->hosts};
    switch (where->engine) {
    case EXPERIMENT_SLURM: return engine_slurm(&remote, err);
    case EXPERIMENT_PARALLEL: return engine_parallel(&remote, err);
    default: return engine_local(&local);
    }
}

bool experiment_execute(const struct experiment *e, const struct experiment_where *where,
                        struct results *results, struct experiment_run *runs, struct error *err)
{
    int all = experiment_runs(e);
    if (!folder(where->out, "", err) || !folder(where->out, "/programs", err))
        return false;
    signals_hold();
    if (!compile(e, where, runs, err) || !prepare(e, where, runs, err))
        return false;
    struct execution x = {.e = e, .where = where, .results = results, .runs = runs};
    x.identity = identity_new(where, err);
    if (!x.identity)
        return false;
    x.engine = open_engine(where, err);
    if (!x.engine) {
        identity_free(x.identity);
        return false;
    }
    x.room = 2 * (size_t)all + 1;
    x.begun = alloc(x.room, sizeof *x.begun);
    x.again = alloc((size_t)all + 1, sizeof *x.again);
    x.fresh = alloc((size_t)all + 1, sizeof *x.fresh);
    tally_begin(&x.tally, all);
    experiment_evaluate(e, where, results, runs);
    bool good = execute_rounds(&x, err);
    x.engine->ops->close(x.engine);
    if (x.tally.found)
        (void)fprintf(stderr, "croft experiment: %d runs were in %s\n", x.tally.found, where->results);
    identity_free(x.identity);
    free(x.begun);
    free(x.again);
    free(x.fresh);
    return good;
}
