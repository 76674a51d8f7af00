#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "emu/cmd/experiment_read.h"
#include "emu/sim/alloc.h"

enum { TEXT = 4096, TAIL = 2048 };

extern char **environ;

/* A process. Its output goes to BASE.out and BASE.err. */
struct job {
    char **command;
    char base[TEXT];
    pid_t process;
    int status; /* of waitpid(); -1: not started */
};

static bool folder(const char *out, const char *name, struct error *err)
{
    char path[TEXT];
    (void)snprintf(path, sizeof path, "%s%s", out, name);
    return mkdir(path, 0777) == 0 || errno == EEXIST || error_set(err, "%s: %s", path, strerror(errno));
}

/* Prints words, quoted for a shell if necessary. */
static void print_command(FILE *out, char *const *command)
{
    for (; *command; command++) {
        bool plain = **command && !strpbrk(*command, " \t\n'\"\\$&|;<>()*?[]{}~#!`");
        (void)fprintf(out, plain ? "%s" : "'%s'", *command);
        (void)fputc(command[1] ? ' ' : '\n', out);
    }
}

static void note_command(const struct job *job)
{
    char path[TEXT + 16];
    (void)snprintf(path, sizeof path, "%s.command", job->base);
    FILE *out = fopen(path, "we");
    if (!out)
        return;
    print_command(out, job->command);
    (void)fclose(out);
}

static void start(struct job *job)
{
    char out[TEXT + 16], errors[TEXT + 16], stats[TEXT + 16];
    posix_spawn_file_actions_t actions;
    (void)snprintf(out, sizeof out, "%s.out", job->base);
    (void)snprintf(errors, sizeof errors, "%s.err", job->base);
    (void)snprintf(stats, sizeof stats, "%s.json", job->base);
    (void)unlink(stats); /* of an earlier experiment */
    note_command(job);
    job->status = -1;
    if (posix_spawn_file_actions_init(&actions) != 0)
        alloc_failed();
    (void)posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    (void)posix_spawn_file_actions_addopen(&actions, 1, out, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    (void)posix_spawn_file_actions_addopen(&actions, 2, errors, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    int failure = posix_spawnp(&job->process, job->command[0], &actions, NULL, job->command, environ);
    if (failure) {
        job->process = 0;
        (void)fprintf(stderr, "croft experiment: %s cannot be started: %s\n", job->command[0],
                      strerror(failure));
    }
    (void)posix_spawn_file_actions_destroy(&actions);
}

/* Waits until one of the jobs has ended. */
static void wait_for_one(struct job *jobs, int count)
{
    int status;
    pid_t process;
    do
        process = waitpid(-1, &status, 0);
    while (process < 0 && errno == EINTR);
    for (int i = 0; i < count; i++)
        if (jobs[i].process == process) {
            jobs[i].process = 0;
            jobs[i].status = status;
        }
}

/* Shows progress if standard error is a terminal. */
static void progress(int done, int count, const char *what)
{
    if (isatty(STDERR_FILENO))
        (void)fprintf(stderr, "\r%d of %d %s%s", done, count, what, done == count ? "\n" : "");
}

static void run_jobs(struct job *jobs, int count, unsigned parallel, const char *what)
{
    unsigned running = 0;
    int done = 0;
    for (int next = 0; next < count || running > 0;) {
        if (next < count && running < parallel) {
            start(&jobs[next]);
            running += jobs[next].process > 0;
            done += jobs[next++].process <= 0;
            continue;
        }
        wait_for_one(jobs, count);
        running--;
        progress(++done, count, what);
    }
}

/* Prints the end of a file, indented. */
static void print_tail(const char *base, const char *ending)
{
    char path[TEXT + 16], line[TAIL];
    (void)snprintf(path, sizeof path, "%s%s", base, ending);
    FILE *file = fopen(path, "re");
    if (!file)
        return;
    bool whole = fseek(file, -TAIL, SEEK_END) != 0;
    if (whole)
        rewind(file);
    else
        (void)fgets(line, sizeof line, file); /* skips an incomplete line */
    while (fgets(line, sizeof line, file))
        (void)fprintf(stderr, "    %s%s", line, strchr(line, '\n') ? "" : "\n");
    (void)fclose(file);
}

static bool succeeded(const struct job *job, const char *label)
{
    if (job->status == 0)
        return true;
    (void)fprintf(stderr, "croft experiment: %s ", label);
    if (job->status >= 0 && WIFSIGNALED(job->status))
        (void)fprintf(stderr, "was ended by signal %d: ", WTERMSIG(job->status));
    else
        (void)fprintf(stderr, "failed with status %d: ", job->status < 0 ? -1 : WEXITSTATUS(job->status));
    print_command(stderr, job->command);
    print_tail(job->base, ".out");
    print_tail(job->base, ".err");
    return false;
}

/* Returns the words of: croft cc FLAGS SOURCE -o PROGRAM. Libraries among the flags must follow the sources,
 * as the linker requires. */
static char **compile_command(const struct experiment_point *point, const struct experiment_where *where,
                              char *source, const char *base)
{
    const struct experiment_texts *flags = &point->program->flags;
    char **command = experiment_array(flags->count + 6, sizeof *command);
    int used = 0;
    bool absolute = point->program->source[0] == '/';
    (void)snprintf(source, TEXT, "%s%s%s", absolute ? "" : where->folder, absolute ? "" : "/",
                   point->program->source);
    command[used++] = (char *)(uintptr_t)where->croft;
    command[used++] = (char *)(uintptr_t) "cc";
    for (int libraries = 0; libraries < 2; libraries++) {
        for (int i = 0; i < flags->count; i++)
            if ((strncmp(flags->items[i], "-l", 2) == 0) == libraries)
                command[used++] = (char *)(uintptr_t)flags->items[i];
        if (!libraries)
            command[used++] = source;
    }
    command[used++] = (char *)(uintptr_t) "-o";
    command[used++] = (char *)(uintptr_t)base;
    return command;
}

/* Compiles the programs that have sources. Marks the runs of programs that do not compile as failed. */
static void compile(const struct experiment *e, const struct experiment_where *where,
                    struct experiment_run *runs)
{
    const struct experiment_axis *programs = &e->axes[0];
    int each = experiment_runs(e) / programs->count;
    struct job *jobs = experiment_array(programs->count, sizeof *jobs);
    char(*sources)[TEXT] = experiment_array(programs->count, sizeof *sources);
    int *program = experiment_array(programs->count, sizeof *program), count = 0;
    for (int i = 0; i < programs->count; i++) {
        if (!programs->points[i].program->source)
            continue;
        (void)snprintf(jobs[count].base, TEXT, "%s/programs/%s", where->out, programs->points[i].name);
        jobs[count].command = compile_command(&programs->points[i], where, sources[count], jobs[count].base);
        program[count++] = i;
    }
    run_jobs(jobs, count, where->jobs, "programs");
    for (int i = 0; i < count; i++) {
        bool good = succeeded(&jobs[i], programs->points[program[i]].name);
        for (int n = 0; n < each && !good; n++)
            runs[program[i] * each + n].failed = true;
        free(jobs[i].command);
    }
    free(jobs);
    free(sources);
    free(program);
}

bool experiment_execute(const struct experiment *e, const struct experiment_where *where,
                        struct experiment_run *runs, struct error *err)
{
    if (!folder(where->out, "", err) || !folder(where->out, "/programs", err) ||
        !folder(where->out, "/runs", err))
        return false;
    compile(e, where, runs);
    int count = 0, all = experiment_runs(e);
    struct job *jobs = experiment_array(all, sizeof *jobs);
    int *number = experiment_array(all, sizeof *number);
    for (int n = 0; n < all; n++) {
        if (runs[n].skipped || runs[n].failed)
            continue;
        jobs[count].command = runs[n].command;
        (void)snprintf(jobs[count].base, TEXT, "%s/runs/%s", where->out, runs[n].label);
        number[count++] = n;
    }
    run_jobs(jobs, count, where->jobs, "runs");
    for (int i = 0; i < count; i++)
        runs[number[i]].failed = !succeeded(&jobs[i], runs[number[i]].label);
    free(jobs);
    free(number);
    return true;
}
