/* Set-up of an accelerator before its first task: memory protection and what regions may access. */
#include <croft/firmware/csr.h>
#include <croft/firmware/map.h>
#include <stdint.h>

#include "firmware/nucd/unit.h"
#include "isa/csr.h"

_Static_assert(CSR_MRANGE == CSR_mrange && CSR_MLOCAL == CSR_mlocal, "assembler cannot read isa/csr.def");

/* csr_write() and csr_read() for a CSR that a macro names. */
#define WRITE_NUMBER(csr, value) csr_write(csr, value)
#define READ_NAMED(csr)          csr_read(csr)

enum { PMP_R = 1, PMP_W = 2, PMP_X = 4, PMP_TOR = 1 << 3, PMP_NAPOT = 3 << 3 };

/* Returns pmpaddr for a naturally aligned power of two (privileged specification, table of NAPOT ranges). */
static uint64_t napot(uint64_t base, uint64_t size)
{
    return base >> 2 | (size / 8 - 1);
}

/* Sets up PMP; the first matching entry decides. 0: nothing below memory (devices). 1: memory up to
 * `writable` is read and execute only. 2: the accelerator's own stack is read and write. 3: no other access
 * to firmware memory. 4: all other memory. mlocal gives user mode the stack at its physical address, even if
 * a range table translates. Returns the stack's end. */
uint64_t accelerator_setup(uint64_t number, uint64_t unit, uint64_t memory, uint64_t firmware, uint64_t size,
                           uint64_t writable)
{
    uint64_t stack_size = size / 2 / CROFT_HARTS_MAX;
    uint64_t stack = firmware + size / 2 + number * stack_size;
    csr_write(pmpaddr0, memory >> 2);
    csr_write(pmpaddr1, writable >> 2);
    csr_write(pmpaddr2, napot(stack, stack_size));
    csr_write(pmpaddr3, napot(firmware, size));
    csr_write(pmpaddr4, -1ul);
    uint64_t all = PMP_NAPOT | PMP_R | PMP_W | PMP_X;
    csr_write(pmpcfg0, PMP_TOR | (PMP_TOR | PMP_R | PMP_X) << 8 | (PMP_NAPOT | PMP_R | PMP_W) << 16 |
                           PMP_NAPOT << 24 | all << 32);

    *(volatile uint64_t *)(unit + TASK_UNIT_CONTEXT) = READ_NAMED(CSR_CONTEXT);
    WRITE_NUMBER(CSR_MLOCAL, napot(stack, stack_size));
    csr_write(mcounteren, 7); /* cycle, time, instret; with S-mode, user mode needs both registers */
    csr_write(scounteren, 7);
    csr_write(mie, 1ul << INTERRUPT_MACHINE_EXTERNAL);
    /* mret enters user mode, where machine-mode interrupts are always taken. In firmware they only wake wfi. */
    csr_clear(mstatus, MSTATUS_MPP | MSTATUS_MIE | MSTATUS_MPIE);
    csr_set(mstatus, 1ul << MSTATUS_FS_SHIFT);
    return stack + stack_size;
}
