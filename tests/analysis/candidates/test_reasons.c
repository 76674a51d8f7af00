/* Why loops and functions have no candidate: the reasons, and the instructions that they name. */
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
        if (kind == ATOMIC)
            row(&rig, INSN_fence, OP(.rd = 0));
        const uint64_t where = rig.code.at;
        row(&rig, ids[kind], OP(.rd = kind == STORE ? 0 : 14, .rs1 = 12, .rs2 = kind == LOAD ? 0 : 13));
        row(&rig, INSN_fence, OP(.rd = 0));
        row(&rig, INSN_jalr, OP(.rs1 = RA));
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reasons_are_told),
        cmocka_unit_test(reasons_have_places),
        cmocka_unit_test(functions_have_reasons),
        cmocka_unit_test(functions_have_their_own_reasons),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
