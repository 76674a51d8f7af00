/* The control-flow graph of small pieces of code, against graphs drawn by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "emu/analysis/flow/cfg.h"
#include "tests/analysis/few_words.h"

#define AT(row) (BASE + 4 * (uint64_t)(row))

enum { RA = 1, T0 = 5, A0 = 10, A1, A2 };

static struct cfg build(struct code *code, const struct cfg_options *options)
{
    uint64_t entry = BASE;
    struct decoder *decoder = decoder_new();
    struct cfg cfg = cfg_build(decoder, &(struct reach_code){fetch, code}, &entry, 1, options);
    decoder_free(decoder);
    return cfg;
}

/* Checks that a node of a function has these successors, by the rows of their first instructions; -1: the exit. */
static void expect(const struct cfg *cfg, const struct cfg_function *f, int row_of, int count,
                   const int *rows)
{
    unsigned node = 0;
    while (node < f->count && cfg->insns[cfg->blocks[f->blocks[node]].first].step.pc != AT(row_of))
        node++;
    assert_in_range(node, 0, f->count - 1);
    assert_int_equal(f->graph.first[node + 1] - f->graph.first[node], count);
    for (int i = 0; i < count; i++) {
        unsigned to = f->graph.to[f->graph.first[node] + (unsigned)i];
        if (rows[i] < 0)
            assert_int_equal(to, f->count);
        else
            assert_int_equal(cfg->insns[cfg->blocks[f->blocks[to]].first].step.pc, AT(rows[i]));
    }
}
#define EXPECT(f, row, ...)                                                                                  \
    expect(&cfg, f, row, (int)(sizeof((int[]){__VA_ARGS__}) / sizeof(int)), (const int[]){__VA_ARGS__})

/* if (a0) a1 = f(); do { a2++ } while (a2 < a1); return; f: return; */
static struct code sample(void)
{
    struct code code = {.count = 0};
    row(&code, INSN_beq, OP(.rs1 = A0, .imm = 8));
    row(&code, INSN_jal, OP(.rd = RA, .imm = 20)); /* row 1: calls row 6 */
    row(&code, INSN_addi, OP(.rd = A2, .rs1 = A2, .imm = 1));
    row(&code, INSN_blt, OP(.rs1 = A2, .rs2 = A1, .imm = -4));
    row(&code, INSN_jalr, OP(.rs1 = RA));
    row(&code, INSN_addi, OP(.rd = A0)); /* row 5 is not reachable */
    row(&code, INSN_jalr, OP(.rs1 = RA));
    return code;
}

static void blocks_and_edges(void **state)
{
    (void)state;
    struct code code = sample();
    struct cfg cfg = build(&code, NULL);
    assert_int_equal(cfg.count, 6);
    assert_int_equal(cfg.block_count, 5);
    assert_int_equal(cfg.function_count, 2);
    assert_int_equal(cfg.entry_count, 1);
    assert_int_equal(cfg_at(&cfg, AT(5)), CFG_NONE);
    const struct cfg_function *f = &cfg.functions[0];
    assert_int_equal(f->count, 4);
    EXPECT(f, 0, 1, 2);
    EXPECT(f, 1, 2);
    EXPECT(f, 2, 4, 2);
    EXPECT(f, 4, -1);
    assert_int_equal(cfg.blocks[cfg.insns[cfg_at(&cfg, AT(1))].block].marks, CFG_CALLS);
    assert_int_equal(cfg.blocks[cfg.insns[cfg_at(&cfg, AT(4))].block].marks, CFG_RETURNS);
    assert_int_equal(cfg.insns[cfg.functions[1].entry].step.pc, AT(6));
    EXPECT(&cfg.functions[1], 6, -1);
    cfg_free(&cfg);
}

static void calls_may_be_left_out(void **state)
{
    (void)state;
    struct code code = sample();
    struct cfg cfg = build(&code, &(struct cfg_options){.within = true});
    assert_int_equal(cfg.function_count, 1);
    assert_int_equal(cfg_at(&cfg, AT(6)), CFG_NONE);
    EXPECT(&cfg.functions[0], 1, 2);
    cfg_free(&cfg);
}

static bool is_add(void *context, const struct cfg_insn *insn)
{
    (void)context;
    return insn->step.insn.id == INSN_add;
}

static void instructions_alone(void **state)
{
    (void)state;
    struct code code = {.count = 0};
    row(&code, INSN_addi, OP(.rd = A0));
    row(&code, INSN_add, OP(.rd = A0));
    row(&code, INSN_addi, OP(.rd = A0));
    row(&code, INSN_jalr, OP(.rs1 = RA));
    struct cfg cfg = build(&code, &(struct cfg_options){.alone = is_add});
    assert_int_equal(cfg.block_count, 3);
    EXPECT(&cfg.functions[0], 0, 1);
    EXPECT(&cfg.functions[0], 1, 2);
    cfg_free(&cfg);
}

/* An indirect jump leads to what follows, and out; an indirect call is marked. */
static void indirect_jumps_are_said(void **state)
{
    (void)state;
    struct code code = {.count = 0};
    row(&code, INSN_jalr, OP(.rd = RA, .rs1 = A1));
    row(&code, INSN_jalr, OP(.rs1 = A0));
    row(&code, INSN_addi, OP(.rd = A0));
    row(&code, INSN_jalr, OP(.rs1 = RA));
    struct cfg cfg = build(&code, NULL);
    assert_int_equal(cfg.block_count, 4);
    assert_int_equal(cfg.blocks[0].marks, CFG_CALLS | CFG_CALLS_UNKNOWN);
    assert_int_equal(cfg.blocks[1].marks, CFG_JUMPS_UNKNOWN);
    EXPECT(&cfg.functions[0], 1, 2, 3, -1);
    cfg_free(&cfg);
}

/* Code that ends: behind the last instruction there is none. */
static void code_may_end(void **state)
{
    (void)state;
    struct code code = {.count = 0};
    row(&code, INSN_addi, OP(.rd = A0));
    struct cfg cfg = build(&code, NULL);
    assert_int_equal(cfg.blocks[0].marks, CFG_ENDS);
    EXPECT(&cfg.functions[0], 0, -1);
    cfg_free(&cfg);
    code.count = 0;
    cfg = build(&code, NULL);
    assert_int_equal(cfg.count, 0);
    assert_int_equal(cfg.function_count, 0);
    cfg_free(&cfg);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_and_edges),   cmocka_unit_test(calls_may_be_left_out),
        cmocka_unit_test(instructions_alone), cmocka_unit_test(indirect_jumps_are_said),
        cmocka_unit_test(code_may_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
