/* Corners where parts of the machine meet: wires and software bits of mip, protection of stores that cross a
 * page, time and mtime, code in devices, the timer of supervisor mode. */
#include "support/support.h"

SNIPPET(store_double, "sd a1, 0(a0)");
SNIPPET(jump_there, "jr a0");

static _Alignas(4096) uint8_t pages[2 * 4096];

static volatile uint32_t *word_at(uint64_t address)
{
    return (volatile uint32_t *)address;
}

static volatile uint8_t *byte_at(uint64_t address)
{
    return (volatile uint8_t *)address;
}

/* The UART's transmitter interrupt reaches supervisor mode through the PLIC while software sets another bit
 * of mip: what the wire says must not stay behind (privileged specification, section 3.1.9). */
static void external_wire(struct suite *suite)
{
    enum { UART_SOURCE = 10, THRE = 2, SEIP = 9, SSIP = 1 };
    const uint64_t plic = 0x0c000000, uart = 0x10000000, context = 1;
    const uint64_t enable = plic + 0x2000 + context * 0x80, claim = plic + 0x200004 + context * 0x1000;
    *word_at(plic + 4 * UART_SOURCE) = 1;
    *word_at(enable) = 1u << UART_SOURCE;
    *word_at(claim - 4) = 0;
    *byte_at(uart + 1) = THRE;
    expect(suite, "the wire raises SEIP", csr_read(mip) >> SEIP & 1, 1);
    __asm__ volatile("csrsi mip, %0" : : "i"(1 << SSIP));
    *byte_at(uart + 1) = 0;
    *word_at(claim) = *word_at(claim);
    *word_at(enable) = 0;
    expect(suite, "and takes it away again", csr_read(mip) >> SEIP & 1, 0);
    expect(suite, "SSIP stays", csr_read(mip) >> SSIP & 1, 1);
    __asm__ volatile("csrci mip, %0" : : "i"(1 << SSIP));
}

/* The last word of a page is read-only, even for machine mode: a store that begins before it must fault. */
static void protected_crossing(struct suite *suite)
{
    enum { R = 1, NA4 = 2 << 3, L = 0x80 };
    uint64_t border = (uint64_t)pages + 4096;
    struct attempt before = attempt(PRIVILEGE_MACHINE, store_double, border - 7, 0x1122334455667788);
    expect(suite, "unprotected, a store may cross", before.cause, ECALL_M);
    csr_write(pmpaddr15, (border - 4) >> 2);
    csr_write(pmpcfg2, (uint64_t)(R | NA4 | L) << 56);
    struct attempt a = attempt(PRIVILEGE_MACHINE, store_double, border - 7, 0);
    expect(suite, "a store across a protected word faults", a.cause, STORE_ACCESS);
    expect(suite, "and writes nothing", pages[4096], 0x11);
}

static void time_follows_mtime(struct suite *suite)
{
    volatile uint64_t *mtime = (volatile uint64_t *)0x0200bff8;
    uint64_t later = *mtime + 1000000000;
    *mtime = later;
    uint64_t now = csr_read(time);
    expect_spec(suite, "time follows a written mtime", now >= later && now - later < 100000);
}

static void no_code_in_devices(struct suite *suite)
{
    struct attempt a = attempt(PRIVILEGE_MACHINE, jump_there, 0x10000000, 0);
    expect_spec(suite, "no code in the UART", a.cause == FETCH_ACCESS);
}

int main(void)
{
    struct suite suite = {0};
    machine_prepare();
    external_wire(&suite);
    time_follows_mtime(&suite);
    no_code_in_devices(&suite);
    protected_crossing(&suite);
    return suite_end(&suite);
}
