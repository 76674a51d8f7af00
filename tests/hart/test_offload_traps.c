/* The offload state of a hart: traps of nucd and its marks, and the CSRs of a task's fault. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "emu/hart/priv/csr.h"
#include "emu/mem/phys/bus.h"
#include "tests/hart/fixture.h"

enum { NUCDCAUSE = 0x5c0, NUCDVAL, NUCDOFF, NUCDCTL, MEDELEG = 0x302, XN = 5, XD = 6 };

#define HANDLER (FIXTURE_BASE + 0x400)

static void start(struct fixture *f, struct bus *bus, bool privileged)
{
    struct error err;
    fixture_init(f, 0x10000);
    bus_init(bus, &f->memory);
    if (privileged)
        assert_true(hart_init_privileged(&f->hart, bus, 0, 100, &err));
    f->hart.pc = FIXTURE_BASE;
    fixture_row(f, INSN_nucd, (struct operands){.rs1 = XN, .rs2 = XD});
}

static void only_the_two_signatures_trap(void **state)
{
    (void)state;
    const struct {
        uint64_t xn;
        bool traps;
    } rows[] = {{UINT64_C(0x4e55434400000002), true},
                {UINT64_C(0x4e55434300000001), true},
                {UINT64_C(0x4e55434500000000), false},
                {0x4e554344, false},
                {0, false}};
    struct fixture f;
    struct bus bus;
    start(&f, &bus, false);
    for (unsigned traps = 0; traps < 2; traps++) {
        for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
            struct step_report report;
            f.hart.pc = FIXTURE_BASE;
            f.hart.offload.traps = traps;
            f.hart.x[XN] = rows[i].xn;
            bool expected = traps && rows[i].traps;
            assert_int_equal(hart_step(&f.hart, &report), expected ? HART_STOP_TRAP : HART_STOP_LIMIT);
            assert_int_equal(report.retired, !expected);
            assert_int_equal(f.hart.pc, FIXTURE_BASE + (expected ? 0 : 4));
            if (expected) {
                assert_int_equal(f.hart.trap.cause, 25);
                assert_int_equal(f.hart.trap.value, fixture_read(&f, FIXTURE_BASE, 4));
            }
        }
    }
    fixture_free(&f);
}

/* A supervisor takes a delegated trap; a nucd of the handler itself is a hint. */
static void the_trap_can_be_delegated(void **state)
{
    (void)state;
    struct fixture f;
    struct bus bus;
    struct step_report report;
    start(&f, &bus, true);
    struct hart *hart = &f.hart;
    assert_true(csr_write(hart, MEDELEG, UINT64_MAX));
    assert_int_equal(hart->priv.medeleg >> 24 & 3, 0); /* reserved without offloading */
    hart->offload.present = hart->offload.traps = true;
    assert_true(csr_write(hart, MEDELEG, UINT64_MAX));
    assert_int_equal(hart->priv.medeleg >> 24 & 3, 3);
    hart->priv.stvec = HANDLER;
    hart->priv.pmpaddr[0] = UINT64_MAX >> 10;
    hart->priv.pmpcfg[0] = PMP_R | PMP_W | PMP_X | PMP_NAPOT;
    hart->privilege = PRIV_U;
    priv_changed(hart);
    f.at = HANDLER;
    fixture_row(&f, INSN_nucd, (struct operands){.rs1 = XN, .rs2 = XD});
    hart->x[XN] = UINT64_C(0x4e55434400000002);
    (void)hart_step(hart, &report);
    assert_true(report.trapped);
    assert_int_equal(hart->pc, HANDLER);
    assert_int_equal(hart->privilege, PRIV_S);
    assert_int_equal(hart->priv.scause, 25);
    assert_int_equal(hart->priv.sepc, FIXTURE_BASE);
    (void)hart_step(hart, &report);
    assert_true(report.retired);
    fixture_free(&f);
}

static void listen(void *context, uint64_t action)
{
    *(uint64_t *)context = action;
}

static void csrs_exist_with_offloading_for_supervisors(void **state)
{
    (void)state;
    struct fixture f;
    struct bus bus;
    start(&f, &bus, true);
    struct hart *hart = &f.hart;
    uint64_t value, heard = 0;
    assert_false(csr_read(hart, NUCDCAUSE, &value));
    hart->offload = (struct hart_offload){.present = true,
                                          .frozen = true,
                                          .cause = 13,
                                          .value = 0x1234,
                                          .offset = (uint64_t)-8,
                                          .control = listen,
                                          .context = &heard};
    const uint64_t expected[] = {13, 0x1234, (uint64_t)-8, 1};
    for (unsigned i = 0; i < 4; i++) {
        assert_true(csr_read(hart, NUCDCAUSE + i, &value));
        assert_int_equal(value, expected[i]);
    }
    assert_true(csr_write(hart, NUCDCTL, 2));
    assert_int_equal(heard, 2);
    hart->privilege = PRIV_U;
    assert_false(csr_read(hart, NUCDCTL, &value));
    fixture_free(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_the_two_signatures_trap),
        cmocka_unit_test(the_trap_can_be_delegated),
        cmocka_unit_test(csrs_exist_with_offloading_for_supervisors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
