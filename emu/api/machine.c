/* Machines of the library: a program of croft cc on a machine, as croft run --env user has them. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "emu/api/handle.h"
#include "emu/api/share.h"
#include "emu/env/linux.h"
#include "emu/env/tasks_part.h"
#include "emu/env/user.h"
#include "emu/env/user_harts.h"
#include "emu/machine/launches.h"
#include "emu/machine/plan/plan.h"
#include "emu/machine/timed.h"
#include "emu/machine/untimed.h"
#include "emu/mem/phys/bytes.h"
#include "emu/sim/alloc.h"
#include "emu/sim/text/say.h"

#define FS_OF_NS UINT64_C(1000000)

enum { STREAMS = 3 };

/* Parts that exist are freed in the reverse order of their making. */
struct machine {
    struct machine_config config;
    bool has_memory, has_harts;
    struct phys memory;
    struct decoder *decoder;
    struct user_harts harts;
    struct timed *timed;     /* NULL: no clock */
    struct untimed *untimed; /* likewise, if there is one */
    struct event pause;      /* ends undercroft_run() */
    struct user *user;
    struct stats *stats;

    char *program, *directory;
    const char **arguments; /* the guest's argv, copied */
    size_t argument_count;
    char firmware[PATH_MAX];
    struct launch_options launch;
    struct timed_launch launches;
    struct user_options options;

    FILE *messages; /* writes to text[length] */
    char *text;
    size_t length;
    bool ended;
    int status;
};

/* Calls of the emulator that may print stand between these two. */
static FILE *listen(const struct machine *machine)
{
    return say_set(machine->messages);
}

static void listen_no_more(const struct machine *machine, FILE *before)
{
    (void)fflush(machine->messages);
    (void)say_set(before);
}

static void free_parts(struct machine *machine)
{
    user_free(machine->user);
    if (machine->timed)
        event_cancel(timed_queue(machine->timed), &machine->pause);
    stats_free(machine->stats); /* it reads what the parts have counted */
    timed_free(machine->timed);
    untimed_free(machine->untimed);
    if (machine->has_harts)
        user_harts_free(&machine->harts);
    if (machine->decoder)
        decoder_free(machine->decoder);
    if (machine->has_memory)
        phys_free(&machine->memory);
    if (machine->config.tree)
        machine_free(&machine->config);
}

static void free_machine(void *model)
{
    struct machine *machine = model;
    FILE *before = listen(machine);
    free_parts(machine);
    listen_no_more(machine, before);
    (void)fclose(machine->messages);
    free(machine->text);
    for (size_t i = 0; i < machine->argument_count; i++)
        free((void *)(uintptr_t)machine->arguments[i]);
    free(machine->arguments);
    free(machine->program);
    free(machine->directory);
    free(machine);
}

static struct stats *stats(void *model)
{
    return ((struct machine *)model)->stats;
}

static uint64_t now(const void *model)
{
    const struct machine *machine = model;
    return machine->timed ? timed_now(machine->timed) : system_nanoseconds(&machine->harts.system) * FS_OF_NS;
}

static uint64_t next(const void *model)
{
    return ((const struct machine *)model)->ended ? UNDERCROFT_FOREVER : now(model);
}

static uint64_t period(const void *model)
{
    const struct machine *machine = model;
    struct clock clock;
    struct error err;
    if (!machine->timed || !clock_set_frequency(&clock, machine->config.host->clock, &err))
        return FS_OF_NS;
    return clock.period;
}

/* Ends the run, unless the program goes on. */
static void serve(struct machine *machine, enum system_stop stop)
{
    if (stop == SYSTEM_LIMIT || stop == SYSTEM_WATCHED)
        return;
    machine->ended = true;
    machine->status = user_finish(machine->user, stop);
    if (machine->timed)
        (void)timed_finish(machine->timed, NULL);
}

/* Runs until the hosts have executed that many instructions more, the pause, or the end of the program. */
static void run_on(struct machine *machine, uint64_t instructions)
{
    FILE *before = listen(machine);
    if (!machine->ended && instructions > 0)
        serve(machine, system_run(&machine->harts.system, instructions));
    listen_no_more(machine, before);
}

static void pause_run(void *owner, uint64_t time)
{
    (void)time;
    system_pause(owner);
}

static void run(void *model, uint64_t until)
{
    struct machine *machine = model;
    if (!machine->timed) {
        run_on(machine, until == UNDERCROFT_FOREVER ? UINT64_MAX : (until - now(machine)) / FS_OF_NS);
        return;
    }
    if (until != UNDERCROFT_FOREVER && !machine->ended)
        event_schedule(timed_queue(machine->timed), &machine->pause, until);
    do
        run_on(machine, UINT64_MAX);
    while (!machine->ended && now(machine) < until);
    event_cancel(timed_queue(machine->timed), &machine->pause);
}

static void step(void *model)
{
    run_on(model, 1);
}

static const struct handle_kind kind = {.name = "machine",
                                        .free = free_machine,
                                        .stats = stats,
                                        .period = period,
                                        .now = now,
                                        .next = next,
                                        .run = run,
                                        .step = step};

/* Loads the description, and finds the accelerators' firmware. */
static bool load(struct machine *machine, const struct undercroft_source *source, const char *name,
                 const char *share, struct error *err)
{
    char folder[PATH_MAX];
    struct machine_config *config = &machine->config;
    if (!share_find(share, "machines", folder, err) ||
        !machine_load_text(config, name, source->text, folder, source->sets, source->set_count, err))
        return false;
    if (!plan_check(config, err))
        return false;
    if (config->harts != 1 && !machine_timed(config))
        return error_set(err, "harts: a user program runs on 1 hart, not %" PRIu32, config->harts);
    if (!tasks_wanted(config->tree))
        return true;
    for (const struct part_kind *const *each = machine_kinds; *each; each++) {
        const struct tasks_kind *tasks = (*each)->tasks;
        if (tasks)
            return share_find(share, tasks->firmware, machine->firmware, err);
    }
    return true;
}

/* Makes memory, harts, and parts with a clock. */
static bool make_parts(struct machine *machine, struct error *err)
{
    const struct machine_config *config = &machine->config;
    struct user_harts *harts = &machine->harts;
    machine->has_memory = phys_init(&machine->memory, config->memory->base, config->memory->size, err);
    if (!machine->has_memory)
        return false;
    machine->decoder = decoder_new_for(config->isa);
    machine->has_harts = user_harts_init(harts, config, *machine->firmware ? machine->firmware : NULL,
                                         &machine->memory, machine->decoder, err);
    if (!machine->has_harts)
        return false;
    machine->stats = stats_new();
    if (!machine_timed(config)) {
        machine->untimed = untimed_new(config, harts->system.harts, harts->system.count);
    } else {
        const struct timed_options options = {.machine = config,
                                              .max_time = UINT64_MAX,
                                              .mechanism = harts->tasks ? harts->tasks->mechanism
                                                                        : (struct core_mechanism){0},
                                              .program = machine->program};
        machine->timed = timed_new(&options, harts->system.harts, harts->system.count, err);
        if (!machine->timed)
            return false;
        timed_publish(machine->timed, machine->stats);
        timed_attach(machine->timed, &harts->system);
        event_init(&machine->pause, EVENT_COMPONENTS - 1, pause_run, &harts->system);
        harts->system.slice = UINT64_MAX; /* as a debugger's, so that a pause keeps calls that wait open */
    }
    for (unsigned i = 0; i < harts->system.threads; i++)
        stats_counter(machine->stats, scope_at(NULL, "hart", i), "instructions",
                      &harts->system.harts[i].instret, "instructions", "instructions retired");
    return true;
}

/* Describes the launches of a machine with multiprocessors. */
static void describe_launches(struct machine *machine)
{
    const struct machine_config *config = &machine->config;
    timed_launch_init(&machine->launches, config->simt, config->multiprocessors, config->warps,
                      machine->decoder);
    launch_describe(config->simt, config->launchers, &machine->launch);
    if (!machine->timed)
        return;
    launch_limit(&machine->launch, config->threads);
    if (config->simt) {
        machine->launch.device = &machine->launches.device;
        launches_join(&machine->launches, machine->timed);
    }
}

/* Opens the files of the program's standard streams. */
static bool redirect(struct machine *machine, const struct undercroft_program *program, struct error *err)
{
    const char *const paths[STREAMS] = {program->input, program->output, program->errors};
    for (unsigned i = 0; i < STREAMS; i++) {
        const char *path = paths[i] ? paths[i] : "/dev/null";
        const int file = i == 0 ? open(path, O_RDONLY | O_CLOEXEC)
                                : open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
        if (file < 0)
            return error_set(err, "%s: cannot be opened: %s", path, strerror(errno));
        user_redirect(machine->user, i, file);
    }
    return true;
}

static bool make_program(struct machine *machine, const struct undercroft_program *program, struct error *err)
{
    if (linux_recognises(machine->program, machine->config.memory))
        return error_set(err, "%s is a program of Linux; the library runs those of croft cc",
                         machine->program);
    describe_launches(machine);
    struct user_options *options = &machine->options;
    *options = (struct user_options){.program = machine->program,
                                     .arguments = machine->arguments,
                                     .argument_count = machine->argument_count,
                                     .dir = machine->directory,
                                     .stack_size = machine->config.stack->size,
                                     .max_insns = UINT64_MAX,
                                     .stats = machine->stats,
                                     .simt = machine->launch.limits.count ? &machine->launch : NULL,
                                     .tasks = machine->harts.tasks,
                                     .system = &machine->harts.system,
                                     .timed = machine->timed};
    options->reserved_by = machine_reserved(&machine->config, &options->reserved, &options->reserved_end);
    machine->user = user_new(&machine->harts.system.harts[0], &machine->harts.program, options, err);
    return machine->user && redirect(machine, program, err);
}

/* Copies what the caller's struct points to. */
static void copy_program(struct machine *machine, const struct undercroft_program *program)
{
    machine->program = alloc_text(program->program);
    machine->directory = alloc_text(program->directory ? program->directory : ".");
    machine->argument_count = program->argument_count + 1;
    machine->arguments = alloc(machine->argument_count, sizeof *machine->arguments);
    machine->arguments[0] = alloc_text(program->program);
    for (size_t i = 0; i < program->argument_count; i++)
        machine->arguments[i + 1] = alloc_text(program->arguments[i]);
}

static int check_program(const struct undercroft_program *program, struct undercroft_error *error)
{
    if (!program)
        return handle_fail(error, UNDERCROFT_ARGUMENT, "the program is NULL");
    if (program->size != sizeof *program)
        return handle_fail(error, UNDERCROFT_ARGUMENT,
                           "the program's `size` is %zu, not sizeof(struct undercroft_program), %zu",
                           program->size, sizeof *program);
    if (!program->program)
        return handle_fail(error, UNDERCROFT_ARGUMENT, "the name of the program's file is NULL");
    for (size_t i = 0; i < program->argument_count; i++)
        if (!program->arguments || !program->arguments[i])
            return handle_fail(error, UNDERCROFT_ARGUMENT, "arguments[%zu] is NULL", i);
    return UNDERCROFT_OK;
}

/* Makes a machine with its program. */
static int make(struct machine *machine, const struct undercroft_source *source, const char *name,
                const struct undercroft_program *program, struct undercroft_error *error)
{
    struct error err;
    FILE *before = listen(machine);
    const bool loaded = load(machine, source, name, program->share, &err);
    const bool made = loaded && make_parts(machine, &err) && make_program(machine, program, &err);
    listen_no_more(machine, before);
    return made ? UNDERCROFT_OK
                : handle_fail_with(error, loaded ? UNDERCROFT_PROGRAM : UNDERCROFT_DESCRIPTION, &err);
}

int undercroft_machine_new(struct undercroft **machine, const struct undercroft_source *source,
                           const struct undercroft_program *program, struct undercroft_error *error)
{
    const char *name;
    if (!machine)
        return handle_fail(error, UNDERCROFT_ARGUMENT, "`machine`, which receives the handle, is NULL");
    *machine = NULL;
    int status = handle_source(source, &name, error);
    if (status == UNDERCROFT_OK)
        status = check_program(program, error);
    if (status != UNDERCROFT_OK)
        return status;
    struct machine *model = alloc(1, sizeof *model);
    model->messages = alloc_checked(open_memstream(&model->text, &model->length));
    copy_program(model, program);
    status = make(model, source, name, program, error);
    if (status != UNDERCROFT_OK) {
        free_machine(model);
        return status;
    }
    *machine = handle_new(&kind, model, NULL);
    return UNDERCROFT_OK;
}

int undercroft_machine_run(struct undercroft *machine, uint64_t instructions, struct undercroft_error *error)
{
    int status = handle_check(machine, &kind, error);
    if (status == UNDERCROFT_OK)
        status = handle_check_outside(machine, error);
    if (status != UNDERCROFT_OK)
        return status;
    machine->inside++;
    run_on(machine->model, instructions);
    machine->inside--;
    return UNDERCROFT_OK;
}

int undercroft_machine_state(struct undercroft *machine, struct undercroft_machine_state *state,
                             struct undercroft_error *error)
{
    const int status = handle_check(machine, &kind, error);
    if (status != UNDERCROFT_OK)
        return status;
    if (!state)
        return handle_fail(error, UNDERCROFT_ARGUMENT, "`state` is NULL");
    const struct machine *model = machine->model;
    (void)fflush(model->messages);
    *state = (struct undercroft_machine_state){.ended = model->ended,
                                               .status = model->status,
                                               .harts = model->harts.system.count,
                                               .instructions = system_instructions(&model->harts.system),
                                               .messages = model->text};
    return UNDERCROFT_OK;
}

int undercroft_machine_register(const struct undercroft *machine, uint32_t hart, uint32_t number,
                                uint64_t *value, struct undercroft_error *error)
{
    const int status = handle_check(machine, &kind, error);
    if (status != UNDERCROFT_OK)
        return status;
    if (!value)
        return handle_fail(error, UNDERCROFT_ARGUMENT, "`value` is NULL");
    const struct system *system = &((const struct machine *)machine->model)->harts.system;
    if (hart >= system->count)
        return handle_fail(error, UNDERCROFT_ARGUMENT, "hart %" PRIu32 "; the machine has harts 0 to %u",
                           hart, system->count - 1);
    if (number >= UNDERCROFT_REGISTERS)
        return handle_fail(error, UNDERCROFT_ARGUMENT, "register %" PRIu32 "; allowed: 0 to %d", number,
                           UNDERCROFT_REGISTERS - 1);
    const struct hart *of = &system->harts[hart];
    *value = number < UNDERCROFT_PC    ? of->x[number]
             : number == UNDERCROFT_PC ? of->pc
                                       : of->f[number - UNDERCROFT_F0];
    return UNDERCROFT_OK;
}

/* Says that bytes were not all copied. */
static int lacks(uint64_t address, uint64_t bytes, struct undercroft_error *error)
{
    return handle_fail(error, UNDERCROFT_ARGUMENT,
                       "%" PRIu64 " bytes at 0x%" PRIx64 " are not all in the machine's memory", bytes,
                       address);
}

static struct bytes bytes_of(const struct undercroft *machine)
{
    const struct machine *model = machine->model;
    return (struct bytes){&model->memory, model->harts.system.harts[0].holders};
}

int undercroft_machine_read(const struct undercroft *machine, uint64_t address, void *to, uint64_t bytes,
                            struct undercroft_error *error)
{
    const int status = handle_check(machine, &kind, error);
    if (status != UNDERCROFT_OK)
        return status;
    if (!to)
        return handle_fail(error, UNDERCROFT_ARGUMENT, "`to` is NULL");
    const struct bytes from = bytes_of(machine);
    return bytes == 0 || bytes_read(&from, address, to, bytes) == bytes ? UNDERCROFT_OK
                                                                        : lacks(address, bytes, error);
}

int undercroft_machine_write(struct undercroft *machine, uint64_t address, const void *from, uint64_t bytes,
                             struct undercroft_error *error)
{
    const int status = handle_check(machine, &kind, error);
    if (status != UNDERCROFT_OK)
        return status;
    if (!from)
        return handle_fail(error, UNDERCROFT_ARGUMENT, "`from` is NULL");
    const struct bytes to = bytes_of(machine);
    return bytes == 0 || bytes_write(&to, address, from, bytes) == bytes ? UNDERCROFT_OK
                                                                         : lacks(address, bytes, error);
}
