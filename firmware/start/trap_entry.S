/* Entry of traps into machine mode: saves the registers that C code may change and calls trap_dispatch(). */
#include "firmware/start/stack_guard.h"
#include "firmware/start/trap_frame.h"

#define FRAME_FCSR   (FRAME_FP + 20 * 8)
#define FRAME_SIZE   464                /* struct trap_frame and the floating-point registers, a multiple of 16 */
#define STATUS_FS    0x6000
#define STATUS_FS_INITIAL 0x2000

    .macro  EACH_INTEGER op             /* all except x0, sp, t0 and t1 */
    .irp    n, 1, 3, 4, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
    \op     x\n, 8 * \n(sp)
    .endr
    .endm

    .macro  EACH_FLOAT op               /* the caller-saved registers */
    .set    slot, FRAME_FP
    .irp    n, 0, 1, 2, 3, 4, 5, 6, 7, 10, 11, 12, 13, 14, 15, 16, 17, 28, 29, 30, 31
    \op     f\n, slot(sp)
    .set    slot, slot + 8
    .endr
    .endm

    .macro  EACH_RULE                   /* for unwinding: where the interrupted code's registers are */
    .irp    n, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
    .cfi_offset \n, 8 * \n
    .endr
    .endm

    /* Relaxed code would be shorter than the assembler's debug information says, which then covers what follows. */
    .option norelax

    .section .text.trap, "ax", @progbits
/* mtvec mode 1: exceptions at the base, interrupt n at base + 4 n. */
    .balign 256
    .globl  trap_vectors
    .type   trap_vectors, @function
trap_vectors:
    .option push
    .option norvc
    .rept   16
    j       trap_entry
    .endr
    .option pop
    .size   trap_vectors, . - trap_vectors

    .balign 4
    .globl  trap_entry
    .type   trap_entry, @function
trap_entry:
    /* Backtraces go through the trap to the interrupted code. Its pc is not in ra: column 64 of the psABI's DWARF
     * registers is for this. Until it is in the frame, no rule can name it. */
    .cfi_startproc simple
    .cfi_signal_frame
    .cfi_return_column 64
    .cfi_def_cfa sp, 0
    .cfi_undefined 64
    /* mscratch is 0 in machine mode; in lower modes it holds the top of the trap stack. */
    csrrw   sp, mscratch, sp
    bnez    sp, 1f
    csrrw   sp, mscratch, t0
    /* Without room for the frame above this hart's guard, storing it would trap again, without end. */
    csrr    t0, GUARD_END
    slli    t0, t0, 2
    addi    t0, t0, FRAME_SIZE
    bltu    sp, t0, 5f
6:  csrrw   t0, mscratch, zero
1:  addi    sp, sp, -FRAME_SIZE
    EACH_INTEGER sd
    sd      t0, 8 * 5(sp)
    sd      t1, 8 * 6(sp)

    csrr    s0, mstatus
    sd      s0, FRAME_STATUS(sp)
    srli    t0, s0, 11
    andi    t0, t0, 3
    li      t1, 3
    addi    t2, sp, FRAME_SIZE
    beq     t0, t1, 2f
    csrrw   t2, mscratch, zero
    call    hart_pointers
2:  sd      t2, 8 * 2(sp)
    csrr    t0, mepc
    sd      t0, FRAME_PC(sp)
    EACH_RULE
    .cfi_offset 64, FRAME_PC
    csrr    t0, mcause
    sd      t0, FRAME_CAUSE(sp)
    csrr    t0, mtval
    sd      t0, FRAME_VALUE(sp)

    /* C code may use floating-point registers even if the interrupted code could not. */
    li      t0, STATUS_FS
    and     s0, s0, t0
    bnez    s0, 3f
    li      t0, STATUS_FS_INITIAL
    csrs    mstatus, t0
3:  EACH_FLOAT fsd
    csrr    t0, fcsr
    sd      t0, FRAME_FCSR(sp)

    mv      a0, sp
    call    trap_dispatch

    ld      t0, FRAME_FCSR(sp)
    csrw    fcsr, t0
    EACH_FLOAT fld
    ld      t0, FRAME_PC(sp)
    csrw    mepc, t0
    ld      t0, FRAME_STATUS(sp)
    csrw    mstatus, t0
    srli    t0, t0, 11
    andi    t0, t0, 3
    li      t1, 3
    beq     t0, t1, 4f
    addi    t2, sp, FRAME_SIZE
    csrw    mscratch, t2
4:  EACH_INTEGER ld
    ld      t0, 8 * 5(sp)
    ld      t1, 8 * 6(sp)
    ld      sp, 8 * 2(sp)
    .cfi_undefined 64
    mret

5:  csrr    t0, GUARD_START
    slli    t0, t0, 2
    bltu    sp, t0, 6b              /* a stack of the program's own, below */
    csrr    t0, GUARD_CONFIG
    slli    t0, t0, 63 - GUARD_LOCK_BIT
    bltz    t0, trap_overflow_entry
    j       6b                      /* there is no guard, and the entries are the program's */
    .cfi_endproc
    .size   trap_entry, . - trap_entry

/* The stack has no room: sp is near or in the guard, mscratch holds t0. The first hart that comes here reports it, on the
 * emergency stack, and ends the run; others wait for that. */
    .globl  trap_overflow_entry
    .type   trap_overflow_entry, @function
trap_overflow_entry:
    .cfi_startproc simple
    .cfi_signal_frame
    .cfi_return_column 64
    .cfi_def_cfa sp, 0
    .cfi_undefined 64
    lla     t0, overflowed_sp
    amoswap.d t0, sp, (t0)
    beqz    t0, 2f
1:  wfi
    j       1b
2:  lla     sp, emergency_top - FRAME_SIZE
    EACH_INTEGER sd
    csrrw   t0, mscratch, zero
    sd      t0, 8 * 5(sp)
    sd      t1, 8 * 6(sp)
    ld      t0, overflowed_sp
    sd      t0, 8 * 2(sp)
    csrr    t0, mepc
    sd      t0, FRAME_PC(sp)
    EACH_RULE
    .cfi_offset 64, FRAME_PC
    csrr    t0, mstatus
    sd      t0, FRAME_STATUS(sp)
    csrr    t0, mcause
    sd      t0, FRAME_CAUSE(sp)
    csrr    t0, mtval
    sd      t0, FRAME_VALUE(sp)
    mv      a0, sp
    call    trap_overflow
    .cfi_endproc
    .size   trap_overflow_entry, . - trap_overflow_entry

    .section .emergency_stack, "aw", @nobits /* not in .bss, where it would move small data away from gp */
    .balign 16
    .skip   4096                    /* for trap_overflow() and what it calls */
emergency_top:

    .section .sbss.overflowed_sp, "aw", @nobits
    .balign 8
overflowed_sp:                      /* of the hart that reports its overflow; 0: none */
    .dword  0

    .section .note.GNU-stack, "", @progbits
