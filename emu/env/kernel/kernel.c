#include "emu/env/kernel.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/debug/log.h"
#include "emu/dev/clint.h"
#include "emu/dev/node.h"
#include "emu/env/guest/fault.h"
#include "emu/env/guest/guest.h"
#include "emu/env/guest/kernel_pages.h"
#include "emu/env/guest/region.h"
#include "emu/env/kernel/load.h"
#include "emu/env/loader/elf.h"
#include "emu/env/tasks_part.h"
#include "emu/env/threads.h"
#include "emu/sim/alloc.h"
#include "emu/sim/text/say.h"
#include "isa/include/croft/door.h"

enum { A0 = 10, A1 = 11, A2 = 12, A3 = 13 };

struct kernel {
    const struct kernel_options *options;
    struct phys all, memory; /* memory: the kernel's part of `all` */
    struct memory_limit limit;
    struct tasks *tasks; /* NULL: no accelerator takes tasks */
    struct decoder *decoder;
    struct system system;
    struct kernel_layout layout;
    struct user *user;
    bool faulted; /* the run ends, because the program cannot continue after the trap of `fault` */
    struct kernel_frame fault;
    uint64_t slept; /* by the program before the current call, in ns */
    /* Sends the hosts' software interrupts; NULL: there is one host. */
    struct clint *clint;
    struct software_wire {
        struct system *system;
        unsigned hart;
    } wires[KERNEL_HOSTS];
};

/* The kernel's registers while the hart holds the program's. */
struct registers {
    uint64_t x[32], pc;
};

/* Loads the program's state into the hart, where calls and reports read it, and returns the kernel's. */
static struct registers show_program(struct hart *hart, const struct kernel_frame *frame)
{
    struct registers kept = {.pc = hart->pc};
    memcpy(kept.x, hart->x, sizeof kept.x);
    memcpy(hart->x, frame->x, sizeof frame->x);
    hart->pc = frame->pc;
    return kept;
}

static void show_kernel(struct hart *hart, const struct registers *kept)
{
    memcpy(hart->x, kept->x, sizeof kept->x);
    hart->pc = kept->pc;
}

/* Gives the kernel the registers of the region that has stopped at a call, in the task that began at the
 * frame's pc. */
static void show_region(struct kernel *kernel, struct kernel_frame *frame)
{
    struct hart *hart = kernel->user->hart;
    struct tasks_region region;
    struct registers kept = show_program(hart, frame);
    unsigned accelerator;
    uint64_t pc;
    bool serves = tasks_fault(kernel->tasks, hart, &accelerator, &pc) &&
                  region_call(kernel->user, accelerator, &region);
    show_kernel(hart, &kept);
    frame->accelerator = serves ? accelerator + 1 : 0;
    if (!serves)
        return;
    memcpy(frame->x, region.x, sizeof frame->x);
    frame->pc = pc;
}

static void answer_region(struct kernel *kernel, const struct kernel_frame *frame)
{
    kernel->tasks->ops->answer(kernel->tasks, (unsigned)frame->accelerator - 1, frame->x[A0]);
}

static void serve_call(struct kernel *kernel, struct kernel_frame *frame)
{
    struct user *user = kernel->user;
    struct registers kept = show_program(user->hart, frame);
    struct tasks_region region;
    guest_cpu_run(
        user, user->hart->hartid); /* the kernel begins threads itself: they are seen by their first call */
    if (frame->accelerator > 0 && region_call(user, (unsigned)frame->accelerator - 1, &region))
        user->region_stack = region.stack;
    if (!threads_call_open(user->threads))
        kernel->slept = user->slept;
    if (frame->thread_call)
        threads_answer(user->threads, frame->thread_arguments[0]);
    frame->thread_call = 0;
    int64_t result = threads_call(user);
    struct kernel_missing missing = kernel_pages_settle(user->pages, true);
    user->region_stack = (struct phys){0};
    show_kernel(user->hart, &kept);
    if (threads_call_open(user->threads))
        return; /* the launch continues: the call is served again */
    /* Repeating is safe: a call checks all its pointers before it has effects. */
    bool again = result == -EFAULT && missing.length > 0;
    uint64_t asked[7];
    if (threads_ask(user->threads, asked)) {
        frame->thread_call = asked[0];
        memcpy(frame->thread_arguments, asked + 1, sizeof frame->thread_arguments);
        again = true;
    }
    frame->waits = threads_wait(user->threads) ? KERNEL_WAITS : 0;
    if (threads_turn(user->threads)) {
        frame->waits = KERNEL_TURN;
        system_end_turn(&kernel->system);
    }
    again = again || frame->waits;
    frame->missing = missing.address;
    frame->missing_size = again && !frame->thread_call && !frame->waits ? missing.length : 0;
    frame->missing_write = missing.write;
    frame->sleep = user->slept - kernel->slept;
    if (user->ended)
        system_exit(&kernel->system, user->status);
    else if (!again)
        frame->x[A0] = (uint64_t)result;
}

/* Ends the run; kernel_finish() reports the fault, when a debugger has shown it. */
static void take_fault(struct kernel *kernel, const struct kernel_frame *frame)
{
    kernel->faulted = true;
    kernel->fault = *frame;
    system_exit(&kernel->system, 1);
}

static struct trap trap_of(const struct kernel_frame *frame)
{
    return (struct trap){(enum trap_cause)frame->cause, frame->value};
}

static int report_fault(const struct kernel *kernel)
{
    const struct kernel_frame *frame = &kernel->fault;
    struct hart *hart = kernel->user->hart;
    struct registers kept = show_program(hart, frame);
    hart->trap = trap_of(frame);
    bool task = frame->accelerator > 0;
    int status = task ? fault_report_task(kernel->user, (unsigned)frame->accelerator - 1, frame->task_pc)
                      : fault_report(kernel->user);
    show_kernel(hart, &kept);
    return status;
}

static void report_full(struct kernel *kernel, const struct kernel_frame *frame)
{
    char text[SYMBOLS_TEXT];
    fprintf(stderr,
            "croft: %s: memory is full: no page is left for 0x%" PRIx64 ", needed at 0x%" PRIx64
            ", %s; enlarge memory.size (%" PRIu64 " KiB)\n",
            kernel->options->user->program, frame->value, frame->pc,
            symbols_describe(kernel->user->symbols, frame->pc, text, sizeof text),
            kernel->memory.size / 1024);
    system_exit(&kernel->system, 128 + SIGKILL);
}

/* Counts an instruction whose operands the driver found malformed, and warns once for each place. */
static void report_malformed(struct kernel *kernel, const struct kernel_frame *frame)
{
    char text[SYMBOLS_TEXT];
    struct error warning;
    if (kernel->tasks->ops->malformed(kernel->tasks, frame->value, frame->pc, &warning))
        guest_warn(kernel->user, "%s: %s",
                   symbols_describe(kernel->user->symbols, frame->pc, text, sizeof text), warning.text);
}

static void report_timeout(struct kernel *kernel, const struct kernel_frame *frame)
{
    char place[SYMBOLS_TEXT], text[TASKS_TEXT];
    (void)symbols_describe(kernel->user->symbols, frame->pc, place, sizeof place);
    kernel->tasks->ops->timeout(kernel->tasks, frame, place, text);
    uint64_t pc = kernel->tasks->harts[frame->value].pc;
    fprintf(stderr, "croft: %s: %s; its pc is 0x%" PRIx64 ", %s\n", kernel->options->user->program, text, pc,
            symbols_describe(kernel->user->symbols, pc, place, sizeof place));
    system_exit(&kernel->system, USER_STATUS_LIMIT);
}

static void report_panic(struct kernel *kernel, const struct hart *hart)
{
    say("the kernel has failed: operation 0x%" PRIx64 " at 0x%" PRIx64 ", cause %" PRIu64 " at pc 0x%" PRIx64
        ", value 0x%" PRIx64 " (%s)",
        hart->x[A0], hart->pc, hart->x[A1], hart->x[A2], hart->x[A3], kernel->options->image);
    system_exit(&kernel->system, 1);
}

static void hook_door(void *context, struct hart *hart)
{
    struct kernel *kernel = context;
    kernel->user->hart = hart;
    uint64_t operation = hart->x[A0];
    void *frame = phys_at(&kernel->memory, hart->x[A1], sizeof(struct kernel_frame));
    void *ranges = phys_at(&kernel->memory, hart->x[A1], sizeof(struct croft_range_table));
    if (operation == DOOR_START && ranges) {
        kernel_pages_set_ranges(kernel->user->pages, ranges);
        tasks_set_ranges(kernel->tasks, hart->x[A1]);
    } else if (operation == DOOR_CALL && frame)
        serve_call(kernel, frame);
    else if (operation == DOOR_FAULT && frame)
        take_fault(kernel, frame);
    else if (operation == DOOR_FULL && frame)
        report_full(kernel, frame);
    else if (operation == DOOR_MALFORMED && frame && kernel->tasks)
        report_malformed(kernel, frame);
    else if (operation == DOOR_TIMEOUT && frame && kernel->tasks)
        report_timeout(kernel, frame);
    else if (operation == DOOR_REGION && frame)
        show_region(kernel, frame);
    else if (operation == DOOR_ANSWER && frame && kernel->tasks)
        answer_region(kernel, frame);
    else if (operation == DOOR_THREADS && frame && kernel->user->threads)
        threads_need(kernel->user->threads, frame);
    else if (operation == DOOR_FORGET && kernel->user->threads)
        threads_forget(kernel->user->threads);
    else
        report_panic(kernel, hart);
    if (!threads_call_open(kernel->user->threads))
        hart_retire_call(hart);
}

static enum hart_stop hook_run(void *context, struct hart *hart, uint64_t max_insns)
{
    struct log *log = ((struct kernel *)context)->options->user->log;
    return log_run(log, hart, max_insns);
}

static bool hook_marker(void *context, struct hart *hart)
{
    marker_serve(&((struct kernel *)context)->user->regions, hart);
    return true;
}

/* Places the threads' stacks at the end of the kernel's memory. */
static bool take_stacks(struct kernel *kernel, struct error *err)
{
    const struct launch_options *simt = kernel->options->user->simt;
    uint64_t bytes = simt ? (launch_stack_bytes(simt) + 4095) / 4096 * 4096 : 0;
    if (bytes >= kernel->memory.size)
        return error_set(err,
                         "the stacks of threads take %" PRIu64 " KiB; enlarge memory.size (%" PRIu64 " KiB)",
                         bytes / 1024, kernel->memory.size / 1024);
    kernel->memory.size -= bytes;
    return true;
}

static void give_threads(struct kernel *kernel)
{
    const struct user_options *user = kernel->options->user;
    if (!user->simt)
        return;
    kernel->user->threads =
        threads_new(kernel->user, user->simt, &kernel->all, kernel->memory.base + kernel->memory.size,
                    &kernel->system, kernel_hosts(kernel->options));
    if (user->stats)
        threads_publish(kernel->user->threads, user->stats);
}

static void set_software(void *context, unsigned number, bool level)
{
    const struct software_wire *wire = context;
    system_set_interrupt(wire->system, wire->hart, number, level);
}

static uint64_t ticks_now(void *context)
{
    return system_time(context);
}

/* Adds the machine's CLINT if there are several hosts. The kernel uses only its software interrupts. */
static bool connect_hosts(struct kernel *kernel, unsigned hosts, struct error *err)
{
    const struct device_config *described = kernel->options->machine->devices.clint;
    struct irq_line software[KERNEL_HOSTS], timer[KERNEL_HOSTS] = {0};
    if (hosts < 2)
        return true;
    for (unsigned hart = 0; hart < hosts; hart++) {
        kernel->wires[hart] = (struct software_wire){&kernel->system, hart};
        software[hart] =
            (struct irq_line){.set = set_software, .context = &kernel->wires[hart], .number = NODE_MSI};
    }
    const struct timebase timebase = {.now = ticks_now, .context = &kernel->system};
    kernel->clint = clint_new(hosts, &timebase, software, timer);
    const struct bus_region region = {.base = described->base,
                                      .size = CLINT_SIZE,
                                      .sizes = CLINT_ACCESS,
                                      .ops = &clint_ops,
                                      .device = kernel->clint,
                                      .name = "clint"};
    return bus_add(&kernel->system.bus, &region, err) ||
           tree_at(kernel->options->machine->tree, tree_find(kernel->options->machine->tree, "devices.clint"),
                   "base", err);
}

static bool set_up(struct kernel *kernel, struct error *err)
{
    const struct kernel_options *o = kernel->options;
    const struct machine_config *machine = o->machine;
    struct system *system = &kernel->system;
    if (!phys_init(&kernel->all, machine->memory->base, machine->memory->size, err))
        return false;
    if (o->user->max_memory && !memory_limit_init(&kernel->limit, &kernel->all, o->user->max_memory, err))
        return false;
    kernel->memory = tasks_program_memory(machine->tree, o->firmware, &kernel->all);
    if (!take_stacks(kernel, err))
        return false;
    if (!kernel_load(o, &kernel->memory, &kernel->layout, err))
        return false;
    kernel->decoder = decoder_new_for(machine->isa);
    if (!system_init(system, (unsigned)machine->harts, machine->quantum, &kernel->all, kernel->decoder, err))
        return false;
    system->max_insns = o->user->max_insns;
    if (kernel->limit.memory)
        system_limit_memory(system, &kernel->limit);
    if (!connect_hosts(kernel, kernel_hosts(o), err))
        return false;
    for (unsigned i = 0; i < system->count; i++) {
        struct hart *hart = &system->harts[i];
        hart->hardware_ad = machine->mmu->ad == MMU_AD_HARDWARE;
        hart->semihosting = true;
        hart->pc = kernel->layout.kernel_entry;
        hart->x[A0] = i;
        hart->x[A1] = kernel->layout.boot;
    }
    kernel->user = guest_new(&system->harts[0], &kernel->memory, o->user, err);
    if (!kernel->user)
        return false;
    kernel->user->stack_first = kernel->layout.stack_first;
    kernel->user->pages = kernel_pages_new(&system->harts[0]);
    give_threads(kernel);
    const struct tasks_options tasks = {.tree = machine->tree,
                                        .load = elf_load_firmware,
                                        .firmware = o->firmware,
                                        .memory = &kernel->all,
                                        .harts = system->harts,
                                        .count = system->count,
                                        .bus = &system->bus};
    kernel->user->tasks = kernel->tasks = tasks_new(&tasks, err);
    kernel->user->host_count = system->count - (kernel->tasks ? kernel->tasks->count : 0);
    guest_cpu_init(kernel->user);
    if (!kernel->tasks)
        return tasks_count(machine->tree, o->firmware) == 0;
    const void *boot = phys_at(&kernel->memory, kernel->layout.boot, sizeof(struct kernel_boot));
    if (o->user->stats)
        kernel->tasks->ops->publish(kernel->tasks, boot, o->user->stats);
    return true;
}

struct kernel *kernel_new(const struct kernel_options *options, struct error *err)
{
    struct kernel *kernel = alloc(1, sizeof *kernel);
    kernel->options = options;
    if (!set_up(kernel, err)) {
        kernel_free(kernel);
        return NULL;
    }
    kernel->system.hooks = (struct system_hooks){.run = options->user->log ? hook_run : NULL,
                                                 .marker = hook_marker,
                                                 .semihosting = hook_door,
                                                 .context = kernel};
    return kernel;
}

void kernel_free(struct kernel *kernel)
{
    if (!kernel)
        return;
    if (kernel->user)
        kernel_pages_free(kernel->user->pages);
    user_free(kernel->user);
    system_free(&kernel->system);
    tasks_free(kernel->tasks);
    clint_free(kernel->clint);
    decoder_free(kernel->decoder);
    memory_limit_free(&kernel->limit);
    phys_free(&kernel->all);
    free(kernel);
}

struct system *kernel_system(struct kernel *kernel)
{
    return &kernel->system;
}

struct tasks *kernel_tasks(const struct kernel *kernel)
{
    return kernel->tasks;
}

struct threads *kernel_threads(const struct kernel *kernel)
{
    return kernel->user->threads;
}

const struct croft_range_table *kernel_ranges(const struct kernel *kernel)
{
    return kernel_pages_ranges(kernel->user->pages);
}

bool kernel_fault(const struct kernel *kernel, enum system_stop stop, struct user_fault *fault)
{
    const struct user *user = kernel->user;
    const struct kernel_frame *frame = &kernel->fault;
    uint64_t pc;
    if (stop != SYSTEM_EXIT || !kernel->faulted)
        return false;
    *fault = (struct user_fault){.trap = trap_of(frame),
                                 .hart = user->hart,
                                 .pc = frame->pc,
                                 .task = frame->accelerator > 0,
                                 .accelerator = (unsigned)frame->accelerator - 1,
                                 .over = true};
    memcpy(fault->x, frame->x, sizeof fault->x);
    if (!fault->task) {
        struct registers kept = show_program(user->hart, frame);
        fault->task = tasks_fault(kernel->tasks, user->hart, &fault->accelerator, &pc);
        show_kernel(user->hart, &kept);
    }
    return true;
}

bool kernel_restart(void *kernel, struct error *err)
{
    (void)kernel;
    return error_set(err, "--env kernel cannot restart a program; run croft again");
}

static int finish(struct kernel *kernel, enum system_stop stop)
{
    struct hart *hart = kernel->user->hart;
    if (stop == SYSTEM_EXIT)
        return kernel->faulted ? report_fault(kernel) : kernel->system.status;
    if (stop == SYSTEM_STUCK)
        return fault_asleep(kernel->user, kernel_hosts(kernel->options) > 1);
    if (hart->privilege == PRIV_S) /* report the program's pc */
        hart->pc = hart->priv.sepc;
    if (guest_interrupted(kernel->user))
        return fault_interrupt(kernel->user);
    if (stop == SYSTEM_FULL)
        return fault_memory(kernel->user, hart->privilege == PRIV_S ? hart->pc : kernel->system.full_pc);
    if (stop == SYSTEM_LIMIT && threads_call_open(kernel->user->threads))
        return threads_report_limit(kernel->user->threads);
    return stop == SYSTEM_EXPIRED ? fault_time(kernel->user) : fault_limit(kernel->user);
}

int kernel_finish(struct kernel *kernel, enum system_stop stop)
{
    int status = finish(kernel, stop);
    if (stop != SYSTEM_EXIT)
        threads_tell_wait(kernel->user->threads);
    if (threads_call_open(kernel->user->threads))
        hart_retire_call(kernel->user->hart);
    return status;
}
