/* CSR fields: reset values, and what a write of anything leaves legal (WARL). */
#include <croft/firmware/clint.h>
#include <stdio.h>

#include "support/support.h"

/* Writes a value, prints what is read back. */
#define READ_BACK(csr, value)                                                                                \
    ({                                                                                                       \
        csr_write(csr, value);                                                                               \
        csr_read(csr);                                                                                       \
    })

static void test_identity(struct suite *s)
{
    uint64_t misa = csr_read(misa), letters = 0;
    for (const char *letter = "ACDFIMSU"; *letter; letter++)
        letters |= 1ul << (*letter - 'A');
    expect(s, "misa: MXL", misa >> 62, 2);
    expect(s, "misa: ACDFIMSU", misa & letters, letters);
    expect(s, "misa: reserved bits", misa >> 26 & 0xfffffffff, 0);
    csr_write(misa, misa);
    expect(s, "misa changes when it is written to itself", csr_read(misa) ^ misa, 0);
    expect(s, "mhartid", csr_read(mhartid), 0);
}

/* Registers that hold any value. */
static void test_full(struct suite *s)
{
    static const uint64_t values[] = {0, UINT64_MAX, 0x5555555555555555, 0xaaaaaaaaaaaaaaaa,
                                      0x0123456789abcdef};
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        expect(s, "mscratch", READ_BACK(mscratch, values[i]), values[i]);
        expect(s, "sscratch", READ_BACK(sscratch, values[i]), values[i]);
        expect(s, "stval", READ_BACK(stval, values[i]), values[i]);
        expect(s, "mtval", READ_BACK(mtval, values[i]), values[i]);
    }
    csr_write(mscratch, 0);
}

static void test_addresses(struct suite *s)
{
    expect_spec(s, "mepc: bit 0 stays 0", READ_BACK(mepc, 0x80000003) == 0x80000002);
    expect_spec(s, "sepc: bit 0 stays 0", READ_BACK(sepc, 0x80000005) == 0x80000004);
    expect(s, "mepc: bit 1", READ_BACK(mepc, 0x80000006), 0x80000006);
    expect(s, "sepc: Sv39 addresses of the upper half", READ_BACK(sepc, 0xffffffc000000000),
           0xffffffc000000000);
    uint64_t mtvec = csr_read(mtvec), stvec = csr_read(stvec);
    expect(s, "mtvec: direct", READ_BACK(mtvec, 0x80001000), 0x80001000);
    expect(s, "mtvec: vectored", READ_BACK(mtvec, 0x80001001), 0x80001001);
    csr_write(mtvec, 0x80001002);
    expect_spec(s, "mtvec: mode 2 is not kept", (csr_read(mtvec) & 3) < 2);
    csr_write(mtvec, 0x80001003);
    expect_spec(s, "mtvec: mode 3 is not kept", (csr_read(mtvec) & 3) < 2);
    csr_write(mtvec, mtvec);
    expect(s, "stvec: direct", READ_BACK(stvec, 0x80001000), 0x80001000);
    expect(s, "stvec: vectored", READ_BACK(stvec, 0x80001001), 0x80001001);
    csr_write(stvec, 0x80001002);
    expect_spec(s, "stvec: mode 2 is not kept", (csr_read(stvec) & 3) < 2);
    csr_write(stvec, stvec);
}

static void test_causes(struct suite *s)
{
    for (unsigned cause = 0; cause < 16; cause++)
        expect(s, "mcause and scause hold exceptions",
               READ_BACK(mcause, cause) << 8 | READ_BACK(scause, cause), cause << 8 | cause);
    for (unsigned number = 1; number < 12; number += 2)
        expect(s, "mcause and scause hold interrupts",
               (uint64_t)(READ_BACK(mcause, INTERRUPT | number) == READ_BACK(scause, INTERRUPT | number))
                       << 8 |
                   (csr_read(scause) & 0xff),
               0x100 | number);
}

static void test_masks(struct suite *s)
{
    clint_set_timer(0, UINT64_MAX);
    expect(s, "mie", READ_BACK(mie, UINT64_MAX) & 0xaaa, 0xaaa);
    expect(s, "mie cleared", READ_BACK(mie, 0), 0);
    csr_write(mip, UINT64_MAX);
    expect(s, "mip: only S's bits can be written", csr_read(mip) & 0xaaa, 0x222);
    csr_write(mip, 0);
    expect(s, "mip cleared", csr_read(mip) & 0xaaa, 0);
    expect(s, "mideleg: S's interrupts", READ_BACK(mideleg, UINT64_MAX) & 0x222, 0x222);
    expect(s, "mideleg cleared", READ_BACK(mideleg, 0) & 0xaaa, 0);
    expect_spec(s, "mcounteren has 32 bits", READ_BACK(mcounteren, UINT64_MAX) >> 32 == 0);
    expect(s, "mcounteren: CY, TM, IR", csr_read(mcounteren) & 7, 7);
    expect(s, "mcounteren cleared", READ_BACK(mcounteren, 0), 0);
    expect(s, "scounteren: CY, TM, IR", READ_BACK(scounteren, UINT64_MAX) & 7, 7);
    expect(s, "scounteren cleared", READ_BACK(scounteren, 0), 0);
    expect(s, "menvcfg: FIOM", READ_BACK(menvcfg, 1) & 1, 1);
    expect(s, "menvcfg cleared", READ_BACK(menvcfg, 0), 0);
    expect(s, "senvcfg: FIOM", READ_BACK(senvcfg, 1) & 1, 1);
    expect(s, "senvcfg cleared", READ_BACK(senvcfg, 0), 0);
    expect(s, "fcsr has 8 bits", READ_BACK(fcsr, UINT64_MAX), 0xff);
    expect(s, "frm within it", csr_read(frm), 7);
    expect(s, "fflags within it", csr_read(fflags), 0x1f);
    csr_write(fcsr, 0);
}

static void test_status(struct suite *s)
{
    uint64_t before = csr_read(mstatus) | MSTATUS_FS;
    csr_write(mstatus, UINT64_MAX & ~(MSTATUS_MIE | MSTATUS_MPRV | MSTATUS_SIE));
    expect(s, "mstatus: one-bit fields set", csr_read(mstatus) & 0x7c01a0, 0x7c01a0);
    expect(s, "mstatus: FS and SD", csr_read(mstatus) & (MSTATUS_FS | 1ul << 63), MSTATUS_FS | 1ul << 63);
    expect_spec(s, "mstatus: SBE and MBE are 0", (csr_read(mstatus) >> 36 & 3) == 0);
    expect_spec(s, "mstatus: UBE is 0", (csr_read(mstatus) >> 6 & 1) == 0);
    csr_write(mstatus, 0);
    uint64_t cleared = csr_read(mstatus);
    csr_write(mstatus, before); /* printf() needs floating point */
    expect(s, "mstatus cleared, but for SXL and UXL", cleared & ~0xf00000000ul, 0);
    for (unsigned mode = 0; mode < 4; mode++)
        if (mode != 2)
            expect(s, "mstatus.MPP holds",
                   (READ_BACK(mstatus, MSTATUS_FS | (uint64_t)mode << MSTATUS_MPP_SHIFT) & MSTATUS_MPP) >>
                       MSTATUS_MPP_SHIFT,
                   mode);
    csr_write(mstatus, before);
}

static void test_satp(struct suite *s)
{
    const uint64_t sv39 = 8ul << 60, sv48 = 9ul << 60;
    expect(s, "satp: Sv39", READ_BACK(satp, sv39 | 0x80123) & ~(0xfffful << 44), sv39 | 0x80123);
    expect(s, "satp: Sv48", READ_BACK(satp, sv48 | 0x80456) & ~(0xfffful << 44), sv48 | 0x80456);
    for (uint64_t mode = 1; mode < 16; mode += mode == 7 ? 4 : 1)
        expect(s, "satp: a write of a reserved mode changes nothing",
               READ_BACK(satp, mode << 60 | 0x80789) >> 60, 9);
    expect(s, "satp: bare", READ_BACK(satp, 0), 0);
}

int main(void)
{
    struct suite s = {0};
    machine_prepare();
    test_identity(&s);
    test_full(&s);
    test_addresses(&s);
    test_causes(&s);
    test_masks(&s);
    test_status(&s);
    test_satp(&s);
    return suite_end(&s);
}
