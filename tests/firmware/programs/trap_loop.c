/* Traps that repeat without end and without progress, in the way that CASE names. */
#include <croft/firmware/csr.h>
#include <stdio.h>

static unsigned long nowhere[64] __attribute__((aligned(64)));

/* Returns to the instruction that trapped, which traps again. */
__attribute__((naked, aligned(4))) static void stubborn(void)
{
    __asm__ volatile("csrw mscratch, t0\n csrr t0, mcause\n csrr t0, mscratch\n mret");
}

/* Saves registers where there is no memory. */
__attribute__((naked, aligned(4))) static void careless(void)
{
    __asm__ volatile("addi sp, sp, -16\n sd t0, 0(sp)\n mret");
}

/* In supervisor mode; its vector leads nowhere. */
static void supervise(void)
{
    csr_write(pmpaddr0, ~0ul >> 10);
    csr_write(pmpcfg0, 0x1f);
    csr_write(medeleg, 0xffff);
    csr_write(stvec, 0);
    csr_clear(mstatus, MSTATUS_MPP);
    csr_set(mstatus, 1ul << MSTATUS_MPP_SHIFT);
    __asm__ volatile("la t0, 1f\n csrw mepc, t0\n mret\n 1: .word 0xffffffff" : : : "t0");
}

int main(void)
{
    puts("before");
    switch (CASE) {
    case 0: csr_write(mtvec, 0); break;
    case 1: csr_write(mtvec, nowhere); break;
    case 2: csr_write(mtvec, stubborn); break;
    case 3:
        csr_write(mtvec, careless);
        __asm__ volatile("li sp, 0x1000\n .word 0xffffffff");
        break;
    default: supervise(); break;
    }
    __asm__ volatile(".word 0xffffffff");
    puts("behind");
    return 0;
}
