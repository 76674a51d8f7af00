/* Firmware of the accelerators: start-up, the loop that starts tasks, and the handling of their ends and
 * faults. The machine passes a0-a5 as described in emu/nucd/units/accelerators.h. Between tasks the firmware keeps
 * nothing in memory: a task begins with an empty data cache, and the firmware's state is in registers, CSRs
 * and the task unit. The code is position-independent. */
#include <croft/firmware/map.h>

#include "firmware/nucd/unit.h"
#include "isa/include/croft/nucd_bits.h"

    .macro  LIVE_IN register, number
    ld      \register, TASK_UNIT_LIVE_INS + 8 * \number(tp)
    .endm

    .macro  COMMAND value, scratch
    li      \scratch, \value
    sd      \scratch, TASK_UNIT_COMMAND(tp)
    .endm

    .section .text.start, "ax", @progbits
    .globl  _start
    .type   _start, @function
_start:
    li      t0, CROFT_HARTS_MAX
1:  bgeu    a0, t0, 1b              /* this hart has no context: sleep here for ever */
    lla     sp, contexts
    slli    t1, a0, CONTEXT_SHIFT
    add     t1, t1, sp
    csrw    CSR_CONTEXT, t1
    addi    sp, t1, CONTEXT_SIZE - 16 /* stack for worker_setup */
    lla     t0, trap
    csrw    mtvec, t0
    mv      s0, a1
    call    accelerator_setup
    csrw    CSR_STACK, a0
    mv      tp, s0
    j       idle
    .size   _start, . - _start

/* Sleeps until there is a task, and starts it. tp is the unit. Registers that are not passed to the region
 * have any value. */
    .balign 64
    .globl  idle
    .type   idle, @function
idle:
    csrw    mscratch, tp
    csrr    sp, CSR_STACK
    li      t3, TASK_UNIT_TAKE
    li      t4, TASK_UNIT_START
    /* The bits of SUMMARY that the fast path below does not handle: all but bit 0, gp, tp, frm, and
     * <croft/nucd.h>'s carriers s5-s11 and s1. */
    li      t5, ~(1 | 1 << 3 | 1 << 4 | 1 << 9 | 0x7f << 21 | 7 << (TASK_UNIT_FCSR_SHIFT + 5))
    li      t6, 1 << 9 | 7 << 25    /* s9-s11, s1 */
    wfi
    sd      t3, TASK_UNIT_COMMAND(tp)
    ld      t0, TASK_UNIT_SUMMARY(tp)
    ld      t1, TASK_UNIT_BEGIN(tp)
    and     t2, t0, t5
    bnez    t2, most                /* rare: further registers, FENCE.I, or mrange */
    andi    t2, t0, 1
    beqz    t2, nothing
    and     t6, t6, t0
    csrw    mepc, t1
    srli    t0, t0, TASK_UNIT_FCSR_SHIFT
    csrw    fcsr, t0
    LIVE_IN s5, 21
    LIVE_IN s6, 22
    LIVE_IN s7, 23
    LIVE_IN s8, 24
    beqz    t6, 1f
    LIVE_IN s9, 25
    LIVE_IN s10, 26
    LIVE_IN s11, 27
    LIVE_IN s1, 9
1:  LIVE_IN gp, 3
    sd      t4, TASK_UNIT_COMMAND(tp)
    LIVE_IN tp, 4
    mret

most:
    andi    t2, t0, 1
    beqz    t2, nothing
    csrw    mepc, t1
    srli    t1, t0, TASK_UNIT_FCSR_SHIFT
    csrw    fcsr, t1
    srli    t0, t0, TASK_UNIT_CODE_SHIFT
    andi    t1, t0, 1 << (TASK_UNIT_RANGES_SHIFT - TASK_UNIT_CODE_SHIFT)
    beqz    t1, 2f
    ld      t1, TASK_UNIT_RANGES(tp)
    csrw    CSR_MRANGE, t1
2:  andi    t0, t0, 1
    beqz    t0, 1f
    fence.i
1:  sd      t4, TASK_UNIT_COMMAND(tp)
    .irp    n, 1, 3, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
    LIVE_IN x\n, \n
    .endr
    LIVE_IN tp, 4
    mret

/* Reached when wfi ends without a task, when the host has killed a task between TAKE and mret, or when a
 * transfer was not a packet. */
nothing:
    ld      t0, TASK_UNIT_STATUS(tp)
    andi    t0, t0, TASK_UNIT_ANSWERED
    beqz    t0, idle
killed:
    COMMAND TASK_UNIT_CLEAR, t0               /* empties the data cache; TAKE waits for that */
    j       idle
    .size   idle, . - idle

/* A region has stopped. Its registers go to the unit's registers until it is known whether they are needed. */
    .balign 64
    .type   trap, @function
trap:
    csrrw   tp, mscratch, tp
    sd      t0, TASK_UNIT_RESULT(tp)
    csrr    t0, mcause
    bgez    t0, fault
    ld      t0, TASK_UNIT_STATUS(tp)
    andi    t0, t0, TASK_UNIT_STATE_MASK
    addi    t0, t0, -TASK_UNIT_STATE_ENDED
    bnez    t0, not_ended
    ld      t0, TASK_UNIT_FORMAT(tp)
    andi    t0, t0, 31
    addi    t0, t0, -10
    bnez    t0, other
    sd      a0, TASK_UNIT_RESULT(tp)
complete:
    csrr    t0, fflags
    sd      t0, TASK_UNIT_FFLAGS(tp)
    COMMAND TASK_UNIT_COMPLETE, t0            /* the data cache is written back before the host is notified */
    j       idle

/* The result is not in a0: it is in another register, or there is none. */
other:
    sd      t1, TASK_UNIT_VALUE(tp)
    addi    t0, t0, 10
    slli    t0, t0, 3
    lla     t1, results
    add     t0, t0, t1
    jr      t0
    .option push
    .option norvc
results:
    j       complete                /* no result */
    nop
    .irp    n, 1, 2, 3
    sd      x\n, TASK_UNIT_RESULT(tp)
    j       complete
    .endr
    j       result_tp
    nop
    j       complete                /* t0 has already been stored */
    nop
    j       result_t1
    nop
    .irp    n, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
    sd      x\n, TASK_UNIT_RESULT(tp)
    j       complete
    .endr
    .option pop
result_tp:
    csrr    t0, mscratch
    j       1f
result_t1:
    ld      t0, TASK_UNIT_VALUE(tp)
1:  sd      t0, TASK_UNIT_RESULT(tp)
    j       complete

/* An exception: notify the host and wait for its decision. Meanwhile the region's registers are in the core's
 * context. An exception in firmware, where tp and mscratch have been swapped once too often, stops the core
 * here for ever. */
fault:
    csrr    t0, mstatus
    srli    t0, t0, 11
    andi    t0, t0, 3
    bnez    t0, broken
    csrr    t0, CSR_CONTEXT
    .irp    n, 1, 2, 3, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
    sd      x\n, 8 * \n(t0)
    .endr
    ld      t1, TASK_UNIT_RESULT(tp)
    sd      t1, 8 * 5(t0)
    csrr    t1, mscratch
    sd      t1, 8 * 4(t0)
    csrr    t1, mcause
    sd      t1, TASK_UNIT_CAUSE(tp)
    csrr    t1, mtval
    sd      t1, TASK_UNIT_VALUE(tp)
    csrr    t1, mepc
    sd      t1, TASK_UNIT_PC(tp)
    COMMAND TASK_UNIT_FAULT, t1
1:  wfi
    ld      t1, TASK_UNIT_STATUS(tp)
    andi    t2, t1, TASK_UNIT_ANSWERED
    beqz    t2, 1b
    andi    t1, t1, TASK_UNIT_STATE_MASK
    addi    t1, t1, -TASK_UNIT_STATE_RUNNING
    bnez    t1, killed
    COMMAND TASK_UNIT_CLEAR, t1
    csrw    mscratch, tp
    .irp    n, 1, 2, 3, 4, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
    ld      x\n, 8 * \n(t0)
    .endr
    ld      t0, 8 * 5(t0)
    mret                            /* mepc is the faulting instruction */

/* The host has killed the task, or the region was left by anything but its end, which is reported as a fault at the
 * instruction after. */
not_ended:
    ld      t0, TASK_UNIT_STATUS(tp)
    srli    t0, t0, TASK_UNIT_LEFT_SHIFT
    andi    t0, t0, 1
    beqz    t0, killed
    ld      t0, TASK_UNIT_VALUE(tp)
    csrw    mtval, t0
    li      t0, CROFT_NUCD_CAUSE_LEFT
    csrw    mcause, t0
    j       fault

broken:
    csrw    mie, zero
1:  wfi
    j       1b
    .size   trap, . - trap

    .section .bss.contexts, "aw", @nobits
    .balign CONTEXT_SIZE
contexts:
    .skip   CONTEXT_SIZE * CROFT_HARTS_MAX

    .section .note.GNU-stack, "", @progbits
