/* mstatus: the interrupt-enable stack, mret and sret, TSR, TW, TVM, and the state of the floating-point unit.
 */
#include <stdio.h>

#include "support/support.h"

SNIPPET(only_ecall, "");

/* mret to the next instruction in the mode that a0 holds as MPP and MPIE bits; reads mstatus there. */
SNIPPET(mret_within,
        "la t0, 1f\n csrw mepc, t0\n li t1, 0x1888\n csrc mstatus, t1\n csrs mstatus, a0\n mret\n"
        "1: csrr a0, mstatus");
/* sret likewise with SPP and SPIE bits. In U-mode sstatus cannot be read, so that the ecall tells. */
SNIPPET(sret_within,
        "la t0, 1f\n csrw sepc, t0\n li t1, 0x122\n csrc sstatus, t1\n csrs sstatus, a0\n sret\n1:");
SNIPPET(sret_read, "la t0, 1f\n csrw sepc, t0\n li t1, 0x122\n csrc sstatus, t1\n csrs sstatus, a0\n sret\n"
                   "1: csrr a0, sstatus");
SNIPPET(do_wfi, ".option push\n.option norvc\nwfi\n.option pop");
SNIPPET(do_mret, "mret");
SNIPPET(do_sret, "sret");
SNIPPET(read_satp, "csrr a0, satp");
SNIPPET(write_satp, "csrw satp, zero");
SNIPPET(do_sfence, "sfence.vma");

SNIPPET(do_fadd, "fadd.d ft0, ft0, ft0");
SNIPPET(do_fld, "fld ft0, 0(a0)");
SNIPPET(do_fsd, "fsd ft0, 0(a0)");
SNIPPET(do_c_fld, "c.fld fa0, 0(a0)");
SNIPPET(do_fmv, "fmv.d.x ft0, a0");
SNIPPET(do_fmv_to_x, "fmv.x.d a0, ft0");
SNIPPET(do_feq, "feq.d a0, ft0, ft0");
SNIPPET(read_fcsr, "csrr a0, fcsr");
SNIPPET(write_fcsr, "csrw fcsr, a1");
SNIPPET(write_fflags, "csrwi fflags, 0");

static const uint64_t stack_bits = MSTATUS_MIE | MSTATUS_MPIE | MSTATUS_MPP;

static void test_trap_stack(struct suite *s)
{
    char name[64];
    for (enum privilege mode = PRIVILEGE_USER; mode <= PRIVILEGE_MACHINE;
         mode += mode == PRIVILEGE_SUPERVISOR ? 2u : 1u) {
        for (unsigned enabled = 0; enabled < 2; enabled++) {
            struct attempt a = {.pc = (uint64_t)only_ecall};
            a.status = (status_for(mode) & ~MSTATUS_MPIE) | (enabled ? MSTATUS_MPIE : 0);
            attempt_run(&a);
            snprintf(name, sizeof name, "MPP, MPIE, MIE after a trap from mode %d, MIE %u", (int)mode,
                     enabled);
            expect(s, name, a.status_after & stack_bits,
                   (uint64_t)mode << MSTATUS_MPP_SHIFT | (enabled ? MSTATUS_MPIE : 0));
        }
    }
}

static void test_mret(struct suite *s)
{
    struct attempt a = attempt(PRIVILEGE_MACHINE, mret_within, MSTATUS_MPP, 0);
    expect(s, "after mret to M, MPIE 0", a.result[0] & stack_bits, MSTATUS_MPIE);
    a = attempt(PRIVILEGE_MACHINE, mret_within, MSTATUS_MPP | MSTATUS_MPIE, 0);
    expect(s, "after mret to M, MPIE 1", a.result[0] & stack_bits, MSTATUS_MPIE | MSTATUS_MIE);

    a = (struct attempt){.pc = (uint64_t)only_ecall,
                         .status = status_for(PRIVILEGE_SUPERVISOR) | MSTATUS_MPRV};
    attempt_run(&a);
    expect_spec(s, "mret to S clears MPRV", !(a.status_after & MSTATUS_MPRV));
    a = (struct attempt){.pc = (uint64_t)only_ecall, .status = status_for(PRIVILEGE_MACHINE) | MSTATUS_MPRV};
    attempt_run(&a);
    expect(s, "MPRV after mret to M", a.status_after & MSTATUS_MPRV, MSTATUS_MPRV);

    for (enum privilege mode = PRIVILEGE_USER; mode <= PRIVILEGE_SUPERVISOR; mode++) {
        a = attempt(mode, do_mret, 0, 0);
        expect_trap(s, "mret below M", &a, ILLEGAL, 0x30200073, 0);
    }
}

static void test_sret(struct suite *s)
{
    const uint64_t bits = MSTATUS_SIE | MSTATUS_SPIE | MSTATUS_SPP;
    struct attempt a = attempt(PRIVILEGE_SUPERVISOR, sret_read, MSTATUS_SPP, 0);
    expect(s, "after sret to S, SPIE 0", a.result[0] & bits, MSTATUS_SPIE);
    a = attempt(PRIVILEGE_SUPERVISOR, sret_read, MSTATUS_SPP | MSTATUS_SPIE, 0);
    expect(s, "after sret to S, SPIE 1", a.result[0] & bits, MSTATUS_SPIE | MSTATUS_SIE);
    a = attempt(PRIVILEGE_SUPERVISOR, sret_within, 0, 0);
    expect(s, "sret to U ends there", a.cause, ECALL_U);
    expect(s, "mstatus after it", a.status_after & (bits | MSTATUS_MPP), MSTATUS_SPIE);
    a = attempt(PRIVILEGE_MACHINE, sret_within, MSTATUS_SPP, 0);
    expect(s, "sret from M to S", a.cause, ECALL_S);
    a = attempt(PRIVILEGE_MACHINE, sret_within, 0, 0);
    expect(s, "sret from M to U", a.cause, ECALL_U);
    a = (struct attempt){.pc = (uint64_t)sret_within, .status = status_for(PRIVILEGE_MACHINE) | MSTATUS_MPRV};
    a.a[0] = MSTATUS_SPP;
    attempt_run(&a);
    expect_spec(s, "sret in M clears MPRV", !(a.status_after & MSTATUS_MPRV));
    a = attempt(PRIVILEGE_USER, do_sret, 0, 0);
    expect_trap(s, "sret in U", &a, ILLEGAL, 0x10200073, 0);
    csr_clear(mstatus, bits);
}

static void test_tsr_tw_tvm(struct suite *s)
{
    struct attempt a;
    csr_set(mstatus, MSTATUS_TSR);
    a = attempt(PRIVILEGE_SUPERVISOR, do_sret, 0, 0);
    expect_trap(s, "sret in S under TSR", &a, ILLEGAL, 0x10200073, 0);
    a = attempt(PRIVILEGE_MACHINE, sret_within, MSTATUS_SPP, 0);
    expect(s, "sret in M under TSR", a.cause, ECALL_S);
    csr_clear(mstatus, MSTATUS_TSR | MSTATUS_SPP | MSTATUS_SPIE | MSTATUS_SIE);

    csr_set(mstatus, MSTATUS_TW);
    a = attempt(PRIVILEGE_SUPERVISOR, do_wfi, 0, 0);
    expect_trap(s, "wfi in S under TW", &a, ILLEGAL, 0x10500073, 0);
    a = attempt(PRIVILEGE_USER, do_wfi, 0, 0);
    expect_trap(s, "wfi in U under TW", &a, ILLEGAL, 0x10500073, 0);
    csr_clear(mstatus, MSTATUS_TW);
    a = attempt(PRIVILEGE_USER, do_wfi, 0, 0);
    expect_trap(s, "wfi in U", &a, ILLEGAL, 0x10500073, 0);

    csr_set(mstatus, MSTATUS_TVM);
    a = attempt(PRIVILEGE_SUPERVISOR, read_satp, 0, 0);
    expect_trap(s, "read of satp under TVM", &a, ILLEGAL, 0x18002573, 0);
    a = attempt(PRIVILEGE_SUPERVISOR, write_satp, 0, 0);
    expect_trap(s, "write of satp under TVM", &a, ILLEGAL, 0x18001073, 0);
    a = attempt(PRIVILEGE_SUPERVISOR, do_sfence, 0, 0);
    expect_trap(s, "sfence.vma under TVM", &a, ILLEGAL, 0x12000073, 0);
    a = attempt(PRIVILEGE_MACHINE, read_satp, 0, 0);
    expect_end(s, "read of satp in M under TVM", &a);
    a = attempt(PRIVILEGE_MACHINE, do_sfence, 0, 0);
    expect_end(s, "sfence.vma in M under TVM", &a);
    csr_clear(mstatus, MSTATUS_TVM);
    a = attempt(PRIVILEGE_SUPERVISOR, write_satp, 0, 0);
    expect_end(s, "write of satp", &a);
}

/* Runs a snippet with that state of the floating-point unit. */
static struct attempt attempt_fs(const char *code, unsigned fs, uint64_t a0)
{
    struct attempt a = {.pc = (uint64_t)code, .a = {a0}};
    a.status = (status_for(PRIVILEGE_USER) & ~MSTATUS_FS) | (uint64_t)fs << MSTATUS_FS_SHIFT;
    attempt_run(&a);
    return a;
}

static void test_floating_point(struct suite *s)
{
    enum { OFF, INITIAL, CLEAN, DIRTY };
    static double number = 1.5;
    static const struct {
        const char *name, *code;
        uint32_t bits;
        bool dirties;
    } rows[] = {
        {"fadd.d", do_fadd, 0x02007053, true},       {"fld", do_fld, 0x00053007, true},
        {"c.fld", do_c_fld, 0x2108, true},           {"fmv.d.x", do_fmv, 0xf2050053, true},
        {"csrw fcsr", write_fcsr, 0x00359073, true}, {"csrwi fflags", write_fflags, 0x00105073, true},
        {"fsd", do_fsd, 0x00053027, false},          {"fmv.x.d", do_fmv_to_x, 0xe2000553, false},
        {"csrr fcsr", read_fcsr, 0x00302573, false}, {"feq.d", do_feq, 0xa2002553, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char name[64];
        struct attempt a = attempt_fs(rows[i].code, OFF, (uint64_t)&number);
        uint32_t bits = *(const uint16_t *)rows[i].code;
        if ((bits & 3) == 3)
            bits |= (uint32_t) * ((const uint16_t *)rows[i].code + 1) << 16;
        snprintf(name, sizeof name, "%s, FS off", rows[i].name);
        expect_trap(s, name, &a, ILLEGAL, bits, 0);
        for (unsigned fs = INITIAL; fs <= DIRTY; fs++) {
            a = attempt_fs(rows[i].code, fs, (uint64_t)&number);
            uint64_t after = (a.status_after & MSTATUS_FS) >> MSTATUS_FS_SHIFT;
            snprintf(name, sizeof name, "%s, FS %u", rows[i].name, fs);
            expect_end(s, name, &a);
            if (rows[i].dirties)
                expect(s, "FS afterwards, and SD", after | a.status_after >> 63 << 8, DIRTY | 0x100);
            else
                expect_spec(s, "FS afterwards is the same or dirty, and SD fits",
                            (after == fs || after == DIRTY) &&
                                (a.status_after >> 63 != 0) == (after == DIRTY));
        }
    }
}

static void test_views(struct suite *s)
{
    csr_set(mstatus, MSTATUS_SIE | MSTATUS_SPIE | MSTATUS_SPP | MSTATUS_SUM | MSTATUS_MXR);
    expect(s, "sstatus shows S's bits", csr_read(sstatus) & 0xc0122, 0xc0122);
    csr_write(sstatus, csr_read(sstatus) & ~0xc0122ul);
    expect(s, "and changes them", csr_read(mstatus) & 0xc0122, 0);
    csr_set(mstatus, MSTATUS_TVM | MSTATUS_TW | MSTATUS_TSR | MSTATUS_MPIE);
    expect(s, "sstatus hides M's bits", csr_read(sstatus) & 0x7e1888, 0);
    csr_clear(sstatus, UINT64_MAX & ~MSTATUS_FS);
    expect(s, "and keeps them", csr_read(mstatus) & 0x700080, 0x700080);
    csr_clear(mstatus, MSTATUS_TVM | MSTATUS_TW | MSTATUS_TSR | MSTATUS_MPIE);
    expect(s, "SXL and UXL", csr_read(mstatus) >> 32 & 0xf, 0xa);
    csr_set(mstatus, 0x7ul << 32);
    expect_spec(s, "SXL and UXL are legal after a write",
                (csr_read(mstatus) >> 32 & 3) - 1 < 2 && (csr_read(mstatus) >> 34 & 3) - 1 < 2);
    csr_write(mstatus, (csr_read(mstatus) & ~MSTATUS_MPP) | 2ul << MSTATUS_MPP_SHIFT);
    expect_spec(s, "MPP is legal after a write of 2",
                (csr_read(mstatus) & MSTATUS_MPP) >> MSTATUS_MPP_SHIFT != 2);
}

int main(void)
{
    struct suite s = {0};
    machine_prepare();
    test_trap_stack(&s);
    test_mret(&s);
    test_sret(&s);
    test_tsr_tw_tvm(&s);
    test_floating_point(&s);
    test_views(&s);
    return suite_end(&s);
}
