/* Start-up code of a user program: passes the loader's stack to main(), then calls exit(). */
#include "host/newlib/tls.S"

    .section .text.start, "ax", @progbits
    .globl  _start
    .type   _start, @function
_start:
    .cfi_startproc
    .cfi_undefined ra               /* backtraces end here */
    .option push
    .option norelax                 /* gp is not set yet */
    la      gp, __global_pointer$
    .option pop

    lla     tp, __tls_main          /* the first thread's storage */
    copy_tdata

    /* The loader has zeroed .bss. sp points to argc, then argv[], NULL, envp[], NULL, the auxiliary vector. */
    ld      s0, 0(sp)
    addi    s1, sp, 8
    slli    s2, s0, 3
    add     s2, s2, s1
    addi    s2, s2, 8
    la      t0, environ
    sd      s2, 0(t0)

    la      a0, __libc_fini_array
    call    atexit
    call    __libc_init_array
    mv      a0, s0
    mv      a1, s1
    mv      a2, s2
    call    main
    call    exit
    .cfi_endproc
    .size   _start, . - _start

    /* Neither this file nor the program needs an executable stack. */
    .section .note.GNU-stack, "", @progbits
