/* Counters and what enables them for lower modes. */
#include <croft/firmware/clint.h>
#include <stdio.h>

#include "support/support.h"

SNIPPET(read_cycle, "csrr a0, cycle");
SNIPPET(read_time, "csrr a0, time");
SNIPPET(read_instret, "csrr a0, instret");
SNIPPET(read_hpm3, "csrr a0, hpmcounter3");
SNIPPET(read_mcycle, "csrr a0, mcycle");
SNIPPET(read_mhpm3, "csrr a0, mhpmcounter3");
SNIPPET(read_mhpm31, "csrr a0, mhpmcounter31");
SNIPPET(write_read_instret, "csrw minstret, a0\ncsrr a1, minstret\nnop\nnop\ncsrr a2, minstret");
SNIPPET(write_read_cycle, "csrw mcycle, a0\ncsrr a1, mcycle\nnop\nnop\ncsrr a2, mcycle");

static const struct {
    const char *name, *code;
    uint32_t bits;
} rows[] = {
    {"cycle", read_cycle, 0xc0002573},
    {"time", read_time, 0xc0102573},
    {"instret", read_instret, 0xc0202573},
};

static void check(struct suite *s, enum privilege mode, unsigned i, bool allowed)
{
    char name[80];
    snprintf(name, sizeof name, "%s in mode %d, mcounteren %lu, scounteren %lu", rows[i].name, (int)mode,
             csr_read(mcounteren) & 7, csr_read(scounteren) & 7);
    struct attempt a = attempt(mode, rows[i].code, 0, 0);
    if (allowed)
        expect_end(s, name, &a);
    else
        expect_trap(s, name, &a, ILLEGAL, rows[i].bits, 0);
}

static void test_enables(struct suite *s)
{
    for (unsigned machine = 0; machine < 8; machine++) {
        for (unsigned supervisor = 0; supervisor < 8; supervisor += machine == 7 ? 1 : 7) {
            csr_write(mcounteren, machine);
            csr_write(scounteren, supervisor);
            for (unsigned i = 0; i < 3; i++) {
                check(s, PRIVILEGE_MACHINE, i, true);
                check(s, PRIVILEGE_SUPERVISOR, i, machine >> i & 1);
                check(s, PRIVILEGE_USER, i, (machine & supervisor) >> i & 1);
            }
        }
    }
    csr_write(mcounteren, 7);
    csr_write(scounteren, 7);
    struct attempt a = attempt(PRIVILEGE_SUPERVISOR, read_mcycle, 0, 0);
    expect_trap(s, "mcycle in S", &a, ILLEGAL, 0xb0002573, 0);
    a = attempt(PRIVILEGE_USER, read_hpm3, 0, 0);
    expect_trap(s, "hpmcounter3 in U, not enabled", &a, ILLEGAL, 0xc0302573, 0);
    a = attempt(PRIVILEGE_MACHINE, read_mhpm3, 0, 0);
    expect_end(s, "mhpmcounter3 in M", &a);
    a = attempt(PRIVILEGE_MACHINE, read_mhpm31, 0, 0);
    expect_spec(s, "mhpmcounter31 can be read", a.cause == ECALL_M);
}

static void test_counting(struct suite *s)
{
    uint64_t before = csr_read(time), mtime = clint_time(), after = csr_read(time);
    expect(s, "time and mtime agree", before <= mtime && mtime <= after, 1);
    uint64_t first = csr_read(minstret), second = csr_read(minstret);
    expect(s, "minstret grows", second > first, 1);
    first = csr_read(mcycle);
    second = csr_read(mcycle);
    expect(s, "mcycle grows", second > first, 1);

    struct attempt a = attempt(PRIVILEGE_MACHINE, write_read_instret, 1000, 0);
    expect_spec(s, "minstret reads as written by the instruction before", a.result[1] == 1000);
    expect_spec(s, "minstret counts three instructions", a.result[2] == 1003);
    a = attempt(PRIVILEGE_MACHINE, write_read_cycle, UINT64_MAX - 1, 0);
    expect_spec(s, "mcycle overflows to 0", a.result[2] < 100);

    csr_write(mcountinhibit, 5);
    if (csr_read(mcountinhibit) == 5) {
        a = attempt(PRIVILEGE_MACHINE, write_read_instret, 1000, 0);
        expect_spec(s, "minstret stands still under mcountinhibit", a.result[2] == 1000);
        a = attempt(PRIVILEGE_MACHINE, write_read_cycle, 1000, 0);
        expect_spec(s, "mcycle stands still under mcountinhibit", a.result[2] == 1000);
    }
    csr_write(mcountinhibit, 2);
    expect_spec(s, "time cannot be inhibited", !(csr_read(mcountinhibit) & 2));
    csr_write(mcountinhibit, 0);
}

int main(void)
{
    struct suite s = {0};
    machine_prepare();
    test_enables(&s);
    test_counting(&s);
    return suite_end(&s);
}
