/* Branch prediction on patterns whose outcome is known. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "emu/core/config.h"
#include "tests/isa/random.h"

struct bench {
    struct predictor predictor;
    struct predict_config config;
};

static void begin(struct bench *bench)
{
    predict_init(&bench->predictor, &bench->config);
}

static struct bench make(void)
{
    struct bench bench;
    struct core_config core;
    core_config_default(&core, CORE_INORDER);
    bench.config = core.predict;
    begin(&bench);
    return bench;
}

static enum predict_outcome branch(struct bench *bench, uint64_t pc, bool taken)
{
    struct stream_op op = {.pc = pc, .flags = STREAM_BRANCH, .length = 4, .imm = 64};
    return predict(&bench->predictor, &op, taken ? pc + 64 : pc + 4);
}

static enum predict_outcome jump(struct bench *bench, uint64_t pc, unsigned flags, unsigned rd, unsigned rs1,
                                 uint64_t to)
{
    struct stream_op op = {.pc = pc,
                           .flags = (uint8_t)(STREAM_JUMP | flags),
                           .length = 4,
                           .rd = (uint8_t)rd,
                           .rs1 = (uint8_t)rs1,
                           .rs2 = STREAM_NONE};
    return predict(&bench->predictor, &op, to);
}

static enum predict_outcome call(struct bench *bench, uint64_t pc, uint64_t to)
{
    return jump(bench, pc, STREAM_CALL, 1, STREAM_NONE, to);
}

static enum predict_outcome returns(struct bench *bench, uint64_t pc, uint64_t to)
{
    return jump(bench, pc, STREAM_INDIRECT | STREAM_RETURN, STREAM_NONE, 1, to);
}

/* Counters begin weakly not taken: the first execution of a taken branch is mispredicted, all later ones are right; its
 * target is unknown when it is first predicted as taken. */
static void biased_branch(void **state)
{
    (void)state;
    struct bench bench = make();
    assert_int_equal(branch(&bench, 0x1000, true), PREDICT_WRONG);
    assert_int_equal(bench.predictor.wrong_pc, 0x1004);
    assert_int_equal(branch(&bench, 0x1000, true), PREDICT_LATE);
    for (unsigned i = 0; i < 100; i++)
        assert_int_equal(branch(&bench, 0x1000, true), PREDICT_RIGHT);
    assert_int_equal(branch(&bench, 0x1000, false), PREDICT_WRONG);
    assert_int_equal(bench.predictor.wrong_pc, 0x1040);
    assert_int_equal(branch(&bench, 0x1000, true), PREDICT_RIGHT);
    assert_int_equal(bench.predictor.count.branches, 104);
    assert_int_equal(bench.predictor.count.branches_wrong, 2);
    assert_int_equal(bench.predictor.count.late, 1);
    predict_free(&bench.predictor);
}

/* Taken, not taken, taken ...: bimodal counters fail, history succeeds. A loop of 8 rounds fits into 10 bits of
 * history; one of 40 rounds does not: one misprediction a loop, by the bimodal side. */
static void history_finds_patterns(void **state)
{
    (void)state;
    static const struct {
        unsigned period, rounds, most;
    } cases[] = {{2, 400, 0}, {8, 800, 0}, {40, 4000, 100}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct bench bench = make();
        for (unsigned n = 0; n < 800; n++)
            (void)branch(&bench, 0x2000, n % cases[i].period != cases[i].period - 1);
        uint64_t before = bench.predictor.count.branches_wrong;
        for (unsigned n = 0; n < cases[i].rounds; n++)
            (void)branch(&bench, 0x2000, n % cases[i].period != cases[i].period - 1);
        uint64_t wrong = bench.predictor.count.branches_wrong - before;
        assert_true(wrong <= cases[i].most);
        assert_true(cases[i].most == 0 || wrong >= cases[i].most / 2);
        predict_free(&bench.predictor);
    }
}

/* A biased branch next to a random one is predicted by the bimodal side, although the random bits spoil the history. */
static void chooser_saves_biased_branches(void **state)
{
    (void)state;
    struct bench bench = make();
    uint64_t x = 99, wrong = 0;
    for (unsigned n = 0; n < 4000; n++) {
        (void)branch(&bench, 0x1000, random_shift(&x) & 1);
        wrong += branch(&bench, 0x2004, true) == PREDICT_WRONG;
    }
    assert_true(wrong < 40);
    /* The random branch: half, within 5 standard deviations of sqrt(4000) / 2 = 32. */
    uint64_t random = bench.predictor.count.branches_wrong - wrong;
    assert_true(random > 2000 - 160 && random < 2000 + 160);
    predict_free(&bench.predictor);
}

/* 4 ways: 4 jumps of one set stay; 5 cyclic ones always replace each other. Jumps of a set are 2 * sets bytes apart. */
static void btb_is_set_associative(void **state)
{
    (void)state;
    for (unsigned jumps = 4; jumps <= 5; jumps++) {
        struct bench bench = make();
        uint64_t apart = 2 * (bench.config.btb / bench.config.btb_ways);
        for (unsigned round = 0; round < 3; round++)
            for (unsigned i = 0; i < jumps; i++) {
                enum predict_outcome outcome =
                    jump(&bench, 0x4000 + i * apart, 0, STREAM_NONE, STREAM_NONE, 64);
                assert_int_equal(outcome, round == 0 || jumps == 5 ? PREDICT_LATE : PREDICT_RIGHT);
            }
        predict_free(&bench.predictor);
    }
}

/* Calls nested as deep as the stack return correctly; with one more, the outermost return is lost. */
static void return_stack(void **state)
{
    (void)state;
    for (unsigned depth = 8; depth <= 9; depth++) {
        struct bench bench = make();
        for (unsigned i = 0; i < depth; i++)
            (void)call(&bench, 0x100 * i, 0x100 * (i + 1));
        for (unsigned i = depth; i-- > 0;)
            assert_int_equal(returns(&bench, 0x100 * (i + 1) + 8, 0x100 * i + 4),
                             i == 0 && depth == 9 ? PREDICT_WRONG : PREDICT_RIGHT);
        assert_int_equal(bench.predictor.count.returns_wrong, depth == 9);
        predict_free(&bench.predictor);
    }
}

/* jalr x1, 0(x5) continues where the coroutine stopped, and leaves its own place in x1: two routines switch to each
 * other at ever new places. */
static void coroutines_pop_and_push(void **state)
{
    (void)state;
    struct bench bench = make();
    const unsigned flags = STREAM_INDIRECT | STREAM_CALL;
    uint64_t here = 0x2000, there = 0x1004; /* the pc of the running routine; where the other one continues */
    (void)jump(&bench, 0x1000, STREAM_CALL, 5, STREAM_NONE, here);
    for (unsigned i = 0; i < 10; i++) {
        uint64_t swap = here + 8; /* the address of the jump, after two other instructions */
        assert_int_equal(jump(&bench, swap, flags, i % 2 ? 5 : 1, i % 2 ? 1 : 5, there), PREDICT_RIGHT);
        here = there;
        there = swap + 4;
    }
    assert_int_equal(bench.predictor.count.called_back, 10);
    predict_free(&bench.predictor);
}

/* An indirect jump with 4 cyclic targets: always wrong by the last target, right by the path. */
static void indirect_targets_by_path(void **state)
{
    (void)state;
    struct bench bench = make();
    for (unsigned n = 0; n < 100; n++) {
        enum predict_outcome outcome =
            jump(&bench, 0x1000, STREAM_INDIRECT, STREAM_NONE, 10, 0x2000 + n % 4 * 0x124);
        if (n >= 50)
            assert_int_equal(outcome, PREDICT_RIGHT);
    }
    predict_free(&bench.predictor);
}

static void bad_configurations_are_named(void **state)
{
    (void)state;
    struct core_config config;
    struct error err;
    core_config_default(&config, CORE_OOO);
    assert_true(part_check(&core_kind, &config, &err));
    config.predict.gshare = 3000;
    assert_false(part_check(&core_kind, &config, &err));
    assert_non_null(strstr(err.text, "predict.gshare: '3000'"));
    core_config_default(&config, CORE_INORDER);
    config.predict.btb = 2;
    assert_false(part_check(&core_kind, &config, &err));
    assert_non_null(strstr(err.text, "predict.btb: 2"));
    core_config_default(&config, CORE_INORDER);
    config.predict.history = 25;
    assert_false(part_check(&core_kind, &config, &err));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(biased_branch),
        cmocka_unit_test(history_finds_patterns),
        cmocka_unit_test(chooser_saves_biased_branches),
        cmocka_unit_test(btb_is_set_associative),
        cmocka_unit_test(return_stack),
        cmocka_unit_test(coroutines_pop_and_push),
        cmocka_unit_test(indirect_targets_by_path),
        cmocka_unit_test(bad_configurations_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
