#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "emu/cmd/cmd.h"
#include "emu/cmd/interrupt.h"
#include "emu/cmd/multiprocessors.h"
#include "emu/cmd/paths.h"
#include "emu/cmd/report.h"
#include "emu/cmd/request.h"
#include "emu/cmd/setting.h"
#include "emu/cmd/timing.h"
#include "emu/debug/log.h"
#include "emu/env/bare.h"
#include "emu/env/gdb_system.h"
#include "emu/env/gdb_user.h"
#include "emu/env/kernel.h"
#include "emu/env/launch.h"
#include "emu/env/user.h"
#include "emu/env/workers.h"
#include "emu/machine/machine.h"

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
    setting_warn(&s->machine, r->env == ENV_USER);
    if (r->env == ENV_USER) {
        setting_warn_regions(&s->machine, r->gdb ? "--gdb" : NULL);
        setting_warn_regions(&s->machine, r->log ? "--log" : NULL);
    }
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
    ran = ran && wind_up(s, options->program, &status, err);
    user_free(user);
    return ran ? status : -1;
}

static int run_user(struct session *s, const struct request *r, struct error *err)
{
    struct phys memory;
    struct user_harts user;
    if (s->machine.harts != 1 && !machine_timed(&s->machine))
        return error_set(err, "harts: a user program runs on 1 hart, not %d", (int)s->machine.harts) ? 0 : -1;
    if (!phys_init(&memory, s->machine.memory->base, s->machine.memory->size, err))
        return -1;
    struct decoder *decoder = decoder_new();
    int status = -1;
    struct launch_options simt;
    struct multiprocessors multiprocessors;
    multiprocessors_init(&multiprocessors, &s->machine, decoder);
    launch_describe(&s->machine, &simt);
    if (user_harts_init(&user, &s->machine, firmware(s), &memory, decoder, err)) {
        struct user_options options = r->user;
        simt.debugged = s->gdb != NULL;
        options.simt = simt.limits.count ? &simt : NULL;
        if (machine_timed(&s->machine)) {
            simt.device = &multiprocessors.device;
            multiprocessors_limit(&s->machine, &simt.limits);
        }
        options.stack_size = s->machine.stack->size;
        options.stats = report_stats(s->report);
        options.log = s->log;
        options.signal = interrupt_arrived();
        options.workers = user.workers;
        struct timing_options timing = r->timing;
        timing.max_insns = options.max_insns;
        if (timing_start(&s->timing, &timing, &s->machine, user.harts, user.count, &memory,
                         workers_offload(user.workers), s->log, r->user.program, options.stats, err)) {
            options.machine = s->timing.timed ? &s->timing.user : NULL;
            multiprocessors.timed = s->timing.timed;
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
    user.stack_size = s->machine.stack->size;
    user.stats = report_stats(s->report);
    user.log = s->log;
    user.signal = interrupt_arrived();
    struct launch_options simt;
    launch_describe(&s->machine, &simt);
    if (machine_timed(&s->machine))
        multiprocessors_limit(&s->machine, &simt.limits);
    simt.untimed = machine_timed(&s->machine);
    simt.debugged = s->gdb != NULL;
    user.simt = simt.limits.count ? &simt : NULL;
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
    if (request_parse(&request, argc, argv, &status))
        status = run(&request);
    free(request.sets);
    free(request.environment);
    return status;
}
