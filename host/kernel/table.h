/* The Sv39 page tables (privileged specification, section 4.4). */
#ifndef HOST_KERNEL_TABLE_H
#define HOST_KERNEL_TABLE_H

#include "host/kernel/kernel.h"

/* An entry of 0 has never had a page; one whose page allows nothing is not valid, but keeps the page's
 * number. */
typedef uint64_t table_entry;

/* Completes the kernel's half: its own image page by page with the permissions it needs, and all of memory.
 */
void table_init(uint64_t memory_size);

/* Maps devices that lie within 2 MiB from a physical address on, for the kernel alone, once; returns its address. */
uint64_t table_map_devices(uint64_t physical);

/* The entry of the page at a program's address. NULL when there is no table for it, and with `make`, when
 * there is no memory for one. */
table_entry *table_slot(uint64_t address, bool make);

/* The entry for a page with a set of CROFT_RANGE_*; and the page of an entry that is not 0. */
table_entry table_entry_of(uint64_t physical, uint32_t permissions);
uint64_t table_page(table_entry entry);

bool table_allows(table_entry entry, uint32_t permission);

/* Makes all changes so far hold for every later access; a new valid entry needs none (see memory_fault()). */
static inline void table_synchronize(void)
{
    __asm__ volatile("sfence.vma" : : : "memory");
}

#endif
