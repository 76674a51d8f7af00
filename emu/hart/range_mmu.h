/* Range-based translation of user mode on accelerators (NUCD paper, section IV-B; isa/MANUAL.md, "Range-based
 * translation"), in place of page tables.
 *
 * While mrange is not 0, user-mode addresses are looked up in the table of ranges at that physical address
 * (isa/include/croft/range.h), by halving; first, the window that mlocal holds stands for itself: the
 * accelerator's own stack, which no program knows of. What is found nowhere, is not present, not contiguous or
 * not allowed, is a page fault; so is everything while the table is being changed: the host finds that nothing is
 * amiss and lets the task go on. A table that is not in memory, or has more entries than a table can have, is an
 * access fault. PMP checks the walk as one of supervisor mode, and the access itself, as with pages.
 *
 * A hart may keep what it has found until mrange or mlocal is written. A kernel that has taken ranges or permissions
 * away writes the units' RANGES register anew, and firmware then writes mrange before the next task
 * (emu/nucd/task_unit.h). That is enough, since it does so only while no task uses such a range; ranges that are added,
 * grow or become present need nothing, as what is not there is never kept. Our kernel does so before the program goes on
 * (host/kernel/units.h). */
#ifndef EMU_HART_RANGE_MMU_H
#define EMU_HART_RANGE_MMU_H

#include "emu/hart/mmu.h"

/* Whether the mode's addresses are translated by ranges. */
bool range_mmu_active(const struct hart *hart, enum privilege mode);

/* mmu_translate() of a mode in which that is so. */
bool range_mmu_translate(struct hart *hart, uint64_t address, enum mmu_access access, uint64_t *physical);

/* mmu_peek(), likewise: permissions are not looked at. */
bool range_mmu_peek(const struct hart *hart, uint64_t address, uint64_t *physical);

/* mmu_list_walk(), likewise: list->first and list->last are those of the range. A window's list is empty. */
void range_mmu_list_walk(const struct hart *hart, uint64_t address, struct mmu_walk *list);

/* Whether the address is in the window of mlocal, which no walk is needed for. */
bool range_mmu_windowed(const struct hart *hart, uint64_t address);

#endif
