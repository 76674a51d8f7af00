/* The Sv39 page tables (privileged specification, section 4.4). */
#ifndef HOST_KERNEL_MEMORY_TABLE_H
#define HOST_KERNEL_MEMORY_TABLE_H

#include "host/kernel/kernel.h"

/* 0: no page. An entry whose page allows no access is invalid but keeps the page's number. */
typedef uint64_t table_entry;

/* The first host's first-level table. */
extern table_entry table_root[];

/* Completes the kernel's half: the image, page by page with minimal permissions, and all of memory. */
void table_init(uint64_t memory_size);

/* Makes *root, a page, another host's first-level table. From now on all first-level tables are equal, except for the
 * entry of the devices that are mapped into the program. */
void table_add_root(table_entry *root);

/* Maps the devices within 2 MiB from a physical address for the kernel only. Call it before table_add_root(), at most twice. Returns their
 * virtual address. */
uint64_t table_map_devices(uint64_t physical);

/* Returns the entry of the page at a program's address. NULL when a page table is missing and `make` is
 * false, or when out of memory for one. */
table_entry *table_slot(uint64_t address, bool make);

/* Like table_slot(), for an address that only the host with that first-level table uses. */
table_entry *table_slot_in(table_entry *root, uint64_t address, bool make);

/* Returns the entry for a page with a set of CROFT_RANGE_* bits; returns the page of an entry that is not 0. */
table_entry table_entry_of(uint64_t physical, uint32_t permissions);
uint64_t table_page(table_entry entry);

bool table_allows(table_entry entry, uint32_t permission);

/* Makes all changes so far effective for later accesses of this host. Not needed for a new valid entry (see
 * memory_fault()). */
static inline void table_synchronize(void)
{
    __asm__ volatile("sfence.vma" : : : "memory");
}

/* The same, for changes of one page's entry. */
static inline void table_synchronize_page(uint64_t address)
{
    __asm__ volatile("sfence.vma %0, x0" : : "r"(address) : "memory");
}

#endif
