// SPDX-License-Identifier: GPL-2.0
/* /dev/nucd: gives processes of Linux the accelerators of machine nucd (nucd_device.h).
 *
 * The processor traps at nucd (nucd.mode=driver), which Linux makes a SIGILL; the library asks this module to serve it. The module
 * sends the region to an accelerator as our own kernel's driver does (host/kernel/driver): pins what the operands name, cleans
 * it, gives the task to a task unit (units.c) and waits. An accelerator has tasks of one thread at a time and translates by the ranges
 * of its process alone. Processes get accelerators in the order in which they begin to wait; a thread sends more behind its
 * own tasks only if nobody waits. When a process ends, by whatever cause, its tasks are killed, and its memory goes only when no
 * accelerator has any of it in its cache. */
#include <linux/interrupt.h>
#include <linux/io.h>
#include <linux/module.h>
#include <linux/of.h>
#include <linux/platform_device.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "host/linux/units.h"

enum { JOBS = 256 };

/* Returns whether a task of the thread is not collected yet. */
static bool has_jobs(const struct caller *caller)
{
    const struct job *job;
    list_for_each_entry(job, &caller->process->jobs, link) if (job->caller == caller) return true;
    return false;
}

static void free_caller(struct caller *caller)
{
    list_del(&caller->link);
    put_task_struct(caller->thread);
    kfree(caller);
}

/* Returns what is known of this thread, or NULL: no memory. Forgets threads that have ended. */
static struct caller *find_caller(struct process *process)
{
    struct caller *caller, *next;
    list_for_each_entry(caller, &process->callers, link) if (caller->thread == current) return caller;
    list_for_each_entry_safe(caller, next, &process->callers,
                             link) if (READ_ONCE(caller->thread->exit_state) && !has_jobs(caller))
        free_caller(caller);
    caller = kzalloc(sizeof *caller, GFP_KERNEL);
    if (!caller)
        return NULL;
    caller->process = process;
    caller->thread = get_task_struct(current);
    list_add(&caller->link, &process->callers);
    return caller;
}

/* Waits for all tasks of the process and makes what they have written visible. Returns 0, or -EINTR: the thread has been killed, or
 * its last tasks have failed. */
static int collect(struct caller *caller)
{
    struct process *process = caller->process;
    struct job *job, *next;
    unsigned i;
    int status = list_empty(&process->jobs) ? 0 : units_await_tasks(process);
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
    if (!caller->failed)
        return 0;
    caller->failed = caller->in_call = false;
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
static int refuse(struct caller *caller, struct nucd_trap *trap)
{
    int status = collect(caller);
    if (status)
        return status;
    caller->process->counters.refused++;
    trap->pc += 4;
    return 0;
}

static int serve_task(struct caller *caller, struct nucd_trap *trap, const struct decode_source *source)
{
    struct process *process = caller->process;
    struct job *job = kzalloc(sizeof *job, GFP_KERNEL);
    bool alone = !caller->in_call;
    unsigned result;
    int status;
    if (!job || !decode_task(source, &job->task) || prepare(process, &job->task)) {
        kfree(job);
        return refuse(caller, trap);
    }
    job->lines = (job->task.count + 7) / 8;
    result = job->result = job->task.result;
    status = conflicts(process, &job->task) ? collect(caller) : 0;
    if (!status)
        status = units_send(caller, job);
    if (status) {
        kfree(job);
        return caller->failed ? collect(caller) : status;
    }
    process->counters.tasks++;
    trap->sent = 1;
    trap->pc = job->task.end;
    if (result) {
        status = units_await_tasks(process);
        trap->x[result] = job->value;
    }
    return status ?: result || alone ? collect(caller) : 0;
}

static int serve(struct caller *caller, struct nucd_trap *trap)
{
    const struct process *process = caller->process;
    const struct decode_source source = {.x = (const unsigned long *)trap->x,
                                         .pc = trap->pc,
                                         .bits = trap->instruction,
                                         .frm = trap->frm & 7,
                                         .capabilities = process->device->capabilities,
                                         .tag = (u16)process->counters.tasks,
                                         .ordered = caller->in_call};
    enum decode_kind kind = decode_kind(&source);
    int status;
    trap->sent = 0;
    if (kind == DECODE_OTHER)
        return -EINVAL;
    if (caller->failed) /* of an earlier call: the region comes again, and must not have been executed */
        return collect(caller);
    if (kind == DECODE_NUCD)
        return serve_task(caller, trap, &source);
    status = collect(caller);
    if (!status) {
        caller->in_call = kind == DECODE_MARK_BEGIN;
        trap->pc += 4;
    }
    return status;
}

static long serve_trap(struct process *process, struct nucd_trap __user *user)
{
    struct caller *caller = find_caller(process);
    struct nucd_trap trap;
    int status;
    if (!caller)
        return -ENOMEM;
    if (copy_from_user(&trap, user, sizeof trap))
        return -EFAULT;
    trap.x[0] = 0;
    status = serve(caller, &trap);
    if (status)
        return status; /* the flags come with the next answer */
    spin_lock_irq(&process->device->lock);
    trap.fflags = caller->fflags;
    caller->fflags = 0;
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
    struct caller *caller = find_caller(process);
    int status = caller ? collect(caller) : -ENOMEM;
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

static long call(struct file *file, unsigned int number, unsigned long argument)
{
    struct process *process = file->private_data;
    long status;
    if (current->mm != process->pages.mm)
        return -EPERM; /* each process opens the device itself */
    if (mutex_lock_killable(&process->lock))
        return -EINTR;
    status = command(process, number, (void __user *)argument);
    mutex_unlock(&process->lock);
    return status;
}

static void memory_ends(struct pages *pages)
{
    units_end(container_of(pages, struct process, pages));
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
    INIT_LIST_HEAD(&process->callers);
    INIT_LIST_HEAD(&process->jobs);
    INIT_LIST_HEAD(&process->waits);
    status = pages_init(&process->pages, current->mm);
    if (status) {
        kfree(process);
        return status;
    }
    spin_lock_irq(&device->lock);
    list_add(&process->all, &device->processes);
    spin_unlock_irq(&device->lock);
    file->private_data = process;
    return 0;
}

static int release(struct inode *inode, struct file *file)
{
    struct process *process = file->private_data;
    struct device_state *device = process->device;
    struct caller *caller, *next_caller;
    struct job *job, *next;
    units_forget(process);
    spin_lock_irq(&device->lock);
    list_del(&process->all);
    spin_unlock_irq(&device->lock);
    flush_work(&device->work);
    list_for_each_entry_safe(job, next, &process->jobs, link) kfree(job);
    list_for_each_entry_safe(caller, next_caller, &process->callers, link) free_caller(caller);
    pages_free(&process->pages);
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
    units_clear(device, unit);
    return devm_request_irq(&platform->dev, unit->irq, units_interrupt, 0, "nucd", device);
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
    units_init(device);
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
