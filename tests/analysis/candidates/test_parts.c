/* Where blocks begin and end: parts of basic blocks, and which of several blocks that overlap is taken. */
#include <math.h>

#include "tests/analysis/candidates/rig.h"

enum { RANDOM = 500 };

/* Code before a return is a block that ends with it. Four stores with one register: 32 - 4 * 33.25. */
static void blocks_end_with_returns(void **state)
{
    (void)state;
    struct rig rig;
    rig_init(&rig);
    rig.code.at = CODE_BASE;
    write_words(&rig, 12, 0, 4);
    row(&rig, INSN_jalr, OP(.rs1 = RA));
    struct candidates found = find(&rig, &paper, 40);
    assert_int_equal(found.count, 1);
    assert_int_equal(found.list[0].begin, CODE_BASE);
    assert_int_equal(found.list[0].end, CODE_BASE + 16);
    assert_true(found.list[0].tx + found.list[0].rx == 32 - 4 * 33.25);
    candidates_free(&found);
    rig_free(&rig);
}

/* A basic block that computes two addresses of four registers, loads eight words through them, adds them up in three, and computes one
 * that the caller uses of a fifth. As a whole it reads seven registers and returns two; from its first load to its last one it reads
 * two addresses and returns the sum: 2 * 32 + 32 - 8 * 16.5. With a branch at its end, too. Two loads alone are not worth it. */
static void parts_of_basic_blocks(void **state)
{
    (void)state;
    struct rig rig;
    rig_init(&rig);
    for (unsigned kind = 0; kind < 3; kind++) {
        const unsigned loads = kind == 2 ? 2 : 8;
        rig.code.at = CODE_BASE;
        row(&rig, INSN_fence, OP(.rd = 0));
        row(&rig, INSN_add, OP(.rd = 14, .rs1 = 11, .rs2 = 12));
        row(&rig, INSN_add, OP(.rd = 15, .rs1 = 13, .rs2 = 16));
        const uint64_t first = rig.code.at;
        row(&rig, INSN_lw, OP(.rd = A0, .rs1 = 14));
        for (unsigned i = 1; i < loads; i++) {
            row(&rig, INSN_lw, OP(.rd = 17, .rs1 = i % 2 ? 15 : 14, .imm = (int32_t)(4 * i)));
            row(&rig, INSN_add, OP(.rd = A0, .rs1 = A0, .rs2 = 17));
        }
        const uint64_t last = rig.code.at;
        row(&rig, INSN_mul, OP(.rd = A0 + 1, .rs1 = T3, .rs2 = T3 + 1));
        row(&rig, INSN_mul, OP(.rd = A0 + 1, .rs1 = A0 + 1, .rs2 = T3 + 2));
        if (kind == 1) {
            row(&rig, INSN_beq, OP(.rs1 = A0 + 1, .imm = 8));
            row(&rig, INSN_fence, OP(.rd = 0));
            row(&rig, INSN_fence, OP(.rd = 0));
        }
        row(&rig, INSN_jalr, OP(.rs1 = RA));
        struct candidates found = find(&rig, &paper, 40);
        assert_int_equal(found.count, kind < 2);
        if (found.count) {
            assert_int_equal(found.list[0].begin, first);
            assert_int_equal(found.list[0].end, last);
            assert_true(found.list[0].tx + found.list[0].rx == 3 * 32 - 8 * 16.5);
            assert_int_equal(found.list[0].insns, 15);
        }
        candidates_free(&found);
    }
    rig_free(&rig);
}

enum { MOST_LINE = 40 };

/* Code without branches: of each instruction, what it reads and writes, and what it saves in a block; and what is live in front of it. */
struct line {
    unsigned count;
    uint64_t reads[MOST_LINE], writes[MOST_LINE], live[MOST_LINE + 1];
    double saves[MOST_LINE];
    uint64_t begin;
};

/* Writes random code; it is ended by atomics that read registers, or by a branch. */
static struct line write_line(struct rig *rig, bool branch)
{
    struct line line = {.count = 1 + random_below(&rig->random, MOST_LINE)};
    uint64_t *behind = &line.live[line.count];
    rig->code.at = CODE_BASE;
    if (random_chance(&rig->random, 50))
        row(rig, INSN_fence, OP(.rd = 0));
    line.begin = rig->code.at;
    for (unsigned i = 0; i < line.count; i++) {
        const uint8_t rd = any_register(rig), rs1 = any_register(rig), rs2 = any_register(rig);
        const unsigned kind = random_below(&rig->random, 4);
        row(rig,
            kind == 0   ? INSN_lw
            : kind == 1 ? INSN_sw
            : kind == 2 ? INSN_addi
                        : INSN_add,
            OP(.rd = kind == 1 ? 0 : rd, .rs1 = rs1, .rs2 = kind % 2 ? rs2 : 0, .imm = kind < 3 ? 4 : 0));
        line.reads[i] = UINT64_C(1) << rs1 | (kind % 2 ? UINT64_C(1) << rs2 : 0);
        line.writes[i] = kind == 1 ? 0 : UINT64_C(1) << rd;
        line.saves[i] = kind == 0 ? 16.5 : kind == 1 ? 33.25 : 0;
    }
    for (unsigned i = random_below(&rig->random, 3); i > 0 || branch; i--) {
        const uint8_t rs1 = any_register(rig), rs2 = any_register(rig);
        row(rig, branch ? INSN_beq : INSN_amoadd_w, OP(.rs1 = rs1, .rs2 = rs2, .imm = branch ? 8 : 0));
        *behind |= UINT64_C(1) << rs1 | UINT64_C(1) << rs2;
        if (branch)
            break;
    }
    row(rig, INSN_fence, OP(.rd = 0));
    row(rig, INSN_fence, OP(.rd = 0));
    row(rig, INSN_jalr, OP(.rs1 = RA));
    for (unsigned i = line.count; i-- > 0;)
        line.live[i] = (line.live[i + 1] & ~line.writes[i]) | line.reads[i];
    return line;
}

/* What the part of the line changes by equations 3 and 4. Sets *in and *out to the registers that are sent and returned. */
static double change_of(const struct line *line, unsigned first, unsigned end, uint64_t *in, uint64_t *out)
{
    uint64_t written = 0;
    double change = 0;
    *in = 0;
    for (unsigned i = first; i < end; i++) {
        *in |= line->reads[i] & ~written;
        written |= line->writes[i];
        change -= line->saves[i];
    }
    *out = written & line->live[end];
    return change + 32.0 * (__builtin_popcountll(*in) + __builtin_popcountll(*out));
}

/* Returns the most registers that are live at a time in a part of the line, of which `out` are returned. */
static unsigned most_live_in(const struct line *line, unsigned first, unsigned end, uint64_t out)
{
    int most = __builtin_popcountll(out);
    for (unsigned i = end; i-- > first;) {
        out = (out & ~line->writes[i]) | line->reads[i];
        most = __builtin_popcountll(out) > most ? __builtin_popcountll(out) : most;
    }
    return (unsigned)most;
}

/* Parts of random code without branches: what they tell is true, and they save most of what the best parts save. */
static void parts_of_random_lines(void **state)
{
    (void)state;
    struct candidate_model kernels = paper;
    struct rig rig;
    double saved = 0, best_saved = 0;
    rig_init(&rig);
    kernels.kernels = true;
    for (unsigned i = 0; i < RANDOM; i++) {
        const struct line line = write_line(&rig, i % 2);
        struct candidates found = find(&rig, &kernels, 40);
        double best = 0;
        uint64_t in, out;
        for (unsigned first = 0; first < line.count; first++)
            for (unsigned end = first + 1; end <= line.count; end++)
                best = fmin(best, change_of(&line, first, end, &in, &out));
        for (size_t j = 0; j < found.count; j++) {
            const struct candidate *c = &found.list[j];
            const unsigned first = (unsigned)(c->begin - line.begin) / 4,
                           end = (unsigned)(c->end - line.begin) / 4;
            assert_true(first < end && end <= line.count);
            const double change = change_of(&line, first, end, &in, &out);
            assert_true(change == c->tx + c->rx);
            assert_int_equal(c->in, in);
            assert_int_equal(c->out, out);
            assert_int_equal(c->behind, out);
            assert_int_equal(c->live, most_live_in(&line, first, end, out));
            assert_int_equal(c->trip.kind, TRIP_UNKNOWN);
            assert_int_equal(c->insns, end - first);
            assert_int_equal(c->function, CODE_BASE);
            assert_int_equal(c->tag,
                             (c->tx < 0 ? CANDIDATE_SAVES_TX : 0) | (c->rx < 0 ? CANDIDATE_SAVES_RX : 0));
            saved -= change;
        }
        best_saved -= best < -7 ? best : 0;
        candidates_free(&found);
    }
    assert_true(saved >= 0.989 * best_saved && best_saved > 0);
    rig_free(&rig);
}

/* Two ways lead to the end of a block, and one of them computes a result last: the block has both as a whole. */
static void two_ways_to_the_end_are_whole(void **state)
{
    struct rig rig;
    (void)state;
    rig_init(&rig);
    rig.code.at = CODE_BASE;
    write_words(&rig, 11, 12, 8);
    row(&rig, INSN_beq, OP(.rs1 = 11, .rs2 = 12, .imm = 16));
    row(&rig, INSN_sw, OP(.rs1 = 11, .rs2 = 12, .imm = 64));
    row(&rig, INSN_sw, OP(.rs1 = 11, .rs2 = 12, .imm = 68));
    row(&rig, INSN_jal, OP(.imm = 16));
    row(&rig, INSN_sw, OP(.rs1 = 11, .rs2 = 12, .imm = 64));
    row(&rig, INSN_sw, OP(.rs1 = 11, .rs2 = 12, .imm = 68));
    row(&rig, INSN_mul, OP(.rd = A0, .rs1 = T3, .rs2 = T3 + 1));
    const uint64_t end = rig.code.at;
    write_end(&rig);
    struct candidates found = find(&rig, &paper, 40);
    assert_int_equal(found.count, 1);
    assert_int_equal(found.list[0].begin, CODE_BASE);
    assert_true(found.list[0].end == end ||
                found.list[0].end == CODE_BASE + 32); /* all, or the part before the branch */
    candidates_free(&found);
    rig_free(&rig);
}

/* The last basic block of a block jumps to its end, past code that comes there by another way. A result that it computes last is left
 * out if it is read behind the end, where it would be returned, and not if only the code between reads it. */
static void last_results_are_left_out(void **state)
{
    struct candidate_model kernels = paper;
    struct rig rig;
    (void)state;
    rig_init(&rig);
    kernels.kernels = true;
    for (unsigned behind = 0; behind < 2; behind++) {
        rig.code.at = CODE_BASE;
        row(&rig, INSN_beq, OP(.rs1 = 11, .rs2 = 12, .imm = 48));
        row(&rig, INSN_fence, OP(.rd = 0));
        write_words(&rig, 11, 12, 8);
        const uint64_t last = rig.code.at;
        row(&rig, behind ? INSN_mul : INSN_addi,
            OP(.rd = 20, .rs1 = behind ? T3 : 12, .rs2 = behind ? T3 + 1 : 0));
        row(&rig, INSN_jal, OP(.imm = 8));
        row(&rig, INSN_amoadd_w, OP(.rs1 = 11, .rs2 = 20));
        const uint64_t end = rig.code.at;
        row(&rig, INSN_amoadd_w, OP(.rs1 = 11, .rs2 = behind ? 20 : 12));
        row(&rig, INSN_jalr, OP(.rs1 = RA));
        struct candidates found = find(&rig, &kernels, 40);
        assert_int_equal(found.count, 1);
        assert_int_equal(found.list[0].begin, CODE_BASE + 8);
        assert_int_equal(found.list[0].end, behind ? last : end);
        candidates_free(&found);
    }
    rig_free(&rig);
}

/* Four stores, then the loop of the paper with n rounds. The stores alone save 101; the loop alone saves 49.75 n - 160, from
 * four rounds on; both in one block 133 + 49.75 n - 160. With one round that is 22.75, less than 101, but with four rounds it
 * is 172, and 140 in two blocks. */
static void larger_blocks_win_with_the_same_rounds(void **state)
{
    (void)state;
    struct rig rig;
    rig_init(&rig);
    rig.code.at = CODE_BASE;
    write_words(&rig, 12, 0, 4);
    uint64_t loop = rig.code.at;
    row(&rig, INSN_flw, OP(.rd = FA3, .rs1 = 11));
    row(&rig, INSN_fmadd_s, OP(.rd = FA3, .rs1 = FA3, .rs2 = FA3 + 1, .rs3 = FA3 + 2));
    row(&rig, INSN_fsw, OP(.rs1 = 12, .rs2 = FA3));
    row(&rig, INSN_addi, OP(.rd = 11, .rs1 = 11, .imm = 4));
    row(&rig, INSN_addi, OP(.rd = 12, .rs1 = 12, .imm = 4));
    row(&rig, INSN_bne, OP(.rs1 = 11, .rs2 = 13, .imm = (int32_t)(loop - rig.code.at)));
    row(&rig, INSN_addi, OP(.rd = 11));
    row(&rig, INSN_jalr, OP(.rs1 = RA));
    struct candidates found = find(&rig, &paper, 40);
    assert_int_equal(found.count, 1);
    assert_int_equal(found.list[0].begin, CODE_BASE);
    assert_int_equal(found.list[0].end, loop + 24);
    assert_int_equal(found.list[0].threshold, 0);
    assert_true(found.list[0].tx + found.list[0].rx == -22.75);
    assert_true(candidate_saved(&found.list[0], 1) == 22.75);
    assert_true(candidate_saved(&found.list[0], 4) == 172);
    candidates_free(&found);
    rig_free(&rig);
}

/* A loop of n rounds with four stores in each, and nine registers that it reads: it saves 133 n - 288, from three rounds on. The
 * stores alone are executed in each round and save 101 n. One execution of the loop saves 111 with three rounds, more than one
 * of the stores; but three of them save 303. */
static void blocks_in_loops_count_in_each_round(void **state)
{
    (void)state;
    struct rig rig;
    rig_init(&rig);
    rig.code.at = CODE_BASE;
    row(&rig, INSN_addi, OP(.rd = A0));
    uint64_t loop = rig.code.at;
    write_words(&rig, 12, 0, 4);
    row(&rig, INSN_jal, OP(.imm = 4));
    row(&rig, INSN_add, OP(.rd = 14, .rs1 = 16, .rs2 = 17));
    row(&rig, INSN_add, OP(.rd = 14, .rs1 = T3, .rs2 = T3 + 1));
    row(&rig, INSN_add, OP(.rd = 14, .rs1 = T3 + 2, .rs2 = T3 + 3));
    row(&rig, INSN_addi, OP(.rd = 11, .rs1 = 11, .imm = 4));
    row(&rig, INSN_bne, OP(.rs1 = 11, .rs2 = 13, .imm = (int32_t)(loop - rig.code.at)));
    row(&rig, INSN_addi, OP(.rd = 11));
    row(&rig, INSN_jalr, OP(.rs1 = RA));
    struct candidates found = find(&rig, &paper, 40);
    assert_int_equal(found.count, 1);
    assert_int_equal(found.list[0].begin, loop);
    assert_int_equal(found.list[0].end, loop + 20);
    assert_true(found.list[0].tx + found.list[0].rx == -101);
    assert_true(candidate_saved(&found.list[0], 3) == 303);
    candidates_free(&found);
    rig_free(&rig);
}

/* With one lane and stores without lines, each store saves 1, and two registers cost 2. A part of a basic block has to save more than 7,
 * what a packet takes besides registers. Nothing is saved on the way back. */
static void parts_pay_for_their_packets(void **state)
{
    const struct candidate_model lane = {.lanes = 1, .line_ratio = 32, .load_misses = 0.5};
    struct rig rig;
    (void)state;
    rig_init(&rig);
    for (int stores = 9; stores <= 10; stores++) {
        rig.code.at = CODE_BASE;
        row(&rig, INSN_fence, OP(.rd = 0));
        write_words(&rig, 11, 12, stores);
        row(&rig, INSN_beq, OP(.rs1 = 12, .rs2 = 13, .imm = 8));
        row(&rig, INSN_fence, OP(.rd = 0));
        write_end(&rig);
        struct candidates found = find(&rig, &lane, 40);
        assert_int_equal(found.count, stores == 10);
        if (found.count) {
            assert_true(found.list[0].tx == -8 && found.list[0].rx == 0);
            assert_int_equal(found.list[0].tag, CANDIDATE_SAVES_TX);
        }
        candidates_free(&found);
    }
    rig_free(&rig);
}

/* Eight stores, a result, and a jump over one instruction, which comes to the same end by another way: it stores, or writes the same
 * register, perhaps behind a fence. The block ends in front of the result: what lies behind the jump is not of it. */
static void code_that_is_jumped_over_does_not_count(void **state)
{
    struct candidate_model kernels = paper;
    struct rig rig;
    (void)state;
    rig_init(&rig);
    kernels.kernels = true;
    for (unsigned kind = 0; kind < 3; kind++) {
        const bool stores = kind == 1, fenced = kind == 2;
        rig.code.at = CODE_BASE;
        row(&rig, INSN_beq, OP(.rs1 = 11, .rs2 = 12, .imm = 48));
        row(&rig, INSN_fence, OP(.rd = 0));
        write_words(&rig, 11, 12, 8);
        const uint64_t last = rig.code.at;
        row(&rig, INSN_addi, OP(.rd = 20, .rs1 = 12));
        row(&rig, INSN_jal, OP(.imm = fenced ? 12 : 8));
        if (fenced)
            row(&rig, INSN_fence, OP(.rd = 0));
        row(&rig, stores ? INSN_sw : INSN_addi,
            OP(.rd = stores ? 0 : 20, .rs1 = 12, .rs2 = stores ? 13 : 0, .imm = 4));
        row(&rig, INSN_amoadd_w, OP(.rs1 = 11, .rs2 = 20));
        row(&rig, INSN_jalr, OP(.rs1 = RA));
        struct candidates found = find(&rig, &kernels, 40);
        assert_int_equal(found.count, 1);
        assert_int_equal(found.list[0].begin, CODE_BASE + 8);
        assert_int_equal(found.list[0].end, last);
        candidates_free(&found);
    }
    rig_free(&rig);
}

/* A store in front of a branch is a part, if it saves enough: with free registers and eight lines, 8 + 8 / 4. */
static void single_instructions_are_parts(void **state)
{
    const struct candidate_model lines = {.line_ratio = 16, .coalesced = 8, .load_misses = 1};
    struct rig rig;
    (void)state;
    rig_init(&rig);
    row(&rig, INSN_fence, OP(.rd = 0));
    row(&rig, INSN_sw, OP(.rs1 = 11, .rs2 = 12));
    row(&rig, INSN_beq, OP(.rs1 = 12, .rs2 = 13, .imm = 8));
    row(&rig, INSN_fence, OP(.rd = 0));
    write_end(&rig);
    struct candidates found = find(&rig, &lines, 40);
    assert_int_equal(found.count, 1);
    assert_int_equal(found.list[0].insns, 1);
    assert_true(found.list[0].tx + found.list[0].rx == -10);
    candidates_free(&found);
    rig_free(&rig);
}

/* A result of the first basic block (s4) is read in the last one, behind a store, for a result there. Without this last instruction, the
 * block would return the first result in place of the second: it is whole. */
static void early_results_are_returned(void **state)
{
    struct candidate_model kernels = paper;
    struct rig rig;
    (void)state;
    rig_init(&rig);
    kernels.kernels = true;
    row(&rig, INSN_addi, OP(.rd = 20, .rs1 = 11, .imm = 1));
    write_words(&rig, 12, 11, 8);
    row(&rig, INSN_beq, OP(.rs1 = 11, .rs2 = 12, .imm = 8));
    row(&rig, INSN_sw, OP(.rs1 = 12, .rs2 = 11, .imm = 64));
    row(&rig, INSN_sw, OP(.rs1 = 12, .rs2 = 11, .imm = 68));
    row(&rig, INSN_addi, OP(.rd = 21, .rs1 = 20, .imm = 1));
    const uint64_t end = rig.code.at;
    row(&rig, INSN_amoadd_w, OP(.rs1 = 11, .rs2 = 21));
    row(&rig, INSN_jalr, OP(.rs1 = RA));
    struct candidates found = find(&rig, &kernels, 40);
    assert_int_equal(found.count, 1);
    assert_int_equal(found.list[0].begin, CODE_BASE);
    assert_int_equal(found.list[0].end, end);
    assert_int_equal(found.list[0].out, UINT64_C(1) << 21);
    candidates_free(&found);
    rig_free(&rig);
}

/* The first instruction computes what the last basic block stores: without it, that would be sent in its operand's place. It needs no
 * more registers than its result, or its operand is read anyway: the block is whole. */
static void beginnings_that_cost_nothing_stay(void **state)
{
    struct candidate_model kernels = paper;
    struct rig rig;
    (void)state;
    rig_init(&rig);
    kernels.kernels = true;
    for (unsigned kind = 0; kind < 2; kind++) {
        rig.code.at = CODE_BASE;
        row(&rig, INSN_addi, OP(.rd = 14, .rs1 = kind ? 12 : 15, .imm = 1));
        write_words(&rig, 12, 11, 8);
        if (kind == 0) {
            row(&rig, INSN_beq, OP(.rs1 = 11, .rs2 = 12, .imm = 8));
            row(&rig, INSN_sw, OP(.rs1 = 12, .rs2 = 11, .imm = 64));
            row(&rig, INSN_sw, OP(.rs1 = 12, .rs2 = 14, .imm = 68));
        }
        const uint64_t end = rig.code.at;
        write_end(&rig);
        struct candidates found = find(&rig, &kernels, 40);
        assert_int_equal(found.count, 1);
        assert_int_equal(found.list[0].begin, CODE_BASE);
        assert_int_equal(found.list[0].end, end);
        candidates_free(&found);
    }
    rig_free(&rig);
}

/* With one lane, six stores save 6 and three registers cost 3. Without the first instruction it would be two registers, but a part has to
 * save more than 7: the block is whole. */
static void parts_of_one_cut_pay_for_their_packets(void **state)
{
    const struct candidate_model lane = {.lanes = 1, .line_ratio = 32, .load_misses = 0.5, .kernels = true};
    struct rig rig;
    (void)state;
    rig_init(&rig);
    row(&rig, INSN_add, OP(.rd = 14, .rs1 = 15, .rs2 = 16));
    write_words(&rig, 11, 14, 6);
    write_end(&rig);
    struct candidates found = find(&rig, &lane, 40);
    assert_int_equal(found.count, 1);
    assert_int_equal(found.list[0].begin, CODE_BASE);
    assert_true(found.list[0].tx + found.list[0].rx == -3);
    candidates_free(&found);
    rig_free(&rig);
}

/* A loop reads a register (s4) at its beginning, and loads it for the next round: no block may begin behind that read and have the rest of
 * the loop, though it would need one register less and save 19. By hand: the loop 3 * 32 - 2 * 33.25 - 16.5, the stores 2 * 32 - 2 * 33.25. */
static void loops_keep_their_beginnings(void **state)
{
    struct candidate_model kernels = paper;
    struct rig rig;
    (void)state;
    rig_init(&rig);
    kernels.kernels = true;
    row(&rig, INSN_fence, OP(.rd = 0));
    const uint64_t loop = rig.code.at;
    row(&rig, INSN_add, OP(.rd = 14, .rs1 = 20, .rs2 = 20));
    row(&rig, INSN_sw, OP(.rs1 = 12, .rs2 = 11));
    row(&rig, INSN_sw, OP(.rs1 = 12, .rs2 = 11, .imm = 4));
    row(&rig, INSN_lw, OP(.rd = 20, .rs1 = 11));
    row(&rig, INSN_bne, OP(.rs1 = 20, .imm = (int32_t)(loop - rig.code.at)));
    write_end(&rig);
    struct candidates found = find(&rig, &kernels, 40);
    assert_int_equal(found.count, 0);
    candidates_free(&found);
    rig_free(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_end_with_returns),
        cmocka_unit_test(parts_of_basic_blocks),
        cmocka_unit_test(parts_of_random_lines),
        cmocka_unit_test(two_ways_to_the_end_are_whole),
        cmocka_unit_test(last_results_are_left_out),
        cmocka_unit_test(larger_blocks_win_with_the_same_rounds),
        cmocka_unit_test(blocks_in_loops_count_in_each_round),
        cmocka_unit_test(parts_pay_for_their_packets),
        cmocka_unit_test(code_that_is_jumped_over_does_not_count),
        cmocka_unit_test(single_instructions_are_parts),
        cmocka_unit_test(early_results_are_returned),
        cmocka_unit_test(beginnings_that_cost_nothing_stay),
        cmocka_unit_test(parts_of_one_cut_pay_for_their_packets),
        cmocka_unit_test(loops_keep_their_beginnings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
