# Ends with 0x5555 if its data was loaded at the physical address, and not at the virtual one.
#define FINISHER 0x100000
#define FAIL 0x13333

    .section .text.start, "ax", @progbits
    .globl  _start
_start:
    li      t4, FINISHER
    li      t1, FAIL
    li      t3, 0x1234567
    la      t0, loaded
    ld      t2, 0(t0)
    bne     t2, t3, finish
    la      t0, word
    ld      t2, 0(t0)
    bnez    t2, finish
    li      t1, 0x5555
finish:
    sw      t1, 0(t4)
    j       finish

    .data
    .balign 8
word:
    .dword  0x1234567
    .section .note.GNU-stack, "", @progbits
