/* Start-up code for thread-local storage: copies .tdata to tp. The .tbss after it is already zero. */
    .macro  copy_tdata
    lla     t0, __tdata_start
    lla     t1, __tdata_end
    mv      t2, tp
    bgeu    t0, t1, 2f
1:  lbu     t3, 0(t0)
    sb      t3, 0(t2)
    addi    t0, t0, 1
    addi    t2, t2, 1
    bltu    t0, t1, 1b
2:
    .endm
