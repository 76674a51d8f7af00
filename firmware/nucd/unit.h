/* The task unit's registers for the core, as offsets, for assembler and C (emu/nucd/task_unit.h says what they are).
 * And what the firmware keeps in CSRs that it has no other use for: there is no supervisor mode here. */
#ifndef FIRMWARE_NUCD_UNIT_H
#define FIRMWARE_NUCD_UNIT_H

#define UNIT_STATUS  0x000
#define UNIT_COMMAND 0x008
#define UNIT_BEGIN   0x010
#define UNIT_FORMAT  0x028
#define UNIT_RESULT  0x030
#define UNIT_FFLAGS  0x038
#define UNIT_CAUSE   0x040
#define UNIT_VALUE   0x048
#define UNIT_PC      0x050
#define UNIT_SUMMARY 0x060
#define UNIT_RANGES  0x068
#define UNIT_LIVE_IN 0x100

/* COMMAND */
#define UNIT_TAKE     1
#define UNIT_START    2
#define UNIT_COMPLETE 3
#define UNIT_FAULT    4
#define UNIT_CLEAR    5

/* STATUS */
#define UNIT_STATE    7
#define UNIT_RUNNING  2
#define UNIT_ENDED    3
#define UNIT_ANSWERED 0x400

/* SUMMARY */
#define UNIT_RANGES_BIT 41
#define UNIT_CODE_BIT   40
#define UNIT_FCSR       32

/* mscratch: the unit's address while a region runs, as tp is in firmware. */
#define CSR_CONTEXT sscratch /* where a fault saves the registers */
#define CSR_STACK   sepc     /* the regions' stack */

/* Range-based translation (isa/MANUAL.md). */
#define CSR_MRANGE 0x7c0
#define CSR_MLOCAL 0x7c1

#define CONTEXT_SIZE 1024

#endif
