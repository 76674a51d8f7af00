#include "emu/env/user.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "emu/debug/log.h"
#include "emu/env/calls.h"
#include "emu/env/elf.h"
#include "emu/env/fault.h"
#include "emu/env/launch.h"
#include "emu/env/stack.h"
#include "emu/env/workers.h"

enum {
    A0 = 10,
    SP = 2,
    SLICE = 1 << 25, /* instructions, a tenth of a second: a loop of plain blocks sees no yield */
};

static bool set_up(struct user *user, struct error *err)
{
    const struct user_options *o = user->options;
    const struct phys *memory = user->memory;
    struct elf_program program;
    if (!elf_load(&program, o->program, ELF_VIRTUAL, memory, err))
        return false;
    uint64_t end = memory->base + memory->size;
    if (o->stack_size > end - program.end)
        return error_set(err,
                         "%s: ends at 0x%" PRIx64 ", which leaves no room for a stack of %" PRIu64
                         " bytes below 0x%" PRIx64 "; enlarge memory.size or make stack.size smaller",
                         o->program, program.end, o->stack_size, end);
    const struct stack_contents contents = {.arguments = o->arguments,
                                            .argument_count = o->argument_count,
                                            .environment = o->environment,
                                            .environment_count = o->environment_count,
                                            .program = &program};
    if (!stack_build(memory, o->stack_size, &contents, &user->hart->x[SP], err))
        return error_prefix(err, "%s", o->program);
    user->hart->pc = program.entry;
    user->write_first = program.write_first;
    user->stack_first = end - o->stack_size;
    hart_protect(user->hart, program.write_first);
    workers_protect(user->workers, program.write_first);
    heap_init(&user->heap, memory, program.end, user->stack_first);
    if (o->simt)
        user->launch = launch_new(user, o->simt, memory, 0);
    if (o->simt && o->stats)
        launch_publish(user->launch, o->stats);
    return true;
}

struct user *guest_new(struct hart *hart, const struct phys *memory, const struct user_options *options,
                       struct error *err)
{
    struct user *user = calloc(1, sizeof *user);
    if (!user)
        abort();
    user->hart = hart;
    user->memory = memory;
    user->options = options;
    user->workers = options->workers;
    user->sandbox.root = -1;
    user->symbols = symbols_new(options->program);
    if (asprintf(&user->speaker, "croft: %s", options->program) < 0)
        abort();
    user->regions = (struct marker_regions){.stats = options->stats, .command = user->speaker};
    files_init(&user->files);
    if (sandbox_open(&user->sandbox, options->dir, err))
        return user;
    user_free(user);
    return NULL;
}

struct user *user_new(struct hart *hart, const struct phys *memory, const struct user_options *options,
                      struct error *err)
{
    struct user *user = guest_new(hart, memory, options, err);
    if (!user || set_up(user, err))
        return user;
    user_free(user);
    return NULL;
}

void user_free(struct user *user)
{
    if (!user)
        return;
    for (unsigned i = 0; i < user->refused_count; i++)
        free(user->refused_paths[i]);
    launch_free(user->launch);
    files_free(&user->files);
    heap_free(&user->heap);
    sandbox_close(&user->sandbox);
    symbols_free(user->symbols);
    free(user->speaker);
    free(user);
}

/* Whether the hart has stopped for a task, whose registers are not its own. */
static bool is_task(const struct user *user)
{
    const struct user_machine *machine = user->options->machine;
    unsigned accelerator;
    uint64_t pc;
    return machine && machine->faulted && machine->faulted(machine->context, &accelerator, &pc);
}

static void serve_call(struct user *user)
{
    int64_t result = calls_serve(user);
    hart_retire_call(user->hart);
    if (!user->ended)
        user->hart->x[A0] = (uint64_t)result;
}

static enum hart_stop run(const struct user_options *options, struct hart *hart, uint64_t max_insns)
{
    const struct user_machine *machine = options->machine;
    if (machine)
        return machine->run(machine->context, hart, max_insns);
    if (options->signal && max_insns > SLICE)
        max_insns = SLICE;
    return options->log ? log_run(options->log, hart, max_insns) : hart_run(hart, max_insns);
}

bool user_exhausted(const struct user *user)
{
    const struct user_machine *machine = user->options->machine;
    uint64_t done = machine ? machine->instructions(machine->context) : user->hart->instret;
    return done >= user->options->max_insns;
}

enum user_stop user_advance(struct user *user, uint64_t max_insns)
{
    struct hart *hart = user->hart;
    struct log *log = user->options->log;
    const struct user_machine *machine = user->options->machine;
    uint64_t end = max_insns < UINT64_MAX - hart->instret ? hart->instret + max_insns : UINT64_MAX;
    while (!user->ended) {
        if (hart->instret >= end || user_exhausted(user))
            return USER_STOP_LIMIT;
        if (guest_interrupted(user))
            return USER_STOP_SIGNAL;
        uint64_t left = end - hart->instret;
        enum hart_stop stop = run(user->options, hart, left);
        if (log)
            log_flush(log);
        if (stop == HART_STOP_MARKER)
            marker_serve(&user->regions, hart);
        else if (stop == HART_STOP_TRAP && hart->trap.cause == TRAP_ECALL_USER && !is_task(user))
            serve_call(user);
        else if (stop == HART_STOP_TRAP)
            return USER_STOP_FAULT;
        else if (stop == HART_STOP_BREAK)
            return USER_STOP_BREAK;
        else if (stop == HART_STOP_WATCH)
            return USER_STOP_WATCH;
        else if (stop == HART_STOP_YIELD && machine && machine->expired(machine->context))
            return USER_STOP_TIME;
    }
    return USER_STOP_ENDED;
}

int user_run(struct user *user)
{
    switch (user_advance(user, user->options->max_insns)) {
    case USER_STOP_ENDED: return user->status;
    case USER_STOP_FAULT: return fault_report(user);
    case USER_STOP_TIME: return fault_time(user);
    case USER_STOP_SIGNAL: return fault_interrupt(user);
    default: return fault_limit(user);
    }
}
