/* The kernel's first instructions, in machine mode at physical addresses: delegate all traps to supervisor
 * mode and open all memory. Hart 0 continues in kernel_main(a1) with translation on; the other harts sleep
 * for ever. */
#include <croft/firmware/map.h>

#include "isa/include/croft/door.h"
#include "isa/include/croft/nucd_bits.h"

#define MSTATUS_FS      (3 << 13)   /* only the program uses floating-point registers: no need to track them */
#define MSTATUS_MPP_S   (1 << 11)
/* Causes 0 to 15 except calls from supervisor and machine mode, and the causes of nucd. */
#define DELEGATED       (0xf1ff | 1 << CROFT_NUCD_CAUSE_FAULT | 1 << CROFT_NUCD_CAUSE_CALL)
#define SATP_SV39       8
#define PMP_NAPOT_RWX   0x1f
#define INTERRUPTS      0x222       /* the supervisor-mode interrupts */
/* Enables cache-block operations in lower modes (CBIE flush (01), CBCFE, CBZE) and stimecmp (Sstc). */
#define ENVCFG_BLOCKS   0xd0
#define ENVCFG_STCE     (1 << 63)
#define COUNTERS        7           /* cycle, time, instret */

    .section .text.start, "ax", @progbits
    .globl  _start
_start:
    csrw    mie, zero
    csrr    t0, mhartid
    bnez    t0, park
    lla     t0, machine_trap
    csrw    mtvec, t0
    li      t0, DELEGATED
    csrw    medeleg, t0
    li      t0, INTERRUPTS
    csrw    mideleg, t0
    li      t0, -1
    csrw    pmpaddr0, t0
    li      t0, PMP_NAPOT_RWX
    csrw    pmpcfg0, t0
    li      t0, COUNTERS
    csrw    mcounteren, t0
    csrw    scounteren, t0
    li      t0, ENVCFG_BLOCKS | ENVCFG_STCE
    csrw    menvcfg, t0
    li      t0, ENVCFG_BLOCKS
    csrw    senvcfg, t0

    /* The first table maps only the gigapage that holds the kernel; table.c completes it. */
    lla     t0, table_root
    srli    t0, t0, 12
    li      t1, SATP_SV39 << 60
    or      t0, t0, t1
    csrw    satp, t0
    sfence.vma
    li      t0, MSTATUS_FS | MSTATUS_MPP_S
    csrw    mstatus, t0
    li      t1, CROFT_KERNEL_BASE - CROFT_DRAM_BASE
    lla     t0, supervisor_start
    add     t0, t0, t1
    csrw    mepc, t0
    mv      a0, a1
    mret

park:
    wfi
    j       park

supervisor_start:
    .option push
    .option norelax
    lla     gp, __global_pointer$
    .option pop
    lla     sp, kernel_stack_top
    lla     t0, trap_entry
    csrw    stvec, t0
    csrw    sscratch, zero          /* a trap from here on is the kernel's own */
    call    kernel_main
    j       trap_return             /* a0: the frame to start with */

/* Nothing traps to machine mode unless the kernel has a bug. */
    .balign 4
machine_trap:
    li      a0, DOOR_PANIC_NUMBER
    csrr    a1, mcause
    csrr    a2, mepc
    csrr    a3, mtval
    .balign 16
    .option push
    .option norvc
    slli    x0, x0, 0x1f
    ebreak
    srai    x0, x0, 7
    .option pop
1:  j       1b

    .section .note.GNU-stack, "", @progbits
