/* Assembler macros that entry.S and other rooms include: how a kernel's thread enters the runtime without the loss of registers. */

#include "host/simt/layout.h"

    /* simt_leave_to NAME, FUNCTION: NAME calls the C function with the registers as they are. It is called with t0 as link
     * register; all other registers are preserved. The jump through t0 looks like a return, so an analysis that counts the
     * registers of a kernel's code does not include those of the function. The jump before it looks like the call to that
     * return: NUCD's accelerators count calls and returns to find the end of a region (isa/MANUAL.md). The code that
     * follows saves the registers that the C function may change. */
    .macro  simt_leave_to name, function
    .section .text.\name, "ax", @progbits
    .globl  \name
    .type   \name, @function
\name:
    addi    sp, sp, -SIMT_SAVE_FRAME
    sd      t0, 0(sp)
    jal     t0, 2f
2:  lla     t0, 1f
    jr      t0
1:  simt_saved sd, fsd
    call    \function
    simt_saved ld, fld
    ld      t0, 0(sp)
    addi    sp, sp, SIMT_SAVE_FRAME
    jr      t0
    .size   \name, . - \name
    .endm

    /* Stores or loads the registers that a function may change (psABI), except t0. */
    .macro  simt_saved integer, floating
    .set    offset, 8
    .irp    reg, ra, t1, t2, t3, t4, t5, t6, a0, a1, a2, a3, a4, a5, a6, a7
    \integer \reg, offset(sp)
    .set    offset, offset + 8
    .endr
    .irp    reg, ft0, ft1, ft2, ft3, ft4, ft5, ft6, ft7, ft8, ft9, ft10, ft11, fa0, fa1, fa2, fa3, fa4, fa5, fa6, fa7
    \floating \reg, offset(sp)
    .set    offset, offset + 8
    .endr
    .if     offset != SIMT_SAVE_FRAME
    .error  "SIMT_SAVE_FRAME"
    .endif
    .endm
