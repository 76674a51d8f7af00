/* attempt_run(): code in any mode, up to its first trap into machine mode. Offsets are struct attempt's. */
#define PC      0
#define STATUS  8
#define VECTOR  16
#define ARGS    24
#define CAUSE   64
#define VALUE   72
#define EPC     80
#define STATUS_AFTER 88
#define ENTRY   96
#define RESULTS 104

#define FRAME   160

    .section .text.attempt, "ax", @progbits
    .globl  attempt_run
    .type   attempt_run, @function
attempt_run:
    addi    sp, sp, -FRAME
    sd      a0, 0(sp)
    sd      ra, 8(sp)
    sd      gp, 16(sp)
    sd      tp, 24(sp)
    .irp    n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11
    sd      s\n, 32 + 8 * \n(sp)
    .endr
    csrr    t0, mtvec
    sd      t0, 128(sp)
    csrr    t0, mstatus
    sd      t0, 136(sp)

    csrw    mscratch, sp
    ld      t0, VECTOR(a0)
    bnez    t0, 1f
    lla     t0, attempt_trap
1:  csrw    mtvec, t0
    ld      t0, PC(a0)
    csrw    mepc, t0
    ld      t0, STATUS(a0)
    csrw    mstatus, t0
    ld      a1, ARGS + 8(a0)
    ld      a2, ARGS + 16(a0)
    ld      a3, ARGS + 24(a0)
    ld      a4, ARGS + 32(a0)
    ld      a0, ARGS(a0)
    li      t6, -1
    mret
    .size   attempt_run, . - attempt_run

    .balign 4
    .type   attempt_trap, @function
attempt_trap:
    csrrw   sp, mscratch, sp
    ld      t0, 0(sp)
    sd      a0, RESULTS(t0)
    sd      a1, RESULTS + 8(t0)
    sd      a2, RESULTS + 16(t0)
    sd      a3, RESULTS + 24(t0)
    sd      a4, RESULTS + 32(t0)
    sd      t6, ENTRY(t0)
    csrr    t1, mcause
    sd      t1, CAUSE(t0)
    csrr    t1, mtval
    sd      t1, VALUE(t0)
    csrr    t1, mepc
    sd      t1, EPC(t0)
    csrr    t1, mstatus
    sd      t1, STATUS_AFTER(t0)

    ld      t0, 128(sp)
    csrw    mtvec, t0
    ld      t0, 136(sp)
    csrw    mstatus, t0
    csrw    mscratch, zero
    ld      ra, 8(sp)
    ld      gp, 16(sp)
    ld      tp, 24(sp)
    .irp    n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11
    ld      s\n, 32 + 8 * \n(sp)
    .endr
    addi    sp, sp, FRAME
    ret
    .size   attempt_trap, . - attempt_trap

/* A vector table for struct attempt: says in `entry` where a trap came in. */
    .balign 256
    .globl  attempt_vectors
    .type   attempt_vectors, @function
attempt_vectors:
    .option push
    .option norvc
    .set    n, 0
    .rept   16
    j       attempt_stubs + 8 * n
    .set    n, n + 1
    .endr
attempt_stubs:
    .set    n, 0
    .rept   16
    li      t6, n
    j       attempt_trap
    .set    n, n + 1
    .endr
    .option pop
    .size   attempt_vectors, . - attempt_vectors

/* Trap handlers for supervisor mode: they hand scause, stval, sepc, sstatus and the entry's number to machine mode
 * in a0 to a4 by an ecall. */
    .balign 256
    .globl  supervisor_vectors
    .type   supervisor_vectors, @function
supervisor_vectors:
    .option push
    .option norvc
    .set    n, 0
    .rept   16
    j       supervisor_stubs + 8 * n
    .set    n, n + 1
    .endr
supervisor_stubs:
    .set    n, 0
    .rept   16
    li      t6, n
    j       supervisor_trap
    .set    n, n + 1
    .endr
    .option pop
    .size   supervisor_vectors, . - supervisor_vectors

    .balign 4
    .globl  supervisor_trap
    .type   supervisor_trap, @function
supervisor_trap:
    csrr    a0, scause
    csrr    a1, stval
    csrr    a2, sepc
    csrr    a3, sstatus
    mv      a4, t6
    .globl  supervisor_trap_end
supervisor_trap_end:
    ecall
    .size   supervisor_trap, . - supervisor_trap

    .section .note.GNU-stack, "", @progbits
