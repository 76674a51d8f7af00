/* Entry and exit of a SIMT thread in a program of Linux, and the switch between threads on the scalar core. */
#include "host/simt/leave.S"

    /* Called with t0 as link register. In: sp, the top of the thread's stack; ra, the address to which the thread returns at its
     * end, on multiprocessors 0; a0, the kernel's argument. Threads of multiprocessors have no thread-local storage: tp is
     * 5 << 44 (simt.h), where nothing is, so that the use of it is an error with a message. Threads on the scalar core use that of the
     * program's thread. */
    .section .text.croft_simt_enter, "ax", @progbits
    .globl  croft_simt_enter
    .type   croft_simt_enter, @function
croft_simt_enter:
    bnez    ra, 1f
    li      tp, 5
    slli    tp, tp, 44
    jr      t0
1:  addi    sp, sp, -16
    sd      ra, 0(sp)
    jr      t0
    .size   croft_simt_enter, . - croft_simt_enter

    /* The kernel has returned: ends the thread. */
    .section .text.croft_simt_leave, "ax", @progbits
    .globl  croft_simt_leave
    .type   croft_simt_leave, @function
croft_simt_leave:
    li      ra, 5
    slli    ra, ra, 44
    beq     ra, tp, 1f
    ld      ra, 0(sp)
    addi    sp, sp, 16
    ret
1:  li      ra, 0
    ret
    .size   croft_simt_leave, . - croft_simt_leave

    simt_leave_to croft_simt_barrier, simt_scalar_barrier
    simt_leave_to croft_simt_yield, simt_scalar_yield

    /* Switches go in turn from the scheduler to a thread and back: simt_owner is tp in a thread, 0 in the scheduler. */
    .macro  simt_switching
    lla     t1, simt_owner
    ld      t2, 0(t1)
    xor     t2, t2, tp
    sd      t2, 0(t1)
    .endm
#include "host/simt/switch.S"

    .section .text.simt_scalar_begin, "ax", @progbits
    .globl  simt_scalar_begin
    .type   simt_scalar_begin, @function
simt_scalar_begin:
    lla     tp, simt_owner
    ld      tp, 0(tp)
    mv      a0, s1
    mv      ra, s2
    jr      s0
    .size   simt_scalar_begin, . - simt_scalar_begin

    .section .note.GNU-stack, "", @progbits
