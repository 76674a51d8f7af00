/* What the kernel tells accelerators of the program's ranges, whoever sends them tasks: hardware or the driver. */
#ifndef HOST_KERNEL_UNITS_H
#define HOST_KERNEL_UNITS_H

#include "host/kernel/kernel.h"

/* Maps the task units (boot->unit_count of them, or none) for the kernel alone. */
void units_init(const struct kernel_boot *boot);

/* To be called before the program goes on, while no task is in flight: if ranges or permissions were taken away since
 * the last time, cleans the table of ranges and writes the RANGES register of all units, upon which each accelerator
 * forgets what it has kept before its next task (emu/hart/range_mmu.h). */
void units_forget_ranges(void);

#endif
