/* Why loops and functions have no candidate: the reasons, and the instructions that they name. */
#include "isa/csr.h"
#include "tests/analysis/candidates/rig.h"

/* Why a loop is not taken: it has no access, or too few for its registers; its end is looked for behind the loop. */
static void reasons_are_told(void **state)
{
    struct candidate_model model = paper;
    (void)state;
    struct rig rig;
    rig_init(&rig);
    model.why = true;
    for (unsigned loads = 0; loads < 2; loads++) {
        rig.code.at = CODE_BASE;
        row(&rig, INSN_addi, OP(.rd = A0));
        const uint64_t loop = rig.code.at;
        row(&rig, loads ? INSN_lw : INSN_addi, OP(.rd = 14, .rs1 = 11));
        row(&rig, INSN_beq, OP(.rs1 = 14, .rs2 = 15, .imm = 8));
        row(&rig, INSN_addi, OP(.rd = 11, .rs1 = 11, .imm = 4));
        row(&rig, INSN_bne, OP(.rs1 = 14, .rs2 = 12, .imm = (int32_t)(loop - rig.code.at)));
        row(&rig, INSN_jalr, OP(.rs1 = RA));
        struct candidates found = find(&rig, &model, 40);
        assert_int_equal(found.count, 0);
        bool told = false, function = false;
        for (size_t i = 0; i < found.refused; i++) {
            const struct candidate_refusal *refusal = &found.refusals[i];
            if (!refusal->loop) {
                function = true;
                assert_true(loads || refusal->where == 0);
                assert_non_null(strstr(refusal->text, loads ? "its best block changes bytes by +"
                                                            : "it has no loads or stores"));
                continue;
            }
            told = true;
            assert_int_equal(refusal->begin, loop);
            assert_int_equal(refusal->where, 0);
            assert_non_null(strstr(refusal->text, loads ? "it changes bytes by +"
                                                        : "no load or store is executed in each round"));
        }
        assert_true(told && function);
        candidates_free(&found);
    }
    rig_free(&rig);
}

/* Returns the only refusal of a loop, or of a function. */
static const struct candidate_refusal *refusal_of(const struct candidates *found, bool loop)
{
    const struct candidate_refusal *one = NULL;
    for (size_t i = 0; i < found->refused; i++)
        if (found->refusals[i].loop == loop) {
            assert_null(one);
            one = &found->refusals[i];
        }
    assert_non_null(one);
    return one;
}

/* Each reason is told with its place: what a loop has that no block may have, what its block would change, or that it has been found and
 * not taken. By hand: three registers sent for three loads that half miss, 3 * 32 - 3 * 16.5 = 46.5. */
static void reasons_have_places(void **state)
{
    enum { FENCE, CALL, STATIC, UNKNOWN, ENDLESS, LEFT, KINDS };
    static const char *const texts[KINDS] = {
        [FENCE] = "it has a fence",
        [CALL] = "it calls a function",
        [STATIC] =
            "it changes bytes by +46.50: N_LD 3, N_ST 0, 3 registers sent, 0 returned, in its 3 rounds",
        [UNKNOWN] = "it changes bytes by +46.25: N_LD 1, N_ST 1, 3 registers sent, 0 returned, in one round",
        [ENDLESS] = "its paths do not end at one instruction",
        [LEFT] = "blocks that share code with it save more, or enough others do (--most)"};
    struct candidate_model model = paper;
    struct rig rig;
    (void)state;
    rig_init(&rig);
    model.why = model.kernels = true;
    for (unsigned kind = 0; kind < KINDS; kind++) {
        uint64_t where = 0;
        rig.code.at = CODE_BASE;
        row(&rig, INSN_addi, OP(.rd = 11));
        row(&rig, INSN_addi, OP(.rd = 13, .imm = kind == STATIC ? 12 : 1200));
        row(&rig, INSN_fence, OP(.rd = 0));
        const uint64_t loop = rig.code.at;
        row(&rig, INSN_lw, OP(.rd = 14, .rs1 = 12));
        if (kind == FENCE || kind == CALL) {
            where = rig.code.at;
            row(&rig, kind == FENCE ? INSN_fence : INSN_jal,
                kind == FENCE ? OP(.rd = 0) : OP(.rd = RA, .imm = (int32_t)(CODE_BASE + 128 - where)));
        }
        if (kind == UNKNOWN || kind == ENDLESS || kind == LEFT)
            row(&rig, INSN_sw, OP(.rs1 = 12, .rs2 = 11));
        row(&rig, INSN_addi, OP(.rd = 11, .rs1 = 11, .imm = 4));
        const uint64_t last = rig.code.at;
        row(&rig, kind == ENDLESS ? INSN_jal : INSN_bne,
            kind == ENDLESS ? OP(.imm = (int32_t)(loop - last))
                            : OP(.rs1 = kind == UNKNOWN ? 14 : 11, .rs2 = 13, .imm = (int32_t)(loop - last)));
        row(&rig, INSN_jalr, OP(.rs1 = RA));
        rig.code.at = CODE_BASE + 128;
        row(&rig, INSN_jalr, OP(.rs1 = RA));
        struct candidates found = find(&rig, &model, kind == LEFT ? 0 : 40);
        assert_int_equal(found.count, 0);
        const struct candidate_refusal *refusal = refusal_of(&found, true);
        assert_int_equal(refusal->function, CODE_BASE);
        assert_int_equal(refusal->begin, loop);
        assert_int_equal(refusal->last, last);
        assert_int_equal(refusal->where, kind == ENDLESS ? refusal->where : where);
        assert_memory_equal(refusal->text, texts[kind], strlen(texts[kind]));
        candidates_free(&found);
    }
    rig_free(&rig);
}

/* A function's reason: its best block and where it begins, or what its first access is, behind other code. */
static void functions_have_reasons(void **state)
{
    enum { LOAD, STORE, ATOMIC, KINDS };
    static const enum insn_id ids[KINDS] = {INSN_lw, INSN_sw, INSN_amoadd_w};
    static const char *const texts[KINDS] = {
        "its best block changes bytes by +15.50: N_LD 1, N_ST 0, 1 registers sent, 0 returned",
        "its best block changes bytes by +30.75: N_LD 0, N_ST 1, 2 registers sent, 0 returned",
        "it has an atomic operation"};
    struct candidate_model model = paper;
    struct rig rig;
    (void)state;
    rig_init(&rig);
    model.why = model.kernels = true;
    for (unsigned kind = 0; kind < KINDS; kind++) {
        rig.code.at = CODE_BASE;
        if (kind == ATOMIC) {
            row(&rig, INSN_addi, OP(.rd = 14));
            row(&rig, INSN_fence, OP(.rd = 0));
        }
        const uint64_t where = rig.code.at;
        row(&rig, ids[kind], OP(.rd = kind == STORE ? 0 : 14, .rs1 = 12, .rs2 = kind == LOAD ? 0 : 13));
        write_end(&rig);
        struct candidates found = find(&rig, &model, 40);
        const struct candidate_refusal *refusal = refusal_of(&found, false);
        assert_int_equal(refusal->begin, CODE_BASE);
        assert_int_equal(refusal->where, where);
        assert_string_equal(refusal->text, texts[kind]);
        candidates_free(&found);
    }
    rig_free(&rig);
}

/* What a function has does not tell of the next one. */
static void functions_have_their_own_reasons(void **state)
{
    struct candidate_model model = paper;
    struct rig rig;
    (void)state;
    rig_init(&rig);
    model.why = true;
    rig.code.at = CODE_BASE;
    row(&rig, INSN_lw, OP(.rd = 14, .rs1 = 12));
    row(&rig, INSN_fence, OP(.rd = 0));
    row(&rig, INSN_jal, OP(.rd = RA, .imm = 56));
    row(&rig, INSN_jalr, OP(.rs1 = RA));
    rig.code.at = CODE_BASE + 64;
    row(&rig, INSN_amoadd_w, OP(.rs1 = 12, .rs2 = 13));
    row(&rig, INSN_jalr, OP(.rs1 = RA));
    struct candidates found = find(&rig, &model, 40);
    assert_int_equal(found.refused, 2);
    assert_int_equal(found.refusals[1].function, CODE_BASE + 64);
    assert_string_equal(found.refusals[1].text, "it has an atomic operation");
    candidates_free(&found);
    rig_free(&rig);
}

/* What a function's best block changes, by hand: a store +30.75 (tx 31, rx -0.25), a load whose result is returned +47.50 (31.5, 16). The
 * better one is told, wherever it is; of two that change the same, the first. */
static void best_blocks_are_told(void **state)
{
    enum { STORE, RETURNED, KINDS };
    static const char *const texts[KINDS] = {
        [STORE] = "its best block changes bytes by +30.75: N_LD 0, N_ST 1, 2 registers sent, 0 returned",
        [RETURNED] = "its best block changes bytes by +47.50: N_LD 1, N_ST 0, 1 registers sent, 1 returned"};
    struct candidate_model model = paper;
    struct rig rig;
    (void)state;
    rig_init(&rig);
    model.why = true;
    for (unsigned kinds = 0; kinds < KINDS * KINDS; kinds++) {
        const unsigned kind[2] = {kinds % KINDS, kinds / KINDS};
        uint64_t at[2];
        rig.code.at = CODE_BASE;
        for (unsigned i = 0; i < 2; i++) {
            row(&rig, INSN_fence, OP(.rd = 0));
            at[i] = rig.code.at;
            row(&rig, kind[i] == STORE ? INSN_sw : INSN_lw,
                OP(.rd = kind[i] == STORE ? 0 : (uint8_t)(A0 + i), .rs1 = 12,
                   .rs2 = kind[i] == STORE ? 13 : 0));
        }
        write_end(&rig);
        const unsigned best = kind[0] != STORE && kind[1] == STORE;
        struct candidates found = find(&rig, &model, 40);
        const struct candidate_refusal *refusal = refusal_of(&found, false);
        assert_int_equal(refusal->where, at[best]);
        assert_string_equal(refusal->text, texts[kind[best]]);
        candidates_free(&found);
    }
    rig_free(&rig);
}

/* A block that changes nothing is told as such; one that saves a quarter on the way back, as one that is not taken. */
static void blocks_that_save_little_are_told(void **state)
{
    struct candidate_model lane = {.lanes = 1, .line_ratio = 32, .why = true};
    struct rig rig;
    (void)state;
    rig_init(&rig);
    row(&rig, INSN_sw, OP(.rs1 = 11));
    write_end(&rig);
    for (unsigned saves = 0; saves < 2; saves++) {
        lane.coalesced = saves ? 0.25 : 0;
        struct candidates found = find(&rig, &lane, 0);
        const struct candidate_refusal *refusal = refusal_of(&found, false);
        assert_true(!saves || refusal->where == 0);
        assert_string_equal(
            refusal->text,
            saves ? "blocks that share code with it save more, or enough others do (--most)"
                  : "its best block changes bytes by +0.00: N_LD 0, N_ST 1, 1 registers sent, 0 returned");
        candidates_free(&found);
    }
    rig_free(&rig);
}

/* A loop is refused though a block has its beginning, and a function whose next one, right behind it, has a block. */
static void neighbours_of_blocks_are_refused(void **state)
{
    struct candidate_model model = paper;
    struct rig rig;
    (void)state;
    rig_init(&rig);
    model.why = true;
    row(&rig, INSN_jal, OP(.rd = RA, .imm = 8));
    row(&rig, INSN_jalr, OP(.rs1 = RA));
    write_words(&rig, 12, 0, 4);
    row(&rig, INSN_jalr, OP(.rs1 = RA));
    struct candidates found = find(&rig, &model, 40);
    assert_int_equal(found.count, 1);
    assert_int_equal(found.list[0].begin, CODE_BASE + 8);
    assert_int_equal(refusal_of(&found, false)->function, CODE_BASE);
    candidates_free(&found);

    rig.code.at = CODE_BASE;
    row(&rig, INSN_addi, OP(.rd = A0));
    const uint64_t loop = rig.code.at;
    write_words(&rig, 12, 0, 4);
    row(&rig, INSN_fence, OP(.rd = 0));
    row(&rig, INSN_addi, OP(.rd = 11, .rs1 = 11, .imm = 4));
    row(&rig, INSN_bne, OP(.rs1 = 11, .rs2 = 13, .imm = (int32_t)(loop - rig.code.at)));
    row(&rig, INSN_jalr, OP(.rs1 = RA));
    found = find(&rig, &model, 40);
    assert_int_equal(found.count, 1);
    assert_int_equal(found.list[0].begin, loop);
    assert_int_equal(refusal_of(&found, true)->begin, loop);
    assert_string_equal(refusal_of(&found, true)->text, "it has a fence");
    candidates_free(&found);
    rig_free(&rig);
}

/* A function whose only accesses are relative to sp has none; one to a fixed address is one. */
static void accesses_of_the_stack_are_none(void **state)
{
    enum { STACK_POINTER = 2 };
    struct candidate_model model = paper;
    struct rig rig;
    (void)state;
    rig_init(&rig);
    model.why = true;
    for (unsigned fixed = 0; fixed < 2; fixed++) {
        rig.code.at = CODE_BASE;
        row(&rig, fixed ? INSN_lw : INSN_sd, OP(.rd = fixed ? 14 : 0, .rs1 = fixed ? 0 : STACK_POINTER));
        write_end(&rig);
        struct candidates found = find(&rig, &model, 0);
        assert_int_equal(found.count, 0);
        assert_string_equal(refusal_of(&found, false)->text,
                            fixed ? "blocks that share code with it save more, or enough others do (--most)"
                                  : "it has no loads or stores but of its stack");
        candidates_free(&found);
    }
    rig_free(&rig);
}

/* What keeps an access out of all blocks: a barrier and another CSR have reasons of their own, so has a call of a function that is not
 * known, and one that is. */
static void obstacles_are_told_apart(void **state)
{
    static const struct {
        enum insn_id id;
        struct operands operands;
        const char *text;
    } cases[] = {
        {INSN_csrrw, {.imm = CSR_sbarrier}, "it has a barrier"},
        {INSN_csrrs, {.rd = 14, .imm = CSR_cycle}, "it accesses a CSR"},
        {INSN_jalr, {.rd = RA, .rs1 = 14}, "it calls a function by a register"},
        {INSN_jal, {.rd = RA, .imm = 32}, "it calls a function"},
        {INSN_jalr, {.rs1 = 14}, "it has an indirect jump"},
    };
    struct candidate_model model = paper;
    struct rig rig;
    (void)state;
    rig_init(&rig);
    model.why = true;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        rig.code.at = CODE_BASE;
        row(&rig, INSN_addi, OP(.rd = A0));
        const uint64_t loop = rig.code.at;
        row(&rig, INSN_lw, OP(.rd = 15, .rs1 = 12));
        const uint64_t where = rig.code.at;
        row(&rig, cases[i].id, cases[i].operands);
        row(&rig, INSN_addi, OP(.rd = 11, .rs1 = 11, .imm = 4));
        row(&rig, INSN_bne, OP(.rs1 = 11, .rs2 = 13, .imm = (int32_t)(loop - rig.code.at)));
        row(&rig, INSN_jalr, OP(.rs1 = RA));
        while (rig.code.at < where + 32)
            row(&rig, INSN_addi, OP(.rd = 0));
        row(&rig, INSN_jalr, OP(.rs1 = RA));
        struct candidates found = find(&rig, &model, 40);
        const struct candidate_refusal *refusal = refusal_of(&found, true);
        assert_int_equal(refusal->where, where);
        assert_string_equal(refusal->text, cases[i].text);
        candidates_free(&found);
    }
    rig_free(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reasons_are_told),
        cmocka_unit_test(reasons_have_places),
        cmocka_unit_test(functions_have_reasons),
        cmocka_unit_test(functions_have_their_own_reasons),
        cmocka_unit_test(best_blocks_are_told),
        cmocka_unit_test(blocks_that_save_little_are_told),
        cmocka_unit_test(neighbours_of_blocks_are_refused),
        cmocka_unit_test(accesses_of_the_stack_are_none),
        cmocka_unit_test(obstacles_are_told_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
