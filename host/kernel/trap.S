/* Entry to the kernel from the program and return to it, and the door to the emulator. */

#include "isa/include/croft/door.h"

    .macro  each_register operation
    .irp    n, 1,2,3,4,5,6,7,8,9,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
    \operation x\n, 8 * \n(a0)
    .endr
    .endm

    .macro  each_rule                   /* for unwinding: where the program's registers are */
    .irp    n, 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
    .cfi_offset \n, 8 * \n
    .endr
    .endm

    .text
    .balign 4
    .globl  trap_entry
trap_entry:
    /* Backtraces go through the trap to the program: column 64 of the psABI's DWARF registers is its pc. Until that is in
     * the frame, no rule can name it. */
    .cfi_startproc simple
    .cfi_signal_frame
    .cfi_return_column 64
    .cfi_def_cfa a0, 0
    .cfi_undefined 64
    /* sscratch: the program's frame; 0 while the kernel runs. */
    csrrw   a0, sscratch, a0
    beqz    a0, kernel_trapped
    each_register sd
    csrrw   t0, sscratch, zero      /* the program's a0 */
    sd      t0, 80(a0)
    csrr    t0, sepc
    sd      t0, KERNEL_FRAME_PC(a0)
    csrr    t0, scause
    sd      t0, KERNEL_FRAME_CAUSE(a0)
    csrr    t0, stval
    sd      t0, KERNEL_FRAME_VALUE(a0)
    .option push
    .option norelax
    lla     gp, __global_pointer$
    .option pop
    ld      sp, KERNEL_FRAME_STACK(a0)
    mv      tp, a0                  /* the host's record begins with the frame (hosts.h) */
    mv      s0, a0
    .cfi_def_cfa s0, 0
    each_rule
    .cfi_offset 64, KERNEL_FRAME_PC
    call    kernel_trap
    mv      a0, s0

    .globl  trap_return
trap_return:                        /* a0: the frame */
    .cfi_def_cfa a0, 0
    ld      t0, KERNEL_FRAME_PC(a0)
    csrw    sepc, t0
    csrw    sscratch, a0
    each_register ld
    ld      a0, 80(a0)
    .cfi_undefined 64
    sret
    .cfi_endproc

kernel_trapped:
    li      a0, DOOR_PANIC_NUMBER
    csrr    a1, scause
    csrr    a2, sepc
    csrr    a3, stval
    call    door
1:  j       1b

/* uint64_t door(operation, argument, ...): the emulator reads the arguments from a0, a1, ... */
    .globl  door
    .balign 16
    .option push
    .option norvc
door:
    slli    x0, x0, 0x1f
    ebreak
    srai    x0, x0, 7
    ret
    .option pop

    .option arch, +d
    .macro  each_double operation
    .irp    n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
    \operation f\n, 8 * \n(a0)
    .endr
    .endm

/* void floats_save(uint64_t to[33]), void floats_load(const uint64_t from[33]): the floating-point registers, and fcsr. */
    .globl  floats_save
floats_save:
    each_double fsd
    csrr    t0, fcsr
    sd      t0, 256(a0)
    ret

    .globl  floats_load
floats_load:
    each_double fld
    ld      t0, 256(a0)
    csrw    fcsr, t0
    ret

    .section .note.GNU-stack, "", @progbits
