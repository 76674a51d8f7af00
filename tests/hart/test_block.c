/* The block cache: stops exactly, sees changed code after FENCE.I, and survives being full. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "emu/hart/block.h"
#include "tests/hart/fixture.h"

enum { SIZE = 0x10000, T0 = 5, T1 = 6, T2 = 7, A0 = 10, A1 = 11, RA = 1 };

/* Nested loops with calls, both sides of branches, CSR reads, floating point, AMO and indirect jumps; never
 * ends. */
static void write_program(struct fixture *f)
{
    const uint64_t function = fixture_function(f), begin = f->at;
    fixture_row(f, INSN_auipc, OP(.rd = A0, .imm = 0x8000));
    fixture_row(f, INSN_addi, OP(.rd = T0, .rs1 = 0, .imm = 7));
    uint64_t loop = f->at;
    fixture_jump(f, RA, function);
    fixture_row(f, INSN_sd, OP(.rs1 = A0, .rs2 = A1, .imm = 1));
    fixture_row(f, INSN_fld, OP(.rd = 1, .rs1 = A0, .imm = 1));
    fixture_row(f, INSN_fadd_d, OP(.rd = 2, .rs1 = 1, .rs2 = 2, .rm = RM_DYN));
    fixture_row(f, INSN_andi, OP(.rd = T1, .rs1 = T0, .imm = 1));
    fixture_row(f, INSN_beq, OP(.rs1 = T1, .rs2 = 0, .imm = 12));
    fixture_row(f, INSN_csrrs, OP(.rd = T2, .imm = 0xc02));
    fixture_row(f, INSN_amoadd_d, OP(.rd = T1, .rs1 = A0, .rs2 = T2));
    fixture_row(f, INSN_auipc, OP(.rd = T1));
    fixture_row(f, INSN_jalr, OP(.rd = T2, .rs1 = T1, .imm = 12));
    fixture_narrow(f, 0x0000);
    fixture_narrow(f, 0x0000);
    fixture_row(f, INSN_fdiv_d, OP(.rd = 3, .rs1 = 2, .rs2 = 1, .rm = RM_RUP));
    for (unsigned i = 0; i < 130; i++)
        fixture_row(f, INSN_xor, OP(.rd = (uint8_t)(16 + i % 8), .rs1 = A1, .rs2 = (uint8_t)(16 + i % 7)));
    fixture_row(f, INSN_addi, OP(.rd = T0, .rs1 = T0, .imm = -1));
    fixture_row(f, INSN_bne, OP(.rs1 = T0, .imm = (int32_t)(loop - f->at)));
    fixture_row(f, INSN_fence_i, OP(.imm = 0));
    fixture_jump(f, 0, begin);
}

static void assert_same(const struct hart *a, const struct hart *b)
{
    assert_int_equal(a->pc, b->pc);
    assert_int_equal(a->instret, b->instret);
    assert_memory_equal(a->x, b->x, 32 * sizeof a->x[0]);
    assert_memory_equal(a->f, b->f, sizeof a->f);
    assert_int_equal(a->fflags, b->fflags);
    assert_int_equal(a->frm, b->frm);
}

/* hart_run(n) results in exactly the state after n steps, for every n. */
static void every_limit(void **state)
{
    (void)state;
    struct fixture run, step;
    fixture_init(&step, SIZE);
    write_program(&step);
    for (unsigned way = FIXTURE_RUN; way <= FIXTURE_RUN_V3; way++) {
        fixture_init(&run, SIZE);
        for (uint64_t n = 0; n <= 2200; n += n < 450 ? 1 : 7) {
            fixture_restart(&step);
            fixture_restart(&run);
            write_program(&run);
            run.hart.instret = step.hart.instret = 0;
            memset(run.hart.stepped, 0, sizeof run.hart.stepped);
            memset(phys_at(&run.memory, FIXTURE_DATA + 32, 16), 0, 16);
            memset(phys_at(&step.memory, FIXTURE_DATA + 32, 16), 0, 16);
            assert_int_equal(fixture_run(&step, FIXTURE_STEP, n), HART_STOP_LIMIT);
            assert_int_equal(fixture_run(&run, (enum fixture_way)way, n), HART_STOP_LIMIT);
            assert_same(&run.hart, &step.hart);
            assert_memory_equal(phys_at(&run.memory, FIXTURE_DATA + 32, 16),
                                phys_at(&step.memory, FIXTURE_DATA + 32, 16), 16);
        }
        fixture_free(&run);
    }
    fixture_free(&step);
}

/* The same program in pieces that end in the middle of blocks; instructions by class agree with those of steps. */
static void pieces(void **state)
{
    (void)state;
    for (uint64_t piece = 1; piece < 400; piece += piece < 110 ? 9 : 31) {
        struct fixture run, step;
        uint64_t a[CLASS_COUNT], b[CLASS_COUNT];
        fixture_init(&run, SIZE);
        fixture_init(&step, SIZE);
        write_program(&run);
        write_program(&step);
        for (unsigned i = 0; i < 40; i++) {
            assert_int_equal(fixture_run(&run, FIXTURE_RUN, piece), HART_STOP_LIMIT);
            assert_int_equal(fixture_run(&step, FIXTURE_STEP, piece), HART_STOP_LIMIT);
            assert_same(&run.hart, &step.hart);
            hart_count_classes(&run.hart, a);
            hart_count_classes(&step.hart, b);
            assert_memory_equal(a, b, sizeof a);
            assert_int_equal(fixture_class_sum(&run), run.hart.instret);
        }
        fixture_free(&run);
        fixture_free(&step);
    }
}

/* A limit before and behind each jump that the block follows, and between the halves of each fused pair; the blocks are translated before. */
static void within_blocks(void **state)
{
    struct fixture run, step;
    struct fixture *const both[] = {&run, &step};
    (void)state;
    for (unsigned k = 0; k < 2; k++) {
        fixture_init(both[k], SIZE);
        const uint64_t begin = both[k]->at;
        for (unsigned i = 0; i < 12; i++) {
            for (unsigned j = 0; j < i % 4; j++)
                fixture_row(both[k], INSN_addi,
                            OP(.rd = (uint8_t)(T0 + j), .rs1 = (uint8_t)(T0 + j), .imm = 1));
            for (unsigned j = 0; j <= i % 3; j++) {
                fixture_jump(both[k], i % 5 == 4 ? RA : 0, both[k]->at + 8);
                fixture_word(both[k], 0);
            }
        }
        fixture_jump(both[k], 0, begin);
    }
    assert_int_equal(fixture_run(&run, FIXTURE_RUN, 1000), HART_STOP_LIMIT);
    assert_int_equal(fixture_run(&step, FIXTURE_STEP, 1000), HART_STOP_LIMIT);
    for (uint64_t limit = 1; limit < 95; limit++)
        for (unsigned i = 0; i < 50; i++) {
            assert_int_equal(fixture_run(&run, FIXTURE_RUN, limit), HART_STOP_LIMIT);
            assert_int_equal(fixture_run(&step, FIXTURE_STEP, limit), HART_STOP_LIMIT);
            assert_same(&run.hart, &step.hart);
        }
    assert_int_equal(fixture_class_sum(&run), run.hart.instret);
    fixture_free(&run);
    fixture_free(&step);
}

/* A loop that rewrites its own first instruction, with FENCE.I after the store. */
static void changed_code(void **state)
{
    (void)state;
    struct fixture f;
    fixture_init(&f, SIZE);
    for (unsigned way = 0; way < FIXTURE_WAYS; way++) {
        fixture_restart(&f);
        uint64_t patched = f.at;
        fixture_row(&f, INSN_addi, OP(.rd = A1, .rs1 = A1, .imm = 1));
        fixture_row(&f, INSN_lw, OP(.rd = T0, .rs1 = A0, .imm = 0));
        fixture_row(&f, INSN_add, OP(.rd = T0, .rs1 = T0, .rs2 = T1)); /* imm + 1 */
        fixture_row(&f, INSN_sw, OP(.rs1 = A0, .rs2 = T0, .imm = 0));
        fixture_row(&f, INSN_fence_i, OP(.imm = 0));
        fixture_row(&f, INSN_addi, OP(.rd = T2, .rs1 = T2, .imm = -1));
        fixture_row(&f, INSN_bne, OP(.rs1 = T2, .imm = (int32_t)(patched - f.at)));
        fixture_row(&f, INSN_ecall, OP(.imm = 0));
        f.hart.x[A0] = patched;
        f.hart.x[T1] = 1 << 20;
        f.hart.x[T2] = 100;
        assert_int_equal(fixture_run(&f, (enum fixture_way)way, 10000), HART_STOP_TRAP);
        assert_int_equal(f.hart.trap.cause, TRAP_ECALL_USER);
        assert_int_equal(f.hart.x[A1], 100 * 101 / 2);
        assert_int_equal(fixture_class_sum(&f), f.hart.instret);
    }
    fixture_free(&f);
}

/* More blocks than the cache holds: every CSR read is a block of its own. */
static void full_cache(void **state)
{
    (void)state;
    enum { COUNT = 600000, ROUNDS = 2 };
    struct fixture f;
    fixture_init(&f, 4 << 20);
    for (unsigned i = 0; i < COUNT; i++)
        fixture_row(&f, INSN_csrrs, OP(.rd = A0, .imm = 0xc02));
    fixture_row(&f, INSN_auipc, OP(.rd = T0, .imm = -(int32_t)(4 * COUNT) & ~0xfff));
    fixture_row(&f, INSN_addi, OP(.rd = A1, .rs1 = A1, .imm = 1));
    fixture_row(&f, INSN_jalr, OP(.rd = 0, .rs1 = T1, .imm = 0));
    f.hart.x[T1] = FIXTURE_BASE;
    assert_int_equal(fixture_run(&f, FIXTURE_RUN, (COUNT + 3) * ROUNDS), HART_STOP_LIMIT);
    assert_int_equal(f.hart.instret, (COUNT + 3) * ROUNDS);
    assert_int_equal(fixture_class_sum(&f), f.hart.instret);
    assert_int_equal(f.hart.x[A1], ROUNDS);
    assert_int_equal(f.hart.x[A0], (COUNT + 3) * (ROUNDS - 1) + COUNT - 1);
    assert_int_equal(f.hart.pc, FIXTURE_BASE);
    assert_true(block_flushes(f.hart.blocks) >= 2);
    fixture_free(&f);
}

/* Conditional and direct jumps whose exits are linked while the cache overflows. */
static void full_cache_of_branches(void **state)
{
    (void)state;
    enum { COUNT = 1 << 20, STEP = 12 };
    struct fixture f;
    fixture_init(&f, 16 << 20);
    /* Alternating forward branches, with a jump back after each, so that each is a block of its own. */
    for (unsigned i = 0; i < COUNT; i++) {
        fixture_row(&f, INSN_beq, OP(.rs1 = 0, .rs2 = 0, .imm = 8));
        fixture_row(&f, INSN_jal, OP(.rd = 0, .imm = 8));
        fixture_row(&f, INSN_jal, OP(.rd = 0, .imm = -4));
    }
    assert_int_equal(STEP * COUNT, f.at - FIXTURE_BASE);
    fixture_row(&f, INSN_ecall, OP(.imm = 0));
    assert_int_equal(fixture_run(&f, FIXTURE_RUN, UINT64_MAX), HART_STOP_TRAP);
    assert_int_equal(f.hart.pc, FIXTURE_BASE + STEP * COUNT);
    assert_int_equal(f.hart.instret, 3 * COUNT);
    assert_int_equal(fixture_class_sum(&f), f.hart.instret);
    assert_true(block_flushes(f.hart.blocks) >= 2);
    fixture_free(&f);
}

/* A marker stops after itself with its operands, inside and outside loops. */
static void markers(void **state)
{
    (void)state;
    struct fixture f;
    fixture_init(&f, SIZE);
    for (unsigned way = 0; way < FIXTURE_WAYS; way++) {
        fixture_restart(&f);
        uint64_t start = f.hart.instret;
        fixture_row(&f, INSN_addi, OP(.rd = A0, .rs1 = A0, .imm = 1));
        fixture_row(&f, INSN_marker, OP(.rs1 = A0, .imm = 5));
        fixture_row(&f, INSN_marker, OP(.rs1 = 0, .imm = -1));
        fixture_jump(&f, 0, FIXTURE_BASE);
        for (uint64_t i = 1; i <= 60; i++) {
            assert_int_equal(fixture_run(&f, (enum fixture_way)way, 1000), HART_STOP_MARKER);
            assert_int_equal(f.hart.marker.code, 5);
            assert_int_equal(f.hart.marker.value, i);
            assert_int_equal(f.hart.pc, FIXTURE_BASE + 8);
            assert_int_equal(f.hart.instret - start, 4 * (i - 1) + 2);
            assert_int_equal(fixture_run(&f, (enum fixture_way)way, 1000), HART_STOP_MARKER);
            assert_int_equal(f.hart.marker.code, 0xfff);
            assert_int_equal(f.hart.marker.value, 0);
            assert_int_equal(fixture_class_sum(&f), f.hart.instret);
        }
    }
    fixture_free(&f);
}

/* nucd and tom.begin are no-ops, whatever their operands. */
static void hints_do_nothing(void **state)
{
    (void)state;
    struct fixture f;
    fixture_init(&f, SIZE);
    for (unsigned way = 0; way < FIXTURE_WAYS; way++) {
        fixture_restart(&f);
        fixture_row(&f, INSN_nucd, OP(.rs1 = A0, .rs2 = T0));
        fixture_row(&f, INSN_nucd, OP(.rs1 = A1, .rs2 = 31));
        fixture_row(&f, INSN_tom_begin, OP(.imm = -2048));
        f.hart.x[A0] = 0x4e55434400000004;
        f.hart.x[A1] = 0x4e55434400000000;
        struct hart before = f.hart;
        assert_int_equal(fixture_run(&f, (enum fixture_way)way, 3), HART_STOP_LIMIT);
        assert_memory_equal(f.hart.x, before.x, 32 * sizeof before.x[0]);
        assert_int_equal(f.hart.pc, FIXTURE_BASE + 12);
    }
    fixture_free(&f);
}

/* 1 + 2^-53 is a tie: RNE gives 1, RMM rounds away from it. The dynamic mode changes under translated code. */
static void rounding_mode_changes(void **state)
{
    (void)state;
    const uint64_t one = 0x3ff0000000000000, tie = 0x3ca0000000000000;
    struct fixture f;
    fixture_init(&f, SIZE);
    for (unsigned way = 0; way < FIXTURE_WAYS; way++) {
        for (uint64_t first = 1; first < 200; first += 13) {
            fixture_restart(&f);
            fixture_row(&f, INSN_fadd_d, OP(.rd = 3, .rs1 = 1, .rs2 = 2, .rm = RM_DYN));
            fixture_row(&f, INSN_csrrwi, OP(.rd = 0, .rs1 = RM_RMM, .imm = 2));
            fixture_row(&f, INSN_fadd_d, OP(.rd = 4, .rs1 = 1, .rs2 = 2, .rm = RM_DYN));
            fixture_row(&f, INSN_csrrwi, OP(.rd = 0, .rs1 = RM_RNE, .imm = 2));
            fixture_row(&f, INSN_fadd_d, OP(.rd = 5, .rs1 = 1, .rs2 = 2, .rm = RM_DYN));
            fixture_row(&f, INSN_csrrwi, OP(.rd = 0, .rs1 = RM_RUP, .imm = 2));
            fixture_row(&f, INSN_fadd_d, OP(.rd = 6, .rs1 = 1, .rs2 = 2, .rm = RM_DYN));
            fixture_row(&f, INSN_csrrwi, OP(.rd = 0, .rs1 = RM_RNE, .imm = 2));
            fixture_jump(&f, 0, FIXTURE_BASE);
            for (unsigned i = 0; i < 30; i++) {
                f.hart.f[1] = one;
                f.hart.f[2] = tie;
                (void)fixture_run(&f, (enum fixture_way)way, first);
                if (f.hart.f[3])
                    assert_int_equal(f.hart.f[3], one);
                if (f.hart.f[4])
                    assert_int_equal(f.hart.f[4], one + 1);
                if (f.hart.f[5])
                    assert_int_equal(f.hart.f[5], one);
                if (f.hart.f[6])
                    assert_int_equal(f.hart.f[6], one + 1);
            }
        }
    }
    fixture_free(&f);
}

/* The mode may also change between runs: by a debugger, or by steps. */
static void rounding_mode_set_from_outside(void **state)
{
    (void)state;
    struct fixture f;
    fixture_init(&f, SIZE);
    fixture_row(&f, INSN_fadd_d, OP(.rd = 3, .rs1 = 1, .rs2 = 2, .rm = RM_DYN));
    fixture_row(&f, INSN_ecall, OP(.imm = 0));
    f.hart.f[1] = 0x3ff0000000000000;
    f.hart.f[2] = 0x3ca0000000000000;
    static const struct {
        uint8_t frm;
        uint64_t sum;
    } modes[] = {{RM_RNE, 0x3ff0000000000000}, {RM_RMM, 0x3ff0000000000001}, {RM_RDN, 0x3ff0000000000000},
                 {RM_RUP, 0x3ff0000000000001}, {RM_RMM, 0x3ff0000000000001}, {RM_RNE, 0x3ff0000000000000}};
    for (unsigned i = 0; i < 6; i++) {
        f.hart.frm = modes[i].frm;
        f.hart.pc = FIXTURE_BASE;
        assert_int_equal(fixture_run(&f, FIXTURE_RUN, 1000), HART_STOP_TRAP);
        assert_int_equal(f.hart.trap.cause, TRAP_ECALL_USER);
        assert_int_equal(f.hart.f[3], modes[i].sum);
    }
    f.hart.frm = 5;
    f.hart.pc = FIXTURE_BASE;
    assert_int_equal(fixture_run(&f, FIXTURE_RUN, 1000), HART_STOP_TRAP);
    assert_int_equal(f.hart.trap.cause, TRAP_ILLEGAL_INSTRUCTION);
    fixture_free(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_limit),
        cmocka_unit_test(within_blocks),
        cmocka_unit_test(pieces),
        cmocka_unit_test(changed_code),
        cmocka_unit_test(full_cache),
        cmocka_unit_test(full_cache_of_branches),
        cmocka_unit_test(markers),
        cmocka_unit_test(hints_do_nothing),
        cmocka_unit_test(rounding_mode_changes),
        cmocka_unit_test(rounding_mode_set_from_outside),
    };
    return cmocka_run_group_tests_name("block cache", tests, NULL, NULL);
}
