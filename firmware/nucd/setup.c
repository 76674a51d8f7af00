/* What an accelerator does once, before its first task: memory protection and what regions may use. */
#include <croft/firmware/csr.h>
#include <croft/firmware/map.h>
#include <stdint.h>

#include "firmware/nucd/unit.h"
#include "isa/csr.h"

_Static_assert(CSR_MRANGE == CSR_mrange && CSR_MLOCAL == CSR_mlocal, "assembler cannot read isa/csr.def");

/* csr_write() of a macro's number. */
#define WRITE_NUMBER(csr, value) csr_write(csr, value)

enum { PMP_R = 1, PMP_W = 2, PMP_X = 4, PMP_TOR = 1 << 3, PMP_NAPOT = 3 << 3 };

/* A naturally aligned power of two as pmpaddr holds it (privileged specification, table of NAPOT ranges). */
static uint64_t napot(uint64_t base, uint64_t size)
{
    return base >> 2 | (size / 8 - 1);
}

/* Entries are looked at in order, the first that matches decides: no devices; what programs may not write, up to
 * `writable`; the accelerator's own stack; else nothing that is firmware's; all other memory. The stack is where user mode finds it at its physical address even
 * when a table of ranges translates. Returns the stack's end. */
uint64_t worker_setup(uint64_t number, uint64_t unit, uint64_t memory, uint64_t firmware, uint64_t size,
                      uint64_t writable)
{
    uint64_t stack_size = size / 2 / CROFT_HARTS_MAX;
    uint64_t stack = firmware + size / 2 + number * stack_size;
    (void)unit;
    csr_write(pmpaddr0, memory >> 2);
    csr_write(pmpaddr1, writable >> 2);
    csr_write(pmpaddr2, napot(stack, stack_size));
    csr_write(pmpaddr3, napot(firmware, size));
    csr_write(pmpaddr4, -1ul);
    uint64_t all = PMP_NAPOT | PMP_R | PMP_W | PMP_X;
    csr_write(pmpcfg0, PMP_TOR | (PMP_TOR | PMP_R | PMP_X) << 8 | (PMP_NAPOT | PMP_R | PMP_W) << 16 |
                           PMP_NAPOT << 24 | all << 32);

    WRITE_NUMBER(CSR_MLOCAL, napot(stack, stack_size));
    csr_write(mcounteren, 7); /* cycle, time, instret; user mode asks both, as there is supervisor mode */
    csr_write(scounteren, 7);
    csr_write(mie, 1ul << INTERRUPT_MACHINE_EXTERNAL);
    /* mret leads to user mode, where interrupts of machine mode are always taken; in firmware they only end wfi. */
    csr_clear(mstatus, MSTATUS_MPP | MSTATUS_MIE | MSTATUS_MPIE);
    csr_set(mstatus, 1ul << MSTATUS_FS_SHIFT);
    return stack + stack_size;
}
