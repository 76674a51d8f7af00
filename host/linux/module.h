/* SPDX-License-Identifier: GPL-2.0 */
/* Shared by the files of the module nucd. */
#ifndef HOST_LINUX_MODULE_H
#define HOST_LINUX_MODULE_H

#include <linux/list.h>
#include <linux/mm.h>
#include <linux/mmu_notifier.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>

#include "host/linux/nucd_device.h"
#include "host/linux/table.h"

enum { PAGES_AT_ONCE = 64, BLOCK = 64 };

/* Pages of a process that its regions may use. */
struct pages {
    struct mm_struct *mm; /* kept by the notifier */
    struct mmu_interval_notifier notifier;
    void (*ended)(struct pages *pages); /* the process's memory is about to go */
    spinlock_t lock;                    /* of all below */
    struct croft_range_table *table;
    struct xarray pinned;   /* struct pin by address / PAGE_SIZE */
    struct list_head stale; /* struct pin: the process has unmapped them; tasks may still use them */
    u64 cuts;               /* changes of the table that took something away */
    u64 count;              /* of pinned pages */
};

int pages_init(struct pages *pages, struct mm_struct *mm);
/* No task of the process may be under way. */
void pages_free(struct pages *pages);
/* Makes [first, end) usable by regions. Returns 0, or -EFAULT with the first address that is not accessible with
 * `permissions` in *failed, -ENOSPC if the table is full, or another error. */
int pages_pin(struct pages *pages, unsigned long first, unsigned long end, u32 permissions,
              unsigned long *failed);
/* Returns whether the process has mapped anything at the address. */
bool pages_mapped(struct pages *pages, unsigned long address);
/* Releases pages that the process has unmapped. No task of the process may be under way. */
void pages_drop_stale(struct pages *pages);
/* Releases all pages. No task of the process may be under way. */
void pages_drop(struct pages *pages);
/* Writes [first, end) back from the host's caches to memory and forgets it there, where pages are pinned. */
void pages_flush(struct pages *pages, unsigned long first, unsigned long end);

/* Returns `cuts`. An accelerator that is told of the table afterwards translates by none that was cut before. */
static inline u64 pages_cuts(const struct pages *pages)
{
    return smp_load_acquire(&pages->cuts);
}

#endif
