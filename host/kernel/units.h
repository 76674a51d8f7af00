/* Updates of the program's ranges to accelerators, whether hardware or the driver offloads to them, and to multiprocessors. */
#ifndef HOST_KERNEL_UNITS_H
#define HOST_KERNEL_UNITS_H

#include "host/kernel/kernel.h"
#include "isa/include/croft/task_unit.h"

/* Maps the boot->unit_count task units, if there are any, for the kernel only. */
void units_init(const struct kernel_boot *boot);

/* Returns the registers of a task unit, by the kernel's own mapping. */
volatile struct task_unit_host *units_registers(uint64_t number);

/* Returns whether no unit has a task. */
bool units_are_idle(void);

/* Call it before the program continues, while no task of this host is in flight but one that waits for the answer to its call. If ranges or permissions have been
 * removed since the last call, cleans the range table and writes the RANGES register of all units; each
 * accelerator then flushes its cached ranges before its next task (emu/hart/mmu/ranges.h). Multiprocessors forget their
 * translations at once. */
void units_forget_ranges(void);

/* Call it before the program continues, when ranges may have been added or become present. If the hardware sends tasks, cleans
 * the lines of the range table, because accelerators read it from memory, not from the host's caches. The driver cleans them
 * itself, before it sends a task. */
void units_show_ranges(void);

#endif
