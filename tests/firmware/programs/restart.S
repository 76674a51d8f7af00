# A restart by the finisher: .bss is zero again, other memory stays. Ends with 0x5555 if so.
#define FINISHER 0x100000
#define FAIL 0x13333
#define SIZE 0x5010     /* no whole number of pages: its ends lie within some */

    .section .text.start, "ax", @progbits
    .globl  _start
_start:
    lla     t0, block
    li      t1, SIZE
    add     t1, t0, t1
    li      t4, FINISHER
1:  ld      t2, 0(t0)
    bnez    t2, bad
    sd      t4, 0(t0)
    addi    t0, t0, 8
    bltu    t0, t1, 1b
    li      t0, 0x81000000      # outside of what is loaded
    ld      t1, 0(t0)
    bnez    t1, good
    sd      t4, 0(t0)
    li      t1, 0x7777
    j       finish
good:
    li      t1, 0x5555
    j       finish
bad:
    li      t1, FAIL
finish:
    sw      t1, 0(t4)
    j       finish

    .section .bss, "aw", @nobits
    .balign 8
block:
    .zero   SIZE
    .section .note.GNU-stack, "", @progbits
