/* Traps that go to supervisor mode, and where traps arrive: direct and vectored mode of mtvec and stvec. */
#include <croft/firmware/clint.h>
#include <stdio.h>

#include "support/support.h"

SNIPPET(only_ecall, "");
SNIPPET(do_ebreak, ".option push\n.option norvc\nebreak\n.option pop");
SNIPPET(do_illegal, ".word 0xffffffff");
SNIPPET(do_load, "ld a0, 0(a0)");
SNIPPET(do_store, "sd a1, 0(a0)");
SNIPPET(do_lr_misaligned, "lr.w a0, (a0)");
SNIPPET(do_amo_misaligned, "amoadd.w a0, a1, (a0)");
SNIPPET(do_jump, "jr a0");

struct row {
    const char *name, *code;
    uint64_t a0;
    enum cause cause;
    uint64_t value;
};

static const struct row rows[] = {
    {"breakpoint", do_ebreak, 0, BREAKPOINT, 0},
    {"illegal instruction", do_illegal, 0, ILLEGAL, 0xffffffff},
    {"load access fault", do_load, NOWHERE, LOAD_ACCESS, NOWHERE},
    {"store access fault", do_store, NOWHERE, STORE_ACCESS, NOWHERE},
    {"load misaligned", do_lr_misaligned, 0x80000002, LOAD_MISALIGNED, 0x80000002},
    {"store misaligned", do_amo_misaligned, 0x80000002, STORE_MISALIGNED, 0x80000002},
    {"fetch access fault", do_jump, NOWHERE, FETCH_ACCESS, NOWHERE},
};

static uint64_t offset_of(const struct row *row)
{
    return row->cause == FETCH_ACCESS ? NOWHERE - (uint64_t)row->code : 0;
}

static void test_exceptions(struct suite *s)
{
    char name[80];
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        for (enum privilege mode = PRIVILEGE_USER; mode <= PRIVILEGE_SUPERVISOR; mode++) {
            csr_write(medeleg, 1ul << rows[i].cause);
            struct attempt a = attempt(mode, rows[i].code, rows[i].a0, 0);
            if (rows[i].cause == BREAKPOINT && a.result[1] == a.result[2])
                a.result[1] = 0; /* stval may be the address */
            snprintf(name, sizeof name, "%s in mode %d, delegated", rows[i].name, (int)mode);
            expect_delegated(s, name, &a, rows[i].cause, rows[i].value, offset_of(&rows[i]));
            expect(s, "SPP, SPIE and SIE", a.result[3] & 0x122, mode == PRIVILEGE_SUPERVISOR ? 0x100 : 0);
            csr_write(medeleg, 0xb3ff & ~(1ul << rows[i].cause));
            a = attempt(mode, rows[i].code, rows[i].a0, 0);
            a.value = rows[i].value;
            snprintf(name, sizeof name, "%s in mode %d, all others delegated", rows[i].name, (int)mode);
            expect_trap(s, name, &a, rows[i].cause, rows[i].value, offset_of(&rows[i]));
        }
        csr_write(medeleg, 1ul << rows[i].cause);
        struct attempt a = attempt(PRIVILEGE_MACHINE, rows[i].code, rows[i].a0, 0);
        a.value = rows[i].value;
        snprintf(name, sizeof name, "%s in M, delegated", rows[i].name);
        expect_trap(s, name, &a, rows[i].cause, rows[i].value, offset_of(&rows[i]));
    }
    csr_write(medeleg, 1ul << ECALL_U);
    struct attempt a = attempt(PRIVILEGE_USER, only_ecall, 0, 0);
    expect_delegated(s, "ecall from U, delegated", &a, ECALL_U, 0, 0);
    a = attempt(PRIVILEGE_SUPERVISOR, only_ecall, 0, 0);
    expect_trap(s, "ecall from S, not delegated", &a, ECALL_S, 0, 0);
    csr_write(medeleg, UINT64_MAX);
    expect(s, "medeleg's bits for what must be delegable", csr_read(medeleg) & 0xb3fe, 0xb3fe);
    expect_spec(s, "an ecall from M cannot be delegated", !(csr_read(medeleg) & 1ul << ECALL_M));
    csr_write(medeleg, 0);
}

/* What a trap changes: the S registers if delegated, the M registers otherwise, never both. */
static void test_registers(struct suite *s)
{
    csr_write(medeleg, 1ul << ILLEGAL);
    csr_write(mcause, 5);
    csr_write(mtval, 0x1234);
    csr_write(sepc, 0);
    struct attempt a = attempt(PRIVILEGE_USER, do_illegal, 0, 0);
    expect(s, "sepc", csr_read(sepc), a.pc);
    expect(s, "mcause is the handler's ecall", csr_read(mcause), ECALL_S);
    csr_write(medeleg, 0);
    csr_write(scause, 5);
    csr_write(stval, 0x1234);
    a = attempt(PRIVILEGE_USER, do_illegal, 0, 0);
    expect(s, "scause after a trap into M", csr_read(scause), 5);
    expect(s, "stval after a trap into M", csr_read(stval), 0x1234);
}

/* Exceptions arrive at the base, interrupts n at base + 4 n. */
static void test_machine_vectors(struct suite *s)
{
    struct attempt a = {.vector = (uint64_t)attempt_vectors | 1, .pc = (uint64_t)do_illegal};
    a.status = status_for(PRIVILEGE_MACHINE);
    attempt_run(&a);
    expect(s, "exception, vectored mtvec: entry", a.entry, 0);
    expect_trap(s, "exception, vectored mtvec", &a, ILLEGAL, 0xffffffff, 0);

    clint_set_timer(0, 0);
    csr_write(mie, 1ul << INTERRUPT_MACHINE_TIMER);
    for (unsigned vectored = 0; vectored < 2; vectored++) {
        a = (struct attempt){.vector = (uint64_t)attempt_vectors | vectored, .pc = (uint64_t)only_ecall};
        a.status = status_for(PRIVILEGE_MACHINE) | MSTATUS_MPIE;
        attempt_run(&a);
        expect(s, "timer interrupt, mtvec: entry", a.entry, vectored ? INTERRUPT_MACHINE_TIMER : 0);
        expect_trap(s, "timer interrupt", &a, INTERRUPT | INTERRUPT_MACHINE_TIMER, 0, 0);
    }
    clint_set_timer(0, UINT64_MAX);
    csr_write(mie, 1ul << INTERRUPT_MACHINE_SOFTWARE);
    clint_send_ipi(0);
    a = (struct attempt){.vector = (uint64_t)attempt_vectors | 1, .pc = (uint64_t)only_ecall};
    a.status = status_for(PRIVILEGE_USER);
    attempt_run(&a);
    expect(s, "software interrupt, vectored mtvec: entry", a.entry, INTERRUPT_MACHINE_SOFTWARE);
    clint_clear_ipi(0);
    csr_write(mie, 0);
}

static void test_supervisor_vectors(struct suite *s)
{
    static const unsigned numbers[] = {INTERRUPT_SUPERVISOR_SOFTWARE, INTERRUPT_SUPERVISOR_TIMER,
                                       INTERRUPT_SUPERVISOR_EXTERNAL};
    struct attempt a;
    csr_write(medeleg, 1ul << ILLEGAL);
    csr_write(stvec, (uint64_t)supervisor_vectors | 1);
    a = attempt(PRIVILEGE_USER, do_illegal, 0, 0);
    expect_delegated(s, "exception, vectored stvec", &a, ILLEGAL, 0xffffffff, 0);
    expect(s, "its entry", a.result[4], 0);
    csr_write(mideleg, 0x222);
    csr_write(mie, 0x222);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        csr_set(mip, 1ul << numbers[i]);
        csr_write(stvec, (uint64_t)supervisor_vectors | 1);
        a = attempt(PRIVILEGE_USER, only_ecall, 0, 0);
        expect_delegated(s, "interrupt, vectored stvec", &a, INTERRUPT | numbers[i], 0, 0);
        expect(s, "its entry", a.result[4], numbers[i]);
        csr_write(stvec, supervisor_vectors);
        a = attempt(PRIVILEGE_USER, only_ecall, 0, 0);
        expect(s, "entry of the same, direct stvec", a.result[4], 0);
        csr_clear(mip, 1ul << numbers[i]);
    }
    csr_write(mie, 0);
    csr_write(mideleg, 0);
    csr_write(medeleg, 0);
    csr_write(stvec, supervisor_trap);
}

/* sie and sip show what is delegated, and no more. */
static void test_views(struct suite *s)
{
    csr_write(mideleg, 0x222);
    csr_write(mie, 0xaaa);
    expect(s, "sie", csr_read(sie), 0x222);
    csr_write(sie, 0);
    expect(s, "mie after sie was cleared", csr_read(mie), 0x888);
    csr_write(sie, UINT64_MAX);
    expect(s, "mie after sie was filled", csr_read(mie) & 0xaaa, 0xaaa);
    csr_write(mideleg, 0x002);
    expect(s, "sie, only software delegated", csr_read(sie), 0x002);
    csr_set(mip, 0x222);
    expect(s, "sip, only software delegated", csr_read(sip), 0x002);
    csr_write(sip, 0);
    expect(s, "mip after sip was cleared", csr_read(mip) & 0x222, 0x220);
    csr_write(mideleg, 0x222);
    csr_write(sip, 0);
    expect(s, "sip's STIP and SEIP cannot be written", csr_read(sip), 0x220);
    csr_write(sip, 0x2);
    expect(s, "its SSIP can", csr_read(sip), 0x222);
    csr_clear(mip, 0x222);
    csr_write(mie, 0);
    csr_write(mideleg, 0);
}

int main(void)
{
    struct suite s = {0};
    machine_prepare();
    clint_set_timer(0, UINT64_MAX);
    test_exceptions(&s);
    test_registers(&s);
    test_machine_vectors(&s);
    test_supervisor_vectors(&s);
    test_views(&s);
    return suite_end(&s);
}
