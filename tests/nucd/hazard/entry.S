# The frame around random bodies (see hazard.h): registers in and out, and the functions that bodies and regions call.
    .option norvc
    .option norelax
    .text

# void hazard_call(void *arena, struct context *context, void *body); the context holds, behind 8 bytes, the registers that
# a body begins with, and after it those that it ends with: a2-a7, s2-s10, fs0-fs7, fcsr.
    .globl hazard_call, hazard_done
hazard_call:
    addi sp, sp, -256
    sd ra, 0(sp)
    .irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11
    sd s\n, 8 + 8 * \n(sp)
    fsd fs\n, 104 + 8 * \n(sp)
    .endr
    mv s0, a0
    mv s1, a1
    mv t0, a2
    .irp n, 2, 3, 4, 5, 6, 7
    ld a\n, 8 * (\n - 1)(s1)
    .endr
    .irp n, 2, 3, 4, 5, 6, 7, 8, 9, 10
    ld s\n, 8 * (\n + 5)(s1)
    .endr
    .irp n, 0, 1, 2, 3, 4, 5, 6, 7
    fld fs\n, 8 * (\n + 16)(s1)
    .endr
    ld t1, 192(s1)
    fscsr t1
    jr t0
hazard_done:
    .irp n, 2, 3, 4, 5, 6, 7
    sd a\n, 8 * (\n - 1)(s1)
    .endr
    .irp n, 2, 3, 4, 5, 6, 7, 8, 9, 10
    sd s\n, 8 * (\n + 5)(s1)
    .endr
    .irp n, 0, 1, 2, 3, 4, 5, 6, 7
    fsd fs\n, 8 * (\n + 16)(s1)
    .endr
    frcsr t1
    sd t1, 192(s1)
    fscsr zero
    .irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11
    ld s\n, 8 + 8 * \n(sp)
    fld fs\n, 104 + 8 * \n(sp)
    .endr
    ld ra, 0(sp)
    addi sp, sp, 256
    ret

# Functions of (a0, a1) with a result in a0 that change a1 and t0-t6 besides.

# The sum of a1 doublewords from a0 on, by way of the stack.
    .globl hazard_sum, hazard_count, hazard_recurse, hazard_offload
hazard_sum:
    addi sp, sp, -32
    sd zero, 8(sp)
1:  ld t0, 0(a0)
    ld t1, 8(sp)
    xor t0, t0, a1
    add t1, t1, t0
    sd t1, 8(sp)
    addi a0, a0, 8
    addi a1, a1, -1
    bnez a1, 1b
    ld a0, 8(sp)
    addi sp, sp, 32
    ret

# A function of numbers alone, two calls deep.
hazard_count:
    addi sp, sp, -16
    sd ra, 0(sp)
    slli a1, a1, 3
1:  call 2f
    addi a1, a1, -1
    bnez a1, 1b
    ld ra, 0(sp)
    addi sp, sp, 16
    ret
2:  slli t0, a0, 7
    xor a0, a0, t0
    srli t0, a0, 9
    xor a0, a0, t0
    ret

# Adds to a1 doublewords from a0 on in a region each. Its own region calls it again for the rest, so that pc passes the
# region's end at other depths than that at which it began.
hazard_recurse:
    addi sp, sp, -32
    sd ra, 0(sp)
    sd a0, 8(sp)
    sd a1, 16(sp)
    lla t0, recurse_operands
    ld t3, 0(t0)
    ld t4, 8(t0)
    ld t5, 16(t0)
    .insn r 0x33, 2, 0, x0, t5, t3
3:  ld t0, 0(a0)
    addi t0, t0, 7
    sd t0, 0(a0)
    addi a1, a1, -1
    addi a0, a0, 8
    beqz a1, 4f
    call hazard_recurse
4:  ld a0, 8(sp)
    ld a1, 16(sp)
    ld a0, 0(a0)
    ld ra, 0(sp)
    addi sp, sp, 32
    ret

# The sum of a1 doublewords from a0 on, in a region that returns it.
hazard_offload:
    addi sp, sp, -16
    sd ra, 0(sp)
    lla t0, offload_operands
    ld t3, 0(t0)
    ld t4, 8(t0)
    ld t5, 16(t0)
    .insn r 0x33, 2, 0, x0, t5, t3
5:  call hazard_sum
6:  ld ra, 0(sp)
    addi sp, sp, 16
    ret

    .section .rodata
    .balign 8
# In and out 64 bytes at a0; in a1.
recurse_operands:
    .dword 10 + (1 << 5) + (11 << 16), 10 + (1 << 5), (0x4e554344 << 32) + (1 << 28) + (1 << 24) + 16
# In 64 bytes at a0, and a1; the result is a0.
offload_operands:
    .dword 10 + (1 << 5) + (11 << 16), 10, (0x4e554344 << 32) + (1 << 24) + 4
