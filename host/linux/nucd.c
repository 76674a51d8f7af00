// SPDX-License-Identifier: GPL-2.0
/* /dev/nucd: gives processes of Linux the accelerators of machine nucd (nucd_device.h).
 *
 * The processor traps at nucd (nucd.mode=driver), which Linux makes a SIGILL; the library asks this module to serve it. The module
 * sends the region to an accelerator as our own kernel's driver does (host/kernel/driver): pins what the operands name, cleans
 * it, writes the packet to a task unit and waits. An accelerator has tasks of one process at a time and translates by that
 * process's ranges alone. Processes get accelerators in the order in which they begin to wait; a process sends more behind its
 * own tasks only if nobody waits.
 *
 * Interrupts wake those who wait and the worker, which serves faults of regions: in the process's memory, even if the process
 * sleeps or runs elsewhere. What the process may not access becomes a signal. When a process ends, by whatever cause, its tasks are killed, and
 * its memory goes only when no accelerator has any of it in its cache. */
#include <linux/delay.h>
#include <linux/interrupt.h>
#include <linux/io.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/of.h>
#include <linux/platform_device.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include <asm/csr.h>

#include "host/linux/decode.h"
#include "host/linux/module.h"
#include "isa/include/croft/nucd_bits.h"
#include "isa/include/croft/task_unit.h"

enum { UNITS_MAX = 64, JOBS = 256 };

static unsigned int poll_us = 50;
module_param(poll_us, uint, 0644);
MODULE_PARM_DESC(poll_us, "how long a process polls for a task before it sleeps until the interrupt, in us");

/* A task that was sent and is not known to be complete. */
struct job {
    struct list_head link; /* of the process, oldest first */
    struct unit *unit;
    u64 number; /* of the unit's tasks */
    unsigned lines, result;
    u64 value; /* the result, when complete */
    struct decode_task task;
    bool complete;
};

struct process {
    struct device_state *device;
    struct pages pages;
    struct mutex lock;          /* one call at a time */
    struct list_head jobs;      /* under the device's lock */
    struct list_head waits;     /* in the device's list of those who wait for a unit */
    struct list_head all;       /* in the device's list */
    struct task_struct *thread; /* that called last: gets the signals */
    bool in_call;               /* between the marks of a call */
    bool failed;                /* a task has raised a signal: none that was sent before is valid */
    bool dying;
    u32 fflags;
    struct nucd_counters counters;
};

struct unit {
    struct task_unit_host __iomem *regs;
    struct process *owner;  /* of the tasks that it has */
    u64 sent, done;         /* tasks since the module was loaded */
    u64 base;               /* DONE at that time */
    unsigned lines;         /* in use */
    struct process *mapped; /* whose ranges it has; NULL: nobody's */
    u64 cuts;               /* at that time */
    int irq;
};

struct device_state {
    spinlock_t lock;
    wait_queue_head_t wait;
    struct list_head waits, processes;
    struct work_struct work;
    struct miscdevice misc;
    unsigned count, lines, capabilities;
    struct croft_range_table *nobody; /* an empty table */
    struct unit units[UNITS_MAX];
};

static u64 get(const struct unit *unit, size_t offset)
{
    return readq((char __iomem *)unit->regs + offset);
}

static void put(const struct unit *unit, size_t offset, u64 value)
{
    writeq(value, (char __iomem *)unit->regs + offset);
}
#define GET(unit, field)        get(unit, offsetof(struct task_unit_host, field))
#define PUT(unit, field, value) put(unit, offsetof(struct task_unit_host, field), value)

static void complete_jobs(struct unit *unit)
{
    struct process *process = unit->owner;
    struct job *job;
    u64 flags = GET(unit, fflags);
    if (flags) {
        PUT(unit, fflags, flags);
        process->fflags |= flags;
    }
    list_for_each_entry(job, &process->jobs, link)
    {
        if (job->complete || job->unit != unit || job->number > unit->done)
            continue;
        if (job->result)
            job->value = GET(unit, result); /* no other task was sent behind it */
        unit->lines -= job->lines;
        job->complete = true;
    }
}

/* Looks at what the unit has completed. Returns whether its task waits for an answer to a fault, or is to be killed. The lock is
 * held. */
static bool poll_unit(struct unit *unit)
{
    u64 done;
    if (!unit->owner)
        return false;
    done = GET(unit, done) - unit->base;
    if (done != unit->done) {
        unit->done = done;
        complete_jobs(unit);
    }
    if (unit->done == unit->sent) {
        unit->owner = NULL;
        return false;
    }
    return unit->owner->dying || unit->owner->failed ||
           (GET(unit, status) & TASK_UNIT_STATE_MASK) == TASK_UNIT_FAULTED;
}

static bool poll_units(struct device_state *device)
{
    bool faulted = false;
    unsigned i;
    for (i = 0; i < device->count; i++)
        faulted |= poll_unit(&device->units[i]);
    return faulted;
}

static irqreturn_t interrupt(int irq, void *context)
{
    struct device_state *device = context;
    unsigned long flags;
    bool faulted;
    unsigned i;
    spin_lock_irqsave(&device->lock, flags);
    for (i = 0; i < device->count; i++)
        if (device->units[i].irq == irq)
            PUT(&device->units[i], control, TASK_UNIT_ACKNOWLEDGE);
    faulted = poll_units(device);
    spin_unlock_irqrestore(&device->lock, flags);
    if (faulted)
        schedule_work(&device->work);
    wake_up_all(&device->wait);
    return IRQ_HANDLED;
}

static void send_signal(struct process *process, int number, int code, unsigned long address)
{
    struct kernel_siginfo info;
    clear_siginfo(&info);
    info.si_signo = number;
    info.si_code = code;
    info.si_addr = (void __user *)address;
    send_sig_info(number, &info, process->thread);
}

/* Tells the process what the host would have been told. `mapped`: it has something at the address. */
static void raise(struct process *process, u64 cause, u64 value, u64 pc, bool mapped)
{
    switch (cause) {
    case EXC_INST_PAGE_FAULT:
    case EXC_LOAD_PAGE_FAULT:
    case EXC_STORE_PAGE_FAULT:
        send_signal(process, SIGSEGV, mapped ? SEGV_ACCERR : SEGV_MAPERR, value);
        break;
    case EXC_BREAKPOINT: send_signal(process, SIGTRAP, TRAP_BRKPT, pc); break;
    case EXC_LOAD_MISALIGNED:
    case EXC_STORE_MISALIGNED: send_signal(process, SIGBUS, BUS_ADRALN, value); break;
    case EXC_SYSCALL: send_signal(process, SIGSYS, SI_KERNEL, pc); break;
    case EXC_INST_ILLEGAL:
    case CROFT_NUCD_CAUSE_LEFT: send_signal(process, SIGILL, ILL_ILLOPC, pc); break;
    default: send_signal(process, SIGBUS, BUS_ADRERR, value);
    }
    pr_info_ratelimited("nucd: %s[%d]: a region at 0x%llx: cause %llu, value 0x%llx\n", process->thread->comm,
                        process->thread->pid, pc, cause, value);
}

/* Kills what the unit does and has in its queue. The lock is held; it may take several calls. */
static void kill_tasks(struct unit *unit)
{
    u64 state = GET(unit, status) & TASK_UNIT_STATE_MASK;
    if (unit->done != unit->sent && state != TASK_UNIT_IDLE)
        PUT(unit, control, TASK_UNIT_KILL);
}

static void kill_all(struct process *process)
{
    struct device_state *device = process->device;
    unsigned i;
    for (i = 0; i < device->count; i++)
        if (device->units[i].owner == process)
            kill_tasks(&device->units[i]);
}

static const struct job *running(const struct unit *unit)
{
    const struct job *job;
    list_for_each_entry(job, &unit->owner->jobs,
                        link) if (job->unit == unit && job->number == unit->done + 1) return job;
    return NULL;
}

static bool is_oldest(const struct process *process, const struct job *job)
{
    const struct job *older;
    list_for_each_entry(older, &process->jobs, link)
    {
        if (older == job)
            return true;
        if (!older->complete)
            return false;
    }
    return true;
}

/* Serves the fault at which the unit's task has stopped. The lock is held, and released meanwhile. */
static void serve_fault(struct device_state *device, struct unit *unit)
{
    static const u8 permissions[] = {[EXC_INST_PAGE_FAULT] = CROFT_RANGE_EXECUTE,
                                     [EXC_LOAD_PAGE_FAULT] = CROFT_RANGE_READ,
                                     [EXC_STORE_PAGE_FAULT] = CROFT_RANGE_WRITE};
    struct process *process = unit->owner;
    const struct job *job = running(unit);
    u64 cause = GET(unit, cause), value = GET(unit, value), number = unit->done;
    u32 wanted = cause < ARRAY_SIZE(permissions) ? permissions[cause] : 0;
    bool mapped = false;
    unsigned long failed;
    int status = -EFAULT;
    u64 pc;
    if (process->dying || process->failed || !job)
        return;
    pc = job->task.begin + GET(unit, offset);
    if (cause == CROFT_NUCD_CAUSE_ORDER) {
        if (is_oldest(process, job))
            PUT(unit, control, TASK_UNIT_RESUME);
        return;
    }
    if (wanted) {
        spin_unlock_irq(&device->lock);
        status = pages_pin(&process->pages, value, value + 1, wanted, &failed);
        mapped = status && pages_mapped(&process->pages, value);
        spin_lock_irq(&device->lock);
    }
    if (unit->owner != process || unit->done != number || process->dying)
        return;
    process->counters.faults++;
    if (!status) {
        PUT(unit, control, TASK_UNIT_RESUME);
        return;
    }
    process->failed = true;
    kill_all(process);
    if (status == -ENOSPC)
        pr_warn_ratelimited("nucd: %s[%d]: more than %d ranges; use huge pages\n", process->thread->comm,
                            process->thread->pid, CROFT_RANGES_MAX);
    raise(process, cause, value, pc, mapped);
}

static void work(struct work_struct *work)
{
    struct device_state *device = container_of(work, struct device_state, work);
    struct process *process;
    unsigned i;
    spin_lock_irq(&device->lock);
    for (i = 0; i < device->count; i++)
        if (poll_unit(&device->units[i]))
            serve_fault(device, &device->units[i]);
    list_for_each_entry(process, &device->processes, all) if (process->dying || process->failed)
        kill_all(process);
    spin_unlock_irq(&device->lock);
    wake_up_all(&device->wait);
}

/* Returns whether the predicate holds; for those who wait. */
static bool look(struct process *process, bool (*holds)(struct process *process))
{
    struct device_state *device = process->device;
    bool faulted, result;
    spin_lock_irq(&device->lock);
    faulted = poll_units(device);
    result = holds(process);
    spin_unlock_irq(&device->lock);
    if (faulted)
        schedule_work(&device->work);
    return result;
}

/* Waits until the predicate holds: polls first, as a task is often shorter than an interrupt. Returns 0 or -EINTR: the process has
 * been killed. */
static int await(struct process *process, bool (*holds)(struct process *process))
{
    u64 end = ktime_get_ns() + 1000ull * poll_us;
    do {
        if (look(process, holds))
            return 0;
        if (fatal_signal_pending(current))
            return -EINTR;
        cond_resched();
    } while (ktime_get_ns() < end);
    process->counters.sleeps++;
    return wait_event_killable(process->device->wait, look(process, holds)) ? -EINTR : 0;
}

static bool all_complete(struct process *process)
{
    const struct job *job;
    list_for_each_entry(job, &process->jobs, link) if (!job->complete) return false;
    return true;
}

/* Waits for all tasks and makes what they have written visible. */
static int collect(struct process *process)
{
    struct job *job, *next;
    unsigned i;
    int status = list_empty(&process->jobs) ? 0 : await(process, all_complete);
    if (status)
        return status;
    list_for_each_entry_safe(job, next, &process->jobs, link)
    {
        for (i = 0; i < job->task.outs; i++)
            pages_flush(&process->pages, job->task.out[i].first, job->task.out[i].end);
        list_del(&job->link);
        kfree(job);
    }
    pages_drop_stale(&process->pages);
    if (!process->failed)
        return 0;
    process->failed = process->in_call = false;
    return -EINTR;
}

static bool meet(const struct decode_span *a, unsigned as, const struct decode_span *b, unsigned bs)
{
    unsigned i, k;
    for (i = 0; i < as; i++)
        for (k = 0; k < bs; k++)
            if (a[i].first < b[k].end && b[k].first < a[i].end)
                return true;
    return false;
}

static bool conflicts(const struct process *process, const struct decode_task *task)
{
    const struct job *job;
    unsigned count = 0;
    list_for_each_entry(job, &process->jobs, link)
    {
        const struct decode_task *older = &job->task;
        count++;
        if (meet(task->out, task->outs, older->in, older->ins) ||
            meet(task->in, task->ins, older->out, older->outs) ||
            meet(task->out, task->outs, older->out, older->outs))
            return true;
    }
    return count >= JOBS;
}

static bool may_take(const struct process *process, const struct unit *unit, unsigned lines)
{
    bool others = !list_empty(&process->device->waits) && process->device->waits.next != &process->waits;
    if (unit->sent != unit->done && (unit->owner != process || others))
        return false;
    return unit->lines + lines <= process->device->lines;
}

/* Returns the unit with the fewest tasks that may take one of the process; NULL: none. */
static struct unit *choose(struct process *process)
{
    struct device_state *device = process->device;
    struct unit *best = NULL;
    unsigned i;
    for (i = 0; i < device->count; i++) {
        struct unit *unit = &device->units[i];
        if (may_take(process, unit, 2) && (!best || unit->sent - unit->done < best->sent - best->done))
            best = unit;
    }
    return best;
}

static bool has_turn(struct process *process)
{
    return process->device->waits.next == &process->waits && choose(process);
}

static void write_packet(struct unit *unit, const struct decode_task *task)
{
    unsigned lines = (task->count + 7) / 8, line, i;
    for (line = 0; line < lines; line++) {
        for (i = 0; i < 8 && line * 8 + i < task->count; i++)
            put(unit, 8 * i, task->words[line * 8 + i]);
        if (i < 8)
            put(unit, 8 * i, 0); /* no further packet follows */
        PUT(unit, doorbell, lines);
    }
}

/* Gives the task to a unit that takes it. The lock is held. */
static void give(struct process *process, struct unit *unit, struct job *job)
{
    job->unit = unit;
    job->number = ++unit->sent;
    unit->owner = process;
    unit->lines += job->lines;
    list_add_tail(&job->link, &process->jobs);
    if (unit->mapped != process || unit->cuts != process->pages.cuts) {
        unit->mapped = process;
        unit->cuts = process->pages.cuts;
        PUT(unit, ranges, virt_to_phys(process->pages.table));
    }
    write_packet(unit, &job->task);
}

static int send(struct process *process, struct job *job)
{
    struct device_state *device = process->device;
    struct unit *unit;
    int status = 0;
    spin_lock_irq(&device->lock);
    (void)poll_units(device);
    unit = list_empty(&device->waits) ? choose(process) : NULL;
    if (!unit) {
        list_add_tail(&process->waits, &device->waits);
        process->counters.waits++;
        spin_unlock_irq(&device->lock);
        status = await(process, has_turn);
        spin_lock_irq(&device->lock);
        unit = status ? NULL : choose(process);
        list_del_init(&process->waits);
    }
    if (unit)
        give(process, unit, job);
    spin_unlock_irq(&device->lock);
    wake_up_all(&device->wait);
    return unit ? 0 : status ?: -EAGAIN;
}

/* Makes the memory usable that the task names. Ranges may go beyond what is mapped; the region then faults there. */
static int prepare(struct process *process, const struct decode_task *task)
{
    unsigned long failed;
    unsigned i;
    int status = pages_pin(&process->pages, task->begin, task->end, CROFT_RANGE_EXECUTE, &failed);
    for (i = 0; i < task->ins && (!status || status == -EFAULT); i++)
        status = pages_pin(&process->pages, task->in[i].first, task->in[i].end, CROFT_RANGE_READ, &failed);
    for (i = 0; i < task->outs && (!status || status == -EFAULT); i++)
        status = pages_pin(&process->pages, task->out[i].first, task->out[i].end, CROFT_RANGE_WRITE, &failed);
    for (i = 0; i < task->ins; i++)
        pages_flush(&process->pages, task->in[i].first, task->in[i].end);
    for (i = 0; i < task->outs; i++)
        pages_flush(&process->pages, task->out[i].first, task->out[i].end);
    return status == -EFAULT ? 0 : status;
}

/* The process runs the region itself. */
static int refuse(struct process *process, struct nucd_trap *trap)
{
    int status = collect(process);
    if (status)
        return status;
    process->counters.refused++;
    trap->pc += 4;
    return 0;
}

static int serve_task(struct process *process, struct nucd_trap *trap, const struct decode_source *source)
{
    struct job *job = kzalloc(sizeof *job, GFP_KERNEL);
    bool alone = !process->in_call;
    unsigned result;
    int status;
    if (!job)
        return -ENOMEM;
    if (!decode_task(source, &job->task) || prepare(process, &job->task)) {
        kfree(job);
        return refuse(process, trap);
    }
    job->lines = (job->task.count + 7) / 8;
    result = job->result = job->task.result;
    status = conflicts(process, &job->task) ? collect(process) : 0;
    if (!status)
        status = send(process, job);
    if (status) {
        kfree(job);
        return status;
    }
    process->counters.tasks++;
    trap->sent = 1;
    trap->pc = job->task.end;
    if (result) {
        status = await(process, all_complete);
        trap->x[result] = job->value;
    }
    return status ?: result || alone ? collect(process) : 0;
}

static int serve(struct process *process, struct nucd_trap *trap)
{
    const struct decode_source source = {.x = (const unsigned long *)trap->x,
                                         .pc = trap->pc,
                                         .bits = trap->instruction,
                                         .frm = trap->frm & 7,
                                         .capabilities = process->device->capabilities,
                                         .tag = (u16)process->counters.tasks,
                                         .ordered = process->in_call};
    enum decode_kind kind = decode_kind(&source);
    int status;
    trap->sent = 0;
    if (kind == DECODE_NUCD)
        return serve_task(process, trap, &source);
    if (kind == DECODE_OTHER)
        return -EINVAL;
    status = collect(process);
    if (!status) {
        process->in_call = kind == DECODE_MARK_BEGIN;
        trap->pc += 4;
    }
    return status;
}

static long serve_trap(struct process *process, struct nucd_trap __user *user)
{
    struct nucd_trap trap;
    int status;
    if (copy_from_user(&trap, user, sizeof trap))
        return -EFAULT;
    trap.x[0] = 0;
    status = serve(process, &trap);
    if (status)
        return status; /* the flags come with the next answer */
    spin_lock_irq(&process->device->lock);
    trap.fflags = process->fflags;
    process->fflags = 0;
    spin_unlock_irq(&process->device->lock);
    return copy_to_user(user, &trap, sizeof trap) ? -EFAULT : 0;
}

static long pin_span(struct process *process, const struct nucd_span __user *user)
{
    struct nucd_span span;
    unsigned long failed;
    if (copy_from_user(&span, user, sizeof span))
        return -EFAULT;
    return pages_pin(&process->pages, span.address, span.address + span.size, 0, &failed);
}

static long unpin_all(struct process *process)
{
    int status = collect(process);
    if (!status)
        pages_drop(&process->pages);
    return status;
}

static long command(struct process *process, unsigned int number, void __user *user)
{
    const struct nucd_info info = {process->device->count, process->device->lines,
                                   process->device->capabilities, 0};
    switch (number) {
    case NUCD_INFO: return copy_to_user(user, &info, sizeof info) ? -EFAULT : 0;
    case NUCD_TRAP: return serve_trap(process, user);
    case NUCD_PIN: return pin_span(process, user);
    case NUCD_UNPIN: return unpin_all(process);
    case NUCD_COUNTERS:
        process->counters.pages = process->pages.count;
        process->counters.ranges = process->pages.table->count;
        return copy_to_user(user, &process->counters, sizeof process->counters) ? -EFAULT : 0;
    default: return -ENOTTY;
    }
}

/* Signals go to the thread that calls; the worker may be sending one to the last one. */
static void note_thread(struct process *process)
{
    struct task_struct *before = process->thread;
    if (before == current)
        return;
    spin_lock_irq(&process->device->lock);
    process->thread = get_task_struct(current);
    spin_unlock_irq(&process->device->lock);
    put_task_struct(before);
}

static long call(struct file *file, unsigned int number, unsigned long argument)
{
    struct process *process = file->private_data;
    long status;
    if (current->mm != process->pages.mm)
        return -EPERM; /* each process opens the device itself */
    if (mutex_lock_killable(&process->lock))
        return -EINTR;
    note_thread(process);
    status = command(process, number, (void __user *)argument);
    mutex_unlock(&process->lock);
    return status;
}

static void memory_ends(struct pages *pages)
{
    struct process *process = container_of(pages, struct process, pages);
    process->dying = true;
    schedule_work(&process->device->work);
}

static int open(struct inode *inode, struct file *file)
{
    struct device_state *device = container_of(file->private_data, struct device_state, misc);
    struct process *process = kzalloc(sizeof *process, GFP_KERNEL);
    int status;
    if (!process)
        return -ENOMEM;
    process->device = device;
    process->pages.ended = memory_ends;
    mutex_init(&process->lock);
    INIT_LIST_HEAD(&process->jobs);
    INIT_LIST_HEAD(&process->waits);
    status = pages_init(&process->pages, current->mm);
    if (status) {
        kfree(process);
        return status;
    }
    process->thread = get_task_struct(current);
    spin_lock_irq(&device->lock);
    list_add(&process->all, &device->processes);
    spin_unlock_irq(&device->lock);
    file->private_data = process;
    return 0;
}

/* Returns whether no accelerator has anything of the process. A killed task's lines are written back before the next one. */
static bool is_gone(struct process *process)
{
    struct device_state *device = process->device;
    bool gone = true;
    unsigned i;
    kill_all(process);
    for (i = 0; i < device->count; i++) {
        struct unit *unit = &device->units[i];
        if (unit->mapped != process)
            continue;
        if (unit->owner == process || GET(unit, status) & (TASK_UNIT_ANSWERED | TASK_UNIT_EMPTYING)) {
            gone = false;
        } else {
            unit->mapped = NULL;
            PUT(unit, ranges, virt_to_phys(device->nobody));
        }
    }
    return gone;
}

static int release(struct inode *inode, struct file *file)
{
    struct process *process = file->private_data;
    struct device_state *device = process->device;
    struct job *job, *next;
    process->dying = true;
    while (!look(process, is_gone))
        usleep_range(10, 100);
    spin_lock_irq(&device->lock);
    list_del(&process->all);
    spin_unlock_irq(&device->lock);
    flush_work(&device->work);
    list_for_each_entry_safe(job, next, &process->jobs, link) kfree(job);
    pages_free(&process->pages);
    put_task_struct(process->thread);
    kfree(process);
    return 0;
}

static const struct file_operations operations = {
    .owner = THIS_MODULE, .open = open, .release = release, .unlocked_ioctl = call, .llseek = noop_llseek};

/* Per unit: registers and interrupt. Tasks that an earlier owner of the machine left are killed. */
static int add_unit(struct platform_device *platform, struct device_state *device, void __iomem *regs,
                    unsigned i)
{
    struct unit *unit = &device->units[i];
    unit->regs = regs + i * TASK_UNIT_SIZE + TASK_UNIT_PAGE;
    unit->irq = platform_get_irq(platform, i);
    if (unit->irq < 0)
        return unit->irq;
    if ((GET(unit, status) & TASK_UNIT_STATE_MASK) != TASK_UNIT_IDLE)
        PUT(unit, control, TASK_UNIT_KILL);
    PUT(unit, control, TASK_UNIT_ACKNOWLEDGE);
    PUT(unit, fflags, 31);
    PUT(unit, ranges, virt_to_phys(device->nobody));
    unit->base = GET(unit, done);
    return devm_request_irq(&platform->dev, unit->irq, interrupt, 0, "nucd", device);
}

static int prepare_device(struct platform_device *platform, struct device_state *device)
{
    const struct device_node *node = platform->dev.of_node;
    void __iomem *regs = devm_platform_ioremap_resource(platform, 0);
    unsigned i;
    u64 first;
    if (IS_ERR(regs))
        return PTR_ERR(regs);
    if (get_kernel_nofault(first, (u64 __force *)regs))
        return dev_err_probe(&platform->dev, -ENODEV,
                             "nothing answers at the registers: not machine nucd with --firmware?\n");
    if (of_property_read_u32(node, "undercroft,units", &device->count) ||
        of_property_read_u32(node, "undercroft,queue-lines", &device->lines) ||
        of_property_read_u32(node, "undercroft,capabilities", &device->capabilities) ||
        device->count > UNITS_MAX)
        return dev_err_probe(&platform->dev, -EINVAL,
                             "the device tree does not say what the accelerators are\n");
    for (i = 0; i < device->count; i++) {
        int status = add_unit(platform, device, regs, i);
        if (status)
            return dev_err_probe(&platform->dev, status, "unit %u\n", i);
    }
    return 0;
}

static int probe(struct platform_device *platform)
{
    struct device_state *device = devm_kzalloc(&platform->dev, sizeof *device, GFP_KERNEL);
    int status;
    if (!device)
        return -ENOMEM;
    spin_lock_init(&device->lock);
    init_waitqueue_head(&device->wait);
    INIT_LIST_HEAD(&device->waits);
    INIT_LIST_HEAD(&device->processes);
    INIT_WORK(&device->work, work);
    device->nobody = (void *)devm_get_free_pages(&platform->dev, GFP_KERNEL | __GFP_ZERO,
                                                 get_order(sizeof *device->nobody));
    if (!device->nobody)
        return -ENOMEM;
    table_flush(device->nobody, BLOCK);
    status = prepare_device(platform, device);
    if (status)
        return status;
    device->misc =
        (struct miscdevice){.minor = MISC_DYNAMIC_MINOR, .name = "nucd", .fops = &operations, .mode = 0600};
    platform_set_drvdata(platform, device);
    status = misc_register(&device->misc);
    if (!status)
        dev_info(&platform->dev, "%u accelerators\n", device->count);
    return status;
}

static void leave(struct platform_device *platform)
{
    struct device_state *device = platform_get_drvdata(platform);
    misc_deregister(&device->misc);
    cancel_work_sync(&device->work);
}

static const struct of_device_id ids[] = {{.compatible = "undercroft,nucd"}, {}};
MODULE_DEVICE_TABLE(of, ids);

static struct platform_driver nucd_driver = {
    .probe = probe,
    .remove = leave,
    .driver = {.name = "nucd", .of_match_table = ids, .suppress_bind_attrs = true}};
module_platform_driver(nucd_driver);

MODULE_DESCRIPTION("accelerators of Undercroft's machine nucd for processes");
MODULE_LICENSE("GPL");
