/* The 32-bit registers that code needs at a time: small pieces of code against numbers found by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "emu/analysis/pressure.h"
#include "isa/csr.h"
#include "tests/analysis/few_words.h"

enum { RA = 1, SP, GP, TP, T0, T1, T2, S0, S1, A0, A1, A2, A3, A4, A5, S2 = 18, S3, S4, S5, S6, T3 = 28 };

static unsigned units(const struct line *lines, size_t count)
{
    struct code code = code_of(lines, count);
    struct decoder *decoder = decoder_new();
    struct pressure pressure = pressure_of(decoder, &(struct reach_code){fetch, &code}, BASE);
    decoder_free(decoder);
    return pressure.units;
}

#define UNITS(lines) units(lines, sizeof(lines) / sizeof *(lines))
#define LINE(id, ...)                                                                                        \
    {                                                                                                        \
        INSN_##id,                                                                                           \
        {                                                                                                    \
            __VA_ARGS__                                                                                      \
        }                                                                                                    \
    }
#define RET LINE(jalr, .rs1 = RA)

/* What is stored decides: a word demands one unit of each summand, a double word two. a2, an address, has two. */
static void demand_decides_the_width(void **state)
{
    (void)state;
    const struct line word[] = {LINE(add, .rd = A0, .rs1 = A0, .rs2 = A1), LINE(sw, .rs1 = A2, .rs2 = A0),
                                RET};
    const struct line whole[] = {LINE(add, .rd = A0, .rs1 = A0, .rs2 = A1), LINE(sd, .rs1 = A2, .rs2 = A0),
                                 RET};
    const struct line shifted[] = {LINE(srli, .rd = A0, .rs1 = A0, .imm = 8), LINE(sw, .rs1 = A2, .rs2 = A0),
                                   RET};
    assert_int_equal(UNITS(word), 1 + 1 + 2);
    assert_int_equal(UNITS(whole), 2 + 2 + 2);
    assert_int_equal(UNITS(shifted), 2 + 2); /* the bits shifted in come from the upper half */
}

/* A comparison demands all bits, but those of an extended word are known: loaded words take one unit each, beside the
 * address until the second one is loaded. Words of unknown origin take two. */
static void extended_words_take_one(void **state)
{
    (void)state;
    const struct line loaded[] = {LINE(lw, .rd = A0, .rs1 = A2), LINE(lw, .rd = A1, .rs1 = A2, .imm = 4),
                                  LINE(blt, .rs1 = A0, .rs2 = A1, .imm = 8), LINE(addi, .rd = A1), RET};
    const struct line unknown[] = {LINE(blt, .rs1 = A0, .rs2 = A1, .imm = 8), LINE(addi, .rd = A1), RET};
    const struct line coordinate[] = {LINE(csrrs, .rd = A0, .imm = CSR_sthread_x),
                                      LINE(csrrs, .rd = A1, .imm = CSR_sblock_x),
                                      LINE(bltu, .rs1 = A0, .rs2 = A1, .imm = 8), LINE(addi, .rd = A1), RET};
    assert_int_equal(UNITS(loaded), 2 + 1);
    assert_int_equal(UNITS(unknown), 2 + 2);
    assert_int_equal(UNITS(coordinate), 1 + 1);
}

/* On one way a0 is an extended word, on the other it comes from a shift to the left: it takes two where they join. */
static void joins_keep_what_holds_on_both_ways(void **state)
{
    (void)state;
    const struct line lines[] = {LINE(lw, .rd = A0, .rs1 = A2),
                                 LINE(beq, .rs1 = A0, .imm = 8),
                                 LINE(slli, .rd = A0, .rs1 = A0, .imm = 4),
                                 LINE(bge, .rs1 = A0, .imm = 8),
                                 LINE(addi, .rd = A1),
                                 RET};
    const struct line words[] = {LINE(lw, .rd = A0, .rs1 = A2),
                                 LINE(beq, .rs1 = A0, .imm = 8),
                                 LINE(slliw, .rd = A0, .rs1 = A0, .imm = 4),
                                 LINE(bge, .rs1 = A0, .imm = 8),
                                 LINE(addi, .rd = A1),
                                 RET};
    assert_int_equal(UNITS(lines), 2);
    assert_int_equal(UNITS(words), 2); /* of the address */
    const struct line last[] = {LINE(lui, .rd = A0, .imm = 4096),
                                LINE(beq, .rs1 = A0, .imm = 8),
                                LINE(slliw, .rd = A0, .rs1 = A0, .imm = 4),
                                LINE(bge, .rs1 = A0, .imm = 8),
                                LINE(addi, .rd = A1),
                                RET};
    assert_int_equal(UNITS(last), 1);
}

/* Registers that are used one after the other count once, as in the stub at a kernel's entry. sp, gp and tp do not. */
static void only_what_lives_counts(void **state)
{
    (void)state;
    const struct line lines[] = {
        LINE(addi, .rd = T1, .imm = 1),
        LINE(or, .rd = T1, .rs1 = T1, .rs2 = GP),
        LINE(bne, .rs1 = T1, .imm = 8),
        LINE(addi, .rd = T2, .imm = 1),
        LINE(addi, .rd = SP, .rs1 = SP, .imm = -32),
        LINE(addi, .rd = TP, .rs1 = SP, .imm = 33),
        LINE(lw, .rd = A1, .rs1 = A0),
        LINE(addiw, .rd = A2, .rs1 = A1, .imm = 1),
        LINE(addiw, .rd = A3, .rs1 = A2, .imm = 1),
        LINE(addiw, .rd = A4, .rs1 = A3, .imm = 1),
        LINE(sw, .rs1 = A0, .rs2 = A4),
        RET,
    };
    assert_int_equal(UNITS(lines), 2 + 2); /* a0 and t1, whose bits of gp are unknown */
}

static void floats_take_one_and_doubles_two(void **state)
{
    (void)state;
    const struct line lines[] = {LINE(flw, .rd = 10, .rs1 = A0), LINE(flw, .rd = 11, .rs1 = A0, .imm = 4),
                                 LINE(fmadd_s, .rd = 10, .rs1 = 10, .rs2 = 11, .rs3 = 12),
                                 LINE(fsw, .rs1 = A0, .rs2 = 10), RET};
    const struct line doubles[] = {LINE(fld, .rd = 10, .rs1 = A0), LINE(fld, .rd = 11, .rs1 = A0, .imm = 8),
                                   LINE(fmadd_d, .rd = 10, .rs1 = 10, .rs2 = 11, .rs3 = 12),
                                   LINE(fsd, .rs1 = A0, .rs2 = 10), RET};
    assert_int_equal(UNITS(lines), 2 + 3);
    assert_int_equal(UNITS(doubles), 2 + 6);
}

/* The caller keeps a word in s0 over a call. The callee saves s0 to s3 and uses s0: that is no use of the caller's s1 to
 * s3, and s0 has one place in the register file at a time. In the callee, a0 and its own s0 take two units each. With a
 * third register live beside them, the caller's word in s4, which the callee does not touch, counts too. */
static void callers_keep_registers(void **state)
{
    (void)state;
    for (unsigned more = 0; more < 2; more++) {
        uint8_t kept = more ? S4 : S0;
        const struct line lines[] = {
            LINE(lw, .rd = kept, .rs1 = A0),
            LINE(jal, .rd = RA, .imm = 12),
            LINE(sw, .rs1 = A0, .rs2 = kept),
            LINE(jal, .imm = 0), /* for ever: nothing lives behind it */
            LINE(sd, .rs1 = SP, .rs2 = S0, .imm = -8),
            LINE(sd, .rs1 = SP, .rs2 = S1, .imm = -16),
            LINE(sd, .rs1 = SP, .rs2 = S2, .imm = -24),
            LINE(sd, .rs1 = SP, .rs2 = S3, .imm = -32),
            LINE(ld, .rd = S0, .rs1 = A0, .imm = 8),
            LINE(add, .rd = A0, .rs1 = A0, .rs2 = S0),
            LINE(ld, .rd = S0, .rs1 = SP, .imm = -8),
            RET,
        };
        assert_int_equal(UNITS(lines), 2 + 2 + more);
    }
}

/* A callee's argument is no result: a0, which nobody uses after the call, does not live at the callee's return, where
 * its word would count beside the address in a1. */
static void arguments_end_in_callees(void **state)
{
    (void)state;
    const struct line lines[] = {
        LINE(jal, .rd = RA, .imm = 8),           LINE(jal, .imm = 0),
        LINE(ld, .rd = A1, .rs1 = A0, .imm = 8), LINE(ld, .rd = A2, .rs1 = A0, .imm = 16),
        LINE(sw, .rs1 = A1, .rs2 = A2),          RET,
    };
    assert_int_equal(UNITS(lines), 2 + 2);
}

/* What a call through a pointer may change: 15 integer registers without ra and 20 floating-point registers, of 64 bits,
 * and the caller's word in s1. */
static void unknown_calls_count_the_convention(void **state)
{
    (void)state;
    const struct line lines[] = {LINE(lw, .rd = S1, .rs1 = A0), LINE(jalr, .rd = RA, .rs1 = S2),
                                 LINE(sw, .rs1 = GP, .rs2 = S1), LINE(jal, .imm = 0)};
    assert_int_equal(UNITS(lines), 2 * 15 + 2 * 20 + 1);
}

/* 18 words, and the address of 64 bits at which they are. */
static void a_kernel_of_twenty_registers(void **state)
{
    (void)state;
    static const uint8_t words[18] = {T1, T2, A1, A2, A3, A4, A5,     16,     17,
                                      S2, S3, S4, S5, S6, T3, T3 + 1, T3 + 2, T3 + 3};
    struct line lines[18 + 17 + 2];
    size_t count = 0;
    for (unsigned i = 0; i < 18; i++)
        lines[count++] = (struct line){INSN_lw, {.rd = words[i], .rs1 = A0, .imm = (int32_t)(4 * i)}};
    for (unsigned i = 1; i < 18; i++)
        lines[count++] = (struct line){INSN_add, {.rd = T1, .rs1 = T1, .rs2 = words[i]}};
    lines[count++] = (struct line)LINE(sw, .rs1 = A0, .rs2 = T1);
    lines[count++] = (struct line)RET;
    assert_int_equal(units(lines, count), 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(demand_decides_the_width),
        cmocka_unit_test(extended_words_take_one),
        cmocka_unit_test(joins_keep_what_holds_on_both_ways),
        cmocka_unit_test(only_what_lives_counts),
        cmocka_unit_test(floats_take_one_and_doubles_two),
        cmocka_unit_test(callers_keep_registers),
        cmocka_unit_test(arguments_end_in_callees),
        cmocka_unit_test(unknown_calls_count_the_convention),
        cmocka_unit_test(a_kernel_of_twenty_registers),
    };
    return cmocka_run_group_tests_name("registers that code needs at a time", tests, NULL, NULL);
}
