# Ends with 0x5555 if a1 is the address of a device tree that leaves the program's data alone.
#define FINISHER 0x100000
#define FAIL 0x13333
#define SIZE 0x300000

    .section .text.start, "ax", @progbits
    .globl  _start
_start:
    li      t4, FINISHER
    li      t1, FAIL
    lwu     t2, 0(a1)
    li      t3, 0xedfe0dd0      # the magic number, big-endian
    bne     t2, t3, finish
    andi    t2, a1, 7
    bnez    t2, finish
    la      t0, block
    li      t2, SIZE
    add     t2, t0, t2
    li      t3, 0x5a5a5a5a5a5a5a5a
1:  ld      t5, 0(t0)
    bne     t5, t3, finish
    addi    t0, t0, 8
    bltu    t0, t2, 1b
    li      t1, 0x5555
finish:
    sw      t1, 0(t4)
    j       finish

    .data
    .balign 8
block:
    .fill   SIZE, 1, 0x5a
    .section .note.GNU-stack, "", @progbits
