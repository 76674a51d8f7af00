// SPDX-License-Identifier: GPL-2.0
/* /dev/axram: gives processes of Linux the chips of machine axram (axram_device.h).
 *
 * The chips' instructions are the processor's: they translate the addresses that a process names by its page tables, and refuse
 * what is not in a chip. So a process has the chips whose memory is mapped into it, and this module only gives memory out: whole
 * chips, because a chip has one network at a time. Chips go to processes in the order in which they ask. Pages that a process has
 * touched are cleared when it gives its chips back: nobody finds what it has left, and the chip, which keeps the address of the last
 * network, no weights. An instruction ends before its process can, so a chip that is given back does nothing. */
#include <linux/bitmap.h>
#include <linux/fs.h>
#include <linux/io.h>
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/of.h>
#include <linux/of_address.h>
#include <linux/platform_device.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/uaccess.h>
#include <linux/wait.h>

#include <asm/asm-extable.h>

#include "host/linux/axram_device.h"
#include "isa/include/croft/axram.h"

enum { CHIPS_MAX = 512 };

struct process {
    struct chips *chips;
    struct list_head waits; /* in the list of those who wait */
    u32 first, count;       /* its chips; count 0: none */
};

struct chips {
    spinlock_t lock; /* of owners, waits and processes' numbers */
    wait_queue_head_t wait;
    struct list_head waits;
    struct mutex clearing; /* of `given` and the memory's contents */
    struct miscdevice misc;
    phys_addr_t base;
    u64 size;
    u32 count, together, piece;
    u8 *memory;
    unsigned long *given; /* by page: a process has touched it */
    struct process *owners[CHIPS_MAX];
};

static struct chips *chips_of(const struct file *file)
{
    return ((struct process *)file->private_data)->chips;
}

static u32 chip_at(const struct chips *chips, u64 offset)
{
    return (u32)(offset / chips->piece % chips->count);
}

static int device_open(struct inode *inode, struct file *file)
{
    struct process *process = kzalloc(sizeof *process, GFP_KERNEL);
    (void)inode;
    if (!process)
        return -ENOMEM;
    process->chips = container_of(file->private_data, struct chips, misc);
    INIT_LIST_HEAD(&process->waits);
    file->private_data = process;
    return 0;
}

/* Finds free chips beside each other that begin with a team. The lock is held. */
static bool find_chips(const struct chips *chips, u32 count, u32 *first)
{
    u32 i, run;
    for (i = 0; i + count <= chips->count; i += chips->together) {
        for (run = 0; run < count && !chips->owners[i + run]; run++)
            continue;
        if (run == count) {
            *first = i;
            return true;
        }
    }
    return false;
}

/* Takes the chips if nobody waits before this process, and there are enough. */
static bool take(struct process *process, u32 count)
{
    struct chips *chips = process->chips;
    u32 i, first = 0;
    bool taken;
    spin_lock(&chips->lock);
    taken =
        list_first_entry(&chips->waits, struct process, waits) == process && find_chips(chips, count, &first);
    for (i = 0; taken && i < count; i++)
        chips->owners[first + i] = process;
    if (taken) {
        process->first = first;
        process->count = count;
        list_del_init(&process->waits);
    }
    spin_unlock(&chips->lock);
    if (taken)
        wake_up_all(&chips->wait); /* the next may have enough, too */
    return taken;
}

/* Waits for chips. Returns 0 or an error. */
static int wait_for(struct process *process, u32 count, bool waits)
{
    struct chips *chips = process->chips;
    int status = 0;
    spin_lock(&chips->lock);
    if (process->count || !list_empty(&process->waits))
        status = -EBUSY;
    else
        list_add_tail(&process->waits, &chips->waits);
    spin_unlock(&chips->lock);
    if (status)
        return status;
    if (waits)
        status = wait_event_interruptible(chips->wait, take(process, count));
    else if (!take(process, count))
        status = -EAGAIN;
    if (status) {
        spin_lock(&chips->lock);
        list_del_init(&process->waits);
        spin_unlock(&chips->lock);
        wake_up_all(&chips->wait);
    }
    return status;
}

static long device_ioctl(struct file *file, unsigned int command, unsigned long argument)
{
    struct process *process = file->private_data;
    const struct chips *chips = process->chips;
    struct axram_chips asked;
    int status;
    if (command != AXRAM_TAKE)
        return -ENOTTY;
    if (copy_from_user(&asked, (void __user *)argument, sizeof asked))
        return -EFAULT;
    asked.count = asked.count ?: chips->count;
    if (asked.count > chips->count || asked.count % chips->together)
        return -EINVAL;
    status = wait_for(process, asked.count, !(file->f_flags & O_NONBLOCK));
    if (status)
        return status;
    asked.first = process->first;
    asked.all = chips->count;
    asked.together = chips->together;
    asked.base = chips->base;
    asked.size = chips->size;
    asked.piece = chips->piece;
    return copy_to_user((void __user *)argument, &asked, sizeof asked) ? -EFAULT : 0;
}

/* Returns whether the offset is in a chip of the process. */
static bool has(const struct process *process, u64 offset)
{
    struct chips *chips = process->chips;
    bool own;
    spin_lock(&chips->lock); /* another thread may be taking them */
    own = offset < chips->size && chip_at(chips, offset) - process->first < process->count;
    spin_unlock(&chips->lock);
    return own;
}

/* Gives a page of the process's chips to it. The chip that still has the network of an earlier process may have written to it
 * since that process has ended. */
static vm_fault_t fault(struct vm_fault *fault)
{
    const struct process *process = fault->vma->vm_file->private_data;
    struct chips *chips = process->chips;
    const u64 offset = (u64)fault->pgoff << PAGE_SHIFT;
    if (!has(process, offset))
        return VM_FAULT_SIGSEGV;
    mutex_lock(&chips->clearing);
    if (!test_and_set_bit(fault->pgoff, chips->given))
        memset(chips->memory + offset, 0, PAGE_SIZE);
    mutex_unlock(&chips->clearing);
    return vmf_insert_pfn(fault->vma, fault->address, PHYS_PFN(chips->base) + fault->pgoff);
}

/* Returns whether regions have the distance from their physical addresses that the instructions want. */
static bool is_well_placed(const struct chips *chips, const struct vm_area_struct *area)
{
    const u64 turn = (u64)chips->piece * chips->count;
    const u64 offset = ((u64)area->vm_pgoff << PAGE_SHIFT) % turn;
    return (area->vm_start + turn - offset) % turn == chips->base % turn;
}

/* The process moves the mapping. */
static int moved(struct vm_area_struct *area)
{
    return is_well_placed(chips_of(area->vm_file), area) ? 0 : -EINVAL;
}

static const struct vm_operations_struct mapping = {.fault = fault, .mremap = moved};

static int device_mmap(struct file *file, struct vm_area_struct *area)
{
    const struct chips *chips = chips_of(file);
    const u64 pages = chips->size >> PAGE_SHIFT;
    if (!(area->vm_flags & VM_SHARED) || area->vm_flags & VM_EXEC || area->vm_pgoff > pages ||
        vma_pages(area) > pages - area->vm_pgoff || !is_well_placed(chips, area))
        return -EINVAL;
    vm_flags_mod(area, VM_PFNMAP | VM_DONTEXPAND | VM_DONTDUMP, VM_MAYEXEC);
    area->vm_ops = &mapping;
    return 0;
}

/* Clears the pages of a piece that a process has had. */
static void clear_piece(struct chips *chips, u64 offset)
{
    const unsigned long first = offset >> PAGE_SHIFT, end = first + (chips->piece >> PAGE_SHIFT);
    unsigned long page = first;
    for_each_set_bit_from(page, chips->given, end)
        memset(chips->memory + ((u64)page << PAGE_SHIFT), 0, PAGE_SIZE);
    bitmap_clear(chips->given, first, end - first);
}

/* The process has closed and unmapped the device. */
static int device_release(struct inode *inode, struct file *file)
{
    struct process *process = file->private_data;
    struct chips *chips = process->chips;
    u64 offset;
    u32 i;
    (void)inode;
    mutex_lock(&chips->clearing);
    for (offset = 0; offset < chips->size; offset += chips->piece)
        if (chip_at(chips, offset) - process->first < process->count)
            clear_piece(chips, offset);
    mutex_unlock(&chips->clearing);
    spin_lock(&chips->lock);
    for (i = 0; i < process->count; i++)
        chips->owners[process->first + i] = NULL;
    spin_unlock(&chips->lock);
    wake_up_all(&chips->wait);
    kfree(process);
    return 0;
}

static const struct file_operations operations = {.owner = THIS_MODULE,
                                                  .open = device_open,
                                                  .unlocked_ioctl = device_ioctl,
                                                  .mmap = device_mmap,
                                                  .release = device_release};

/* Reads the device tree. */
static int describe(struct platform_device *platform, struct chips *chips)
{
    const struct device_node *node = platform->dev.of_node;
    struct device_node *memory = of_parse_phandle(node, "memory-region", 0);
    struct resource range;
    int status = memory ? of_address_to_resource(memory, 0, &range) : -ENODEV;
    of_node_put(memory);
    if (status || of_property_read_u32(node, "undercroft,units", &chips->count) ||
        of_property_read_u32(node, "undercroft,together", &chips->together) ||
        of_property_read_u32(node, "undercroft,piece", &chips->piece))
        return -EINVAL;
    chips->base = range.start;
    chips->size = resource_size(&range);
    if (!chips->count || chips->count > CHIPS_MAX || !chips->together || chips->count % chips->together ||
        !chips->piece || chips->piece % PAGE_SIZE || chips->size % ((u64)chips->piece * chips->count))
        return -EINVAL;
    return 0;
}

/* query.axram; 0 on a processor that has no such instruction: one that only boots. */
static u64 query(u64 number)
{
    u64 value = 0;
    asm volatile("1: .insn r 0x0b, 3, 0, %0, %1, x0\n2:\n" _ASM_EXTABLE(1b, 2b) : "+r"(value) : "r"(number));
    return value;
}

/* Returns whether the processor's chips are those of the device tree. */
static bool is_there(const struct chips *chips)
{
    return query(CROFT_AXRAM_CHIPS) == chips->count && query(CROFT_AXRAM_BASE) == chips->base &&
           query(CROFT_AXRAM_SIZE) == chips->size && query(CROFT_AXRAM_PIECE) == chips->piece &&
           query(CROFT_AXRAM_TOGETHER) == chips->together;
}

static int probe(struct platform_device *platform)
{
    struct device *device = &platform->dev;
    struct chips *chips = devm_kzalloc(device, sizeof *chips, GFP_KERNEL);
    int status;
    if (!chips)
        return -ENOMEM;
    spin_lock_init(&chips->lock);
    init_waitqueue_head(&chips->wait);
    INIT_LIST_HEAD(&chips->waits);
    mutex_init(&chips->clearing);
    status = describe(platform, chips);
    if (status)
        return dev_err_probe(device, status, "the device tree does not say what the chips are\n");
    if (!is_there(chips))
        return dev_err_probe(device, -ENODEV, "the processor has no such chips\n");
    chips->memory = devm_memremap(device, chips->base, chips->size, MEMREMAP_WB);
    chips->given = devm_bitmap_zalloc(device, chips->size >> PAGE_SHIFT, GFP_KERNEL);
    if (IS_ERR(chips->memory) || !chips->given)
        return IS_ERR(chips->memory) ? PTR_ERR(chips->memory) : -ENOMEM;
    chips->misc =
        (struct miscdevice){.minor = MISC_DYNAMIC_MINOR, .name = "axram", .fops = &operations, .mode = 0600};
    platform_set_drvdata(platform, chips);
    status = misc_register(&chips->misc);
    if (!status)
        dev_info(device, "%u chips\n", chips->count);
    return status;
}

static void leave(struct platform_device *platform)
{
    struct chips *chips = platform_get_drvdata(platform);
    misc_deregister(&chips->misc);
}

static const struct of_device_id ids[] = {{.compatible = "undercroft,axram"}, {}};
MODULE_DEVICE_TABLE(of, ids);

static struct platform_driver axram_driver = {
    .probe = probe,
    .remove = leave,
    .driver = {.name = "axram", .of_match_table = ids, .suppress_bind_attrs = true}};
module_platform_driver(axram_driver);

MODULE_DESCRIPTION("chips of Undercroft's machine axram for processes");
MODULE_LICENSE("GPL");
