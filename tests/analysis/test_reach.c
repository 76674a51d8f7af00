/* The registers that reachable code names: small pieces of code against sets written by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "emu/analysis/flow/reach.h"
#include "tests/analysis/few_words.h"

enum { RA = 1, T0 = 5, T1, A0 = 10, A1, A2, A3, S2 = 18, S3, S4 };

static struct reach walk(const struct line *lines, size_t count)
{
    struct code code = code_of(lines, count);
    struct decoder *decoder = decoder_new();
    struct reach reach = reach_walk(decoder, &(struct reach_code){fetch, &code}, &(uint64_t){BASE}, 1, NULL);
    decoder_free(decoder);
    return reach;
}

#define WALK(lines) walk(lines, sizeof(lines) / sizeof *(lines))
#define RET                                                                                                  \
    {                                                                                                        \
        INSN_jalr,                                                                                           \
        {                                                                                                    \
            .rs1 = RA                                                                                        \
        }                                                                                                    \
    }
#define BIT(reg) (UINT32_C(1) << (reg))

/* A loop with a branch; code after the return does not count. */
static void straight_and_branches(void **state)
{
    (void)state;
    const struct line lines[] = {
        {INSN_addi, {.rd = A0, .rs1 = A0, .imm = 1}},
        {INSN_bne, {.rs1 = A0, .rs2 = A1, .imm = 12}}, /* jumps over the return */
        RET,
        {INSN_addi, {.rd = S4, .rs1 = S4}},
        {INSN_addi, {.rd = A2}},
        {INSN_jal, {.imm = -20}},
    };
    struct reach reach = WALK(lines);
    assert_int_equal(reach.integer, BIT(RA) | BIT(A0) | BIT(A1) | BIT(A2));
    assert_int_equal(reach.insns, 5);
    assert_int_equal(reach_halves(&reach), 8);
}

/* Single precision takes half a register, unless some instruction names the register as a double. */
static void floats_take_halves(void **state)
{
    (void)state;
    const struct line lines[] = {
        {INSN_fadd_s, {.rd = 10, .rs1 = 11, .rs2 = 12}},
        {INSN_fadd_d, {.rd = 12, .rs1 = 13, .rs2 = 13}},
        {INSN_flw, {.rd = 14, .rs1 = A0}},
        {INSN_fld, {.rd = 15, .rs1 = A0}},
        RET,
    };
    struct reach reach = WALK(lines);
    assert_int_equal(reach.single, BIT(10) | BIT(11) | BIT(14));
    assert_int_equal(reach.whole, BIT(12) | BIT(13) | BIT(15));
    assert_int_equal(reach.integer, BIT(RA) | BIT(A0));
    assert_int_equal(reach_halves(&reach), 2 * 2 + 3 + 2 * 3);
}

/* A direct call, then one by AUIPC and JALR; both return. */
static void calls_come_back(void **state)
{
    (void)state;
    const struct line lines[] = {
        {INSN_jal, {.rd = RA, .imm = 20}},
        {INSN_auipc, {.rd = RA, .imm = 0}},
        {INSN_jalr, {.rd = RA, .rs1 = RA, .imm = 24}}, /* 4 + 24 */
        {INSN_addi, {.rd = A3, .rs1 = A3}},
        RET,
        {INSN_addi, {.rd = S2, .rs1 = S2}},
        RET,
        {INSN_addi, {.rd = S3, .rs1 = S3}},
        RET,
    };
    struct reach reach = WALK(lines);
    assert_int_equal(reach.integer, BIT(RA) | BIT(A3) | BIT(S2) | BIT(S3));
    assert_int_equal(reach.insns, 9);
}

/* A switch: the cases follow the jump; each but the last one jumps to the return behind them. */
static void switches_lead_behind(void **state)
{
    (void)state;
    const struct line lines[] = {
        {INSN_jalr, {.rs1 = T1}},
        {INSN_addi, {.rd = A0}},
        {INSN_jal, {.imm = 16}},
        {INSN_addi, {.rd = A1}},
        {INSN_jal, {.imm = 8}},
        {INSN_addi, {.rd = A2}},
        RET,
        {INSN_addi, {.rd = S4}},
        RET,
    };
    struct reach reach = WALK(lines);
    assert_int_equal(reach.integer, BIT(RA) | BIT(T1) | BIT(A0) | BIT(A1) | BIT(A2));
}

/* A call through a pointer counts 16 integer and 20 floating-point registers, besides s2, which is named. */
static void unknown_calls_count_the_convention(void **state)
{
    (void)state;
    const struct line lines[] = {
        {INSN_jalr, {.rd = RA, .rs1 = S2}},
        RET,
    };
    struct reach reach = WALK(lines);
    assert_int_equal(reach.integer, 0xf003fce2 | BIT(S2));
    assert_int_equal(__builtin_popcount(reach.whole), 20);
    assert_int_equal(reach_halves(&reach), 2 * (16 + 1) + 2 * 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(straight_and_branches),
        cmocka_unit_test(floats_take_halves),
        cmocka_unit_test(calls_come_back),
        cmocka_unit_test(switches_lead_behind),
        cmocka_unit_test(unknown_calls_count_the_convention),
    };
    return cmocka_run_group_tests_name("registers of reachable code", tests, NULL, NULL);
}
