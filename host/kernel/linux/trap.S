/* The kernel beneath programs of Linux: traps, turns of threads on a host, waits. What a call or a signal does, and which thread has
 * its turn, the emulator says at the door (emu/env/linux/kernel.c). The code works at any address; sscratch holds the address of the
 * host's frame while the program runs, else 0. */

#include "isa/include/croft/door.h"

    .macro  each_register operation
    .irp    n, 1,2,3,4,5,6,7,8,9,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
    \operation x\n, 8 * \n(a0)
    .endr
    .endm

    .macro  each_double operation, at
    .irp    n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
    \operation f\n, \at + 8 * \n(s0)
    .endr
    .endm

    .text
    .balign 16
    .option push
    .option norvc
    j       trap_entry              /* LINUX_KERNEL_TRAP */
    j       idle                    /* LINUX_KERNEL_IDLE */
    .balign 16
door:
    slli    x0, x0, 0x1f
    ebreak
    srai    x0, x0, 7
    .option pop
    andi    t0, a0, LINUX_NEXT_IDLE
    bnez    t0, idle
    andi    t0, a0, LINUX_NEXT_SWITCH
    beqz    t0, 1f
    each_double fsd, LINUX_FRAME_OLD
    csrr    t0, fcsr
    sd      t0, LINUX_FRAME_OLD + 256(s0)
    each_double fld, LINUX_FRAME_FLOATS
    ld      t0, LINUX_FRAME_FLOATS + 256(s0)
    csrw    fcsr, t0
1:  andi    t0, a0, LINUX_NEXT_FENCE
    beqz    t0, 2f
    sfence.vma
    fence.i
2:  mv      a0, s0
    ld      t0, LINUX_FRAME_PC(a0)
    csrw    sepc, t0
    csrw    sscratch, a0
    each_register ld
    ld      a0, 80(a0)
    sret

trap_entry:
    csrrw   a0, sscratch, a0
    each_register sd
    csrrw   t0, sscratch, zero      /* the program's a0 */
    sd      t0, 80(a0)
    csrr    t0, sepc
    sd      t0, LINUX_FRAME_PC(a0)
    csrr    t0, scause
    sd      t0, LINUX_FRAME_CAUSE(a0)
    csrr    t0, stval
    sd      t0, LINUX_FRAME_VALUE(a0)
    mv      s0, a0
ask:
    li      a0, DOOR_LINUX_NUMBER
    mv      a1, s0
    j       door

idle:                               /* sstatus.SIE is 0: the interrupt ends the wait and is not taken */
    wfi
    j       ask

    .section .note.GNU-stack, "", @progbits
