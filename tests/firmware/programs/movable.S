# Position-independent firmware: the first word of memory must be its first instruction. It tells of success by the finisher.
    .option norvc
    .globl _start
_start:
    lla t0, _start
    li t1, 0x80000000
    li t2, 0x100000
    bne t0, t1, 1f
    lla t3, word
    lw t4, 0(t3)
    sw t4, 0(t2)
1:  li t4, 0x13333 # fails with status 1
    sw t4, 0(t2)
    .data
word:
    .word 0x5555
