/* What firmware of accelerators uses, for assembler and C: the task unit's registers, and CSRs, some of which hold what
 * they are not made for, as there is no supervisor mode here. */
#ifndef FIRMWARE_NUCD_UNIT_H
#define FIRMWARE_NUCD_UNIT_H

#include "isa/include/croft/task_unit.h"

/* mscratch: the unit's address while a region runs, as tp is in firmware. */
#define CSR_CONTEXT sscratch /* where a fault saves the registers */
#define CSR_STACK   sepc     /* the regions' stack */

/* Range-based translation (isa/MANUAL.md); setup.c compares the numbers with those of isa/csr.def. */
#define CSR_MRANGE 0x7c0
#define CSR_MLOCAL 0x7c1

#define CONTEXT_SHIFT 10
#define CONTEXT_SIZE  (1 << CONTEXT_SHIFT)

#endif
