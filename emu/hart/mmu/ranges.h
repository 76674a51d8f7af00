/* Range-based translation of user mode on accelerators (NUCD paper, section IV-B; isa/MANUAL.md, "Range-based
 * translation"), in place of page tables.
 *
 * While mrange is not 0, user-mode addresses are looked up by binary search in the table of ranges at that physical
 * address (isa/include/croft/range.h). Before that, addresses in the window that mlocal describes translate to
 * themselves: the accelerator's own stack, which programs do not know. An address whose range is missing, not present,
 * not contiguous or does not permit the access causes a page fault. So does every address while the table is being
 * changed: the host then finds nothing wrong and resumes the task. A table that is not in memory, or has too many
 * entries, causes an access fault. PMP checks the walk as an access of supervisor mode, and the access itself, as with
 * page tables.
 *
 * A hart may keep translations until mrange or mlocal is written. A kernel that has removed ranges or permissions
 * writes the RANGES register of the task units again, and firmware then writes mrange before the next task
 * (emu/nucd/units/task_unit.h). That suffices, because the kernel does so only while no task uses such a range. The answer to
 * a region's own call makes its hart forget, too. Ranges that are added, grow or become present need no action, because
 * missing ranges are never kept. Our kernel does this before the program continues (host/kernel/units.h). */
#ifndef EMU_HART_MMU_RANGES_H
#define EMU_HART_MMU_RANGES_H

#include "emu/hart/mmu.h"

/* Returns whether the mode's addresses are translated by ranges. */
bool range_mmu_active(const struct hart *hart, enum privilege mode);

/* mmu_translate() for such a mode. */
bool range_mmu_translate(struct hart *hart, uint64_t address, enum mmu_access access, uint64_t *physical);

/* mmu_peek() for such a mode; ignores permissions. */
bool range_mmu_peek(const struct hart *hart, uint64_t address, uint64_t *physical);

/* mmu_list_walk() for such a mode: list->first and list->last are those of the range. The list for an address in the
 * window is empty. */
void range_mmu_list_walk(const struct hart *hart, uint64_t address, struct mmu_walk *list);

/* Returns whether the address is in the window of mlocal, which needs no walk. */
bool range_mmu_windowed(const struct hart *hart, uint64_t address);

#endif
