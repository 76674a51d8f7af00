/* LR and SC: alone, with other addresses, and with a trap between them. */
#include "support/support.h"

SNIPPET(lr_sc, "lr.d a2, (a0)\naddi a3, a2, 1\nsc.d a1, a3, (a0)");
SNIPPET(lr_sc_w, "lr.w a2, (a0)\naddi a3, a2, 1\nsc.w a1, a3, (a0)");
SNIPPET(sc_alone, "sc.d a1, zero, (a0)");
SNIPPET(sc_twice, "lr.d a2, (a0)\nsc.d a1, a2, (a0)\nsc.d a1, zero, (a0)");
SNIPPET(sc_elsewhere, "lr.d a2, (a0)\naddi a3, a0, 1024\nsc.d a1, zero, (a3)");
SNIPPET(lr_only, "lr.d a2, (a0)");
SNIPPET(sc_only, "li a3, 77\nsc.d a1, a3, (a0)");
SNIPPET(lr_aq_sc_rl, "lr.d.aq a2, (a0)\naddi a3, a2, 1\nsc.d.rl a1, a3, (a0)");

static _Alignas(2048) volatile uint64_t words[256];

static void test_pairs(struct suite *s)
{
    words[0] = 41;
    struct attempt a = attempt(PRIVILEGE_USER, lr_sc, (uint64_t)words, 5);
    expect(s, "lr.d, sc.d: success is 0", a.result[1], 0);
    expect(s, "lr.d loads", a.result[2], 41);
    expect(s, "sc.d stores", words[0], 42);
    words[0] = 0xffffffff7fffffff;
    a = attempt(PRIVILEGE_USER, lr_sc_w, (uint64_t)words, 5);
    expect(s, "lr.w, sc.w: success is 0", a.result[1], 0);
    expect(s, "lr.w extends the sign", a.result[2], 0x7fffffff);
    expect(s, "sc.w stores four bytes", words[0], 0xffffffff80000000);
    a = attempt(PRIVILEGE_USER, lr_sc_w, (uint64_t)words, 5);
    expect(s, "lr.w extends the sign", a.result[2], 0xffffffff80000000);
    words[0] = 1;
    a = attempt(PRIVILEGE_SUPERVISOR, lr_aq_sc_rl, (uint64_t)words, 5);
    expect(s, "lr.d.aq, sc.d.rl", a.result[1] << 8 | words[0], 2);
}

static void test_failures(struct suite *s)
{
    words[0] = 41, words[128] = 43;
    (void)attempt(PRIVILEGE_USER, sc_alone, (uint64_t)words, 5); /* ends any reservation */
    words[0] = 41;
    struct attempt a = attempt(PRIVILEGE_USER, sc_alone, (uint64_t)words, 5);
    expect(s, "sc.d without reservation fails with 1", a.result[1], 1);
    expect(s, "and stores nothing", words[0], 41);
    a = attempt(PRIVILEGE_USER, sc_twice, (uint64_t)words, 5);
    expect(s, "a second sc.d fails", a.result[1], 1);
    expect(s, "and stores nothing", words[0], 41);
    a = attempt(PRIVILEGE_USER, sc_elsewhere, (uint64_t)words, 5);
    expect(s, "sc.d a kilobyte away fails", a.result[1], 1);
    expect(s, "and stores nothing", words[128], 43);
    a = attempt(PRIVILEGE_USER, sc_only, (uint64_t)words, 5);
    expect(s, "and has ended the reservation", a.result[1], 1);
}

/* Whether the reservation survives is open; what sc.d says must be what it does. */
static void test_trap_between(struct suite *s)
{
    words[0] = 41;
    (void)attempt(PRIVILEGE_USER, lr_only, (uint64_t)words, 0);
    struct attempt a = attempt(PRIVILEGE_USER, sc_only, (uint64_t)words, 5);
    expect_spec(s, "sc.d behind a trap does what it says",
                a.result[1] == 0 ? words[0] == 77 : a.result[1] == 1 && words[0] == 41);
    words[0] = 41;
    (void)attempt(PRIVILEGE_USER, lr_only, (uint64_t)words, 0);
    (void)attempt(PRIVILEGE_MACHINE, sc_alone, (uint64_t)(words + 200), 0); /* as a trap handler should */
    a = attempt(PRIVILEGE_USER, sc_only, (uint64_t)words, 5);
    expect(s, "sc.d behind a trap whose handler ended the reservation", a.result[1], 1);
    expect(s, "and what it did not store", words[0], 41);
}

int main(void)
{
    struct suite s = {0};
    machine_prepare();
    test_pairs(&s);
    test_failures(&s);
    test_trap_between(&s);
    return suite_end(&s);
}
