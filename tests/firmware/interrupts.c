/* Interrupts: when they are taken, in which order, by which mode; WFI; the supervisor's timer (Sstc). */
#include <croft/firmware/clint.h>
#include <croft/firmware/map.h>
#include <croft/firmware/plic.h>
#include <stdio.h>

#include "support/support.h"

SNIPPET(only_ecall, "");
/* Each write makes a pending interrupt possible: it is taken before the next instruction. */
SNIPPET(enable_status, "csrsi mstatus, 8\n1: nop\nnop");
SNIPPET(enable_mie, "csrs mie, a0\n1: nop\nnop");
SNIPPET(set_pending, "csrs mip, a0\n1: nop\nnop");
SNIPPET(enable_sstatus, "csrsi sstatus, 2\nnop\nnop");
SNIPPET(set_sip, "csrsi sip, 2\nnop\nnop");
SNIPPET(wait_once, ".option push\n.option norvc\nwfi\n.option pop");
SNIPPET(read_stimecmp, "csrr a0, 0x14d");
SNIPPET(write_stimecmp, "csrw 0x14d, a0");

enum { MSIP = 1 << 3, MTIP = 1 << 7, MEIP = 1 << 11, SSIP = 1 << 1, STIP = 1 << 5, SEIP = 1 << 9 };
enum { ALL = MSIP | MTIP | MEIP | SSIP | STIP | SEIP, SUPERVISOR = SSIP | STIP | SEIP };

/* The UART asks for bytes to send. */
static volatile uint8_t *const uart = (volatile uint8_t *)CROFT_UART_BASE;
enum { UART_IER = 1, UART_IIR = 2, IER_TRANSMIT_EMPTY = 2 };

/* Makes exactly the interrupts in `bits` pending. */
static void set_pending_bits(unsigned bits)
{
    csr_write(mip, bits & SUPERVISOR);
    if (bits & MSIP)
        clint_send_ipi(0);
    else
        clint_clear_ipi(0);
    clint_set_timer(0, bits & MTIP ? 0 : UINT64_MAX);
    if (bits & MEIP) {
        uart[UART_IER] = IER_TRANSMIT_EMPTY;
    } else {
        uart[UART_IER] = 0;
        unsigned source;
        while ((source = plic_claim(plic_machine_context(0))) != 0)
            plic_complete(plic_machine_context(0), source);
    }
}

static void plic_prepare(void)
{
    plic_set_priority(CROFT_UART_IRQ, 1);
    plic_enable(plic_machine_context(0), CROFT_UART_IRQ, true);
    plic_set_threshold(plic_machine_context(0), 0);
}

static struct attempt attempt_enabled(enum privilege mode, const char *code, bool enabled, uint64_t a0)
{
    struct attempt a = {.pc = (uint64_t)code, .a = {a0}};
    a.status = status_for(mode) & ~(MSTATUS_MPIE | MSTATUS_SIE);
    if (enabled)
        a.status |= mode == PRIVILEGE_MACHINE ? MSTATUS_MPIE : MSTATUS_SIE;
    attempt_run(&a);
    return a;
}

static const struct {
    unsigned number, bit;
} by_priority[] = {{11, MEIP}, {3, MSIP}, {7, MTIP}, {9, SEIP}, {1, SSIP}, {5, STIP}};
enum { INTERRUPTS = sizeof by_priority / sizeof by_priority[0] };

static void test_each(struct suite *s)
{
    char name[80];
    for (unsigned i = 0; i < INTERRUPTS; i++) {
        unsigned bit = by_priority[i].bit;
        uint64_t cause = INTERRUPT | by_priority[i].number;
        csr_write(mie, 0);
        set_pending_bits(bit);
        snprintf(name, sizeof name, "mip with interrupt %u", by_priority[i].number);
        expect(s, name, csr_read(mip) & ALL, bit);
        struct attempt a = attempt_enabled(PRIVILEGE_MACHINE, only_ecall, true, 0);
        snprintf(name, sizeof name, "interrupt %u, not in mie", by_priority[i].number);
        expect_trap(s, name, &a, ECALL_M, 0, 0);
        csr_write(mie, bit);
        a = attempt_enabled(PRIVILEGE_MACHINE, only_ecall, false, 0);
        snprintf(name, sizeof name, "interrupt %u in M, MIE 0", by_priority[i].number);
        expect_trap(s, name, &a, ECALL_M, 0, 0);
        a = attempt_enabled(PRIVILEGE_MACHINE, only_ecall, true, 0);
        snprintf(name, sizeof name, "interrupt %u in M, MIE 1", by_priority[i].number);
        expect_trap(s, name, &a, cause, 0, 0);
        a = attempt_enabled(PRIVILEGE_SUPERVISOR, only_ecall, false, 0);
        snprintf(name, sizeof name, "interrupt %u in S, MIE 0", by_priority[i].number);
        expect_trap(s, name, &a, cause, 0, 0);
        a = attempt_enabled(PRIVILEGE_USER, only_ecall, false, 0);
        snprintf(name, sizeof name, "interrupt %u in U, MIE 0", by_priority[i].number);
        expect_trap(s, name, &a, cause, 0, 0);
    }
    csr_write(mie, 0);
    set_pending_bits(0);
    expect(s, "mip with none", csr_read(mip) & ALL, 0);
}

/* QEMU takes the interrupt of the lowest number first. */
static void test_priority(struct suite *s)
{
    char name[80];
    unsigned enabled = ALL;
    set_pending_bits(ALL);
    for (unsigned i = 0; i < INTERRUPTS; i++) {
        csr_write(mie, enabled);
        struct attempt a = attempt_enabled(PRIVILEGE_MACHINE, only_ecall, true, 0);
        snprintf(name, sizeof name, "all pending, 0x%x enabled", enabled);
        expect_spec(s, name, attempt_ended(&a, INTERRUPT | by_priority[i].number, 0, 0));
        enabled &= ~by_priority[i].bit;
    }
    csr_write(mideleg, SUPERVISOR);
    csr_write(mie, ALL);
    struct attempt a = attempt_enabled(PRIVILEGE_SUPERVISOR, only_ecall, true, 0);
    expect_spec(s, "S's interrupts delegated, M's pending too", attempt_ended(&a, INTERRUPT | 11, 0, 0));
    enabled = SUPERVISOR;
    for (unsigned i = 3; i < INTERRUPTS; i++) {
        csr_write(mie, enabled);
        a = attempt_enabled(PRIVILEGE_SUPERVISOR, only_ecall, true, 0);
        snprintf(name, sizeof name, "all pending and delegated, 0x%x enabled", enabled);
        expect_spec(s, name, a.cause == ECALL_S && a.result[0] == (INTERRUPT | by_priority[i].number));
        enabled &= ~by_priority[i].bit;
    }
    csr_write(mie, 0);
    csr_write(mideleg, 0);
    set_pending_bits(0);
}

static void test_delegated(struct suite *s)
{
    csr_write(mideleg, SUPERVISOR);
    csr_write(mie, SUPERVISOR);
    set_pending_bits(SSIP);
    struct attempt a = attempt_enabled(PRIVILEGE_SUPERVISOR, only_ecall, false, 0);
    expect_trap(s, "delegated, in S, SIE 0", &a, ECALL_S, 0, 0);
    a = attempt_enabled(PRIVILEGE_SUPERVISOR, only_ecall, true, 0);
    expect_delegated(s, "delegated, in S, SIE 1", &a, INTERRUPT | 1, 0, 0);
    expect(s, "its SPP, SPIE, SIE", a.result[3] & 0x122, 0x120);
    a = attempt_enabled(PRIVILEGE_USER, only_ecall, false, 0);
    expect_delegated(s, "delegated, in U, SIE 0", &a, INTERRUPT | 1, 0, 0);
    expect(s, "its SPP, SPIE, SIE", a.result[3] & 0x122, 0);
    a = attempt_enabled(PRIVILEGE_MACHINE, only_ecall, true, 0);
    expect_trap(s, "delegated, in M, MIE 1", &a, ECALL_M, 0, 0);
    a = attempt_enabled(PRIVILEGE_SUPERVISOR, enable_sstatus, false, 0);
    expect_delegated(s, "S sets SIE", &a, INTERRUPT | 1, 0, 4);
    set_pending_bits(0);
    a = attempt_enabled(PRIVILEGE_SUPERVISOR, set_sip, true, 0);
    expect_delegated(s, "S sets SSIP", &a, INTERRUPT | 1, 0, 4);
    set_pending_bits(0);
    csr_write(mie, 0);
    csr_write(mideleg, 0);
}

static void test_immediate(struct suite *s)
{
    csr_write(mie, SSIP);
    set_pending_bits(SSIP);
    struct attempt a = attempt_enabled(PRIVILEGE_MACHINE, enable_status, false, 0);
    expect_trap(s, "M sets MIE", &a, INTERRUPT | 1, 0, 4);
    csr_write(mie, 0);
    a = attempt_enabled(PRIVILEGE_MACHINE, enable_mie, true, SSIP);
    expect_trap(s, "M sets a bit of mie", &a, INTERRUPT | 1, 0, 4);
    set_pending_bits(0);
    csr_write(mie, SSIP);
    a = attempt_enabled(PRIVILEGE_MACHINE, set_pending, true, SSIP);
    expect_trap(s, "M sets a bit of mip", &a, INTERRUPT | 1, 0, 4);
    set_pending_bits(0);
    csr_write(mie, 0);
}

static void test_wfi(struct suite *s)
{
    const uint64_t wait = 20000; /* 2 ms */
    csr_write(mie, MTIP);
    set_pending_bits(MTIP);
    struct attempt a = attempt_enabled(PRIVILEGE_MACHINE, wait_once, false, 0);
    expect_trap(s, "wfi with an interrupt pending", &a, ECALL_M, 0, 4);
    uint64_t start = clint_time();
    clint_set_timer(0, start + wait);
    while (!(csr_read(mip) & MTIP))
        (void)attempt_enabled(PRIVILEGE_MACHINE, wait_once, false, 0);
    expect(s, "wfi, MIE 0: the timer comes in time", clint_time() - start >= wait, 1);
    start = clint_time();
    clint_set_timer(0, start + wait);
    a = attempt_enabled(PRIVILEGE_MACHINE, wait_once, true, 0);
    expect_trap(s, "wfi, MIE 1: the timer interrupts behind it", &a, INTERRUPT | 7, 0, 4);
    start = clint_time();
    clint_set_timer(0, start + wait);
    a = attempt_enabled(PRIVILEGE_SUPERVISOR, wait_once, false, 0);
    expect_trap(s, "wfi in S: the timer interrupts behind it", &a, INTERRUPT | 7, 0, 4);
    expect(s, "and no sooner", clint_time() - start >= wait, 1);
    set_pending_bits(0);
    csr_write(mie, 0);
}

static void test_sstc(struct suite *s)
{
    const uint64_t stce = 1ul << 63;
    struct attempt a;
    csr_write(0x14d, UINT64_MAX); /* before it is enabled: reset leaves it undefined */
    csr_clear(0x30a, stce);
    a = attempt(PRIVILEGE_SUPERVISOR, read_stimecmp, 0, 0);
    expect_trap(s, "stimecmp in S, STCE 0", &a, ILLEGAL, 0x14d02573, 0);
    csr_set(0x30a, stce);
    a = attempt(PRIVILEGE_SUPERVISOR, read_stimecmp, 0, 0);
    expect_end(s, "stimecmp in S, STCE 1", &a);
    expect(s, "its value", a.result[0], UINT64_MAX);
    csr_write(mcounteren, 5);
    a = attempt(PRIVILEGE_SUPERVISOR, write_stimecmp, 0, 0);
    expect_trap(s, "stimecmp in S, mcounteren.TM 0", &a, ILLEGAL, 0x14d51073, 0);
    csr_write(mcounteren, 7);
    a = attempt(PRIVILEGE_USER, read_stimecmp, 0, 0);
    expect_trap(s, "stimecmp in U", &a, ILLEGAL, 0x14d02573, 0);

    csr_write(mideleg, SUPERVISOR);
    csr_write(mie, STIP);
    expect(s, "STIP, stimecmp in the future", csr_read(mip) & STIP, 0);
    csr_set(mip, STIP);
    expect_spec(s, "STIP cannot be written, STCE 1", !(csr_read(mip) & STIP));
    a = attempt(PRIVILEGE_SUPERVISOR, write_stimecmp, 1, 0);
    expect(s, "STIP, stimecmp in the past", csr_read(mip) & STIP, STIP);
    a = attempt_enabled(PRIVILEGE_SUPERVISOR, only_ecall, true, 0);
    expect_delegated(s, "the supervisor's timer interrupt", &a, INTERRUPT | 5, 0, 0);
    csr_write(0x14d, clint_time() + 20000);
    expect(s, "STIP, stimecmp a little ahead", csr_read(mip) & STIP, 0);
    a = attempt_enabled(PRIVILEGE_SUPERVISOR, wait_once, true, 0);
    expect_delegated(s, "wfi until the supervisor's timer", &a, INTERRUPT | 5, 0, 4);
    csr_write(0x14d, UINT64_MAX);
    expect(s, "STIP at the end", csr_read(mip) & STIP, 0);
    csr_clear(0x30a, stce);
    csr_write(mie, 0);
    csr_write(mideleg, 0);
}

int main(void)
{
    struct suite s = {0};
    machine_prepare();
    plic_prepare();
    csr_clear(0x30a, 1ul << 63);
    test_each(&s);
    test_priority(&s);
    test_delegated(&s);
    test_immediate(&s);
    test_wfi(&s);
    test_sstc(&s);
    return suite_end(&s);
}
