/* The switch between threads on the scalar core. simt_switching is a macro of what else a switch does; it may change t1 and t2. */

    /* void simt_scalar_switch(uint64_t **from, uint64_t *to). simt_scalar_run() builds the same frame. */
    .section .text.simt_scalar_switch, "ax", @progbits
    .globl  simt_scalar_switch
    .type   simt_scalar_switch, @function
simt_scalar_switch:
    simt_switching
    addi    sp, sp, -SIMT_SWITCH_FRAME
    frcsr   t0
    sd      ra, 0(sp)
    sd      s0, 8(sp)
    sd      s1, 16(sp)
    sd      s2, 24(sp)
    sd      s3, 32(sp)
    sd      s4, 40(sp)
    sd      s5, 48(sp)
    sd      s6, 56(sp)
    sd      s7, 64(sp)
    sd      s8, 72(sp)
    sd      s9, 80(sp)
    sd      s10, 88(sp)
    sd      s11, 96(sp)
    sd      tp, 104(sp)
    sd      t0, 112(sp)
    fsd     fs0, 120(sp)
    fsd     fs1, 128(sp)
    fsd     fs2, 136(sp)
    fsd     fs3, 144(sp)
    fsd     fs4, 152(sp)
    fsd     fs5, 160(sp)
    fsd     fs6, 168(sp)
    fsd     fs7, 176(sp)
    fsd     fs8, 184(sp)
    fsd     fs9, 192(sp)
    fsd     fs10, 200(sp)
    fsd     fs11, 208(sp)
    sd      sp, 0(a0)
    mv      sp, a1
    ld      ra, 0(sp)
    ld      s0, 8(sp)
    ld      s1, 16(sp)
    ld      s2, 24(sp)
    ld      s3, 32(sp)
    ld      s4, 40(sp)
    ld      s5, 48(sp)
    ld      s6, 56(sp)
    ld      s7, 64(sp)
    ld      s8, 72(sp)
    ld      s9, 80(sp)
    ld      s10, 88(sp)
    ld      s11, 96(sp)
    ld      tp, 104(sp)
    ld      t0, 112(sp)
    fld     fs0, 120(sp)
    fld     fs1, 128(sp)
    fld     fs2, 136(sp)
    fld     fs3, 144(sp)
    fld     fs4, 152(sp)
    fld     fs5, 160(sp)
    fld     fs6, 168(sp)
    fld     fs7, 176(sp)
    fld     fs8, 184(sp)
    fld     fs9, 192(sp)
    fld     fs10, 200(sp)
    fld     fs11, 208(sp)
    fscsr   t0
    addi    sp, sp, SIMT_SWITCH_FRAME
    ret
    .size   simt_scalar_switch, . - simt_scalar_switch
