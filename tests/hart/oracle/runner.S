/* Runs a batch of tests/hart/oracle/batch.h on any RISC-V Linux: reads count, code and states from standard input, runs each
 * block, and writes the states to standard output. */
#include "tests/hart/oracle/batch.h"

        .equ READ, 63
        .equ WRITE, 64
        .equ EXIT, 93

        .text
        .option norelax
/* At BATCH_END: blocks jump here with tp at their state. */
save:
        .irp n, 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
        sd x\n, 8*\n(tp)
        .endr
        .irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
        fsd f\n, 256+8*\n(tp)
        .endr
        frcsr t0
        sd t0, 512(tp)
        la t0, next_state
        addi tp, tp, 512
        addi tp, tp, 512
        sd tp, 0(t0)
        j run

        .globl _start
_start:
        la s0, count
        li s1, 8
        call read_all
        la t0, count
        ld s2, 0(t0)
        la s0, code
        li s1, BATCH_CODE_BYTES
        mul s1, s1, s2
        call read_all
        la s0, states
        li s1, BATCH_STATE_BYTES
        mul s1, s1, s2
        mv s3, s1
        call read_all
        la t0, states
        add s3, s3, t0
        la t1, end_state
        sd s3, 0(t1)
        la t1, next_state
        sd t0, 0(t1)
run:
        la t0, next_state
        ld tp, 0(t0)
        la t0, end_state
        ld t0, 0(t0)
        beq tp, t0, done
        ld t0, 512(tp)
        fscsr t0
        .irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
        fld f\n, 256+8*\n(tp)
        .endr
        .irp n, 1,2,3,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
        ld x\n, 8*\n(tp)
        .endr
        jr gp

done:
        la s0, states
        sub s1, tp, s0
write_more:
        beqz s1, finish
        li a0, 1
        mv a1, s0
        mv a2, s1
        li a7, WRITE
        ecall
        blez a0, failed
        add s0, s0, a0
        sub s1, s1, a0
        j write_more
finish:
        li a0, 0
        li a7, EXIT
        ecall
failed:
        li a0, 1
        li a7, EXIT
        ecall

/* Reads s1 bytes to s0; keeps s1. */
read_all:
        mv s4, s1
read_more:
        beqz s4, read_done
        li a0, 0
        mv a1, s0
        mv a2, s4
        li a7, READ
        ecall
        blez a0, failed
        add s0, s0, a0
        sub s4, s4, a0
        j read_more
read_done:
        ret

        .section .codes, "awx", @nobits
code:   .space BATCH_BLOCKS * BATCH_CODE_BYTES
        .section .states, "aw", @nobits
states: .space BATCH_BLOCKS * BATCH_STATE_BYTES
count:  .space 8
next_state: .space 8
end_state: .space 8
