/* Start-up code of a machine-mode program, executed by every hart: sets up registers, trap vector and stack.
 * Hart 0 continues in main(), the others in hart_serve(). The loader has zeroed .bss. */
#include <croft/firmware/map.h>

#include "host/newlib/tls.S"

#include "firmware/start/stack_guard.h"

#define MSTATUS_FS_INITIAL 0x2000

    .macro  ABSOLUTE register, symbol   /* loads the value of a linker symbol that is no address */
    lui     \register, %hi(\symbol)
    addi    \register, \register, %lo(\symbol)
    .endm

    /* Relaxed code would be shorter than the assembler's debug information says, which then covers what follows. */
    .option norelax

    .section .text.start, "ax", @progbits
    .globl  _start
    .type   _start, @function
_start:
    .cfi_startproc
    .cfi_undefined ra               /* backtraces end here */
    csrw    mie, zero
    csrr    s0, mhartid
    li      t0, CROFT_HARTS_MAX
    bgeu    s0, t0, park
    call    hart_pointers
    lla     t0, trap_entry
    csrw    mtvec, t0
    csrw    mscratch, zero          /* traps from machine mode use the current stack */
    li      t0, MSTATUS_FS_INITIAL
    csrs    mstatus, t0
    csrw    fcsr, zero

    copy_tdata                      /* to this hart's tp */
    bnez    s0, secondary
    lla     sp, __stack_top
    lla     t2, __stack_guard_start
    call    guard_stack
    lla     t0, device_tree
    sd      a1, 0(t0)
    call    uart_init
    la      a0, __libc_fini_array
    call    atexit
    call    __libc_init_array
    li      a0, 1
    lla     a1, arguments
    lla     a2, arguments + 8
    call    main
    call    exit

secondary:
    ABSOLUTE t1, __hart_stack_stride
    mul     t0, t1, s0
    lla     sp, __hart_stacks
    add     sp, sp, t0
    sub     t2, sp, t1
    call    guard_stack
    call    hart_serve

park:
    wfi
    j       park
    .cfi_endproc
    .size   _start, . - _start

/* Sets gp and this hart's tp. Changes only t0 and t1. */
    .section .text.hart_pointers, "ax", @progbits
    .globl  hart_pointers
    .type   hart_pointers, @function
hart_pointers:
    la      gp, __global_pointer$
    ABSOLUTE t0, __tls_stride
    csrr    t1, mhartid
    mul     t0, t0, t1
    lla     tp, __tls_harts
    add     tp, tp, t0
    ret
    .size   hart_pointers, . - hart_pointers

/* Makes the __stack_guard bytes from t2 on inaccessible to this hart. Locked entries also bind machine mode. Changes
 * only t0 and t1. */
    .section .text.guard_stack, "ax", @progbits
    .globl  guard_stack
    .type   guard_stack, @function
guard_stack:
    ABSOLUTE t0, __stack_guard
    beqz    t0, 1f
    add     t0, t0, t2
    srli    t0, t0, 2
    csrw    GUARD_END, t0
    srli    t1, t2, 2
    csrw    GUARD_START, t1
    li      t0, GUARD_CONFIG_BITS
    csrs    GUARD_CONFIG, t0
1:  ret
    .size   guard_stack, . - guard_stack

/* main()'s arguments: the program's name. */
    .section .rodata.arguments, "a", @progbits
name:
    .asciz  "program"
    .section .data.arguments, "aw", @progbits
    .balign 8
arguments:
    .dword  name, 0

    .section .bss.device_tree, "aw", @nobits
    .balign 8
    .globl  device_tree
device_tree:
    .dword  0

/* HTIF's tohost and fromhost, each in its own cache line. */
    .section .tohost, "aw", @progbits
    .balign 64
    .globl  tohost
    .type   tohost, @object
tohost:
    .dword  0
    .size   tohost, 8
    .balign 64
    .globl  fromhost
    .type   fromhost, @object
fromhost:
    .dword  0
    .size   fromhost, 8

    .section .note.GNU-stack, "", @progbits
