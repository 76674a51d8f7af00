/* Cache-block instructions (Zicbom, Zicboz): who may execute them, what they do, how they fault.
 * Not compared: QEMU 7.2 does not have them. */
#include <stdio.h>

#include "support/support.h"

/* Written as bits, so that every assembler takes them; the operand is a0. */
SNIPPET(do_zero, ".insn i 0x0f, 2, x0, a0, 4");
SNIPPET(do_inval, ".insn i 0x0f, 2, x0, a0, 0");
SNIPPET(do_clean, ".insn i 0x0f, 2, x0, a0, 1");
SNIPPET(do_flush, ".insn i 0x0f, 2, x0, a0, 2");
/* prefetch.i, .r and .w are hints. */
SNIPPET(do_prefetch, "ori x0, a0, 0\nori x0, a0, 1\nori x0, a0, 3");

enum { CBIE_SHIFT = 4, CBCFE = 1 << 6, CBZE = 1 << 7, INVAL_FLUSHES = 1, INVAL_INVALIDATES = 3, BLOCK = 64 };
enum { PMP_NAPOT = 0x18, PMP_R = 1 };

static _Alignas(4096) uint8_t bytes[4096];

static const struct {
    const char *name, *code;
    uint32_t bits;
    unsigned enable; /* the field that enables it */
} rows[] = {
    {"cbo.zero", do_zero, 0x0045200f, CBZE},
    {"cbo.inval", do_inval, 0x0005200f, INVAL_FLUSHES << CBIE_SHIFT},
    {"cbo.clean", do_clean, 0x0015200f, CBCFE},
    {"cbo.flush", do_flush, 0x0025200f, CBCFE},
};
enum { ROWS = sizeof rows / sizeof rows[0] };

static void test_enables(struct suite *s)
{
    char name[80];
    for (unsigned i = 0; i < ROWS; i++) {
        for (unsigned bits = 0; bits < 4; bits++) {
            csr_write(menvcfg, bits & 1 ? rows[i].enable : 0);
            csr_write(senvcfg, bits & 2 ? rows[i].enable : 0);
            for (enum privilege mode = PRIVILEGE_USER; mode <= PRIVILEGE_MACHINE;
                 mode += mode == PRIVILEGE_SUPERVISOR ? 2u : 1u) {
                bool allowed =
                    mode == PRIVILEGE_MACHINE || (mode == PRIVILEGE_SUPERVISOR ? bits & 1 : bits == 3);
                struct attempt a = attempt(mode, rows[i].code, (uint64_t)bytes, 0);
                snprintf(name, sizeof name, "%s in mode %d, menvcfg %u, senvcfg %u", rows[i].name, (int)mode,
                         bits & 1, bits >> 1);
                if (allowed)
                    expect_end(s, name, &a);
                else
                    expect_trap(s, name, &a, ILLEGAL, rows[i].bits, 0);
            }
        }
    }
    csr_write(menvcfg, CBZE | CBCFE | INVAL_INVALIDATES << CBIE_SHIFT);
    csr_write(senvcfg, CBZE | CBCFE | INVAL_INVALIDATES << CBIE_SHIFT);
    struct attempt a = attempt(PRIVILEGE_USER, do_inval, (uint64_t)bytes, 0);
    expect_end(s, "cbo.inval in U, CBIE 3", &a);
    csr_write(menvcfg, 2 << CBIE_SHIFT);
    expect_spec(s, "menvcfg.CBIE is not 2", (csr_read(menvcfg) >> CBIE_SHIFT & 3) != 2);
}

static void test_effect(struct suite *s)
{
    csr_write(menvcfg, CBZE | CBCFE | INVAL_FLUSHES << CBIE_SHIFT);
    csr_write(senvcfg, CBZE | CBCFE | INVAL_FLUSHES << CBIE_SHIFT);
    for (unsigned i = 0; i < sizeof bytes; i++)
        bytes[i] = 0xff;
    for (unsigned i = 0; i < ROWS; i++) {
        struct attempt a = attempt(PRIVILEGE_USER, rows[i].code, (uint64_t)bytes + BLOCK + 17, 0);
        expect_end(s, rows[i].name, &a);
    }
    unsigned zeros = 0, wrong = 0;
    for (unsigned i = 0; i < sizeof bytes; i++) {
        zeros += bytes[i] == 0;
        wrong += (bytes[i] == 0) != (i / BLOCK == 1);
    }
    expect(s, "bytes that are zero", zeros, BLOCK);
    expect(s, "bytes that are wrong", wrong, 0);
}

/* All of them fault as stores, with the address that was given. */
static void test_faults(struct suite *s)
{
    char name[80];
    for (unsigned i = 0; i < ROWS; i++) {
        struct attempt a = attempt(PRIVILEGE_USER, rows[i].code, NOWHERE + 8, 0);
        snprintf(name, sizeof name, "%s where nothing is", rows[i].name);
        expect_trap(s, name, &a, STORE_ACCESS, a.value & ~7ul, 0);
        expect(s, "mtval is in the block", a.value / BLOCK, (NOWHERE + 8) / BLOCK);
        csr_write(pmpaddr0, (uint64_t)bytes >> 2 | (sizeof bytes / 2 - 1) >> 2);
        csr_write(pmpcfg0, PMP_NAPOT);
        __asm__ volatile("sfence.vma" : : : "memory");
        a = attempt(PRIVILEGE_USER, rows[i].code, (uint64_t)bytes + 8, 0);
        snprintf(name, sizeof name, "%s of memory without rights", rows[i].name);
        expect_trap(s, name, &a, STORE_ACCESS, (uint64_t)bytes + 8, 0);
        csr_write(pmpcfg0, PMP_NAPOT | PMP_R);
        __asm__ volatile("sfence.vma" : : : "memory");
        a = attempt(PRIVILEGE_USER, rows[i].code, (uint64_t)bytes + 8, 0);
        snprintf(name, sizeof name, "%s of memory that may be read", rows[i].name);
        if (rows[i].code == do_zero)
            expect_trap(s, name, &a, STORE_ACCESS, (uint64_t)bytes + 8, 0);
        else
            expect_end(s, name, &a);
        csr_write(pmpcfg0, 0);
        __asm__ volatile("sfence.vma" : : : "memory");
    }
    struct attempt a = attempt(PRIVILEGE_USER, do_prefetch, NOWHERE, 0);
    expect_end(s, "prefetches never fault", &a);
}

/* Page faults: cbo.zero needs W, the others R or W (and X counts with MXR only for R). */
static void test_paging(struct suite *s)
{
    static _Alignas(4096) uint64_t root[512], middle[512], last[512];
    enum { V = 1, R = 2, W = 4, X = 8, A = 64, D = 128 };
    const uint64_t address = 1ul << 30 | 64;
    char name[80];
    root[2] = 0x80000000ul >> 12 << 10 | V | R | W | X | A | D;
    root[1] = (uint64_t)middle >> 12 << 10 | V;
    middle[0] = (uint64_t)last >> 12 << 10 | V;
    csr_write(satp, 8ul << 60 | (uint64_t)root >> 12);
    static const unsigned flags[] = {0, V | A | D | R, V | A | D | R | W, V | A | D | X};
    for (unsigned i = 0; i < ROWS; i++) {
        for (unsigned f = 0; f < 4; f++) {
            last[0] = flags[f] ? (uint64_t)bytes >> 12 << 10 | flags[f] : 0;
            __asm__ volatile("sfence.vma" : : : "memory");
            struct attempt a = attempt(PRIVILEGE_SUPERVISOR, rows[i].code, address, 0);
            snprintf(name, sizeof name, "%s of a page with flags 0x%x", rows[i].name, flags[f]);
            bool allowed = flags[f] & (rows[i].code == do_zero ? W : R | W);
            if (allowed)
                expect_end(s, name, &a);
            else
                expect_trap(s, name, &a, STORE_PAGE, address, 0);
        }
    }
    csr_write(satp, 0);
}

int main(void)
{
    struct suite s = {0};
    machine_prepare();
    test_enables(&s);
    test_effect(&s);
    test_faults(&s);
    test_paging(&s);
    return suite_end(&s);
}
