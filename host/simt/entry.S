/* Entry and exit of a SIMT thread, and the switch between threads on the scalar core. */
#include "host/simt/leave.S"

    /* Called with t0 as link register. In: sp, the top of the thread's stack; ra, the address to which the
     * thread returns at its end, on multiprocessors 0; a0, the kernel's argument. Layout from the top down:
     * thread-local storage (tp points to its start), struct simt_thread, stack.
     *
     * Threads of multiprocessors in programs without thread-local storage store nothing here, because that
     * would be most of the traffic of small kernels. Bit 0 of tp tells that struct simt_thread is not
     * initialized; thread.c does that when it is needed. */
    .section .text.croft_simt_enter, "ax", @progbits
    .globl  croft_simt_enter
    .type   croft_simt_enter, @function
croft_simt_enter:
    lui     t1, %hi(__tls_size)
    addi    t1, t1, %lo(__tls_size)
    or      t1, t1, ra
    bnez    t1, simt_enter_slowly
    addi    sp, sp, -SIMT_THREAD_SIZE
    addi    tp, sp, SIMT_THREAD_SIZE + 1
    jr      t0
simt_enter_slowly:
    mv      t6, t0
    lla     t0, 1f
    jr      t0                      /* looks like a return: an analysis does not count these registers */
1:  lla     t1, __tdata_start
    lla     t2, __tdata_end
    lla     t3, __tbss_end
    sub     t4, t3, t1
    sub     t4, sp, t4
    andi    tp, t4, -64             /* the alignment of .tdata */
    sd      ra, SIMT_THREAD_END(tp)
    sd      zero, SIMT_THREAD_REENT(tp)
    sd      zero, SIMT_THREAD_NUMBER(tp)
    addi    sp, tp, -SIMT_THREAD_SIZE
    beq     t1, t3, 4f
    mv      t4, tp
    bgeu    t1, t2, 2f
3:  lbu     t5, 0(t1)
    sb      t5, 0(t4)
    addi    t1, t1, 1
    addi    t4, t4, 1
    bltu    t1, t2, 3b
2:  bgeu    t1, t3, 4f
3:  sb      zero, 0(t4)
    addi    t1, t1, 1
    addi    t4, t4, 1
    bltu    t1, t3, 3b
4:  jr      t6
    .size   croft_simt_enter, . - croft_simt_enter

    /* The kernel has returned: ends the thread. */
    .section .text.croft_simt_leave, "ax", @progbits
    .globl  croft_simt_leave
    .type   croft_simt_leave, @function
croft_simt_leave:
    slli    ra, tp, 63
    bltz    ra, 1f
    ld      ra, SIMT_THREAD_END(tp)
    ret
1:  li      ra, 0
    ret
    .size   croft_simt_leave, . - croft_simt_leave

    .section .text.simt_thread_finish, "ax", @progbits
    .globl  simt_thread_finish
    .type   simt_thread_finish, @function
simt_thread_finish:
    ld      a0, SIMT_THREAD_REENT(tp)
    call    simt_thread_end
    ld      ra, SIMT_THREAD_AFTER(tp)
    ret
    .size   simt_thread_finish, . - simt_thread_finish

    .section .text.simt_thread_hooked, "ax", @progbits
    .globl  simt_thread_hooked
    .type   simt_thread_hooked, @function
simt_thread_hooked:
    call    simt_thread_run_end
    mv      ra, a0
    ret
    .size   simt_thread_hooked, . - simt_thread_hooked

    simt_leave_to croft_simt_barrier, simt_scalar_barrier
    simt_leave_to croft_simt_yield, simt_scalar_yield

    .macro  simt_switching
    .endm
#include "host/simt/switch.S"

    .section .text.simt_scalar_begin, "ax", @progbits
    .globl  simt_scalar_begin
    .type   simt_scalar_begin, @function
simt_scalar_begin:
    mv      a0, s1
    mv      ra, s2
    jr      s0
    .size   simt_scalar_begin, . - simt_scalar_begin

    .section .note.GNU-stack, "", @progbits
