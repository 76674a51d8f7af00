#include <assert.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "emu/cmd/cmd.h"
#include "emu/cmd/paths.h"
#include "emu/cmd/run/advice.h"
#include "emu/cmd/run/interrupt.h"
#include "emu/cmd/run/report.h"
#include "emu/cmd/run/request.h"
#include "emu/cmd/run/setting.h"
#include "emu/cmd/run/timing.h"
#include "emu/debug/log.h"
#include "emu/env/bare.h"
#include "emu/env/bare/load.h"
#include "emu/env/gdb/system.h"
#include "emu/env/kernel.h"
#include "emu/env/linux.h"
#include "emu/env/loader/image.h"
#include "emu/env/tasks_part.h"
#include "emu/env/user.h"
#include "emu/env/user_harts.h"
#include "emu/experiment/engines/engine.h"
#include "emu/machine/launches.h"
#include "emu/machine/machine.h"
#include "emu/machine/plan/plan.h"
#include "emu/sim/alloc.h"
#include "emu/sim/host_time.h"
#include "emu/sim/text/say.h"

/* The state of every run. */
struct session {
    struct machine_config machine;
    bool borrowed; /* the machine is the caller's */
    struct report *report;
    struct log *log, *trap_log, *warp_log; /* of the harts: all instructions, or traps; or of `watch` */
    const struct grid_watch *watch;
    struct gdb_server *gdb;
    struct timing timing;
    char firmware[PATH_MAX]; /* path of the accelerators' firmware; empty: none */
    bool regions;            /* a functional host has run regions for accelerators */
    double start;
    int failure; /* exit status if croft fails */
};

static const char *firmware(const struct session *s)
{
    return s->firmware[0] ? s->firmware : NULL;
}

/* Returns whether a machine was loaded as the request says. */
static bool is_loaded(const struct engine_machine *machine, const struct request *r)
{
    size_t count = 0;
    if (!machine || !r->machine || strcmp(machine->name, r->machine) != 0)
        return false;
    while (machine->sets[count] && count < r->set_count && strcmp(machine->sets[count], r->sets[count]) == 0)
        count++;
    return !machine->sets[count] && count == r->set_count;
}

/* Loads the machine, or takes the one that is loaded. */
static bool load(struct session *s, const struct request *r, const struct engine_machine *loaded,
                 struct error *err)
{
    char folder[PATH_MAX];
    const char *machine = r->machine ? r->machine : r->env == ENV_BARE ? "virt" : "functional";
    s->borrowed = is_loaded(loaded, r);
    if (s->borrowed)
        s->machine = *loaded->config;
    else if (!paths_share("machines", folder, sizeof folder, err))
        return false;
    s->failure = 2; /* the machine is part of the command line, so an error in it is a usage error */
    return s->borrowed || machine_load(&s->machine, machine, folder, r->sets, r->set_count, err);
}

static void unload(struct session *s)
{
    if (!s->borrowed)
        machine_free(&s->machine);
}

/* Unloads a machine that cannot run. Returns false. */
static bool unloaded(struct session *s)
{
    unload(s);
    s->machine.tree = NULL;
    return false;
}

static bool set_up(struct session *s, const struct request *r, const struct engine_machine *loaded,
                   struct error *err)
{
    if (!load(s, r, loaded, err))
        return false;
    if (!plan_check(&s->machine, err))
        return unloaded(s);
    if (!setting_isa(&s->machine, r->env == ENV_KERNEL, !r->bare.firmware && r->env != ENV_BARE, err))
        return unloaded(s);
    s->failure = 1;
    if (r->gdb)
        tasks_be_patient(s->machine.tree);
    setting_warn(&s->machine, r->env == ENV_USER);
    if (!setting_firmware(&s->machine, r->bare.firmware, r->env == ENV_BARE, s->firmware, err) ||
        !timing_check(&r->timing, &s->machine, err) || !report_open(s->report, err))
        return false;
    if (r->env == ENV_BARE && firmware(s))
        tasks_warn_hosts(s->machine.tree);
    struct log *log = NULL;
    if (r->watched && !s->machine.simt)
        return error_set(err, "--warp: machine '%s' has no multiprocessors (simt.count), such as gpu has",
                         s->machine.name);
    if (r->log && !(log = log_open(r->log, err)))
        return false;
    s->watch = r->watched ? &r->watch : NULL;
    *(r->watched ? &s->warp_log : log && log_is_sparse(log) ? &s->trap_log : &s->log) = log;
    return !r->gdb || (s->gdb = gdb_server_open(r->gdb, err)) != NULL;
}

static void tear_down(struct session *s)
{
    struct error ignored; /* an open log belongs to a run that never began */
    (void)log_close(s->log, &ignored);
    (void)log_close(s->trap_log, &ignored);
    (void)log_close(s->warp_log, &ignored);
    gdb_server_close(s->gdb);
    report_free(s->report);
    timing_free(&s->timing);
    unload(s);
}

/* Closes log and trace and writes the statistics after a run. Sets *status to 3 if a check has found
 * something. */
static bool wind_up(struct session *s, const char *program, int *status, struct error *err)
{
    double seconds = host_seconds() - s->start;
    struct log *log = s->log ? s->log : s->trap_log ? s->trap_log : s->warp_log;
    s->log = s->trap_log = s->warp_log = NULL;
    if (!log_close(log, err) || !timing_finish(&s->timing, report_stats(s->report), status, err))
        return false;
    if (report_wanted(s->report))
        timing_doubt(&s->timing);
    const struct report_run run = {program, &s->machine, *status, seconds};
    if (report_wanted(s->report) && !timing_counts(&s->timing))
        return true;
    return report_write(s->report, &run, err);
}

/* A program in its environment, ready to run. */
struct program {
    struct system *system;
    const char *program;
    uint64_t bias;       /* how far above the addresses in its file it is */
    struct tasks *tasks; /* or NULL */
    /* Returns the exit status of a run that ended with `stop`, or -1 with err set. */
    int (*finish)(void *context, enum system_stop stop, struct error *err);
    bool (*restart)(void *context, struct error *err); /* NULL: it cannot be restarted */
    /* Takes a snapshot if one is due at this stop; *goes_on: the run continues. NULL: there are none. */
    bool (*save)(void *context, enum system_stop stop, bool *goes_on, struct error *err);
    /* For gdb (emu/env/gdb/system.h); each may be NULL. */
    int (*signal)(const void *context);
    bool (*fault)(const void *context, enum system_stop stop, struct user_fault *fault);
    struct threads *threads; /* on multiprocessors; or NULL */
    void *context;
};

/* Attaches the system to the timed machine, if there is one, and registers its statistics. */
static bool start_clock(struct session *s, const struct request *r, const struct program *p,
                        struct error *err)
{
    struct system *system = p->system;
    if (!timing_start(&s->timing, &r->timing, &s->machine, system->harts, system->count, p->tasks, s->log,
                      p->program, p->bias, report_stats(s->report), err))
        return false;
    if (s->timing.timed)
        timed_attach(s->timing.timed, system);
    else if (r->env != ENV_BARE || !isatty(STDIN_FILENO)) /* no user types to the guest */
        system_show_progress(system);
    for (unsigned i = 0; s->trap_log && i < system->count; i++) {
        system->harts[i].taken = log_taken;
        system->harts[i].taken_context = s->trap_log;
    }
    for (unsigned i = 0; i < system->threads; i++)
        report_add_hart(s->report, &system->harts[i]);
    report_add_accelerators(s->report, system->harts + system->threads, system->count - system->threads);
    return true;
}

/* Runs the system under gdb's control. Returns as run_program(). */
static int debug_program(struct session *s, const struct program *p, struct error *err)
{
    const struct gdb_system_options gdb = {
        .program = p->program,
        .facts = {report_stats(s->report), &s->machine},
        .reset = p->restart,
        .signal = p->signal,
        .fault = p->fault,
        .tasks = p->tasks,
        .threads = p->threads,
        .context = p->context,
    };
    p->system->threads = p->system->count; /* with the accelerators of a user program */
    switch (gdb_system_run(s->gdb, p->system, &gdb, err)) {
    case GDB_SYSTEM_EXIT: return p->finish(p->context, SYSTEM_EXIT, err);
    case GDB_SYSTEM_LIMIT: return p->finish(p->context, SYSTEM_LIMIT, err);
    case GDB_SYSTEM_EXPIRED: return p->finish(p->context, SYSTEM_EXPIRED, err);
    case GDB_SYSTEM_FULL: return p->finish(p->context, SYSTEM_FULL, err);
    case GDB_SYSTEM_TRAPPED: return p->finish(p->context, SYSTEM_TRAP, err);
    case GDB_SYSTEM_FAILED: return -1;
    case GDB_SYSTEM_KILLED: break;
    }
    if (p->signal)
        fprintf(stderr, "croft: %s: killed by gdb\n", p->program);
    return 128 + SIGKILL;
}

/* Does what follows a stop within the run: a restart, or a snapshot. *goes_on: the run continues. Returns false with err set on
 * failure. */
static bool serve_stop(const struct program *p, enum system_stop stop, bool *goes_on, struct error *err)
{
    *goes_on = stop == SYSTEM_RESET;
    assert(!*goes_on || p->restart); /* only machine mode resets the system */
    if (*goes_on)
        return p->restart(p->context, err);
    return !p->save || p->save(p->context, stop, goes_on, err);
}

/* Runs the system to its end. Signals stop it. (Under gdb they end the process, because gdb has its own
 * stops.) */
static int run_system(const struct program *p, struct error *err)
{
    enum system_stop stop;
    bool goes_on, served;
    interrupt_arm(p->system);
    do {
        stop = system_run(p->system, UINT64_MAX);
        served = serve_stop(p, stop, &goes_on, err);
    } while (served && goes_on);
    interrupt_disarm();
    return served ? p->finish(p->context, stop, err) : -1;
}

/* Runs the program after start_clock(). Returns the exit status, or -1 with err set. */
static int run_program(struct session *s, const struct program *p, struct error *err)
{
    s->start = host_seconds();
    int status = s->gdb ? debug_program(s, p, err) : run_system(p, err);
    for (unsigned i = 0; i < p->system->count; i++)
        s->regions = s->regions || p->system->harts[i].offload.translated;
    return status >= 0 && !wind_up(s, p->program, &status, err) ? -1 : status;
}

static int finish_user(void *user, enum system_stop stop, struct error *err)
{
    (void)err;
    return user_finish(user, stop);
}

static int signal_of(const void *user)
{
    return user_signal(user);
}

static bool fault_of_user(const void *user, enum system_stop stop, struct user_fault *fault)
{
    return user_fault(user, stop, fault);
}

static bool fault_of_kernel(const void *kernel, enum system_stop stop, struct user_fault *fault)
{
    return kernel_fault(kernel, stop, fault);
}

/* Describes the multiprocessors to launches, and which observers of the run do not see them. */
static void describe_launches(const struct session *s, bool unwatched, struct launch_options *simt)
{
    const struct machine_config *machine = &s->machine;
    launch_describe(machine->simt, machine->launchers, simt);
    if (machine_timed(machine))
        launch_limit(simt, machine->threads);
    simt->observed = s->log || s->trap_log;
    simt->watch = s->watch;
    simt->unwatched = unwatched && !machine_offloads(machine) && !machine_by_word(machine);
    simt->checks = machine_checks(machine);
}

/* Returns the options of a user program, with or without the kernel. Sets *simt and the launches up, to which they point. */
static struct user_options options_of_program(const struct session *s, const struct request *r,
                                              struct launch_options *simt, struct timed_launch *launches)
{
    struct user_options options = r->user;
    describe_launches(s, r->timing.check_coherence, simt);
    launches->verbose = r->verbose;
    if (machine_timed(&s->machine))
        simt->device = &launches->device;
    options.simt = simt->limits.count ? simt : NULL;
    options.stack_size = s->machine.stack->size;
    options.reserved_by = machine_reserved(&s->machine, &options.reserved, &options.reserved_end);
    options.stats = report_stats(s->report);
    options.log = s->log;
    options.warp_log = s->warp_log;
    options.signal = interrupt_arrived();
    return options;
}

/* Warns after the run of a program that has not waited for its last launch, or has kernels but no launch. */
static void warn_launches(const struct session *s, const struct request *r,
                          const struct timed_launch *launches)
{
    if (!s->timing.timed || !s->machine.simt)
        return;
    if (launches->counts.launches == 0 && advice_lacks_launch(r->user.program))
        say_warning("%s has no launch, so the multiprocessors of machine '%s' did nothing; "
                    "simt_launch() runs a function on them",
                    r->user.program, s->machine.name);
    else if (launches->counts.launches > 0 && !launches->waited)
        say_warning("%s did not wait for its last launch, whose results are complete only behind "
                    "simt_wait(0)",
                    r->user.program);
}

/* Warns that --jit compiles nothing of this program. */
static void warn_interpreted(const struct request *r, const char *why)
{
    static const char *const ways[] = {
        [JIT_OFF] = "off", [JIT_ON] = "on", [JIT_ALWAYS] = "always", [JIT_CHECK] = "check"};
    if (r->jit != JIT_OFF)
        say_warning("--jit=%s compiles nothing: %s", ways[r->jit], why);
}

/* The compilers of a system's harts; count 0: code is interpreted. */
struct compilers {
    struct jit **jits;
    unsigned count;
};

/* Makes a compiler for each hart without a clock, of which nobody sees the single instructions; they share the memory for code. Warns
 * if they were asked for, but code is interpreted. */
static struct compilers new_compilers(const struct session *s, const struct request *r,
                                      const struct system *system, enum jit_mode mode)
{
    struct compilers c = {0};
    const char *why = s->timing.timed         ? "the machine has a clock"
                      : s->log || s->trap_log ? "--log shows single instructions"
                      : s->gdb                ? "--gdb shows single instructions"
                                              : NULL;
    if (why)
        warn_interpreted(r, why);
    if (why || mode == JIT_OFF)
        return c;
    const uint64_t share = r->jit_memory / system->count;
    c.count = system->count;
    c.jits = alloc(c.count, sizeof(struct jit *));
    for (unsigned i = 0; i < c.count; i++)
        c.jits[i] = jit_new(&system->harts[i], mode, share > JIT_MEMORY_LEAST ? share : JIT_MEMORY_LEAST);
    return c;
}

/* Warns after a run of which a compiler could compile nothing, or nothing from a certain instruction on. */
static void free_compilers(struct compilers *c, const struct request *r)
{
    char why[128];
    bool failed = false, compiled = false;
    for (unsigned i = 0; i < c->count; i++) {
        failed |= jit_failed(c->jits[i]);
        compiled |= jit_regions(c->jits[i]) > 0;
    }
    if (failed && (r->jit != JIT_ON || !compiled)) {
        const char *lacks = jit_lacks();
        lacks = lacks ? lacks : jit_lacks_llvm();
        (void)snprintf(why, sizeof why, "this host has not %s",
                       lacks ? lacks : "what its code generator needs");
        warn_interpreted(r, why);
    }
    for (unsigned i = 0; i < c->count; i++)
        jit_free(c->jits[i]);
    free(c->jits);
}

/* Runs a user program on `harts`. */
static int run_harts(struct session *s, const struct request *r, struct user_options *options,
                     struct user_harts *harts, struct timed_launch *launches, struct error *err)
{
    struct program p = {.system = &harts->system,
                        .program = options->program,
                        .tasks = harts->tasks,
                        .finish = finish_user,
                        .signal = signal_of,
                        .fault = fault_of_user};
    if (!start_clock(s, r, &p, err))
        return -1;
    options->timed = s->timing.timed;
    if (s->timing.timed && s->machine.simt)
        launches_join(launches, s->timing.timed);
    struct user *user = user_new(&harts->system.harts[0], &harts->program, options, err);
    p.context = user;
    p.threads = user ? user_threads(user) : NULL;
    struct compilers compilers = new_compilers(s, r, &harts->system, r->jit_given ? r->jit : JIT_ON);
    int status = user ? run_program(s, &p, err) : -1;
    if (status >= 0)
        warn_launches(s, r, launches);
    free_compilers(&compilers, r);
    user_free(user);
    return status;
}

static int run_user(struct session *s, const struct request *r, struct error *err)
{
    struct phys memory;
    struct memory_limit limit = {0};
    struct user_harts harts;
    if (s->machine.harts != 1 && !machine_timed(&s->machine)) {
        (void)error_set(err, "harts: a user program runs on 1 hart, not %d", (int)s->machine.harts);
        return -1;
    }
    if (!phys_init(&memory, s->machine.memory->base, s->machine.memory->size, err))
        return -1;
    if (r->user.max_memory && !memory_limit_init(&limit, &memory, r->user.max_memory, err)) {
        phys_free(&memory);
        return -1;
    }
    struct decoder *decoder = decoder_new_for(s->machine.isa);
    int status = -1;
    struct launch_options simt;
    struct timed_launch launches;
    timed_launch_init(&launches, s->machine.simt, s->machine.multiprocessors, s->machine.warps, decoder);
    if (user_harts_init(&harts, &s->machine, firmware(s), &memory, decoder, err)) {
        struct user_options options = options_of_program(s, r, &simt, &launches);
        options.tasks = harts.tasks;
        options.system = &harts.system;
        if (limit.memory)
            system_limit_memory(&harts.system, &limit);
        status = run_harts(s, r, &options, &harts, &launches, err);
        timing_free(&s->timing);
        user_harts_free(&harts);
    }
    decoder_free(decoder);
    memory_limit_free(&limit);
    phys_free(&memory);
    return status;
}

static int finish_kernel(void *kernel, enum system_stop stop, struct error *err)
{
    (void)err;
    return kernel_finish(kernel, stop);
}

static int run_kernel(struct session *s, const struct request *r, struct error *err)
{
    char image[PATH_MAX];
    struct launch_options simt;
    struct timed_launch launches;
    timed_launch_init(&launches, s->machine.simt, s->machine.multiprocessors, s->machine.warps, NULL);
    struct user_options user = options_of_program(s, r, &simt, &launches);
    const struct kernel_options options = {
        .image = image, .machine = &s->machine, .firmware = firmware(s), .user = &user};
    struct kernel *kernel =
        paths_share("kernel/kernel.elf", image, sizeof image, err) ? kernel_new(&options, err) : NULL;
    if (!kernel)
        return -1;
    int status = -1;
    launches.decoder = kernel_system(kernel)->harts[0].decoder;
    const struct program p = {.system = kernel_system(kernel),
                              .program = user.program,
                              .tasks = kernel_tasks(kernel),
                              .finish = finish_kernel,
                              .fault = fault_of_kernel,
                              .restart = kernel_restart,
                              .threads = kernel_threads(kernel),
                              .context = kernel};
    if (start_clock(s, r, &p, err)) {
        user.timed = s->timing.timed;
        if (s->timing.timed && s->machine.simt)
            launches_join(&launches, s->timing.timed);
        struct compilers compilers = new_compilers(s, r, p.system, r->jit);
        status = run_program(s, &p, err);
        free_compilers(&compilers, r);
        if (status >= 0)
            warn_launches(s, r, &launches);
    }
    timing_free(&s->timing);
    kernel_free(kernel);
    return status;
}

static int finish_linux(void *process, enum system_stop stop, struct error *err)
{
    (void)err;
    return linux_finish(process, stop);
}

/* Runs a program of Linux. */
static int run_linux(struct session *s, const struct request *r, struct error *err)
{
    struct launch_options simt;
    struct timed_launch launches;
    timed_launch_init(&launches, s->machine.simt, s->machine.multiprocessors, s->machine.warps, NULL);
    struct user_options user = options_of_program(s, r, &simt, &launches);
    char image[PATH_MAX];
    if (r->env == ENV_KERNEL && !paths_share("kernel/linux.bin", image, sizeof image, err))
        return -1;
    if (r->env == ENV_KERNEL)
        tasks_warn_without_kernel(s->machine.tree);
    const struct linux_options options = {.machine = &s->machine,
                                          .kernel = r->env == ENV_KERNEL ? image : NULL,
                                          .firmware = firmware(s),
                                          .user = &user};
    struct process *process = linux_new(&options, err);
    if (!process)
        return -1;
    user.system = linux_system(process);
    launches.decoder = user.system->harts[0].decoder;
    int status = -1;
    const struct program p = {.system = linux_system(process),
                              .program = user.program,
                              .bias = linux_bias(process),
                              .tasks = linux_tasks(process),
                              .finish = finish_linux,
                              .context = process};
    const enum jit_mode mode = r->jit_given || r->env == ENV_KERNEL ? r->jit : JIT_ON;
    if (start_clock(s, r, &p, err)) {
        user.timed = s->timing.timed;
        if (s->timing.timed && s->machine.simt)
            launches_join(&launches, s->timing.timed);
        struct compilers compilers = new_compilers(s, r, p.system, mode);
        status = run_program(s, &p, err);
        free_compilers(&compilers, r);
        if (status >= 0)
            warn_launches(s, r, &launches);
    }
    timing_free(&s->timing);
    linux_free(process);
    return status;
}

/* Returns whether the program is one of Linux. */
static bool is_linux(const struct session *s, const struct request *r)
{
    return r->env != ENV_BARE && linux_recognises(r->user.program, s->machine.memory);
}

static int finish_bare(void *bare, enum system_stop stop, struct error *err)
{
    return bare_finish(bare, stop, err);
}

/* Returns whether a snapshot that is wanted can be taken of the machine. */
static bool can_save(const struct session *s, const struct bare_options *options, struct error *err)
{
    if (options->save && machine_timed(&s->machine))
        return error_set(
            err,
            "--save: machine '%s' has a clock; take the snapshot on a machine without one, such as virt, and "
            "restore it on this one",
            s->machine.name);
    return !options->save || tasks_count(s->machine.tree, options->firmware) == 0 ||
           error_set(err, "--save: the machine's accelerators take tasks (--firmware); a snapshot holds "
                          "ordinary harts alone");
}

static int run_bare(struct session *s, const struct request *r, struct error *err)
{
    struct bare_options options = r->bare;
    options.machine = &s->machine;
    options.program = r->user.program;
    options.dir = r->user.dir;
    if (r->dump_dtb)
        return bare_dump_fdt(&options, r->dump_dtb, err) ? 0 : -1;
    options.arguments = r->user.arguments;
    options.argument_count = r->user.argument_count;
    options.max_insns = r->user.max_insns;
    options.max_memory = r->user.max_memory;
    options.log = s->log;
    options.debugged = s->gdb != NULL;
    options.signal = interrupt_arrived();
    options.stats = report_stats(s->report);
    struct bare *bare = can_save(s, &options, err) ? bare_new(&options, err) : NULL;
    if (!bare)
        return -1;
    const char *file = options.program ? options.program : options.bios;
    const struct program p = {.system = bare_system(bare),
                              .program = file ? file : options.restore,
                              .tasks = bare_tasks(bare),
                              .finish = finish_bare,
                              .restart = bare_restart,
                              .save = options.save ? bare_save : NULL,
                              .context = bare};
    int status = -1;
    if (start_clock(s, r, &p, err)) {
        struct compilers compilers = new_compilers(s, r, p.system, r->jit);
        status = run_program(s, &p, err);
        free_compilers(&compilers, r);
    }
    timing_free(&s->timing);
    struct error close_error;
    if (!bare_free(bare, &close_error) && status >= 0) {
        *err = close_error;
        status = -1;
    }
    return status;
}

/* Warns before the run of a program with the calls of --env user (host/calls) in machine mode, where its first access traps. */
static void warn_environment(const struct request *r)
{
    uint64_t value;
    if (r->env == ENV_BARE && r->user.program && image_symbol(r->user.program, "call_result", &value))
        say_warning("%s is a program for --env user or kernel; croft cc --bare compiles for "
                    "machine mode",
                    r->user.program);
}

/* Warns before the run that an option behind the program has no effect on croft. */
static void warn_order(const struct request *r)
{
    char folder[PATH_MAX];
    struct error ignored;
    if (r->user.argument_count > 1 && paths_share("machines", folder, sizeof folder, &ignored) &&
        advice_is_machine(r->user.arguments + 1, r->user.argument_count - 1, folder))
        say_warning("'%s %s' behind the program belongs to the program; options of croft stand "
                    "before it",
                    r->user.arguments[1], r->user.arguments[2]);
}

/* Warns before the run that an option has no effect on a program of croft cc. */
static void warn_net(const struct session *s, const struct request *r)
{
    if (r->user.net && !is_linux(s, r) && access(r->user.program, R_OK) == 0)
        say_warning("--net has no effect on %s: only programs of Linux have sockets, such as "
                    "riscv64-linux-gnu-gcc makes",
                    r->user.program);
}

/* Warns after the run of a program for accelerators on the machine that runs without -m, which has none. */
static void warn_default(const struct session *s, const struct request *r)
{
    if (!r->machine && r->env != ENV_BARE && s->regions)
        say_warning("the host ran all regions, because machine '%s' has no clock and no "
                    "accelerators; take a machine that has both, such as -m nucd",
                    s->machine.name);
}

/* statistics: open file for them instead of --stats; -1: none. */
static int run(const struct request *r, int statistics, const struct engine_machine *loaded)
{
    struct session session = {.report = report_new(r->stats), .failure = 1};
    struct error err;
    int status = -1;
    if (statistics >= 0)
        report_to(session.report, statistics);
    warn_order(r);
    warn_environment(r);
    if (set_up(&session, r, loaded, &err)) {
        warn_net(&session, r);
        status = is_linux(&session, r)  ? run_linux(&session, r, &err)
                 : r->env == ENV_BARE   ? run_bare(&session, r, &err)
                 : r->env == ENV_KERNEL ? run_kernel(&session, r, &err)
                                        : run_user(&session, r, &err);
    }
    if (status >= 0) {
        warn_default(&session, r);
    } else {
        if (r->user.program)
            advice_program(r->user.program, &err);
        say("%s", err.text);
        status = session.failure;
    }
    tear_down(&session);
    return status;
}

int cmd_run(int argc, char **argv)
{
    return run_measured(argc, argv, -1, NULL);
}

int run_measured(int argc, char **argv, int statistics, const struct engine_machine *machine)
{
    int status;
    size_t room = (size_t)argc + 1;
    struct request request = {
        .sets = alloc(REQUEST_SETS * room, sizeof(char *)),
        .made = alloc(REQUEST_SETS * room, sizeof(char *)),
        .environment = alloc(room, sizeof(char *)),
        .user = {.dir = ".", .max_insns = UINT64_MAX},
        .bare = {.trap_loops = TRAP_LOOP_DEFAULT},
        .jit_memory = JIT_MEMORY,
    };
    timing_init(&request.timing);
    /* Ignored in croft: the program's write() returns EPIPE, and the program ends as by SIGPIPE. */
    (void)signal(SIGPIPE, SIG_IGN);
    if (request_parse(&request, argc, argv, &status))
        status = run(&request, statistics, machine);
    while (request.made_count > 0)
        free(request.made[--request.made_count]);
    free(request.made);
    free(request.sets);
    free(request.environment);
    return status;
}
