/* Runs as children of this process, on this machine.
 *
 * Runs of this croft are forked and not executed anew: loading and linking the program would take as long as a short run. Their
 * output goes to unnamed files, which vanish if croft is killed. No child outlives croft, however croft
 * ends: the kernel sends a signal to a child whose parent has gone (PR_SET_PDEATHSIG). A command that has children of its own,
 * such as the compiler, gets a guard between it and croft, which ends their whole process group. */
#include "emu/experiment/engines/local.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <malloc.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "emu/experiment/engines/memory.h"
#include "emu/experiment/signals.h"
#include "emu/sim/alloc.h"
#include "emu/sim/host_time.h"

enum {
    UNKNOWN = 256 << 10, /* KiB that a run is expected to take before one has ended */
    CHECK = 250,         /* ms between two looks at the free memory */
    LARGE = 128 << 10,   /* bytes: malloc()'s initial M_MMAP_THRESHOLD */
};

/* A child. */
struct slot {
    pid_t process; /* 0: none */
    int number;
    int files[OUTCOME_STREAMS]; /* -1: none */
    char *path;                 /* of the statistics of another croft, which needs a name; or NULL */
    double start;
};

struct local {
    struct engine engine;
    struct engine_local_options options;
    struct slot *slots;
    unsigned running, limit;
    double checked; /* time of the last look at the memory */
    uint64_t free;  /* bytes that were free then */
};

/* Opens a file without a name in the folder for results. */
static int open_unnamed(const char *folder)
{
    char path[PATH_MAX];
    int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd >= 0 || snprintf(path, sizeof path, "%s/.run.XXXXXX", folder) >= (int)sizeof path)
        return fd;
    fd = mkostemp(path, O_CLOEXEC); /* not all file systems support O_TMPFILE */
    if (fd >= 0)
        (void)unlink(path);
    return fd;
}

/* Makes the files of a run ready: a slot keeps its files, as making them takes longer than emptying them. */
static bool ready_files(struct local *local, struct slot *slot, const struct engine_run *run,
                        struct error *err)
{
    for (int i = 0; i < OUTCOME_STREAMS; i++) {
        if (slot->files[i] < 0 && (slot->files[i] = open_unnamed(local->options.out)) < 0)
            return error_set(err, "%s: a temporary file cannot be made: %s", local->options.out,
                             strerror(errno));
        (void)ftruncate(slot->files[i], 0);
        (void)lseek(slot->files[i], 0, SEEK_SET);
    }
    if (run->statistics && !run->own &&
        asprintf(&slot->path, "%s/.run.%ld.%d.json", local->options.out, (long)getpid(), run->number) < 0)
        alloc_failed();
    return true;
}

/* Removes the file of another croft's statistics, and what it has written beside it. */
static void drop_path(struct slot *slot)
{
    char machine[PATH_MAX];
    if (!slot->path)
        return;
    (void)unlink(slot->path);
    (void)snprintf(machine, sizeof machine, "%s.machine.yaml", slot->path);
    (void)unlink(machine);
    free(slot->path);
    slot->path = NULL;
}

/* Ends the guard and its process group. */
static void end_group(int number)
{
    (void)number;
    (void)kill(0, SIGKILL);
}

/* Executes a command as a child of the calling process, which becomes its guard. */
static _Noreturn void guard(char **words)
{
    int status;
    pid_t process = fork();
    if (process == 0) {
        (void)execvp(words[0], words);
        (void)fprintf(stderr, "%s: %s\n", words[0], strerror(errno));
        _exit(127);
    }
    while (process > 0 && waitpid(process, &status, 0) < 0 && errno == EINTR) {
    }
    if (process < 0)
        (void)fprintf(stderr, "%s: %s\n", words[0], strerror(errno));
    _exit(process < 0 ? 127 : WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
}

/* Executes the run in the child. */
static _Noreturn void execute(const struct local *local, const struct slot *slot,
                              const struct engine_run *run, pid_t parent)
{
    int count = 0;
    (void)setpgid(0, 0); /* only croft gets the terminal's signals */
    if (!run->own)
        (void)signal(SIGTERM, end_group);
    (void)prctl(PR_SET_PDEATHSIG, run->own ? SIGKILL : SIGTERM);
    signals_child();
    if (getppid() != parent) /* the parent ended before prctl() */
        _exit(1);
    int null = open("/dev/null", O_RDONLY);
    (void)dup2(null, STDIN_FILENO);
    (void)dup2(slot->files[OUTCOME_OUTPUT], STDOUT_FILENO);
    (void)dup2(slot->files[OUTCOME_MESSAGES], STDERR_FILENO);
    if (!run->own) {
        if (slot->path)
            run->words[run->statistics] = slot->path;
        guard(run->words);
    }
    while (run->words[count])
        count++;
    int status = local->options.body(count, run->words,
                                     run->statistics ? slot->files[OUTCOME_STATISTICS] : -1, run->machine);
    if (fflush(stdout) != 0 && status == 0) {
        (void)fprintf(stderr, "croft: the output cannot be written: %s\n", strerror(errno));
        status = 1;
    }
    _exit(status);
}

static uint64_t reserve_of(uint64_t memory)
{
    return memory / 20;
}

/* Returns the bytes that are free for runs. */
static uint64_t free_memory(struct local *local)
{
    double now = host_seconds();
    if (local->options.memory) {
        uint64_t used = 0;
        for (unsigned i = 0; i < local->options.jobs; i++)
            used += local->slots[i].process ? memory_resident(local->slots[i].process) : 0;
        return used > local->options.memory ? 0 : local->options.memory - used;
    }
    if (now - local->checked > CHECK * 1e-3) {
        local->checked = now;
        local->free = memory_available();
        local->free -= local->free == UINT64_MAX ? 0 : reserve_of(local->free);
    }
    return local->free;
}

/* Returns whether another run fits into the memory, with the expected growth of those under way. True if none is under way. */
static bool fits(struct local *local)
{
    uint64_t expected = (uint64_t)(local->options.expected ? local->options.expected : UNKNOWN) * 1024;
    uint64_t available = free_memory(local), growth = 0;
    if (local->running == 0 || available / expected > 2 * (uint64_t)local->options.jobs)
        return true;
    for (unsigned i = 0; i < local->options.jobs; i++) {
        uint64_t now = local->slots[i].process ? memory_resident(local->slots[i].process) : expected;
        growth += now < expected ? expected - now : 0;
    }
    return available >= expected && available - expected >= growth;
}

static bool local_room(struct engine *engine)
{
    struct local *local = (struct local *)engine;
    return local->running < local->limit && fits(local);
}

static int local_start(struct engine *engine, const struct engine_run *run, struct error *err)
{
    struct local *local = (struct local *)engine;
    struct slot *slot = local->slots;
    while (slot->process)
        slot++;
    if (!ready_files(local, slot, run, err))
        return -1;
    slot->number = run->number;
    slot->start = host_seconds();
    (void)fflush(stdout); /* the child must not write it again */
    pid_t parent = getpid(), process = fork();
    if (process == 0)
        execute(local, slot, run, parent);
    if (process < 0) {
        int failure = errno;
        drop_path(slot);
        if (failure == EAGAIN && local->running > 0) { /* the user's limit of processes */
            local->limit = local->running;
            return 0;
        }
        (void)error_set(err, "no process can be made: %s", strerror(failure));
        return -1;
    }
    (void)setpgid(process, process);
    slot->process = process;
    local->running++;
    return 1;
}

/* Reads the outcome of a child that has ended. */
static bool collect(struct local *local, struct slot *slot, int status, const struct rusage *usage,
                    struct engine_done *done, struct error *err)
{
    struct outcome *outcome = &done->outcome;
    *done = (struct engine_done){.number = slot->number, .outcome = {.status = status}};
    slot->process = 0;
    local->running--;
    if (local->limit < local->options.jobs) /* the user's other processes may have ended, too */
        local->limit++;
    outcome->seconds = host_seconds() - slot->start;
    outcome->memory = usage->ru_maxrss;
    if (outcome->memory > local->options.expected)
        local->options.expected = outcome->memory;
    int named = slot->path ? open(slot->path, O_RDONLY | O_CLOEXEC) : -1;
    bool good = true;
    for (int i = 0; i < OUTCOME_STREAMS && good; i++)
        good = outcome_read(i == OUTCOME_STATISTICS && named >= 0 ? named : slot->files[i],
                            i == OUTCOME_STATISTICS ? SIZE_MAX : OUTCOME_MOST, &outcome->streams[i], err);
    if (named >= 0)
        (void)close(named);
    drop_path(slot);
    if (!good)
        outcome_free(outcome);
    return good;
}

static void end(const struct slot *slot)
{
    (void)kill(-slot->process, SIGKILL);
    (void)kill(slot->process, SIGKILL); /* before it has made its group */
}

/* If memory becomes short, ends the run that was started last. Returns its slot, or NULL if none was ended. The caller starts
 * the run again. */
static struct slot *relieve(struct local *local)
{
    struct slot *latest = NULL;
    uint64_t available = local->running > 1 ? free_memory(local) : UINT64_MAX, least = 0;
    if (!local->options.memory && available != UINT64_MAX)
        least = reserve_of((uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE)) / 2;
    if (available > least)
        return NULL;
    for (struct slot *slot = local->slots; slot < local->slots + local->options.jobs; slot++)
        if (slot->process && (!latest || slot->start >= latest->start))
            latest = slot;
    if (!latest)
        return NULL;
    uint64_t resident = memory_resident(latest->process) / 1024;
    if ((long)resident > local->options.expected)
        local->options.expected = (long)resident;
    end(latest);
    (void)waitpid(latest->process, NULL, 0);
    drop_path(latest);
    latest->process = 0;
    local->running--;
    local->checked = 0;
    return latest;
}

static int local_next(struct engine *engine, int milliseconds, struct engine_done *done, struct error *err)
{
    struct local *local = (struct local *)engine;
    struct rusage usage;
    int status;
    for (int turn = 0; turn < 2; turn++) {
        for (struct slot *slot = local->slots; slot < local->slots + local->options.jobs; slot++)
            if (slot->process && wait4(slot->process, &status, WNOHANG, &usage) == slot->process)
                return collect(local, slot, status, &usage, done, err) ? 1 : -1;
        if (turn == 0)
            signals_wait(milliseconds < CHECK ? milliseconds : CHECK);
    }
    struct slot *ended = relieve(local);
    if (ended)
        *done = (struct engine_done){.number = ended->number, .again = true};
    return ended != NULL;
}

static bool local_flush(struct engine *engine, struct error *err)
{
    (void)engine, (void)err;
    return true;
}

static unsigned local_running(const struct engine *engine)
{
    return ((const struct local *)engine)->running;
}

static void local_close(struct engine *engine)
{
    struct local *local = (struct local *)engine;
    for (unsigned i = 0; i < local->options.jobs; i++)
        if (local->slots[i].process)
            end(&local->slots[i]);
    for (unsigned i = 0; i < local->options.jobs; i++)
        if (local->slots[i].process) {
            while (waitpid(local->slots[i].process, NULL, 0) < 0 && errno == EINTR) {
            }
            drop_path(&local->slots[i]);
        }
    for (unsigned i = 0; i < local->options.jobs; i++)
        for (int stream = 0; stream < OUTCOME_STREAMS; stream++)
            if (local->slots[i].files[stream] >= 0)
                (void)close(local->slots[i].files[stream]);
    free(local->slots);
    free(local);
}

struct engine *engine_local(const struct engine_local_options *options)
{
    static const struct engine_ops ops = {local_room, local_start,   local_flush,
                                          local_next, local_running, local_close};
    struct local *local = alloc(1, sizeof *local);
    /* Large blocks come zeroed from the kernel, page by page as they are used. Otherwise blocks that croft has freed would be
     * cleared and copied as a whole by its children. */
    (void)mallopt(M_MMAP_THRESHOLD, LARGE);
    *local = (struct local){.engine = {&ops}, .options = *options, .limit = options->jobs};
    local->slots = alloc(options->jobs, sizeof *local->slots);
    for (unsigned i = 0; i < options->jobs; i++)
        for (int stream = 0; stream < OUTCOME_STREAMS; stream++)
            local->slots[i].files[stream] = -1;
    return &local->engine;
}
