#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "emu/cmd/cmd.h"
#include "emu/cmd/interrupt.h"
#include "emu/cmd/options.h"
#include "emu/cmd/paths.h"
#include "emu/cmd/report.h"
#include "emu/cmd/setting.h"
#include "emu/cmd/timing.h"
#include "emu/debug/log.h"
#include "emu/env/bare.h"
#include "emu/env/gdb_system.h"
#include "emu/env/gdb_user.h"
#include "emu/env/image.h"
#include "emu/env/kernel.h"
#include "emu/env/user.h"
#include "emu/env/workers.h"
#include "emu/machine/machine.h"
#include "emu/sim/nearest.h"

enum {
    MACHINE,
    SET,
    STATS,
    ENV,
    BIOS,
    KERNEL,
    FIRMWARE,
    DIR,
    LOG,
    GDB,
    SIGNATURE,
    MAX_INSNS,
    MAX_TIME,
    DETAIL,
    CHECK,
    TRACE,
    SETENV,
    RECORD,
    REPLAY
};

static const struct option_row rows[] = {
    [MACHINE] = {"machine", 'm', "NAME|FILE", "machine to run on (default: functional)"},
    [SET] = {"set", 0, "NAME=VALUE", "change a key of the machine's description"},
    [STATS] = {"stats", 0, "FILE", "write statistics as JSON to FILE ('-': standard output)"},
    [ENV] = {"env", 0, "user|kernel|bare",
             "environment (default: bare for firmware and `tohost`, else user); kernel: with virtual memory"},
    [BIOS] = {"bios", 0, "FILE", "firmware for machine mode: ELF, or raw at the start of memory"},
    [KERNEL] = {"kernel", 0, "FILE", "what the firmware starts: ELF, or raw 2 MiB into memory"},
    [FIRMWARE] = {"firmware", 0, "FILE", "firmware for accelerators (default: croft's; none in --env bare)"},
    [DIR] = {"dir", 0, "DIR", "only folder whose files the program can use (default: .)"},
    [LOG] = {"log", 0, "KIND[:FILE]", "log each instruction; KIND is commit or insn"},
    [GDB] = {"gdb", 0, "PORT|PATH", "wait for gdb on a port of 127.0.0.1 or a Unix socket, and obey it"},
    [SIGNATURE] = {"signature", 0, "FILE", "at the end, write the words of begin_signature to end_signature"},
    [MAX_INSNS] = {"max-insns", 0, "N", "stop after N instructions, with exit status 124"},
    [MAX_TIME] = {"max-time", 0, "T", "stop after T of simulated time (10 ms, 1.5us), with exit status 124"},
    [DETAIL] = {"detail", 0, "all|roi", "roi: take time within regions of interest only (default: all)"},
    [CHECK] = {"check", 0, "coherence|dram",
               "look for stale data, or for broken DRAM rules; findings: exit status 3"},
    [TRACE] = {"trace", 0, "KIND[:FILE]", "write a trace of the timed run; KIND is perfetto, konata or dram"},
    [SETENV] = {"setenv", 'E', "NAME=VALUE", "add a variable to the program's environment (default: empty)"},
    [RECORD] = {"record", 0, "FILE", "record what is typed, and when, to FILE"},
    [REPLAY] = {"replay", 0, "FILE", "take input from a recorded FILE in place of the terminal"},
};

static const struct option_set interface = {
    .command = "croft run",
    .synopsis = "[options] PROGRAM [ARGS...]",
    .summary = "Runs a program, or with --bios what a firmware boots; the exit status is the program's, or "
               "128 + n if "
               "it died of signal-like trap n.",
    .example = "croft run --stats stats.json --dir data spmv circuit.mtx",
    .notes = "--max-time, --detail, --check and --trace are for machines with a clock, such as nucd.\n"
             "The machine's resolved description is written beside the statistics, as FILE.machine.yaml.\n",
    .stop_at_argument = true,
    .count = sizeof rows / sizeof rows[0],
    .rows = rows,
};

enum environment { ENV_CHOOSE, ENV_USER, ENV_KERNEL, ENV_BARE };

/* The command line, understood. */
struct request {
    enum environment env;
    const char *machine, *stats, *log, *gdb;
    const char **sets, **environment; /* as many as the command line has words */
    size_t set_count;
    struct user_options user; /* program, arguments, dir and limits serve both environments */
    struct bare_options bare;
    struct timing_options timing;
};

/* What every run consists of. */
struct session {
    struct machine_config machine;
    struct report *report;
    struct log *log;
    struct gdb_server *gdb;
    struct timing timing;
    char firmware[PATH_MAX]; /* of accelerators; empty: none */
    double start;
    int failure; /* the exit status when something of ours fails */
};

static double seconds_now(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static bool parse_count(const char *text, uint64_t *value)
{
    char *end;
    if (text[0] < '0' || text[0] > '9')
        return false;
    errno = 0;
    *value = strtoull(text, &end, 10);
    return errno == 0 && *end == '\0' && *value > 0;
}

static bool take_environment(struct request *r, const char *name)
{
    static const char *const known[] = {"user", "kernel", "bare"};
    if (strcmp(name, "user") == 0)
        r->env = ENV_USER;
    else if (strcmp(name, "bare") == 0)
        r->env = ENV_BARE;
    else if (strcmp(name, "kernel") == 0)
        r->env = ENV_KERNEL;
    else {
        const char *near = nearest_name(name, known, 3);
        (void)options_usage_error(&interface, "unknown environment '%s'%s%s%s; allowed: user, kernel, bare",
                                  name, near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
    }
    return r->env != ENV_CHOOSE;
}

static bool take_log(struct request *r, const char *value)
{
    struct error err;
    r->log = value;
    if (log_check(value, &err))
        return true;
    (void)options_usage_error(&interface, "%s", err.text);
    return false;
}

/* The options of timed machines. */
static bool take_timing(struct request *r, int option, const char *value)
{
    struct error err;
    bool taken;
    switch (option) {
    case MAX_TIME: taken = timing_take_max_time(&r->timing, value, &err); break;
    case DETAIL: taken = timing_take_detail(&r->timing, value, &err); break;
    case CHECK: taken = timing_take_check(&r->timing, value, &err); break;
    default: taken = timing_take_trace(&r->timing, value, &err); break;
    }
    if (!taken)
        (void)options_usage_error(&interface, "%s", err.text);
    return taken;
}

static bool take_option(struct request *r, int option, const char *value)
{
    switch (option) {
    case MAX_TIME:
    case DETAIL:
    case CHECK:
    case TRACE: return take_timing(r, option, value);
    case MACHINE: r->machine = value; return true;
    case SET: r->sets[r->set_count++] = value; return true;
    case STATS: r->stats = value; return true;
    case ENV: return take_environment(r, value);
    case BIOS: r->bare.bios = value; return true;
    case KERNEL: r->bare.kernel = value; return true;
    case FIRMWARE: r->bare.firmware = value; return true;
    case DIR: r->user.dir = value; return true;
    case LOG: return take_log(r, value);
    case GDB: r->gdb = value; return true;
    case SIGNATURE: r->bare.signature = value; return true;
    case RECORD: r->bare.record = value; return true;
    case REPLAY: r->bare.replay = value; return true;
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

/* Decides the environment where --env does not, and refuses options that it has no use for. */
static bool choose_environment(struct request *r)
{
    uint64_t tohost;
    bool firmware = r->bare.bios || r->bare.kernel;
    if (r->env == ENV_CHOOSE)
        r->env = firmware || image_symbol(r->user.program, "tohost", &tohost) ? ENV_BARE : ENV_USER;
    if (r->env == ENV_BARE && r->bare.record && r->bare.replay)
        (void)options_usage_error(&interface, "--record and --replay exclude each other");
    else if (r->env == ENV_BARE && r->user.environment_count)
        (void)options_usage_error(
            &interface, "--setenv is for user programs; programs in machine mode have no environment");
    else if (r->env != ENV_BARE && (firmware || r->bare.signature || r->bare.record || r->bare.replay))
        (void)options_usage_error(&interface,
                                  "--bios, --kernel, --signature, --record and --replay are for --env bare");
    else
        return true;
    return false;
}

/* Fills *r from the command line; false when the command ends here, with *status. */
static bool parse(struct request *r, int argc, char **argv, int *status)
{
    const char *value;
    struct options options = options_start(&interface, argc, argv);
    int option;
    while ((option = options_next(&options, &value)) >= 0)
        if (!take_option(r, option, value))
            break;
    *status = option == OPTION_HELP ? 0 : 2;
    if (option == OPTION_ARGUMENT) {
        int first = options.next - 1;
        r->user.program = value;
        r->user.arguments = (const char *const *)&argv[first];
        r->user.argument_count = (size_t)(argc - first);
        r->user.environment = r->environment;
    } else if (option != OPTION_END) {
        return false;
    } else if (!r->bare.bios) {
        (void)options_usage_error(&interface, "no program given");
        return false;
    }
    return choose_environment(r);
}

static const char *firmware(const struct session *s)
{
    return s->firmware[0] ? s->firmware : NULL;
}

static bool set_up(struct session *s, const struct request *r, struct error *err)
{
    char folder[PATH_MAX];
    const char *machine = r->machine ? r->machine : r->env == ENV_BARE ? "virt" : "functional";
    if (!paths_share("machines", folder, sizeof folder, err))
        return false;
    s->failure = 2; /* the machine is part of the command line */
    if (!machine_load(&s->machine, machine, folder, r->sets, r->set_count, err))
        return false;
    s->failure = 1;
    setting_warn(&s->machine);
    if (!setting_firmware(&s->machine, r->bare.firmware, r->env == ENV_BARE, s->firmware, err) ||
        !timing_check(&r->timing, &s->machine, err) || !report_open(s->report, err))
        return false;
    if (r->log && !(s->log = log_open(r->log, err)))
        return false;
    return !r->gdb || (s->gdb = gdb_server_open(r->gdb, err)) != NULL;
}

static void tear_down(struct session *s)
{
    struct error ignored; /* a log that is still open belongs to a run that never began */
    (void)log_close(s->log, &ignored);
    gdb_server_close(s->gdb);
    report_free(s->report);
    timing_free(&s->timing);
    machine_free(&s->machine);
}

/* Closes log and trace and writes the statistics of a run that has ended; *status may become that of
 * findings. */
static bool wind_up(struct session *s, const char *program, int *status, struct error *err)
{
    double seconds = seconds_now() - s->start;
    struct log *log = s->log;
    s->log = NULL;
    if (!log_close(log, err) || !timing_finish(&s->timing, report_stats(s->report), status, err))
        return false;
    const struct report_run run = {program, &s->machine, *status, seconds};
    return report_write(s->report, &run, err);
}

/* Runs a user program on the hart; returns the exit status, or -1 with err set. */
static int run_program(struct session *s, const struct user_options *options, struct hart *hart,
                       const struct phys *memory, struct error *err)
{
    report_add_hart(s->report, hart);
    struct user *user = user_new(hart, memory, options, err);
    if (!user)
        return -1;
    int status = -1;
    s->start = seconds_now();
    const struct gdb_facts facts = {report_stats(s->report), &s->machine};
    bool ran = true;
    if (s->gdb)
        ran = gdb_user_run(s->gdb, user, &facts, &status, err);
    else {
        interrupt_arm(NULL, hart);
        status = user_run(user);
        interrupt_disarm();
    }
    user_free(user);
    return ran && wind_up(s, options->program, &status, err) ? status : -1;
}

static int run_user(struct session *s, const struct request *r, struct error *err)
{
    struct phys memory;
    struct user_harts user;
    if (s->machine.harts != 1 && !machine_timed(&s->machine))
        return error_set(err, "harts: a user program runs on 1 hart, not %d", (int)s->machine.harts) ? 0 : -1;
    if (!phys_init(&memory, s->machine.memory.base, s->machine.memory.size, err))
        return -1;
    struct decoder *decoder = decoder_new();
    int status = -1;
    if (user_harts_init(&user, &s->machine, firmware(s), &memory, decoder, err)) {
        struct user_options options = r->user;
        options.stack_size = s->machine.stack.size;
        options.stats = report_stats(s->report);
        options.log = s->log;
        options.signal = interrupt_arrived();
        if (timing_start(&s->timing, &r->timing, &s->machine, user.harts, user.count, &memory,
                         workers_offload(user.workers), s->log, r->user.program, options.stats, err)) {
            options.machine = s->timing.timed ? &s->timing.user : NULL;
            status = run_program(s, &options, &user.harts[0], &user.program, err);
        }
        timing_free(&s->timing);
        user_harts_free(&user);
    }
    decoder_free(decoder);
    phys_free(&memory);
    return status;
}

/* Lets gdb run a system. True with *stop set when the run has ended so; otherwise *status is the exit status,
 * or -1 with err set. */
static bool debug_system(struct session *s, struct system *system, const struct gdb_system_options *gdb,
                         enum system_stop *stop, int *status, struct error *err)
{
    switch (gdb_system_run(s->gdb, system, gdb, err)) {
    case GDB_SYSTEM_EXIT: *stop = SYSTEM_EXIT; return true;
    case GDB_SYSTEM_LIMIT: *stop = SYSTEM_LIMIT; return true;
    case GDB_SYSTEM_EXPIRED: *stop = SYSTEM_EXPIRED; return true;
    case GDB_SYSTEM_KILLED: *status = 128 + SIGKILL; return false;
    default: *status = -1; return false;
    }
}

static int debug_kernel(struct session *s, struct kernel *kernel, const struct user_options *options,
                        struct error *err)
{
    const struct gdb_system_options gdb = {
        .program = options->program,
        .facts = {report_stats(s->report), &s->machine},
        .max_insns = options->max_insns,
        .reset = kernel_restart,
    };
    enum system_stop stop;
    int status;
    bool ended = debug_system(s, kernel_system(kernel), &gdb, &stop, &status, err);
    return ended ? kernel_finish(kernel, stop) : status;
}

/* Gives a system its clock, if the machine has one, and its statistics: the run may begin. */
static bool start_system(struct session *s, const struct request *r, struct system *system,
                         struct offload *offload, const char *program, struct error *err)
{
    if (!timing_start(&s->timing, &r->timing, &s->machine, system->harts, system->count, system->memory,
                      offload, s->log, program, report_stats(s->report), err))
        return false;
    if (s->timing.timed)
        timed_attach(s->timing.timed, system);
    for (unsigned i = 0; i < system->count; i++)
        report_add_hart(s->report, &system->harts[i]);
    s->start = seconds_now();
    return true;
}

/* Signals stop the run; under gdb they end it, as gdb has stops of its own. */
static void arm(const struct session *s, struct system *system)
{
    if (!s->gdb)
        interrupt_arm(system, NULL);
}

static int run_kernel(struct session *s, const struct request *r, struct error *err)
{
    char image[PATH_MAX];
    struct user_options user = r->user;
    user.stack_size = s->machine.stack.size;
    user.stats = report_stats(s->report);
    user.log = s->log;
    user.signal = interrupt_arrived();
    const struct kernel_options options = {
        .image = image, .machine = &s->machine, .firmware = firmware(s), .user = &user};
    struct kernel *kernel =
        paths_share("kernel/kernel.elf", image, sizeof image, err) ? kernel_new(&options, err) : NULL;
    if (!kernel)
        return -1;
    int status = -1;
    if (start_system(s, r, kernel_system(kernel), kernel_offload(kernel), user.program, err)) {
        user.machine = s->timing.timed ? &s->timing.user : NULL;
        arm(s, kernel_system(kernel));
        status = s->gdb ? debug_kernel(s, kernel, &user, err) : kernel_run(kernel);
        interrupt_disarm();
        if (status >= 0 && !wind_up(s, user.program, &status, err))
            status = -1;
    }
    timing_free(&s->timing);
    kernel_free(kernel);
    return status;
}

static int debug_bare(struct session *s, struct bare *bare, const struct bare_options *options,
                      struct error *err)
{
    const struct gdb_system_options gdb = {
        .program = options->program ? options->program : options->bios,
        .facts = {report_stats(s->report), &s->machine},
        .max_insns = options->max_insns,
        .reset = bare_restart,
        .context = bare,
    };
    enum system_stop stop;
    int status;
    return debug_system(s, bare_system(bare), &gdb, &stop, &status, err) ? bare_finish(bare, stop, err)
                                                                         : status;
}

static int run_bare(struct session *s, const struct request *r, struct error *err)
{
    struct bare_options options = r->bare;
    const struct bare_options *o = &options;
    options.machine = &s->machine;
    options.program = r->user.program;
    options.dir = r->user.dir;
    options.arguments = r->user.arguments;
    options.argument_count = r->user.argument_count;
    options.max_insns = r->user.max_insns;
    options.log = s->log;
    options.debugged = s->gdb != NULL;
    options.signal = interrupt_arrived();
    options.stats = report_stats(s->report);
    struct bare *bare = bare_new(o, err);
    if (!bare)
        return -1;
    const char *program = o->program ? o->program : o->bios;
    if (!start_system(s, r, bare_system(bare), bare_offload(bare), program, err)) {
        struct error ignored;
        timing_free(&s->timing);
        (void)bare_free(bare, &ignored);
        return -1;
    }
    arm(s, bare_system(bare));
    int status = s->gdb ? debug_bare(s, bare, o, err) : bare_run(bare, err);
    interrupt_disarm();
    if (status >= 0 && !wind_up(s, program, &status, err))
        status = -1;
    timing_free(&s->timing);
    struct error close_error;
    if (!bare_free(bare, &close_error) && status >= 0) {
        *err = close_error;
        status = -1;
    }
    return status;
}

static int run(const struct request *r)
{
    struct session session = {.report = report_new(r->stats), .failure = 1};
    struct error err;
    int status = -1;
    if (set_up(&session, r, &err))
        status = r->env == ENV_BARE     ? run_bare(&session, r, &err)
                 : r->env == ENV_KERNEL ? run_kernel(&session, r, &err)
                                        : run_user(&session, r, &err);
    if (status < 0) {
        fprintf(stderr, "croft run: %s\n", err.text);
        status = session.failure;
    }
    tear_down(&session);
    return status;
}

int cmd_run(int argc, char **argv)
{
    int status;
    size_t room = (size_t)argc + 1;
    struct request request = {
        .sets = calloc(room, sizeof(char *)),
        .environment = calloc(room, sizeof(char *)),
        .user = {.dir = ".", .max_insns = UINT64_MAX},
    };
    if (!request.sets || !request.environment)
        abort();
    timing_init(&request.timing);
    /* A broken pipe is the program's affair: its write() returns, and it ends as by the signal. */
    (void)signal(SIGPIPE, SIG_IGN);
    if (parse(&request, argc, argv, &status))
        status = run(&request);
    free(request.sets);
    free(request.environment);
    return status;
}
