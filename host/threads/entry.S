/* Makes a thread (thread.c). */
#define CALL_CLONE 220

    .text
    .globl  croft_thread_clone
    .type   croft_thread_clone, @function
croft_thread_clone:                 /* flags, stack, parent's word, thread-local storage, child's word */
    .cfi_startproc
    li      a7, CALL_CLONE
    ecall
    beqz    a0, 1f
    ret
1:  .cfi_undefined ra               /* the new thread: backtraces end here */
    ld      a0, 0(sp)
    ld      a1, 8(sp)
    call    croft_thread_begin
    .cfi_endproc
    .size   croft_thread_clone, . - croft_thread_clone

    .section .note.GNU-stack, "", @progbits
