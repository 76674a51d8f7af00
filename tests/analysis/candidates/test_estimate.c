/* What a block is estimated to save: the equations, which registers and accesses count and how often, and random programs of which
 * candidates are executed with nothing but what is sent, and give back nothing but what is returned. */
#include "emu/analysis/candidate_table.h"
#include "isa/csr.h"
#include "tests/analysis/candidates/rig.h"

enum { RANDOM = 500 };

/* Hsieh et al., section 3.1.5: five registers, a load and a store in each round. With addresses of 4 bytes +110.25 for one
 * round and -39 for four; with addresses of 8 bytes +118.25 and -7. By hand: 160 - n * 33.5 and -n * 16.25 (8.25). */
static void equations_of_the_paper(void **state)
{
    (void)state;
    for (unsigned n = 1; n < 10; n++) {
        assert_true(candidate_tx(&paper, 5, n, n) == 160 - n * 33.5);
        assert_true(candidate_rx(&paper, 0, n, n) == -(n * 16.25));
        assert_true(candidate_rx(&ours, 0, n, n) == -(n * 8.25));
    }
    assert_true(candidate_tx(&paper, 5, 1, 1) + candidate_rx(&paper, 0, 1, 1) == 110.25);
    assert_true(candidate_tx(&paper, 5, 4, 4) + candidate_rx(&paper, 0, 4, 4) == -39);
    assert_true(candidate_tx(&ours, 5, 1, 1) + candidate_rx(&ours, 0, 1, 1) == 118.25);
    assert_true(candidate_tx(&ours, 5, 4, 4) + candidate_rx(&ours, 0, 4, 4) == -7);
}

static void loop_of_the_paper(void **state)
{
    (void)state;
    struct rig rig;
    rig_init(&rig);
    uint64_t loop = write_loop(&rig, INSN_bne);
    for (unsigned i = 0; i < 2; i++) {
        struct candidate_model model = i ? ours : paper;
        model.why = true;
        struct candidates found = find(&rig, &model, 40);
        assert_int_equal(found.count, 1);
        assert_int_equal(found.refused, 0);
        const struct candidate *c = &found.list[0];
        assert_int_equal(c->begin, loop);
        assert_int_equal(c->end, loop + 24);
        assert_int_equal(c->reg_tx, 5);
        assert_int_equal(c->in, UINT64_C(0x3800) | UINT64_C(0xc000) << 32);
        assert_int_equal(c->reg_rx, 0);
        assert_int_equal(c->live, 6);      /* the inputs, and the product */
        assert_true(c->function_live > 6); /* and the return address, and what callers keep */
        assert_true(c->floats && c->loads == 4 && c->stores == 4);
        assert_int_equal(c->threshold, 4);
        assert_true(c->tx + c->rx == (i ? -7 : -39));
        assert_int_equal(c->tag, CANDIDATE_SAVES_RX);
        assert_true(candidate_lines(c) == 1 && candidate_misses(c) == 0.5); /* as in the model */
        const struct candidate_entry entry = candidate_table_entry(c);
        assert_int_equal(entry.minuend, 13);
        assert_int_equal(entry.subtrahend, 11);
        assert_int_equal(entry.shift, 2);
        assert_int_equal(entry.threshold, 4);
        candidates_free(&found);
    }
    rig_free(&rig);
}

/* Accesses by sp are counted as the stack's, not as loads and stores; extensions of bytes, halfwords and words are counted, by 32
 * bits alone; so are coordinates, up to the last one. */
static void stack_and_extensions_count_apart(void **state)
{
    enum { STACK_POINTER = 2 };
    (void)state;
    struct rig rig;
    rig_init(&rig);
    rig.code.at = CODE_BASE;
    row(&rig, INSN_addi, OP(.rd = A0));
    uint64_t loop = rig.code.at;
    row(&rig, INSN_ld, OP(.rd = T3, .rs1 = STACK_POINTER, .imm = 8));
    row(&rig, INSN_addiw, OP(.rd = T3, .rs1 = T3));
    row(&rig, INSN_addiw, OP(.rd = T3, .rs1 = T3, .imm = 1));
    row(&rig, INSN_addiw, OP(.rd = T3, .rs1 = T3, .imm = 1));
    row(&rig, INSN_addiw, OP(.rd = T3, .rs1 = T3, .imm = 2));
    row(&rig, INSN_addi, OP(.rd = T3, .rs1 = T3, .imm = 32));
    row(&rig, INSN_addi, OP(.rd = T3, .rs1 = T3, .imm = 32));
    row(&rig, INSN_slli, OP(.rd = T3, .rs1 = T3, .imm = 32));
    row(&rig, INSN_slli, OP(.rd = T3, .rs1 = T3, .imm = 3));
    row(&rig, INSN_sext_b, OP(.rd = T3, .rs1 = T3));
    row(&rig, INSN_sext_h, OP(.rd = T3, .rs1 = T3));
    row(&rig, INSN_csrrs, OP(.rd = T3 + 1, .imm = CSR_sthread_id));
    row(&rig, INSN_sw, OP(.rs1 = 12, .rs2 = T3, .imm = 4)); /* no other instruction has an immediate of 0 */
    row(&rig, INSN_sw, OP(.rs1 = 12, .rs2 = T3, .imm = 8));
    row(&rig, INSN_addi, OP(.rd = 11, .rs1 = 11, .imm = 8));
    row(&rig, INSN_addi, OP(.rd = 12, .rs1 = 12, .imm = 8));
    row(&rig, INSN_bne, OP(.rs1 = 11, .rs2 = 13, .imm = (int32_t)(loop - rig.code.at)));
    row(&rig, INSN_addi, OP(.rd = 11));
    row(&rig, INSN_jalr, OP(.rs1 = RA));
    struct candidates found = find(&rig, &paper, 40);
    assert_int_equal(found.count, 1);
    const struct candidate *c = &found.list[0];
    assert_int_equal(c->begin, loop);
    assert_int_equal(c->stack, 1);
    assert_int_equal(c->extensions, 4);
    assert_int_equal(c->coordinates, UINT32_C(1) << (CSR_sthread_id - CSR_sthread_x));
    assert_true(c->loads == 0 && c->stores > 0);
    candidates_free(&found);
    rig_free(&rig);
}

/* Says of accesses what their addresses tell: 4 lines, of which a quarter misses, for the second instruction. */
static bool measure(const void *context, uint64_t pc, double *coalesced, double *load_misses)
{
    (void)context;
    if (pc != CODE_BASE + 4)
        return false;
    *coalesced = 4;
    *load_misses = 0.25;
    return true;
}

/* What is measured of a load or store takes the place of the model's values; the stores, or the loads, save enough by themselves. */
static void measured_accesses(void **state)
{
    struct candidate_model model = paper;
    struct rig rig;
    (void)state;
    rig_init(&rig);
    model.kernels = true;
    model.measured = measure;
    for (unsigned stores = 0; stores < 2; stores++) {
        rig.code.at = CODE_BASE;
        for (int i = 0; i < 8; i++)
            row(&rig, stores ? INSN_sw : INSN_lw,
                OP(.rd = stores ? 0 : 13, .rs1 = 11, .rs2 = stores ? 12 : 0, .imm = 4 * i));
        write_end(&rig);
        struct candidates found = find(&rig, &model, 40);
        assert_int_equal(found.count, 1);
        assert_true(found.list[0].loaded_lines == (stores ? 0 : 7 + 4));
        assert_true(found.list[0].load_lines == (stores ? 0 : 7 * 0.5 + 4 * 0.25));
        assert_true(found.list[0].store_lines == (stores ? 7 + 4 : 0));
        candidates_free(&found);
    }
    rig_free(&rig);
}

/* With a lane, a store saves exactly the two registers that it needs on the way there, and a quarter on the way back. */
static void tags_are_of_what_is_saved(void **state)
{
    const struct candidate_model lane = {
        .lanes = 1, .line_ratio = 32, .coalesced = 1, .load_misses = 0.5, .why = true};
    const struct candidate one = {.loads = 1, .load_lines = 0.5, .loaded_lines = 1}, none = {.loads = 0};
    struct rig rig;
    (void)state;
    rig_init(&rig);
    rig.code.at = CODE_BASE;
    row(&rig, INSN_sw, OP(.rs1 = 11, .rs2 = 12));
    write_end(&rig);
    struct candidates found = find(&rig, &lane, 40);
    assert_int_equal(found.count, 1);
    assert_int_equal(found.refused, 0);
    assert_int_equal(found.list[0].live, 2);
    assert_true(found.list[0].tx == 0 && found.list[0].rx == -0.25);
    assert_int_equal(found.list[0].tag, CANDIDATE_SAVES_RX);
    assert_true(candidate_lines(&one) == 1 && candidate_misses(&one) == 0.5);
    assert_true(candidate_lines(&none) == 0 && candidate_misses(&none) == 0);
    candidates_free(&found);
    rig_free(&rig);
}

/* In two loops of three and four rounds, a load of the outer one is executed three times, a store of the inner one twelve times, and a
 * store behind a branch perhaps never. By hand: 3 * 32 - 3 * 16.5 - 12 * 33.25. */
static void nested_rounds_multiply(void **state)
{
    struct candidate_model kernels = paper;
    struct rig rig;
    (void)state;
    rig_init(&rig);
    kernels.kernels = true;
    rig.code.at = CODE_BASE;
    row(&rig, INSN_addi, OP(.rd = 11));
    row(&rig, INSN_addi, OP(.rd = 13, .imm = 12));
    const uint64_t outer = rig.code.at;
    row(&rig, INSN_addi, OP(.rd = 15));
    row(&rig, INSN_addi, OP(.rd = 16, .imm = 16));
    row(&rig, INSN_lw, OP(.rd = 17, .rs1 = 18));
    const uint64_t inner = rig.code.at;
    row(&rig, INSN_sw, OP(.rs1 = 18, .rs2 = 12));
    row(&rig, INSN_beq, OP(.rs1 = 12, .rs2 = 14, .imm = 8));
    row(&rig, INSN_sw, OP(.rs1 = 18, .rs2 = 14, .imm = 8));
    row(&rig, INSN_addi, OP(.rd = 15, .rs1 = 15, .imm = 4));
    row(&rig, INSN_bne, OP(.rs1 = 15, .rs2 = 16, .imm = (int32_t)(inner - rig.code.at)));
    row(&rig, INSN_addi, OP(.rd = 11, .rs1 = 11, .imm = 4));
    row(&rig, INSN_bne, OP(.rs1 = 11, .rs2 = 13, .imm = (int32_t)(outer - rig.code.at)));
    const uint64_t end = rig.code.at;
    row(&rig, INSN_jalr, OP(.rs1 = RA));
    struct candidates found = find(&rig, &kernels, 40);
    assert_int_equal(found.count, 1);
    assert_int_equal(found.list[0].begin, CODE_BASE);
    assert_int_equal(found.list[0].end, end);
    assert_true(found.list[0].loads == 3 && found.list[0].stores == 12);
    assert_true(found.list[0].tx + found.list[0].rx == 3 * 32 - 3 * 16.5 - 12 * 33.25);
    candidates_free(&found);
    rig_free(&rig);
}

/* Ten rounds with a store that each executes and one that is skipped in some: ten stores count. */
static void only_what_is_sure_counts(void **state)
{
    (void)state;
    struct rig rig;
    rig_init(&rig);
    row(&rig, INSN_addi, OP(.rd = 15, .imm = 10));
    uint64_t loop = rig.code.at;
    row(&rig, INSN_sw, OP(.rs1 = 11, .rs2 = 12));
    row(&rig, INSN_beq, OP(.rs1 = 12, .imm = 8));
    row(&rig, INSN_sw, OP(.rs1 = 11, .rs2 = 12, .imm = 4));
    row(&rig, INSN_addi, OP(.rd = 15, .rs1 = 15, .imm = -1));
    row(&rig, INSN_bne, OP(.rs1 = 15, .imm = (int32_t)(loop - rig.code.at)));
    row(&rig, INSN_addi, OP(.rd = 15));
    row(&rig, INSN_jalr, OP(.rs1 = RA));
    struct candidates found = find(&rig, &paper, 40);
    assert_int_equal(found.count, 1);
    assert_true(found.list[0].stores == 10 && found.list[0].loads == 0);
    candidates_free(&found);
    rig_free(&rig);
}

/* A loop without accesses is no block, whatever its rounds. */
static void rounds_without_accesses(void **state)
{
    (void)state;
    struct rig rig;
    rig_init(&rig);
    row(&rig, INSN_addi, OP(.rd = A0));
    const uint64_t loop = rig.code.at;
    row(&rig, INSN_addi, OP(.rd = 11, .rs1 = 11, .imm = 4));
    row(&rig, INSN_bne, OP(.rs1 = 11, .rs2 = 13, .imm = (int32_t)(loop - rig.code.at)));
    row(&rig, INSN_jalr, OP(.rs1 = RA));
    struct candidates found = find(&rig, &paper, 40);
    assert_int_equal(found.count, 0);
    candidates_free(&found);
    rig_free(&rig);
}

/* A kernel writes a0 and a1, which nobody uses when it returns; a function that it calls returns a0, which the kernel uses, and a1,
 * which nobody does. Four stores behind are a block of each. */
static void what_callers_use_is_returned(void **state)
{
    (void)state;
    struct candidate_model kernels = paper;
    struct rig rig;
    rig_init(&rig);
    kernels.kernels = true;
    for (unsigned known = 0; known < 2; known++) {
        rig.code.at = CODE_BASE;
        row(&rig, INSN_jal, OP(.rd = RA, .imm = 64));
        row(&rig, INSN_sw, OP(.rs1 = A0, .rs2 = 12));
        row(&rig, INSN_fence, OP(.rd = 0));
        row(&rig, INSN_addi, OP(.rd = A0, .rs1 = 12));
        row(&rig, INSN_addi, OP(.rd = A0 + 1, .rs1 = 12));
        write_words(&rig, 12, 0, 4);
        row(&rig, INSN_jalr, OP(.rs1 = RA));
        rig.code.at = CODE_BASE + 64;
        row(&rig, INSN_fence, OP(.rd = 0));
        row(&rig, INSN_addi, OP(.rd = A0, .rs1 = 12));
        row(&rig, INSN_addi, OP(.rd = A0 + 1, .rs1 = 12));
        write_words(&rig, 12, 0, 4);
        row(&rig, INSN_jalr, OP(.rs1 = RA));
        struct candidates found = find(&rig, known ? &kernels : &paper, 40);
        assert_int_equal(found.count, 2);
        assert_int_equal(found.list[0].out, known ? 0 : UINT64_C(3) << A0);
        assert_int_equal(found.list[1].out, known ? UINT64_C(1) << A0 : UINT64_C(3) << A0);
        candidates_free(&found);
    }
    rig_free(&rig);
}

/* Replaces all registers of thread 1 that are not in the set. */
static void replace(struct rig *rig, uint64_t set, const uint64_t *values)
{
    for (unsigned reg = 1; reg < REGISTERS; reg++)
        if (!(set >> reg & 1))
            warp_set_register(rig->warp, reg, 1, values ? values[reg] : random_next(&rig->random));
}

static void step(struct rig *rig)
{
    struct warp_report report;
    assert_int_equal(warp_step(rig->warp, &report), WARP_DONE);
    assert_int_equal(report.mask, 3);
}

/* Executes the candidate the first time that it is reached as if thread 1 were elsewhere. Returns whether it was reached. */
static bool offload(struct rig *rig, const struct candidate *c)
{
    uint64_t saved[REGISTERS];
    unsigned steps = 0;
    for (; steps < STEPS && warp_pc(rig->warp, 0) != c->begin && warp_pc(rig->warp, 0) != 0; steps++)
        step(rig);
    if (warp_pc(rig->warp, 0) != c->begin)
        return false;
    for (unsigned reg = 0; reg < REGISTERS; reg++)
        saved[reg] = warp_register(rig->warp, reg, 1);
    replace(rig, c->in, NULL);
    do
        step(rig);
    while (warp_pc(rig->warp, 0) != c->end && steps++ < STEPS);
    assert_int_equal(warp_pc(rig->warp, 0), c->end);
    replace(rig, c->out, saved);
    return true;
}

static void what_is_sent_is_enough(void **state)
{
    (void)state;
    /* With a warp of no lanes registers cost nothing: all blocks with accesses are candidates. */
    const struct candidate_model all = {.line_ratio = 16, .coalesced = 1, .load_misses = 1};
    struct rig rig;
    unsigned reached = 0;
    rig_init(&rig);
    for (unsigned i = 0; i < RANDOM; i++) {
        write_program(&rig);
        struct candidates found = find(&rig, &all, 1 + random_below(&rig.random, 40));
        for (size_t j = 0; j < found.count; j++) {
            if (found.list[j].begin < CODE_BASE + CALLEE_END)
                continue; /* see liveness.h: callers keep more than the convention says */
            start(&rig);
            reached += offload(&rig, &found.list[j]);
            run_out(&rig);
            compare(&rig);
        }
        candidates_free(&found);
    }
    assert_true(reached > 2 * RANDOM);
    rig_free(&rig);
}

/* A load saves 1 in each round, and two registers cost 2 * lanes: n rounds change 2 * lanes - n. A block that would need 2^20 more rounds
 * than one is none. If nothing costs or saves anything, no number of rounds is enough. */
static void rounds_have_a_limit(void **state)
{
    enum { MOST = 1 << 20 };
    static const struct {
        double lanes, lines;
        uint64_t threshold; /* 0: no candidate */
    } cases[] = {{MOST / 2, 1, MOST + 1},
                 {MOST / 2 + 0.5, 1, 0},
                 {MOST / 2 + 8, 1, 0},
                 {MOST, 1, 0},
                 {0, 0, 0},
                 {0.5, 1, 2},
                 {0.75, 1, 2}};
    struct rig rig;
    (void)state;
    rig_init(&rig);
    row(&rig, INSN_addi, OP(.rd = A0));
    const uint64_t loop = rig.code.at;
    row(&rig, INSN_lw, OP(.rd = 14, .rs1 = 11));
    row(&rig, INSN_addi, OP(.rd = 11, .rs1 = 11, .imm = 4));
    row(&rig, INSN_bne, OP(.rs1 = 11, .rs2 = 13, .imm = (int32_t)(loop - rig.code.at)));
    row(&rig, INSN_jalr, OP(.rs1 = RA));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct candidate_model model = {.lanes = cases[i].lanes,
                                              .line_ratio = 1,
                                              .coalesced = cases[i].lines,
                                              .load_misses = 0.5,
                                              .kernels = true};
        struct candidates found = find(&rig, &model, 40);
        assert_int_equal(found.count, cases[i].threshold > 0);
        assert_true(found.count == 0 || found.list[0].threshold == cases[i].threshold);
        candidates_free(&found);
    }
    rig_free(&rig);
}

/* Nine loops whose counts are known from registers, one in the other: the stores in the innermost one save n^7 times 97, with the two
 * registers that they need; of two loops, n^2 times, and of two in one of unknown count, too. */
static void powers_of_rounds_have_a_limit(void **state)
{
    enum { DEEP = 9, LIMIT = 30, FIRST = 16 };
    struct rig rig;
    (void)state;
    rig_init(&rig);
    for (unsigned kind = 0; kind < 3; kind++) {
        const unsigned depth = kind == 0 ? DEEP : 2, power = kind == 0 ? CANDIDATE_POWERS - 1 : 2;
        uint64_t loops[DEEP];
        rig.code.at = CODE_BASE;
        row(&rig, INSN_fence, OP(.rd = 0));
        const uint64_t around = rig.code.at;
        row(&rig, INSN_lw, OP(.rd = 13, .rs1 = 15));
        for (uint8_t i = 0; i < depth; i++) {
            row(&rig, INSN_addi, OP(.rd = FIRST + i, .rs1 = 14));
            loops[i] = rig.code.at;
            row(&rig, INSN_fence, OP(.rd = 0));
        }
        write_words(&rig, 12, 11, 5);
        for (uint8_t i = (uint8_t)depth; i-- > 0;) {
            row(&rig, INSN_fence, OP(.rd = 0));
            row(&rig, INSN_addi, OP(.rd = FIRST + i, .rs1 = FIRST + i, .imm = 1));
            row(&rig, INSN_bne, OP(.rs1 = FIRST + i, .rs2 = LIMIT, .imm = (int32_t)(loops[i] - rig.code.at)));
        }
        if (kind == 2)
            row(&rig, INSN_bne, OP(.rs1 = 13, .rs2 = LIMIT, .imm = (int32_t)(around - rig.code.at)));
        row(&rig, INSN_jalr, OP(.rs1 = RA));
        struct candidates found = find(&rig, &paper, 40);
        assert_int_equal(found.count, 1);
        assert_true(found.list[0].stores == 5);
        for (unsigned i = 0; i < CANDIDATE_POWERS; i++)
            assert_true(found.list[0].saved[i] == (i == power ? 5 * 33.25 - 2 * 32 : 0));
        candidates_free(&found);
    }
    rig_free(&rig);
}

/* Stores of zero to fixed addresses need no register. In their function, a kernel, ra, sp, gp and tp are live up to the return, and in front
 * of the atomic its two operands, too. */
static void live_registers_of_functions(void **state)
{
    struct rig rig;
    struct candidate_model kernels = paper;
    (void)state;
    rig_init(&rig);
    kernels.kernels = true;
    row(&rig, INSN_amoadd_w, OP(.rs1 = 11, .rs2 = 12));
    for (int i = 0; i < 8; i++)
        row(&rig, INSN_sw, OP(.imm = 4 * i));
    row(&rig, INSN_jalr, OP(.rs1 = RA));
    struct candidates found = find(&rig, &kernels, 40);
    assert_int_equal(found.count, 1);
    assert_int_equal(found.list[0].reg_tx, 0);
    assert_int_equal(found.list[0].function_live, 6);
    candidates_free(&found);
    rig_free(&rig);
}

/* A block with two ways: the short one overwrites a register (a4) that its end reads, the longer one does not. It is sent. By hand: it
 * reads a1, a2 and a4. */
static void registers_of_longer_ways_are_sent(void **state)
{
    struct rig rig;
    struct candidate_model kernels = paper;
    (void)state;
    rig_init(&rig);
    kernels.kernels = true;
    row(&rig, INSN_beq, OP(.rs1 = 11, .rs2 = 12, .imm = 12));
    row(&rig, INSN_addi, OP(.rd = 14, .rs1 = 11));
    row(&rig, INSN_jal, OP(.imm = 20));
    row(&rig, INSN_sw, OP(.rs1 = 12, .rs2 = 11, .imm = 40));
    row(&rig, INSN_jal, OP(.imm = 4));
    row(&rig, INSN_beq, OP(.rs1 = 11, .rs2 = 12, .imm = 8));
    row(&rig, INSN_sw, OP(.rs1 = 12, .rs2 = 11, .imm = 44));
    write_words(&rig, 12, 14, 8);
    write_end(&rig);
    struct candidates found = find(&rig, &kernels, 40);
    const uint64_t whole = UINT64_C(1) << 11 | UINT64_C(1) << 12 | UINT64_C(1) << 14;
    assert_int_equal(found.count, 1);
    assert_int_equal(found.list[0].begin, CODE_BASE);
    assert_int_equal(found.list[0].in, whole);
    candidates_free(&found);
    rig_free(&rig);
}

/* As many loads as stores are accesses, too: in a block without a loop, and a load of a loop beside a store behind it. */
static void loads_and_stores_add_up(void **state)
{
    struct candidate_model kernels = paper;
    struct rig rig;
    (void)state;
    rig_init(&rig);
    kernels.kernels = true;
    for (unsigned looped = 0; looped < 2; looped++) {
        rig.code.at = CODE_BASE;
        row(&rig, INSN_addi, OP(.rd = 11));
        row(&rig, INSN_addi, OP(.rd = 13, .imm = 400));
        row(&rig, INSN_fence, OP(.rd = 0));
        const uint64_t begin = rig.code.at;
        if (looped) {
            row(&rig, INSN_lw, OP(.rd = 14, .rs1 = 12));
            row(&rig, INSN_addi, OP(.rd = 11, .rs1 = 11, .imm = 4));
            row(&rig, INSN_bne, OP(.rs1 = 11, .rs2 = 13, .imm = (int32_t)(begin - rig.code.at)));
            row(&rig, INSN_sw, OP(.rs1 = 12));
        } else {
            for (int i = 0; i < 8; i++)
                row(&rig, i % 2 ? INSN_lw : INSN_sw, OP(.rd = i % 2 ? 14 : 0, .rs1 = 12, .imm = 4 * i));
        }
        const uint64_t end = rig.code.at;
        write_end(&rig);
        struct candidates found = find(&rig, &kernels, 40);
        assert_int_equal(found.count, 1);
        assert_int_equal(found.list[0].begin, begin);
        assert_int_equal(found.list[0].end, end);
        assert_true(found.list[0].loads == (looped ? 100 : 4) && found.list[0].stores == (looped ? 1 : 4));
        candidates_free(&found);
    }
    rig_free(&rig);
}

/* In each of ten rounds, a fence and four stores behind it: a block of the stores has four, not 40, since it lacks the fence, where the loop
 * begins. */
static void rounds_count_for_whole_loops(void **state)
{
    struct rig rig;
    (void)state;
    rig_init(&rig);
    row(&rig, INSN_addi, OP(.rd = 15, .imm = 10));
    const uint64_t loop = rig.code.at;
    row(&rig, INSN_fence, OP(.rd = 0));
    write_words(&rig, 12, 0, 4);
    row(&rig, INSN_addi, OP(.rd = 15, .rs1 = 15, .imm = -1));
    row(&rig, INSN_bne, OP(.rs1 = 15, .imm = (int32_t)(loop - rig.code.at)));
    row(&rig, INSN_jalr, OP(.rs1 = RA));
    struct candidates found = find(&rig, &paper, 40);
    assert_int_equal(found.count, 1);
    assert_int_equal(found.list[0].begin, loop + 4);
    assert_true(found.list[0].stores == 4);
    assert_true(candidate_saved(&found.list[0], 1) == 10 * (4 * 33.25 - 32)); /* of all its executions */
    candidates_free(&found);
    rig_free(&rig);
}

/* Four stores, and one that a branch skips: four are sure. */
static void skipped_accesses_do_not_count(void **state)
{
    struct rig rig;
    (void)state;
    rig_init(&rig);
    write_words(&rig, 12, 0, 4);
    row(&rig, INSN_beq, OP(.rs1 = 12, .imm = 8));
    row(&rig, INSN_sw, OP(.rs1 = 12, .imm = 64));
    row(&rig, INSN_sw, OP(.rs1 = 12, .imm = 68));
    const uint64_t end = rig.code.at;
    write_end(&rig);
    struct candidates found = find(&rig, &paper, 40);
    assert_int_equal(found.count, 1);
    assert_int_equal(found.list[0].end, end);
    assert_true(found.list[0].stores == 5);
    candidates_free(&found);
    rig_free(&rig);
}

/* A loop of four rounds that is tested where it begins: its body is executed four times, though a path leads past it. */
static void rounds_of_loops_tested_early_count(void **state)
{
    struct candidate_model kernels = paper;
    struct rig rig;
    (void)state;
    rig_init(&rig);
    kernels.kernels = true;
    row(&rig, INSN_addi, OP(.rd = 15));
    row(&rig, INSN_addi, OP(.rd = 16, .imm = 4));
    const uint64_t loop = rig.code.at;
    row(&rig, INSN_bge, OP(.rs1 = 15, .rs2 = 16, .imm = 16));
    row(&rig, INSN_sw, OP(.rs1 = 12));
    row(&rig, INSN_addi, OP(.rd = 15, .rs1 = 15, .imm = 1));
    row(&rig, INSN_jal, OP(.imm = (int32_t)(loop - rig.code.at)));
    write_end(&rig);
    struct candidates found = find(&rig, &kernels, 40);
    assert_int_equal(found.count, 1);
    assert_int_equal(found.list[0].begin, CODE_BASE);
    assert_true(found.list[0].stores == 4);
    candidates_free(&found);
    rig_free(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equations_of_the_paper),
        cmocka_unit_test(loop_of_the_paper),
        cmocka_unit_test(stack_and_extensions_count_apart),
        cmocka_unit_test(measured_accesses),
        cmocka_unit_test(tags_are_of_what_is_saved),
        cmocka_unit_test(nested_rounds_multiply),
        cmocka_unit_test(only_what_is_sure_counts),
        cmocka_unit_test(rounds_without_accesses),
        cmocka_unit_test(what_callers_use_is_returned),
        cmocka_unit_test(what_is_sent_is_enough),
        cmocka_unit_test(rounds_have_a_limit),
        cmocka_unit_test(powers_of_rounds_have_a_limit),
        cmocka_unit_test(live_registers_of_functions),
        cmocka_unit_test(registers_of_longer_ways_are_sent),
        cmocka_unit_test(loads_and_stores_add_up),
        cmocka_unit_test(rounds_count_for_whole_loops),
        cmocka_unit_test(skipped_accesses_do_not_count),
        cmocka_unit_test(rounds_of_loops_tested_early_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
