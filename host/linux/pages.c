// SPDX-License-Identifier: GPL-2.0
/* Pins pages of a process and keeps the table of ranges by which accelerators find them. */
#include "host/linux/module.h"

#include <linux/sched/mm.h>
#include <linux/slab.h>

struct pin {
    struct list_head link;
    struct page *page;
    bool write;
};

static void block_flush(unsigned long at)
{
    register unsigned long address asm("a0") = at;
    asm volatile(".insn i 0x0f, 2, x0, a0, 2" : : "r"(address) : "memory"); /* cbo.flush (a0) */
}

void table_flush(const void *at, size_t size)
{
    unsigned long first = (unsigned long)at & ~(BLOCK - 1ul), end = (unsigned long)at + size;
    for (; first < end; first += BLOCK)
        block_flush(first);
    mb();
}

void pages_flush(struct pages *pages, unsigned long first, unsigned long end)
{
    while (first < end) {
        unsigned long stop = min(end, (first & PAGE_MASK) + PAGE_SIZE);
        const struct pin *pin;
        spin_lock(&pages->lock);
        pin = xa_load(&pages->pinned, first >> PAGE_SHIFT);
        if (pin)
            table_flush((char *)page_to_virt(pin->page) + offset_in_page(first), stop - first);
        spin_unlock(&pages->lock);
        first = stop;
    }
}

/* Takes [first, last] away from regions; its pages become stale, those too that a full table has lost. The lock is held. */
static void cut(struct pages *pages, unsigned long first, unsigned long last)
{
    unsigned long index;
    struct pin *pin;
    u64 at = table_from(pages->table, first);
    if (at < pages->table->count && pages->table->entries[at].base <= last) {
        table_cut(pages->table, first & PAGE_MASK, (last | ~PAGE_MASK) + 1 ?: ~0ull);
        smp_store_release(&pages->cuts, pages->cuts + 1); /* who sees it finds the table cut (pages_cuts) */
    }
    xa_for_each_range(&pages->pinned, index, pin, first >> PAGE_SHIFT, last >> PAGE_SHIFT)
    {
        xa_erase(&pages->pinned, index);
        list_add(&pin->link, &pages->stale);
    }
}

static bool invalidate(struct mmu_interval_notifier *notifier, const struct mmu_notifier_range *range,
                       unsigned long sequence)
{
    struct pages *pages = container_of(notifier, struct pages, notifier);
    spin_lock(&pages->lock);
    mmu_interval_set_seq(notifier, sequence);
    cut(pages, range->start, range->end - 1);
    spin_unlock(&pages->lock);
    if (range->event == MMU_NOTIFY_RELEASE)
        pages->ended(pages);
    return true;
}

static const struct mmu_interval_notifier_ops notifier_ops = {.invalidate = invalidate};

int pages_init(struct pages *pages, struct mm_struct *mm)
{
    int status;
    spin_lock_init(&pages->lock);
    xa_init(&pages->pinned);
    INIT_LIST_HEAD(&pages->stale);
    pages->mm = mm;
    pages->table = (void *)__get_free_pages(GFP_KERNEL | __GFP_ZERO, get_order(sizeof *pages->table));
    if (!pages->table)
        return -ENOMEM;
    table_flush(pages->table, sizeof *pages->table);
    status = mmu_interval_notifier_insert(&pages->notifier, mm, 0, TASK_SIZE, &notifier_ops);
    if (status)
        free_pages((unsigned long)pages->table, get_order(sizeof *pages->table));
    return status;
}

void pages_free(struct pages *pages)
{
    mmu_interval_notifier_remove(&pages->notifier);
    pages_drop(pages);
    xa_destroy(&pages->pinned);
    free_pages((unsigned long)pages->table, get_order(sizeof *pages->table));
}

void pages_drop_stale(struct pages *pages)
{
    LIST_HEAD(stale);
    struct pin *pin, *next;
    u64 dropped = 0;
    if (list_empty(&pages->stale))
        return;
    spin_lock(&pages->lock);
    list_splice_init(&pages->stale, &stale);
    spin_unlock(&pages->lock);
    list_for_each_entry_safe(pin, next, &stale, link)
    {
        unpin_user_pages_dirty_lock(&pin->page, 1, pin->write);
        kfree(pin);
        dropped++;
    }
    spin_lock(&pages->lock);
    pages->count -= dropped;
    spin_unlock(&pages->lock);
}

void pages_drop(struct pages *pages)
{
    spin_lock(&pages->lock);
    cut(pages, 0, TASK_SIZE - 1);
    spin_unlock(&pages->lock);
    pages_drop_stale(pages);
}

/* Notes a page that is pinned; the lock is held. Returns 0, or an error: the pin is the caller's again. */
static int note(struct pages *pages, unsigned long at, struct page *page, u32 permissions)
{
    struct croft_range entry = {at, PAGE_SIZE, page_to_phys(page), permissions | CROFT_RANGE_PRESENT, 0};
    struct pin *pin;
    pin = xa_load(&pages->pinned, at >> PAGE_SHIFT);
    if (pin) { /* a change may have taken it out of a full table */
        entry.physical = page_to_phys(pin->page);
        return table_covers(pages->table, at, at + PAGE_SIZE, permissions) || table_put(pages->table, &entry)
                   ? -EEXIST
                   : -ENOSPC;
    }
    pin = kmalloc(sizeof *pin, GFP_ATOMIC);
    if (!pin)
        return -ENOMEM;
    pin->page = page;
    pin->write = permissions & CROFT_RANGE_WRITE;
    if (xa_is_err(xa_store(&pages->pinned, at >> PAGE_SHIFT, pin, GFP_ATOMIC))) {
        kfree(pin);
        return -ENOMEM;
    }
    table_flush(page_to_virt(page), PAGE_SIZE);
    if (table_put(pages->table, &entry)) {
        pages->count++;
        return 0;
    }
    xa_erase(&pages->pinned, at >> PAGE_SHIFT);
    kfree(pin);
    return -ENOSPC;
}

/* Pins up to PAGES_AT_ONCE pages from `at` on that lie in one mapping. Returns their number or an error, and the mapping's
 * permissions. mmap_lock is held. */
static long take(struct pages *pages, unsigned long at, unsigned long end, struct page *list[],
                 u32 *permissions)
{
    const struct vm_area_struct *area = vma_lookup(pages->mm, at);
    unsigned long count;
    unsigned int flags;
    long taken;
    if (!area)
        return -EFAULT;
    *permissions = (area->vm_flags & VM_READ ? CROFT_RANGE_READ : 0) |
                   (area->vm_flags & VM_WRITE ? CROFT_RANGE_WRITE : 0) |
                   (area->vm_flags & VM_EXEC ? CROFT_RANGE_EXECUTE : 0);
    count = min3((unsigned long)PAGES_AT_ONCE, (end - at + PAGE_SIZE - 1) >> PAGE_SHIFT,
                 (area->vm_end - at) >> PAGE_SHIFT);
    flags = area->vm_flags & VM_WRITE ? FOLL_WRITE : 0;
    taken = pin_user_pages_remote(pages->mm, at, count, flags | FOLL_LONGTERM, list, NULL);
    if (taken < 0 && area->vm_flags & VM_SHARED) /* a file that is written to may not be pinned for long */
        taken = pin_user_pages_remote(pages->mm, at, count, flags, list, NULL);
    return taken;
}

/* Pins pages from *at on and moves *at behind them. */
static int pin_some(struct pages *pages, unsigned long *at, unsigned long end, u32 wanted)
{
    struct page *list[PAGES_AT_ONCE];
    unsigned long sequence = mmu_interval_read_begin(&pages->notifier);
    u32 permissions;
    long taken, i;
    int status = 0;
    mmap_read_lock(pages->mm);
    taken = take(pages, *at, end, list, &permissions);
    mmap_read_unlock(pages->mm);
    if (taken <= 0)
        return taken ?: -EFAULT;
    spin_lock(&pages->lock);
    if (mmu_interval_read_retry(&pages->notifier, sequence))
        status = -EAGAIN;
    for (i = 0; i < taken && !status && !(wanted & ~permissions); i++) {
        status = note(pages, *at, list[i], permissions);
        if (status && status != -EEXIST)
            break;
        if (!status)
            list[i] = NULL;
        status = 0;
        *at += PAGE_SIZE;
    }
    spin_unlock(&pages->lock);
    for (i = 0; i < taken; i++)
        if (list[i])
            unpin_user_page(list[i]);
    return status ?: wanted & ~permissions ? -EFAULT : 0;
}

int pages_pin(struct pages *pages, unsigned long first, unsigned long end, u32 permissions,
              unsigned long *failed)
{
    enum { RETRIES = 1000 };
    unsigned long at = first & PAGE_MASK;
    int status = 0, retries = 0;
    bool covered;
    if (end > TASK_SIZE || first >= end) {
        *failed = first;
        return -EFAULT;
    }
    spin_lock(&pages->lock);
    covered = table_covers(pages->table, first, end, permissions);
    spin_unlock(&pages->lock);
    if (covered)
        return 0;
    if (!mmget_not_zero(pages->mm))
        return -ESRCH;
    while (at < end && !status) {
        status = pin_some(pages, &at, end, permissions);
        if (status == -EAGAIN && ++retries < RETRIES)
            status = 0;
        cond_resched();
    }
    mmput(pages->mm);
    *failed = max(at, first);
    return status;
}

bool pages_mapped(struct pages *pages, unsigned long address)
{
    bool mapped;
    if (!mmget_not_zero(pages->mm))
        return false;
    mmap_read_lock(pages->mm);
    mapped = vma_lookup(pages->mm, address) != NULL;
    mmap_read_unlock(pages->mm);
    mmput(pages->mm);
    return mapped;
}
