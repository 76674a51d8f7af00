#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "emu/cmd/cmd.h"
#include "emu/cmd/options.h"
#include "emu/cmd/paths.h"
#include "emu/cmd/version.h"
#include "emu/debug/log.h"
#include "emu/env/user.h"
#include "emu/hart/hart.h"
#include "emu/machine/machine.h"
#include "emu/sim/nearest.h"
#include "emu/sim/stats.h"

enum { MACHINE, SET, STATS, ENV, DIR, LOG, MAX_INSNS, SETENV };

static const struct option_row rows[] = {
    [MACHINE] = {"machine", 'm', "NAME|FILE", "machine to run on (default: functional)"},
    [SET] = {"set", 0, "NAME=VALUE", "change a key of the machine's description"},
    [STATS] = {"stats", 0, "FILE", "write statistics as JSON to FILE ('-': standard output)"},
    [ENV] = {"env", 0, "user", "environment of the program (default: user)"},
    [DIR] = {"dir", 0, "DIR", "only folder whose files the program can use (default: .)"},
    [LOG] = {"log", 0, "KIND[:FILE]", "log each instruction; KIND is commit or insn"},
    [MAX_INSNS] = {"max-insns", 0, "N", "stop after N instructions, with exit status 124"},
    [SETENV] = {"setenv", 'E', "NAME=VALUE", "add a variable to the program's environment (default: empty)"},
};

static const struct option_set interface = {
    .command = "croft run",
    .synopsis = "[options] PROGRAM [ARGS...]",
    .summary =
        "Runs a program; the exit status is the program's, or 128 + n if it died of signal-like trap n.",
    .example = "croft run --stats stats.json --dir data spmv circuit.mtx",
    .notes = "The machine's resolved description is written beside the statistics, as FILE.machine.yaml.\n",
    .stop_at_argument = true,
    .count = sizeof rows / sizeof rows[0],
    .rows = rows,
};

/* The command line, understood. */
struct request {
    const char *machine, *stats, *log;
    const char **sets, **environment; /* as many as the command line has words */
    size_t set_count;
    struct user_options user;
};

/* What a run consists of. */
struct session {
    struct machine_config machine;
    struct phys memory;
    struct decoder *decoder;
    struct hart hart;
    struct stats *stats;
    struct log *log;
    FILE *stats_file;
    char description[PATH_MAX]; /* where the machine's description is saved, or empty */
};

static bool parse_count(const char *text, uint64_t *value)
{
    char *end;
    if (text[0] < '0' || text[0] > '9')
        return false;
    errno = 0;
    *value = strtoull(text, &end, 10);
    return errno == 0 && *end == '\0' && *value > 0;
}

static bool check_environment(const char *name)
{
    static const char *const known[] = {"user", "kernel", "bare"};
    if (strcmp(name, "user") == 0)
        return true;
    if (strcmp(name, "kernel") == 0 || strcmp(name, "bare") == 0) {
        (void)options_usage_error(&interface, "--env %s is not available in this version; allowed: user",
                                  name);
        return false;
    }
    const char *near = nearest_name(name, known, 3);
    (void)options_usage_error(&interface, "unknown environment '%s'%s%s%s; allowed: user", name,
                              near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
    return false;
}

static bool take_option(struct request *r, int option, const char *value)
{
    switch (option) {
    case MACHINE: r->machine = value; return true;
    case SET: r->sets[r->set_count++] = value; return true;
    case STATS: r->stats = value; return true;
    case ENV: return check_environment(value);
    case DIR: r->user.dir = value; return true;
    case LOG: r->log = value; return true;
    case MAX_INSNS:
        if (parse_count(value, &r->user.max_insns))
            return true;
        (void)options_usage_error(
            &interface, "--max-insns needs a number from 1 to 18446744073709551615, not '%s'", value);
        return false;
    default:
        r->environment[r->user.environment_count++] = value;
        if (strchr(value, '=') && value[0] != '=')
            return true;
        (void)options_usage_error(&interface, "--setenv needs NAME=VALUE, not '%s'", value);
        return false;
    }
}

/* Fills *r from the command line; false when the command ends here, with *status. */
static bool parse(struct request *r, int argc, char **argv, int *status)
{
    const char *value;
    struct options options = options_start(&interface, argc, argv);
    for (;;) {
        int option = options_next(&options, &value);
        *status = option == OPTION_HELP ? 0 : 2;
        if (option == OPTION_HELP || option == OPTION_ERROR)
            return false;
        if (option == OPTION_END) {
            (void)options_usage_error(&interface, "no program given");
            return false;
        }
        if (option == OPTION_ARGUMENT)
            break;
        if (!take_option(r, option, value))
            return false;
    }
    int first = options.next - 1;
    r->user.program = value;
    r->user.arguments = (const char *const *)&argv[first];
    r->user.argument_count = (size_t)(argc - first);
    r->user.environment = r->environment;
    return true;
}

static void warn_unused(const struct machine_config *machine)
{
    const char *names[MACHINE_KEYS];
    char source[MACHINE_SOURCE];
    size_t count = machine_unused_keys(machine, names);
    for (size_t i = 0; i < count; i++) {
        machine_source(machine, names[i], source);
        fprintf(stderr, "croft run: warning: %s (%s) has no effect on a functional core\n", names[i], source);
    }
}

static bool open_stats(struct session *s, const char *path, struct error *err)
{
    if (strcmp(path, "-") == 0) {
        s->stats_file = stdout;
        return true;
    }
    if (snprintf(s->description, sizeof s->description, "%s.machine.yaml", path) >=
        (int)sizeof s->description)
        return error_set(err, "--stats: the path is too long");
    s->stats_file = fopen(path, "we");
    return s->stats_file ? true : error_set(err, "--stats: cannot write '%s': %s", path, strerror(errno));
}

static bool set_up(struct session *s, struct request *r, struct error *err)
{
    char folder[PATH_MAX];
    if (!paths_share("machines", folder, sizeof folder, err) ||
        !machine_load(&s->machine, r->machine, folder, r->sets, r->set_count, err))
        return false;
    warn_unused(&s->machine);
    if (!phys_init(&s->memory, s->machine.memory.base, s->machine.memory.size, err))
        return false;
    s->decoder = decoder_new();
    if (!hart_init(&s->hart, &s->memory, s->decoder, err))
        return false;
    if (r->stats && !open_stats(s, r->stats, err))
        return false;
    if (r->log && !(s->log = log_open(r->log, err)))
        return false;
    r->user.stack_size = s->machine.stack.size;
    r->user.stats = s->stats;
    r->user.log = s->log;
    return true;
}

static void tear_down(struct session *s)
{
    struct error ignored; /* a log that is still open belongs to a run that never began */
    (void)log_close(s->log, &ignored);
    stats_free(s->stats);
    hart_free(&s->hart);
    decoder_free(s->decoder);
    phys_free(&s->memory);
    machine_free(&s->machine);
    if (s->stats_file && s->stats_file != stdout)
        (void)fclose(s->stats_file);
}

/* The hart's instructions by class. Counting walks all blocks, so it is done once for each state of the hart.
 */
struct class_counts {
    const struct hart *hart;
    uint64_t instret; /* of the hart when counts were taken; UINT64_MAX: never */
    uint64_t counts[CLASS_COUNT];
};

/* A counter's context: one class. */
struct class_counter {
    struct class_counts *all;
    size_t index;
};

static uint64_t read_class(const void *context)
{
    const struct class_counter *counter = context;
    struct class_counts *all = counter->all;
    if (all->instret != all->hart->instret) {
        memset(all->counts, 0, sizeof all->counts);
        hart_count_classes(all->hart, all->counts);
        all->instret = all->hart->instret;
    }
    return all->counts[counter->index];
}

static uint64_t read_blocks(const void *context)
{
    return hart_blocks_translated(context);
}

static void register_counters(struct session *s, struct class_counts *all,
                              struct class_counter classes[CLASS_COUNT])
{
    *all = (struct class_counts){.hart = &s->hart, .instret = UINT64_MAX};
    stats_counter(s->stats, "hart.0.instructions", &s->hart.instret, "instructions", "instructions retired");
    for (size_t i = 0; i < CLASS_COUNT; i++) {
        char name[64];
        int used = snprintf(name, sizeof name, "hart.0.class.%s", insn_class_name[i]);
        for (int c = 0; c < used && c < (int)sizeof name; c++)
            name[c] = name[c] >= 'A' && name[c] <= 'Z' ? (char)(name[c] - 'A' + 'a') : name[c];
        classes[i] = (struct class_counter){all, i};
        stats_computed(s->stats, name, read_class, &classes[i], "instructions", insn_class_text[i]);
    }
    stats_computed(s->stats, "hart.0.blocks", read_blocks, &s->hart, "blocks",
                   "basic blocks translated to the interpreter's form");
}

static double seconds_now(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static bool save_description(const struct session *s, struct error *err)
{
    if (!s->description[0])
        return true;
    FILE *out = fopen(s->description, "we");
    if (!out)
        return error_set(err, "--stats: cannot write '%s': %s", s->description, strerror(errno));
    machine_show(&s->machine, out);
    return fclose(out) == 0 ||
           error_set(err, "--stats: writing '%s' failed: %s", s->description, strerror(errno));
}

static bool write_stats(struct session *s, const struct request *r, int status, double seconds,
                        struct error *err)
{
    if (!s->stats_file)
        return true;
    /* The folder of the program is left out, so that the same run gives the same bytes from any place. */
    const char *slash = strrchr(r->user.program, '/');
    stats_fact_text(s->stats, "croft", CROFT_VERSION);
    stats_fact_text(s->stats, "program", slash ? slash + 1 : r->user.program);
    stats_fact_text(s->stats, "machine", s->machine.name);
    stats_fact_number(s->stats, "exit_status", (uint64_t)status);
    stats_host_number(s->stats, "seconds", seconds);
    stats_host_number(s->stats, "mips", seconds > 0 ? (double)s->hart.instret / seconds / 1e6 : 0);
    if (!stats_write_json(s->stats, s->stats_file, err))
        return false;
    if (fflush(s->stats_file) != 0)
        return error_set(err, "--stats: writing '%s' failed: %s", r->stats, strerror(errno));
    return save_description(s, err);
}

/* Runs what is set up; returns the exit status, or -1 with err set. */
static int run(struct session *s, const struct request *r, struct error *err)
{
    struct class_counts all;
    struct class_counter classes[CLASS_COUNT];
    register_counters(s, &all, classes);
    struct user *user = user_new(&s->hart, &s->memory, &r->user, err);
    if (!user)
        return -1;
    double start = seconds_now();
    int status = user_run(user);
    double seconds = seconds_now() - start;
    user_free(user);
    bool logged = log_close(s->log, err);
    s->log = NULL;
    return logged && write_stats(s, r, status, seconds, err) ? status : -1;
}

int cmd_run(int argc, char **argv)
{
    int status;
    size_t room = (size_t)argc + 1;
    struct request request = {
        .machine = "functional",
        .sets = calloc(room, sizeof(char *)),
        .environment = calloc(room, sizeof(char *)),
        .user = {.dir = ".", .max_insns = UINT64_MAX},
    };
    if (!request.sets || !request.environment)
        abort();
    if (parse(&request, argc, argv, &status)) {
        struct session session = {.stats = stats_new()};
        struct error err;
        /* A broken pipe is the program's affair: its write() returns, and it ends as by the signal. */
        (void)signal(SIGPIPE, SIG_IGN);
        status = set_up(&session, &request, &err) ? run(&session, &request, &err) : -1;
        if (status < 0) {
            fprintf(stderr, "croft run: %s\n", err.text);
            status = 1;
        }
        tear_down(&session);
    }
    free(request.sets);
    free(request.environment);
    return status;
}
