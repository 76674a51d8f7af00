/* The kernel's first instructions, in machine mode at physical addresses: delegate all traps to supervisor
 * mode and open all memory. Hart 0 continues in kernel_main(a1) with translation on. The other harts sleep until a
 * software interrupt starts them on a thread (hosts.h); those that are not hosts sleep for ever. In machine mode only software interrupts are served:
 * they become interrupts of supervisor mode, because the CLINT has none. */
#include <croft/firmware/map.h>

#include "isa/include/croft/door.h"
#include "host/kernel/hosts_layout.h"
#include "isa/include/croft/nucd_bits.h"

#define MSIE            8           /* the machine-mode software interrupt, in mie and mip */
#define SSIP            2           /* the supervisor-mode one, in mip */
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
    lla     t0, machine_trap
    csrw    mtvec, t0
    csrr    a2, mhartid
    lla     t1, machine_hosts
    slli    t0, a2, MACHINE_HOST_SHIFT
    add     a3, t0, t1              /* this hart's struct machine_host */
    bnez    a2, park
    lla     t0, table_root          /* maps only the gigapage that holds the kernel; table.c completes it */
    lla     a4, supervisor_start
set_up:
    srli    t0, t0, 12
    li      t1, SATP_SV39 << 60
    or      t0, t0, t1
    csrw    satp, t0
    sfence.vma
    csrw    mscratch, a3
    li      t0, MSIE
    csrw    mie, t0
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

    li      t0, MSTATUS_FS | MSTATUS_MPP_S
    csrw    mstatus, t0
    li      t1, CROFT_KERNEL_BASE - CROFT_DRAM_BASE
    add     a4, a4, t1
    csrw    mepc, a4
    mv      a0, a1
    mret

park:
    li      t0, KERNEL_HOSTS
    bgeu    a2, t0, 1f              /* nothing wakes this hart */
    li      t0, MSIE
    csrw    mie, t0                 /* wakes, but is not taken: mstatus.MIE is 0 */
1:  wfi
    csrr    t0, mip
    andi    t0, t0, MSIE
    beqz    t0, 1b
    ld      t0, MACHINE_HOST_MSIP(a3)
    sw      zero, (t0)
    ld      t0, MACHINE_HOST_TABLE(a3)
    lla     a4, supervisor_join
    j       set_up

supervisor_join:                    /* a2: the hart's number */
    .option push
    .option norelax
    lla     gp, __global_pointer$
    .option pop
    lla     t0, hosts_each
    slli    t1, a2, 3
    add     t0, t0, t1
    ld      tp, (t0)
    ld      sp, KERNEL_FRAME_STACK(tp)
    lla     t0, trap_entry
    csrw    stvec, t0
    csrw    sscratch, zero
    call    hosts_join
    j       trap_return             /* a0: the frame to start with */

supervisor_start:
    .option push
    .option norelax
    lla     gp, __global_pointer$
    .option pop
    lla     sp, kernel_stack_top
    lla     t0, trap_entry
    csrw    stvec, t0
    csrw    sscratch, zero          /* a trap from here on is the kernel's own */
    lla     tp, hosts_first
    call    kernel_main
    j       trap_return             /* a0: the frame to start with */

/* Passes a software interrupt on to supervisor mode. Nothing else traps to machine mode unless the kernel has a bug. */
    .balign 4
machine_trap:
    csrrw   t0, mscratch, t0        /* this hart's struct machine_host */
    sd      t1, MACHINE_HOST_KEPT(t0)
    csrr    t1, mcause
    bgez    t1, 1f
    ld      t1, MACHINE_HOST_MSIP(t0)
    sw      zero, (t1)
    csrsi   mip, SSIP
    ld      t1, MACHINE_HOST_KEPT(t0)
    csrrw   t0, mscratch, t0
    mret
1:  li      a0, DOOR_PANIC_NUMBER
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
