/* Custom instructions on harts: they call the unit of their extension with operands and result, and are illegal without
 * a unit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "emu/hart/custom.h"
#include "emu/hart/stream.h"
#include "tests/hart/fixture.h"

enum { SIZE = 0x10000, T0 = 5, T1, T2, ROUNDS = 20 };

/* A unit that returns 3 * first + second, and records its calls. */
struct unit {
    unsigned calls;
    struct custom_call last;
    struct insn insn; /* of the last call */
    struct trap trap; /* of calls while `traps` */
    bool traps, yields;
    double third; /* 1 / 3 as the unit computes it */
};

static bool execute(void *context, struct custom_call *call)
{
    struct unit *unit = context;
    volatile double three = 3;
    unit->calls++;
    unit->last = *call;
    unit->insn = *call->insn;
    unit->third = 1 / three;
    if (unit->yields)
        hart_request_yield(call->hart);
    if (!unit->traps) {
        call->result = call->operand[0] * 3 + call->operand[1];
    } else if (unit->trap.value) {
        call->trap = unit->trap;
    }
    return !unit->traps;
}

struct rig {
    struct fixture f;
    struct custom_units units;
    struct unit stash;
};

/* Makes a hart with a unit for Xstash instructions. */
static void rig_init(struct rig *rig)
{
    memset(rig, 0, sizeof *rig);
    fixture_init(&rig->f, SIZE);
    custom_serve(&rig->units, EXTENSION_Xstash, &(struct custom_unit){execute, .context = &rig->stash});
    rig->f.hart.custom = &rig->units;
}

static void rig_free(struct rig *rig)
{
    fixture_free(&rig->f);
}

static void restart(struct rig *rig)
{
    fixture_restart(&rig->f);
    memset(&rig->stash, 0, sizeof rig->stash);
}

static void expect_illegal(struct fixture *f, enum fixture_way way, enum insn_id id)
{
    fixture_restart(f);
    fixture_row(f, INSN_addi, (struct operands){.rd = T0, .imm = 7});
    fixture_row(f, id, (struct operands){.rd = T0, .rs1 = T1, .rs2 = T2});
    assert_int_equal(fixture_run(f, way, 1000), HART_STOP_TRAP);
    assert_int_equal(f->hart.trap.cause, TRAP_ILLEGAL_INSTRUCTION);
    assert_int_equal(f->hart.trap.value, fixture_read(f, FIXTURE_BASE + 4, 4));
    assert_int_equal(f->hart.pc, FIXTURE_BASE + 4);
    assert_int_equal(f->hart.x[T0], 7);
}

static void without_a_unit_they_are_illegal(void **state)
{
    (void)state;
    static const enum insn_id rows[] = {INSN_config_axram, INSN_initiate_axram, INSN_wrt__res_axram,
                                        INSN_stash_addmap, INSN_stash_chgmap};
    struct rig rig;
    rig_init(&rig);
    for (unsigned way = 0; way < FIXTURE_WAYS; way++)
        for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
            bool others = insn_table[rows[i]].extension != EXTENSION_Xstash;
            rig.f.hart.custom = others ? &rig.units : NULL;
            expect_illegal(&rig.f, (enum fixture_way)way, rows[i]);
        }
    assert_int_equal(rig.stash.calls, 0);
    rig_free(&rig);
}

/* x = 3 * x + 5 in a loop, among instructions with fast handlers. */
static void operands_and_results_are_the_rows(void **state)
{
    (void)state;
    struct rig rig;
    rig_init(&rig);
    for (unsigned way = 0; way < FIXTURE_WAYS; way++) {
        struct fixture *f = &rig.f;
        uint64_t expected = 1, before = f->hart.instret;
        restart(&rig);
        fixture_row(f, INSN_addi, (struct operands){.rd = T0, .imm = 1});
        fixture_row(f, INSN_addi, (struct operands){.rd = T1, .imm = 5});
        fixture_row(f, INSN_addi, (struct operands){.rd = T2, .imm = ROUNDS});
        uint64_t loop = f->at;
        fixture_row(f, INSN_addi, (struct operands){.rd = T2, .rs1 = T2, .imm = -1});
        fixture_row(f, INSN_stash_chgmap, (struct operands){.rd = T0, .rs1 = T0, .rs2 = T1});
        fixture_row(f, INSN_stash_addmap, (struct operands){.rd = 0, .rs1 = T0});
        fixture_row(f, INSN_bne, (struct operands){.rs1 = T2, .imm = (int)(int64_t)(loop - f->at)});
        fixture_row(f, INSN_ebreak, (struct operands){0});
        assert_int_equal(fixture_run(f, (enum fixture_way)way, 1000), HART_STOP_TRAP);
        assert_int_equal(f->hart.trap.cause, TRAP_BREAKPOINT);
        for (unsigned i = 0; i < ROUNDS; i++)
            expected = expected * 3 + 5;
        assert_int_equal(f->hart.x[T0], expected);
        assert_int_equal(f->hart.x[0], 0);
        assert_int_equal(f->hart.instret - before, 3 + 4 * ROUNDS);
        assert_int_equal(fixture_class_sum(f), f->hart.instret);
        assert_int_equal(rig.stash.calls, 2 * ROUNDS);
        assert_int_equal(rig.stash.insn.id, INSN_stash_addmap);
        assert_int_equal(rig.stash.last.pc, loop + 8);
        assert_int_equal(rig.stash.last.operand[0], expected);
        assert_int_equal(rig.stash.last.operand[1], 0);
        assert_ptr_equal(rig.stash.last.hart, &f->hart);
        assert_null(rig.stash.last.warp);
        assert_int_equal(rig.stash.last.cycle, 0);
    }
    rig_free(&rig);
}

/* The unit chooses the trap; the default is an illegal instruction. */
static void units_may_trap(void **state)
{
    (void)state;
    struct rig rig;
    rig_init(&rig);
    for (unsigned way = 0; way < FIXTURE_WAYS; way++)
        for (unsigned chosen = 0; chosen < 2; chosen++) {
            struct fixture *f = &rig.f;
            uint64_t before = f->hart.instret;
            restart(&rig);
            rig.stash.traps = true;
            if (chosen)
                rig.stash.trap = (struct trap){TRAP_LOAD_ACCESS, 0x1234};
            fixture_row(f, INSN_addi, (struct operands){.rd = T0, .imm = 9});
            fixture_row(f, INSN_stash_addmap, (struct operands){.rd = T0, .rs1 = T0});
            assert_int_equal(fixture_run(f, (enum fixture_way)way, 1000), HART_STOP_TRAP);
            assert_int_equal(f->hart.trap.cause, chosen ? TRAP_LOAD_ACCESS : TRAP_ILLEGAL_INSTRUCTION);
            assert_int_equal(f->hart.trap.value, chosen ? 0x1234 : fixture_read(f, FIXTURE_BASE + 4, 4));
            assert_int_equal(f->hart.pc, FIXTURE_BASE + 4);
            assert_int_equal(f->hart.x[T0], 9);
            assert_int_equal(f->hart.instret - before, 1);
        }
    rig_free(&rig);
}

static void units_may_end_the_run(void **state)
{
    (void)state;
    struct rig rig;
    rig_init(&rig);
    rig.stash.yields = true;
    fixture_row(&rig.f, INSN_stash_addmap, (struct operands){.rd = T0, .rs1 = T0});
    fixture_row(&rig.f, INSN_addi, (struct operands){.rd = T0, .imm = 9});
    assert_int_equal(fixture_run(&rig.f, FIXTURE_RUN, 1000), HART_STOP_YIELD);
    assert_int_equal(rig.f.hart.pc, FIXTURE_BASE + 4);
    assert_int_equal(rig.f.hart.instret, 1);
    rig_free(&rig);
}

/* The guest rounds up, and has raised no flag: the unit does not see that mode, and the unit's inexact result does not
 * raise a flag in the guest. */
static void floating_point_is_the_hosts_own(void **state)
{
    (void)state;
    struct rig rig;
    rig_init(&rig);
    for (unsigned way = 0; way < FIXTURE_WAYS; way++) {
        struct fixture *f = &rig.f;
        restart(&rig);
        fixture_row(f, INSN_csrrwi, (struct operands){.rs1 = RM_RUP, .imm = 0x002});
        fixture_row(f, INSN_fadd_d, (struct operands){.rm = RM_DYN});
        fixture_row(f, INSN_stash_addmap, (struct operands){.rd = T0});
        fixture_row(f, INSN_fadd_d, (struct operands){.rm = RM_DYN});
        fixture_row(f, INSN_csrrs, (struct operands){.rd = T1, .imm = 0x001});
        fixture_row(f, INSN_ebreak, (struct operands){0});
        assert_int_equal(fixture_run(f, (enum fixture_way)way, 1000), HART_STOP_TRAP);
        assert_int_equal(f->hart.trap.cause, TRAP_BREAKPOINT);
        assert_true(rig.stash.third == 0x1.5555555555555p-2); /* to nearest; rounded up it ends in 6 */
        assert_int_equal(f->hart.x[T1], 0);
    }
    rig_free(&rig);
}

/* A timing core executes custom instructions one by one. */
static void streams_leave_them_to_a_step(void **state)
{
    (void)state;
    struct rig rig;
    struct stream *stream = test_malloc(sizeof *stream);
    struct step_report report;
    struct error err;
    rig_init(&rig);
    assert_true(stream_init(stream, &rig.f.hart, &err));
    fixture_row(&rig.f, INSN_addi, (struct operands){.rd = T0, .imm = 4});
    fixture_row(&rig.f, INSN_stash_addmap, (struct operands){.rd = T1, .rs1 = T0});
    assert_int_equal(stream_run(stream, 100), STREAM_STEP);
    assert_int_equal(stream->count, 1);
    assert_int_equal(rig.stash.calls, 0);
    hart_set_clock(&rig.f.hart, 4321, 7);
    assert_int_equal(stream_step(stream, &report), HART_STOP_LIMIT);
    assert_int_equal(rig.stash.last.cycle, 4321);
    assert_true(report.retired);
    assert_int_equal(rig.stash.calls, 1);
    assert_int_equal(rig.f.hart.x[T1], 12);
    assert_int_equal(stream->stepped.flags, STREAM_SERIAL);
    assert_int_equal(stream->stepped.rd, T1);
    stream_free(stream);
    test_free(stream);
    rig_free(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_unit_they_are_illegal),
        cmocka_unit_test(operands_and_results_are_the_rows),
        cmocka_unit_test(units_may_trap),
        cmocka_unit_test(units_may_end_the_run),
        cmocka_unit_test(floating_point_is_the_hosts_own),
        cmocka_unit_test(streams_leave_them_to_a_step),
    };
    return cmocka_run_group_tests_name("custom instructions", tests, NULL, NULL);
}
