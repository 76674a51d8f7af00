/* The kernel's table of the program's address ranges: what is contiguous in virtual and in physical memory,
 * for those who translate by ranges instead of by pages (NUCD, section IV-B: "range-based translation"). */
#ifndef CROFT_KERNEL_RANGE_H
#define CROFT_KERNEL_RANGE_H

#include "isa/include/croft/range.h"

/* What a range is for. */
enum croft_range_use { CROFT_USE_PROGRAM, CROFT_USE_BREAK, CROFT_USE_MAP, CROFT_USE_STACK };

/* The table is in the kernel's data, physically contiguous; the door's DOOR_START tells where (door.h).
 *
 * CROFT_RANGE_PAGED: this range's pages lie anywhere, so that it can only be translated by the page tables.
 * Comes about when memory has no hole of its size left, and for mappings without any access.
 *
 * CROFT_RANGE_PRESENT: that a range is listed means that its translation holds once a page is there. A page that
 * the program has not touched yet is not in the page tables and does not read as zero; the host takes that fault
 * (section IV-B: "If a page is not loaded in memory, the fault is taken in the host core"). In a range that is
 * present all pages are there; memory_present() makes one so. */

#endif
