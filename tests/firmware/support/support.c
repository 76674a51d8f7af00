#include "support.h"

#include <stdio.h>

static const uint64_t mpp = MSTATUS_MPP;

uint64_t status_for(enum privilege mode)
{
    return (csr_read(mstatus) & ~mpp) | (uint64_t)mode << MSTATUS_MPP_SHIFT;
}

uint64_t ecall_from(enum privilege mode)
{
    return ECALL_U + (uint64_t)mode;
}

struct attempt attempt(enum privilege mode, const char *code, uint64_t a0, uint64_t a1)
{
    struct attempt attempt = {.pc = (uint64_t)code, .status = status_for(mode), .a = {a0, a1}};
    attempt_run(&attempt);
    return attempt;
}

static void count(struct suite *suite, bool good)
{
    if (good)
        suite->passed++;
    else
        suite->failed++;
}

void expect(struct suite *suite, const char *name, uint64_t got, uint64_t want)
{
    printf("%s: 0x%lx", name, got);
    if (got != want)
        printf(" FAILED, should be 0x%lx", want);
    printf("\n");
    count(suite, got == want);
}

void expect_spec(struct suite *suite, const char *name, bool good)
{
    printf("spec: %s: %s\n", name, good ? "yes" : "FAILED");
    count(suite, good);
}

static void expect_three(struct suite *suite, const char *name, const uint64_t got[3], const uint64_t want[3])
{
    bool good = got[0] == want[0] && got[1] == want[1] && got[2] == want[2];
    printf("%s: %s %lu value 0x%lx at +%ld", name, got[0] & INTERRUPT ? "interrupt" : "cause",
           got[0] & ~INTERRUPT, got[1], (long)got[2]);
    if (!good)
        printf(" FAILED, should be %s %lu value 0x%lx at +%ld", want[0] & INTERRUPT ? "interrupt" : "cause",
               want[0] & ~INTERRUPT, want[1], (long)want[2]);
    printf("\n");
    count(suite, good);
}

void expect_trap(struct suite *suite, const char *name, const struct attempt *attempt, uint64_t cause,
                 uint64_t value, uint64_t offset)
{
    const uint64_t got[3] = {attempt->cause, attempt->value, attempt->epc - attempt->pc};
    const uint64_t want[3] = {cause, value, offset};
    expect_three(suite, name, got, want);
}

bool attempt_ended(const struct attempt *attempt, uint64_t cause, uint64_t value, uint64_t offset)
{
    return attempt->cause == cause && attempt->value == value && attempt->epc - attempt->pc == offset;
}

void expect_end(struct suite *suite, const char *name, const struct attempt *attempt)
{
    uint64_t offset = attempt->epc - attempt->pc;
    expect_trap(suite, name, attempt, ecall_from((attempt->status & mpp) >> MSTATUS_MPP_SHIFT), 0, offset);
}

void expect_delegated(struct suite *suite, const char *name, const struct attempt *attempt, uint64_t cause,
                      uint64_t value, uint64_t offset)
{
    if (attempt->cause != ECALL_S || attempt->epc != (uint64_t)supervisor_trap_end) {
        printf("%s: not delegated: ", name);
        expect_trap(suite, "trap", attempt, cause, value, offset);
        return;
    }
    const uint64_t got[3] = {attempt->result[0], attempt->result[1], attempt->result[2] - attempt->pc};
    const uint64_t want[3] = {cause, value, offset};
    expect_three(suite, name, got, want);
}

void machine_prepare(void)
{
    enum { PMP_NAPOT_RWX = 0x1f };
    csr_write(pmpaddr15, UINT64_MAX >> 10);
    csr_write(pmpcfg2, (uint64_t)PMP_NAPOT_RWX << 56);
    csr_write(medeleg, 0);
    csr_write(mideleg, 0);
    csr_write(mie, 0);
    csr_write(satp, 0);
    csr_write(stvec, supervisor_trap);
    csr_write(mcounteren, 7);
    csr_write(scounteren, 7);
    csr_clear(mstatus, MSTATUS_MPRV | MSTATUS_SUM | MSTATUS_MXR | MSTATUS_TVM | MSTATUS_TW | MSTATUS_TSR |
                           MSTATUS_SIE | MSTATUS_SPIE | MSTATUS_SPP);
}

int suite_end(const struct suite *suite)
{
    printf("%u passed, %u failed\n", suite->passed, suite->failed);
    return suite->failed ? 1 : 0;
}
