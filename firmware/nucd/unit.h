/* Definitions of the accelerators' firmware for assembler and C: the task unit's registers, and the uses of
 * CSRs. Supervisor CSRs serve as scratch registers, because the firmware does not use supervisor mode. */
#ifndef FIRMWARE_NUCD_UNIT_H
#define FIRMWARE_NUCD_UNIT_H

#include "isa/include/croft/task_unit.h"

/* mscratch holds the unit's address while a region runs; in firmware, tp holds it. */
#define CSR_CONTEXT sscratch /* save area of the region's registers at a fault */
#define CSR_STACK   sepc     /* initial stack pointer of regions */

/* Range-based translation (isa/MANUAL.md); setup.c checks these numbers against isa/csr.def. */
#define CSR_MRANGE 0x7c0
#define CSR_MLOCAL 0x7c1

#define CONTEXT_SHIFT 10
#define CONTEXT_SIZE  (1 << CONTEXT_SHIFT)

#endif
