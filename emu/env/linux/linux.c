/* The harts of a Linux program, and its traps: their stub in machine mode calls the emulator, which serves them. */
#include "emu/env/linux.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "emu/debug/log.h"
#include "emu/env/guest/fault.h"
#include "emu/env/guest/kernel_pages.h"
#include "emu/env/guest/region.h"
#include "emu/env/linux/calls/paths/shared_name.h"
#include "emu/env/linux/calls/paths/special.h"
#include "emu/env/linux/served.h"
#include "emu/env/loader/elf.h"
#include "emu/env/tasks_part.h"
#include "emu/hart/exec.h"
#include "emu/hart/mmu.h"
#include "emu/machine/scheduler.h"
#include "emu/sim/alloc.h"

/* The stub: mtvec points to its first instruction. A trap comes to the semihosting call, whose server goes on at one of the
 * exits; an idle hart waits for its software interrupt and comes to the call, too. */
static const uint32_t stub_code[] = {
    0x01f01013, /* slli x0, x0, 31 */
    0x00100073, /* ebreak */
    0x40705013, /* srai x0, x0, 7 */
    0x30200073, /* mret */
    0x12000073, /* sfence.vma: the exit after a change of page tables */
    0x30200073, /* mret */
    0x10500073, /* wfi: the exit of a hart without a thread */
    0xfe5ff06f, /* j stub */
};
enum { STUB_RETURN = 12, STUB_FENCE = 16, STUB_IDLE = 24 };

/* Instructions of a round with one hart, about 0.1 s of host time, unless the machine sets another quantum than the default one:
 * rounds end earlier for deadlines and turns of threads. */
enum { QUANTUM_DEFAULT = 10000, QUANTUM_ALONE = 1 << 25 };

#define INTERRUPT (UINT64_C(1) << 63)

static unsigned count_hosts(const struct linux_options *options)
{
    const struct machine_config *machine = options->machine;
    unsigned hosts = machine_timed(machine)
                         ? machine->host_count
                         : (unsigned)machine->harts - tasks_count(machine->tree, options->firmware);
    return hosts < 1 ? 1 : hosts < LINUX_HOSTS ? hosts : LINUX_HOSTS;
}

/* Forgets the harts' translations after a change of page tables: at once in function, and by the stub's fence in time. */
static void follow_tables(struct process *process)
{
    const struct mmu_fence all = {0};
    if (!process->space.changed)
        return;
    process->space.changed = false;
    for (unsigned i = 0; i < process->hosts; i++) {
        mmu_fence(&process->system.harts[i], &all);
        process->fence[i] = true;
    }
    tasks_set_ranges(process->tasks, process->space.ranges_at);
    if (process->user->threads)
        threads_forget(process->user->threads);
}

static void end_by_region(struct process *process, struct hart *hart, unsigned accelerator, uint64_t pc)
{
    struct user *user = process->user;
    hart->pc = hart->priv.mepc;
    hart->trap = (struct trap){(enum trap_cause)hart->offload.cause, hart->offload.value};
    hart->privilege = PRIV_U; /* the report reads the program's memory */
    priv_changed(hart);
    guest_end(user, fault_report_task(user, accelerator, pc));
}

/* Serves the call at which a region has stopped, with the region's registers. */
static bool serve_region(struct process *process, struct thread *thread, struct hart *hart,
                         unsigned accelerator, uint64_t pc)
{
    struct tasks_region region;
    uint64_t kept[32], begin = hart->priv.mepc;
    if (!region_call(process->user, accelerator, &region))
        return false;
    memcpy(kept, hart->x, sizeof kept);
    memcpy(hart->x, region.x, sizeof region.x);
    hart->pc = hart->priv.mepc = pc;
    process->user->region_stack = region.stack;
    int64_t result = linux_call(process, thread, hart);
    (void)kernel_pages_settle(process->user->pages, true);
    process->user->region_stack = (struct phys){0};
    memcpy(hart->x, kept, sizeof kept);
    hart->priv.mepc = begin;
    if (process->user->ended)
        return true;
    if (result == LINUX_WAITS || result == LINUX_RETURNS || result == LINUX_TURNS) {
        if (process->on[hart->hartid] == thread) { /* it has not exited */
            thread->state = THREAD_RUNNING;
            thread->deadline = LINUX_NEVER;
        }
        return false; /* a region cannot wait */
    }
    process->tasks->ops->answer(process->tasks, accelerator, (uint64_t)result);
    return true;
}

static void take_region(struct process *process, struct thread *thread, struct hart *hart)
{
    unsigned accelerator;
    uint64_t pc;
    hart->pc = hart->priv.mepc;
    if (!tasks_fault(process->tasks, hart, &accelerator, &pc))
        return; /* it has been answered: the instruction is executed again */
    if (hart->offload.cause == TRAP_ECALL_USER && serve_region(process, thread, hart, accelerator, pc))
        return;
    end_by_region(process, hart, accelerator, pc);
}

/* Returns whether the thread gives way to others. */
static bool take_call(struct process *process, struct thread *thread, struct hart *hart)
{
    const bool yields = hart->x[X_A7] == LINUX_CALL_sched_yield;
    hart->pc = hart->priv.mepc;
    int64_t result = linux_call(process, thread, hart);
    (void)kernel_pages_settle(process->user->pages, true);
    if (process->user->ended || result == LINUX_RETURNS || result == LINUX_TURNS)
        return yields || result == LINUX_TURNS;
    if (result == LINUX_WAITS) {
        thread_store(thread, hart);
        return false;
    }
    thread->poll_deadline = 0; /* of a call that has waited before */
    hart->x[X_A0] = (uint64_t)result;
    hart->priv.mepc += 4;
    return yields;
}

/* Serves the trap of the thread on the hart. Returns whether the thread gives way to others. */
static bool take_trap(struct process *process, struct thread *thread, struct hart *hart)
{
    const uint64_t cause = hart->priv.mcause;
    process->user->hart = hart;
    if (cause & INTERRUPT)
        return threads_end_turn(process, thread, signal_is_due(process, thread));
    thread->settles = hart->offload.settles = false;
    if (cause == TRAP_ECALL_USER)
        return take_call(process, thread, hart);
    if (cause == TRAP_NUCD_CALL) { /* there is no driver: it is a HINT, and the host runs the region */
        hart->offload.traps = false;
        hart->priv.mepc += 4;
    } else if (cause == TRAP_NUCD_FAULT) {
        take_region(process, thread, hart);
    } else {
        signal_fault(process, thread, hart);
    }
    return false;
}

/* Leaves the stub, or waits in it if the hart has no thread. */
static void leave(struct process *process, struct hart *hart)
{
    const unsigned host = hart->hartid;
    const struct thread *thread = process->on[host];
    hart->pc = process->stub + (!thread ? STUB_IDLE : process->fence[host] ? STUB_FENCE : STUB_RETURN);
    process->fence[host] = process->fence[host] && !thread;
    hart->priv.mstatus =
        MSTATUS_FS; /* MPP and MPIE are 0: user mode, where interrupts of machine mode are on */
}

/* Serves the trap of a hart, whose registers are those of the thread on it, with mepc, mcause and mtval, and chooses the thread that
 * it goes on with. Returns false if the program has ended. */
static bool serve(struct process *process, struct hart *hart)
{
    const unsigned host = hart->hartid;
    bool yields = false, runs;
    system_set_interrupt(&process->system, host, process->irq, false);
    if (process->on[host])
        yields = take_trap(process, process->on[host], hart);
    if (process->user->ended)
        return false;
    runs = threads_choose(process, host, yields);
    if (runs && !process->on[host]->settles)
        signals_deliver(process, process->on[host], hart);
    if (process->user->ended)
        return false;
    follow_tables(process);
    threads_call_hosts(process);
    if (threads_next(process) != LINUX_NEVER)
        system_timer_moved(&process->system);
    return true;
}

static void hook_stub(void *context, struct hart *hart)
{
    struct process *process = context;
    hart_retire_call(hart);
    if (serve(process, hart))
        leave(process, hart);
}

static void hook_door(void *context, struct hart *hart)
{
    struct process *process = context;
    hart_retire_call(hart);
    const struct kernel_visit visit = kernel_enter(process, hart);
    if (serve(process, hart))
        kernel_leave(process, hart, &visit);
}

static void hook_update(void *context)
{
    struct process *process = context;
    alarms_update(process);
    timers_update(process);
    threads_update(process);
}

static bool hook_wait(void *context)
{
    struct process *process = context;
    if (!threads_await_input(process, NULL, LINUX_NEVER))
        return false;
    threads_call_hosts(process);
    return true;
}

static uint64_t hook_next_event(void *context)
{
    const struct process *process = context;
    uint64_t next = threads_next(process);
    if (next == LINUX_NEVER)
        return UINT64_MAX;
    next -= next < process->passed ? next : process->passed;
    return (next + SYSTEM_TICK_NS - 1) / SYSTEM_TICK_NS;
}

static bool hook_marker(void *context, struct hart *hart)
{
    marker_serve(&((struct process *)context)->user->regions, hart);
    return true;
}

static enum hart_stop hook_run(void *context, struct hart *hart, uint64_t max_insns)
{
    return log_run(((struct process *)context)->options->user->log, hart, max_insns);
}

/* Sets a host's hart up as the kernel would: in machine mode in the stub, with address translation in user mode. */
static void set_up_hart(struct process *process, unsigned index)
{
    struct hart *hart = &process->system.harts[index];
    struct priv *priv = &hart->priv;
    hart->semihosting = true;
    hart->pc = process->stub + STUB_IDLE;
    if (index >= process->hosts)
        return; /* it sleeps for ever */
    priv->mtvec = process->stub;
    priv->mie = IRQ_BIT(process->irq);
    priv->satp = (uint64_t)SATP_SV39 << SATP_MODE_SHIFT | process->space.root / FRAME;
    priv->pmpcfg[0] = PMP_NAPOT | PMP_R | PMP_W | PMP_X;
    priv->pmpaddr[0] = UINT64_MAX >> 10;
    priv->mcounteren = priv->scounteren = 7; /* cycle, time, instret */
    priv->menvcfg = priv->senvcfg = ENVCFG_CBZE | ENVCFG_CBCFE | (ENVCFG_CBIE & 1 << 4);
    priv->mstatus = MSTATUS_FS;
    if (process->options->kernel)
        kernel_set_up_hart(process, hart);
    priv_changed(hart);
}

static bool make_harts(struct process *process, struct error *err)
{
    const struct linux_options *o = process->options;
    const struct machine_config *machine = o->machine;
    struct system *system = &process->system;
    process->decoder = decoder_new_for(machine->isa);
    const bool alone = machine->harts == 1 && machine->quantum == QUANTUM_DEFAULT;
    const uint64_t quantum = alone ? QUANTUM_ALONE : machine->quantum;
    if (!system_init(system, (unsigned)machine->harts, quantum, &process->all, process->decoder, err))
        return false;
    system->max_insns = o->user->max_insns;
    if (process->limit.memory)
        system_limit_memory(system, &process->limit);
    for (unsigned i = 0; i < system->count; i++)
        set_up_hart(process, i);
    for (unsigned i = 0; i < process->hosts && process->mirror.shows; i++)
        exec_use_mirror(&system->harts[i], &process->mirror);
    return true;
}

static bool make_tasks(struct process *process, struct error *err)
{
    const struct linux_options *o = process->options;
    struct system *system = &process->system;
    const struct tasks_options tasks = {.tree = o->machine->tree,
                                        .load = elf_load_firmware,
                                        .firmware = o->firmware,
                                        .memory = &process->all,
                                        .harts = system->harts,
                                        .count = system->count,
                                        .bus = &system->bus};
    process->tasks = process->user->tasks = tasks_new(&tasks, err);
    if (!process->tasks)
        return tasks_count(o->machine->tree, o->firmware) == 0;
    const struct phys *own = &process->tasks->memory;
    process->space.kept_out = (struct frame_range){own->base, own->base + own->size};
    return true;
}

static bool start(struct process *process, struct error *err)
{
    struct thread *thread = thread_new(process);
    if (!linux_load(process, &thread->context, err))
        return false;
    follow_tables(process);
    (void)threads_choose(process, 0, false);
    struct hart *hart = &process->system.harts[0];
    process->fence[0] = false;
    hart->pc = hart->priv.mepc;
    hart->privilege = PRIV_U;
    if (process->options->kernel)
        kernel_begin(process, hart);
    priv_changed(hart);
    return true;
}

/* Makes memory. Without a clock, harts access it through a mirror; logs do not need it, limits of memory have to see the first
 * store to each page, and the kernel lies outside of it. */
static bool make_memory(struct process *process, struct error *err)
{
    const struct linux_options *o = process->options;
    const struct memory_config *memory = o->machine->memory;
    if (machine_timed(o->machine) || o->user->log || o->user->max_memory || o->kernel)
        return phys_init(&process->all, memory->base, memory->size, err);
    if (!phys_init_shared(&process->all, memory->base, memory->size, &process->memory_file, err))
        return false;
    mirror_init(&process->mirror, &process->all, process->memory_file, SPACE_END + FRAME);
    return true;
}

static bool set_up(struct process *process, struct error *err)
{
    const struct linux_options *o = process->options;
    const struct machine_config *machine = o->machine;
    if (o->user->sysroot && !sandbox_open(&process->sysroot, o->user->sysroot, err))
        return error_set(err, "--sysroot: cannot use '%s' as the folder of libraries: %s", o->user->sysroot,
                         strerror(errno));
    process->sysroot.is_top = true;
    if (!make_memory(process, err))
        return false;
    if (o->user->max_memory && !memory_limit_init(&process->limit, &process->all, o->user->max_memory, err))
        return false;
    process->memory = tasks_program_memory(machine->tree, o->firmware, &process->all);
    process->hosts = count_hosts(o);
    process->stub = process->memory.base;
    memcpy(phys_at(&process->memory, process->stub, sizeof stub_code), stub_code, sizeof stub_code);
    process->irq = o->kernel ? IRQ_SSI : IRQ_MSI;
    if (o->kernel && !kernel_load_image(process, err))
        return false;
    const uint64_t frames = o->kernel ? process->hosts : 0;
    if (!address_space_init(&process->space, &process->memory, process->stub + FRAME * (1 + frames),
                            process->mirror.shows ? &process->mirror : NULL, err) ||
        !make_harts(process, err))
        return false;
    if (o->kernel)
        kernel_map(process);
    process->user = guest_new(&process->system.harts[0], &process->memory, o->user, err);
    if (!process->user)
        return false;
    process->user->pages = kernel_pages_new(&process->system.harts[0]);
    process->user->name_outer = path_name_outer;
    process->user->outer = process;
    kernel_pages_set_ranges(process->user->pages, process->space.ranges);
    launches_init(process);
    if (!make_tasks(process, err) || !start(process, err))
        return false;
    process->system.hooks = (struct system_hooks){.run = o->user->log ? hook_run : NULL,
                                                  .marker = hook_marker,
                                                  .semihosting = o->kernel ? hook_door : hook_stub,
                                                  .update = hook_update,
                                                  .next_event = hook_next_event,
                                                  .wait = hook_wait,
                                                  .context = process};
    return true;
}

struct process *linux_new(const struct linux_options *options, struct error *err)
{
    struct process *process = alloc(1, sizeof *process);
    process->options = options;
    process->sysroot.root = process->memory_file = -1;
    process->next_id = GUEST_PROCESS_ID;
    process->timers_due = LINUX_NEVER;
    for (unsigned which = 0; which < LINUX_ALARMS; which++)
        process->alarms[which].deadline = LINUX_NEVER;
    process->umask = 022;
    limits_init(process);
    if (set_up(process, err))
        return process;
    linux_free(process);
    return NULL;
}

void linux_free(struct process *process)
{
    if (!process)
        return;
    for (struct thread *thread = process->threads, *next; thread; thread = next) {
        next = thread->next;
        free(thread->input);
        free(thread);
    }
    if (process->user) {
        threads_free(process->user->threads);
        kernel_pages_free(process->user->pages);
        guest_free(process->user);
    }
    sandbox_close(&process->sysroot);
    address_space_free(&process->space);
    if (process->system.harts)
        system_free(&process->system);
    tasks_free(process->tasks);
    decoder_free(process->decoder);
    memory_limit_free(&process->limit);
    mirror_free(&process->mirror);
    if (process->memory_file >= 0)
        (void)close(process->memory_file);
    phys_free(&process->all);
    free(process->executable);
    free(process->bound_names);
    shared_free(process);
    free(process);
}

struct system *linux_system(struct process *process)
{
    return &process->system;
}

struct tasks *linux_tasks(const struct process *process)
{
    return process->tasks;
}

/* Returns the exit status of a program whose threads all wait for something that never comes. */
static int report_stuck(const struct process *process)
{
    if (threads_next(process) != LINUX_NEVER)
        return fault_asleep(process->user, process->thread_count > 1);
    fprintf(stderr, "croft: %s: all %u threads wait for ever\n", process->options->user->program,
            process->thread_count);
    return 1;
}

static int finish(struct process *process, enum system_stop stop)
{
    struct user *user = process->user;
    user->hart = &process->system.harts[process->system.current];
    if (user->hart->privilege == PRIV_M) /* report the program's pc */
        user->hart->pc = user->hart->priv.mepc;
    if (user->hart->privilege == PRIV_S)
        user->hart->pc = user->hart->priv.sepc;
    if (guest_interrupted(user)) /* also while all threads waited for input */
        return fault_interrupt(user);
    if (stop == SYSTEM_STUCK)
        return report_stuck(process);
    if (stop == SYSTEM_FULL)
        return fault_memory(user, user->hart->pc);
    return stop == SYSTEM_EXPIRED ? fault_time(user) : fault_limit(user);
}

int linux_finish(struct process *process, enum system_stop stop)
{
    if (stop == SYSTEM_EXIT)
        return process->system.status;
    const int status = finish(process, stop);
    threads_tell_wait(process->user->threads);
    return status;
}
