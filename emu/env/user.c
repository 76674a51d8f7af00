#include "emu/env/user.h"

#include <fcntl.h>
#include <inttypes.h>
#include <string.h>

#include "emu/core/tasks.h"
#include "emu/debug/log.h"
#include "emu/env/guest/fault.h"
#include "emu/env/guest/hosts.h"
#include "emu/env/guest/region.h"
#include "emu/env/loader/elf.h"
#include "emu/env/loader/stack.h"
#include "emu/env/threads.h"

enum { A0 = 10, SP = 2 };

static bool set_up(struct user *user, struct error *err)
{
    const struct user_options *o = user->options;
    const struct phys *memory = user->memory;
    struct elf_program program;
    if (!elf_load(&program, o->program, ELF_VIRTUAL, &(struct bytes){memory, user->hart->holders}, err))
        return false;
    uint64_t end = memory->base + memory->size;
    if (o->stack_size > end - program.end)
        return error_set(err,
                         "%s: ends at 0x%" PRIx64 ", which leaves no room for a stack of %" PRIu64
                         " bytes below 0x%" PRIx64 "; enlarge memory.size or make user_stack.size smaller",
                         o->program, program.end, o->stack_size, end);
    if (!guest_leaves_reserved(o, program.end, end - o->stack_size, err))
        return false;
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
    for (unsigned i = 1; user->hosts && i < o->system->hosts; i++)
        hart_protect(&o->system->harts[i], program.write_first);
    hart_protect(user->hart, program.write_first);
    tasks_protect(user->tasks, program.write_first);
    heap_init(&user->heap, memory, program.end, user->stack_first);
    if (o->reserved_end)
        heap_reserve(&user->heap, (struct heap_range){o->reserved, o->reserved_end});
    if (o->simt)
        user->threads = threads_new(user, o->simt, memory, 0, o->system, user->hosts ? o->system->hosts : 1);
    if (o->simt && o->stats)
        threads_publish(user->threads, o->stats);
    return true;
}

void user_free(struct user *user)
{
    if (!user)
        return;
    guest_settle(user);
    guest_hosts_free(user->hosts);
    threads_free(user->threads);
    guest_free(user);
}

/* Serves the call at `pc` of the region that has stopped at the accelerator, as if the host had made it: all
 * instructions before the one that began the task have retired, and none after it. The host's hart has the
 * region's registers meanwhile. The region continues when the host continues at that instruction. False: the
 * call cannot be served. */
static bool serve_region(struct user *user, unsigned accelerator, uint64_t pc)
{
    struct hart *hart = user->hart;
    struct tasks_region region;
    uint64_t kept[32], begin = hart->pc;
    if (!region_call(user, accelerator, &region))
        return false;
    memcpy(kept, hart->x, sizeof kept);
    memcpy(hart->x, region.x, sizeof region.x);
    hart->pc = pc;
    user->region_stack = region.stack;
    int64_t result = threads_call(user);
    guest_settle(user);
    user->region_stack = (struct phys){0};
    memcpy(hart->x, kept, sizeof kept);
    hart->pc = begin;
    if (!user->ended)
        user->tasks->ops->answer(user->tasks, accelerator, (uint64_t)result);
    return true;
}

bool user_serve(struct user *user)
{
    struct hart *hart = user->hart;
    unsigned accelerator;
    uint64_t pc;
    if (hart->trap.cause != TRAP_ECALL_USER)
        return false;
    if (tasks_fault(user->tasks, hart, &accelerator, &pc))
        return serve_region(user, accelerator, pc);
    if (user->hosts && guest_hosts_serve(user))
        return true;
    int64_t result = threads_call(user);
    guest_settle(user);
    if (threads_call_open(user->threads))
        return true; /* the launch continues: the call is served again */
    if (threads_wait(user->threads)) {
        system_suspend(user->options->system, hart->hartid);
        return true;
    }
    hart_retire_call(hart);
    if (!user->ended)
        hart->x[A0] = (uint64_t)result;
    return true;
}

/* Flushes the log, so that it precedes messages about the stop. */
static void flush_log(const struct user *user)
{
    if (user->options->log)
        log_flush(user->options->log);
}

static enum hart_stop hook_run(void *context, struct hart *hart, uint64_t max_insns)
{
    const struct user *user = context;
    enum hart_stop stop = log_run(user->options->log, hart, max_insns);
    flush_log(user);
    return stop;
}

static bool hook_marker(void *context, struct hart *hart)
{
    struct user *user = context;
    flush_log(user);
    marker_serve(&user->regions, hart);
    return true;
}

static bool hook_trap(void *context, struct hart *hart)
{
    struct user *user = context;
    user->hart = hart;
    flush_log(user);
    return user_serve(user);
}

static void take_system(struct user *user)
{
    struct system *system = user->options->system;
    if (!system)
        return;
    system->max_insns = user->options->max_insns;
    system->hooks = (struct system_hooks){
        .run = user->options->log ? hook_run : NULL,
        .marker = hook_marker,
        .trap = hook_trap,
        .context = user,
    };
}

struct user *user_new(struct hart *hart, const struct phys *memory, const struct user_options *options,
                      struct error *err)
{
    struct user *user = guest_new(hart, memory, options, err);
    if (!user)
        return NULL;
    take_system(user);
    if (options->system && options->system->hosts > 1) {
        user->hosts = guest_hosts_new(options->system);
        user->host_count = options->system->hosts;
        guest_cpu_init(user);
    }
    if (set_up(user, err))
        return user;
    user_free(user);
    return NULL;
}

void user_redirect(struct user *user, unsigned stream, int host)
{
    (void)files_close(&user->files, stream);
    (void)files_add(&user->files, host, stream == 0 ? O_RDONLY : O_WRONLY, false);
}

struct threads *user_threads(const struct user *user)
{
    return user->threads;
}

int user_signal(const struct user *user)
{
    return user->signal;
}

bool user_fault(const struct user *user, enum system_stop stop, struct user_fault *fault)
{
    struct hart *hart = user->hart;
    uint64_t pc;
    if (stop != SYSTEM_TRAP)
        return false;
    *fault = (struct user_fault){.trap = hart->trap, .hart = hart, .pc = hart->pc};
    memcpy(fault->x, hart->x, sizeof fault->x);
    fault->task = tasks_fault(user->tasks, hart, &fault->accelerator, &pc);
    return true;
}

static int finish(struct user *user, enum system_stop stop)
{
    switch (stop) {
    case SYSTEM_EXIT: return user->status;
    case SYSTEM_TRAP: return fault_report(user);
    case SYSTEM_EXPIRED: return fault_time(user);
    case SYSTEM_WATCHED: return fault_interrupt(user);
    case SYSTEM_STUCK: return user->hosts ? guest_hosts_report(user) : fault_asleep(user, false);
    case SYSTEM_FULL: return fault_memory(user, user->options->system->full_pc);
    default:
        return threads_call_open(user->threads) ? threads_report_limit(user->threads) : fault_limit(user);
    }
}

int user_finish(struct user *user, enum system_stop stop)
{
    const struct system *system = user->options->system;
    flush_log(user);
    if (user->hosts && system->current < system->hosts)
        user->hart = &system->harts[system->current];
    int status = finish(user, stop);
    if (stop != SYSTEM_EXIT && stop != SYSTEM_TRAP)
        threads_tell_wait(user->threads);
    if (threads_call_open(user->threads))
        hart_retire_call(user->hart);
    return status;
}
