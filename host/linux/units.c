// SPDX-License-Identifier: GPL-2.0
/* Task units as the module nucd uses them: who gets one, what it has completed, faults, and kills.
 *
 * Interrupts wake those who wait and the worker, which serves faults of regions: in the process's memory, even if the process
 * sleeps or runs elsewhere. What the process may not access becomes a signal of the thread that has sent the task. A unit counts a
 * task as done when it is killed; its core leaves the region later, and then writes its cache back. Until then nobody else gets
 * the unit, and no page of the process is released. The worker looks until it is so, because no interrupt tells. */
#include "host/linux/units.h"

#include <linux/delay.h>
#include <linux/interrupt.h>
#include <linux/io.h>
#include <linux/moduleparam.h>
#include <linux/sched/signal.h>

#include <asm/csr.h>

#include "isa/include/croft/nucd_bits.h"

static unsigned int poll_us = 50;
module_param(poll_us, uint, 0644);
MODULE_PARM_DESC(poll_us, "how long a process polls for a task before it sleeps until the interrupt, in us");

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
    struct caller *caller = unit->owner;
    struct job *job;
    u64 flags = GET(unit, fflags);
    if (flags) {
        PUT(unit, fflags, flags);
        caller->fflags |= flags;
    }
    list_for_each_entry(job, &caller->process->jobs, link)
    {
        if (job->complete || job->unit != unit || job->number > unit->done)
            continue;
        if (job->result)
            job->value = GET(unit, result); /* no other task was sent behind it */
        unit->lines -= job->lines;
        job->complete = true;
    }
}

/* Returns whether the unit's tasks are to be killed. */
static bool is_doomed(const struct unit *unit)
{
    return unit->owner->process->dying || unit->owner->failed;
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
    return is_doomed(unit) || (GET(unit, status) & TASK_UNIT_STATE_MASK) == TASK_UNIT_FAULTED;
}

static bool poll_units(struct device_state *device)
{
    bool faulted = false;
    unsigned i;
    for (i = 0; i < device->count; i++)
        faulted |= poll_unit(&device->units[i]);
    return faulted;
}

irqreturn_t units_interrupt(int irq, void *context)
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

/* Returns whether the unit's core has left all killed tasks. The lock is held. */
static bool has_settled(struct device_state *device, struct unit *unit)
{
    if (unit->killed && !(GET(unit, status) & (TASK_UNIT_ANSWERED | TASK_UNIT_EMPTYING))) {
        unit->killed = false;
        device->killed--;
    }
    return !unit->killed;
}

/* Kills what the unit does and has in its queue. The lock is held; it may take several calls. */
static void kill_tasks(struct device_state *device, struct unit *unit)
{
    u64 state = GET(unit, status) & TASK_UNIT_STATE_MASK;
    if (unit->done == unit->sent || state == TASK_UNIT_IDLE)
        return;
    device->killed += !unit->killed;
    unit->killed = true;
    PUT(unit, control, TASK_UNIT_KILL);
    schedule_work(&device->work);
}

static void kill_doomed(struct device_state *device)
{
    unsigned i;
    for (i = 0; i < device->count; i++)
        if (device->units[i].owner && is_doomed(&device->units[i]))
            kill_tasks(device, &device->units[i]);
}

static void send_signal(struct task_struct *thread, int number, int code, unsigned long address)
{
    struct kernel_siginfo info;
    clear_siginfo(&info);
    info.si_signo = number;
    info.si_code = code;
    info.si_addr = (void __user *)address;
    send_sig_info(number, &info, thread);
}

/* Tells the thread what the host would have been told. `mapped`: its process has something at the address. */
static void raise(struct task_struct *thread, u64 cause, u64 value, u64 pc, bool mapped)
{
    switch (cause) {
    case EXC_INST_PAGE_FAULT:
    case EXC_LOAD_PAGE_FAULT:
    case EXC_STORE_PAGE_FAULT: send_signal(thread, SIGSEGV, mapped ? SEGV_ACCERR : SEGV_MAPERR, value); break;
    case EXC_BREAKPOINT: send_signal(thread, SIGTRAP, TRAP_BRKPT, pc); break;
    case EXC_LOAD_MISALIGNED:
    case EXC_STORE_MISALIGNED: send_signal(thread, SIGBUS, BUS_ADRALN, value); break;
    case EXC_SYSCALL: send_signal(thread, SIGSYS, SI_KERNEL, pc); break;
    case EXC_INST_ILLEGAL:
    case CROFT_NUCD_CAUSE_LEFT: send_signal(thread, SIGILL, ILL_ILLOPC, pc); break;
    default: send_signal(thread, SIGBUS, BUS_ADRERR, value);
    }
    pr_info_ratelimited("nucd: %s[%d]: a region at 0x%llx: cause %llu, value 0x%llx\n", thread->comm,
                        thread->pid, pc, cause, value);
}

static const struct job *running(const struct unit *unit)
{
    const struct job *job;
    list_for_each_entry(job, &unit->owner->process->jobs,
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
    struct caller *caller = unit->owner;
    struct process *process = caller->process;
    const struct job *job = running(unit);
    u64 cause = GET(unit, cause), value = GET(unit, value), number = unit->done;
    u32 wanted = cause < ARRAY_SIZE(permissions) ? permissions[cause] : 0;
    bool mapped = false;
    unsigned long failed;
    int status = -EFAULT;
    u64 pc;
    if (is_doomed(unit) || !job)
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
    if (unit->owner != caller || unit->done != number || is_doomed(unit))
        return;
    process->counters.faults++;
    if (!status || status == -EAGAIN) { /* EAGAIN: mappings change all the time; the region faults again */
        PUT(unit, control, TASK_UNIT_RESUME);
        return;
    }
    caller->failed = true;
    kill_doomed(device);
    if (status == -ENOSPC)
        pr_warn_ratelimited("nucd: %s[%d]: more than %d ranges; use huge pages\n", caller->thread->comm,
                            caller->thread->pid, CROFT_RANGES_MAX);
    raise(caller->thread, cause, value, pc, mapped);
}

/* Takes nobody's table where the process's was. Returns whether no unit has anything of it. The lock is held. */
static bool is_gone(struct process *process)
{
    struct device_state *device = process->device;
    bool gone = true;
    unsigned i;
    kill_doomed(device);
    for (i = 0; i < device->count; i++) {
        struct unit *unit = &device->units[i];
        if (unit->mapped != process)
            continue;
        if (unit->owner || !has_settled(device, unit)) {
            gone = false;
        } else {
            unit->mapped = NULL;
            PUT(unit, ranges, virt_to_phys(device->nobody));
        }
    }
    return gone;
}

/* Releases the pages of processes that have ended, though their file may be open in others. Returns whether some are still in use.
 * The lock is held, and released meanwhile. */
static bool drop_dead(struct device_state *device)
{
    struct process *process;
    bool more;
again:
    more = false;
    list_for_each_entry(process, &device->processes, all)
    {
        if (!process->dying || process->dropped)
            continue;
        process->dropped = is_gone(process);
        more |= !process->dropped;
        if (process->dropped) {
            spin_unlock_irq(&device->lock);
            pages_drop(&process->pages);
            spin_lock_irq(&device->lock);
            goto again;
        }
    }
    return more;
}

static void work(struct work_struct *work)
{
    struct device_state *device = container_of(work, struct device_state, work);
    bool more;
    unsigned i;
    spin_lock_irq(&device->lock);
    for (i = 0; i < device->count; i++)
        if (poll_unit(&device->units[i]))
            serve_fault(device, &device->units[i]);
    kill_doomed(device);
    more = drop_dead(device);
    for (i = 0; i < device->count; i++) {
        struct unit *unit = &device->units[i];
        more |= !has_settled(device, unit) || (unit->owner && is_doomed(unit));
    }
    spin_unlock_irq(&device->lock);
    wake_up_all(&device->wait);
    if (more) {
        usleep_range(10, 100);
        schedule_work(&device->work);
    }
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
    struct device_state *device = process->device;
    const struct job *job;
    unsigned i;
    list_for_each_entry(job, &process->jobs, link) if (!job->complete) return false;
    for (i = 0; device->killed && i < device->count; i++)
        if (device->units[i].mapped == process && !has_settled(device, &device->units[i]))
            return false;
    return true;
}

int units_await_tasks(struct process *process)
{
    return await(process, all_complete);
}

/* A unit has tasks of one thread at a time, because a thread's fault kills what is behind it. */
static bool may_take(struct caller *caller, struct unit *unit, unsigned lines)
{
    const struct process *process = caller->process;
    bool others = !list_empty(&process->device->waits) && process->device->waits.next != &process->waits;
    if (unit->sent != unit->done && (unit->owner != caller || others))
        return false;
    return unit->lines + lines <= process->device->lines && has_settled(process->device, unit);
}

/* Returns the unit with the fewest tasks that may take one of the thread; NULL: none. */
static struct unit *choose(struct caller *caller)
{
    struct device_state *device = caller->process->device;
    struct unit *best = NULL;
    unsigned i;
    for (i = 0; i < device->count; i++) {
        struct unit *unit = &device->units[i];
        if (may_take(caller, unit, 2) && (!best || unit->sent - unit->done < best->sent - best->done))
            best = unit;
    }
    return best;
}

static bool has_turn(struct process *process)
{
    return process->sender->failed ||
           (process->device->waits.next == &process->waits && choose(process->sender));
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
static void give(struct caller *caller, struct unit *unit, struct job *job)
{
    struct process *process = caller->process;
    u64 cuts = pages_cuts(&process->pages);
    job->caller = caller;
    job->unit = unit;
    job->number = ++unit->sent;
    unit->owner = caller;
    unit->lines += job->lines;
    list_add_tail(&job->link, &process->jobs);
    if (unit->mapped != process || unit->cuts != cuts) {
        unit->mapped = process;
        unit->cuts = cuts;
        PUT(unit, ranges, virt_to_phys(process->pages.table));
    }
    write_packet(unit, &job->task);
}

int units_send(struct caller *caller, struct job *job)
{
    struct process *process = caller->process;
    struct device_state *device = process->device;
    struct unit *unit;
    int status = 0;
    spin_lock_irq(&device->lock);
    (void)poll_units(device);
    unit = list_empty(&device->waits) ? choose(caller) : NULL;
    if (!unit && !caller->failed) {
        process->sender = caller;
        list_add_tail(&process->waits, &device->waits);
        process->counters.waits++;
        spin_unlock_irq(&device->lock);
        status = await(process, has_turn);
        spin_lock_irq(&device->lock);
        unit = status ? NULL : choose(caller);
        list_del_init(&process->waits);
    }
    if (caller->failed)
        status = -EINTR;
    else if (unit)
        give(caller, unit, job);
    spin_unlock_irq(&device->lock);
    wake_up_all(&device->wait);
    return status ?: unit ? 0 : -EAGAIN;
}

void units_forget(struct process *process)
{
    process->dying = true;
    while (!look(process, is_gone))
        usleep_range(10, 100);
    wake_up_all(&process->device->wait);
}

void units_end(struct process *process)
{
    process->dying = true;
    schedule_work(&process->device->work);
}

void units_init(struct device_state *device)
{
    spin_lock_init(&device->lock);
    init_waitqueue_head(&device->wait);
    INIT_LIST_HEAD(&device->waits);
    INIT_LIST_HEAD(&device->processes);
    INIT_WORK(&device->work, work);
}

void units_clear(struct device_state *device, struct unit *unit)
{
    if ((GET(unit, status) & TASK_UNIT_STATE_MASK) != TASK_UNIT_IDLE)
        PUT(unit, control, TASK_UNIT_KILL);
    PUT(unit, control, TASK_UNIT_ACKNOWLEDGE);
    PUT(unit, fflags, 31);
    PUT(unit, ranges, virt_to_phys(device->nobody));
    unit->base = GET(unit, done);
}
