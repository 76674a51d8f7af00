/* Trip counts, and conditions on them, against the execution of loops. */
#include "emu/analysis/candidate_table.h"
#include "tests/analysis/random_program.h"

enum { T3 = 28, LOOPS = 600 };

/* Runs a loop do { a2++ } while (a1 += step, a1 ? a3) on one thread, with `by` in a5. Returns the number of rounds. */
static uint64_t rounds_by(struct rig *rig, int64_t start, int64_t limit, uint64_t by)
{
    const struct warp_place place = {.block_size = {1, 1, 1}, .grid_size = {1, 1, 1}};
    struct warp_report report;
    warp_memory_flush(&rig->code.memory);
    warp_start(rig->warp, &place, CODE_BASE, 0, 0);
    warp_set_register(rig->warp, 11, 0, (uint64_t)start);
    warp_set_register(rig->warp, 13, 0, (uint64_t)limit);
    warp_set_register(rig->warp, 15, 0, by);
    for (unsigned i = 0; i < 3000 && warp_live(rig->warp); i++)
        (void)warp_step(rig->warp, &report);
    return warp_live(rig->warp) ? 0 : warp_register(rig->warp, 12, 0);
}

static uint64_t rounds_of(struct rig *rig, int64_t start, int64_t limit)
{
    return rounds_by(rig, start, limit, 0);
}

static enum insn_id opposite(enum insn_id branch)
{
    return branch == INSN_bne ? INSN_beq : branch == INSN_blt ? INSN_bge : INSN_blt;
}

/* Loops with random branches, steps and operands: the count is known by registers, and an execution has at least n rounds
 * exactly if the threshold of n is reached; with constants in front of the loop, the count is static. */
static void trip_counts_hold(void **state)
{
    (void)state;
    static const enum insn_id branches[] = {INSN_bne, INSN_blt, INSN_bge};
    struct rig rig;
    unsigned known = 0, unknown = 0;
    rig_init(&rig);
    for (unsigned i = 0; i < LOOPS; i++) {
        int32_t step = (int32_t)random_below(&rig.random, 17) - 8,
                start = (int32_t)random_below(&rig.random, 400) - 200;
        enum insn_id branch = branches[random_below(&rig.random, 3)];
        int32_t limit = branch == INSN_bne ? start + step * (int32_t)(1 + random_below(&rig.random, 40))
                                           : (int32_t)random_below(&rig.random, 400) - 200;
        bool turned = random_chance(&rig.random, 50), constants = random_chance(&rig.random, 50);
        bool inverted = random_chance(&rig.random, 50), uncertain = random_chance(&rig.random, 20);
        rig.code.at = CODE_BASE;
        row(&rig, INSN_addi, OP(.rd = constants ? 11 : 15, .imm = start));
        row(&rig, INSN_addi, OP(.rd = constants ? 13 : 15, .imm = limit));
        if (uncertain) { /* another limit, which these executions do not choose */
            row(&rig, INSN_beq, OP(.imm = 8));
            row(&rig, INSN_addi, OP(.rd = 13, .imm = 1000));
            row(&rig, INSN_addi, OP(.rd = T3));
        }
        uint64_t loop = rig.code.at;
        row(&rig, INSN_addi, OP(.rd = 12, .rs1 = 12, .imm = 1));
        row(&rig, INSN_addi, OP(.rd = 11, .rs1 = 11, .imm = step));
        row(&rig, inverted ? opposite(branch) : branch,
            OP(.rs1 = turned ? 13 : 11, .rs2 = turned ? 11 : 13,
               .imm = inverted ? 8 : (int32_t)(loop - rig.code.at)));
        if (inverted)
            row(&rig, INSN_jal, OP(.imm = (int32_t)(loop - rig.code.at)));
        row(&rig, INSN_jalr, OP(.rs1 = RA));
        uint64_t entry = CODE_BASE, rounds = rounds_of(&rig, start, limit);
        struct cfg cfg = cfg_build(rig.code.decoder, &(struct reach_code){fetch, &rig}, &entry, 1, NULL);
        struct function f = function_open(&cfg, &cfg.functions[0]);
        assert_int_equal(f.loops.count, 1);
        struct trip trip = trip_of(&f, 0);
        bool never = step == 0 || (branch != INSN_bne && rounds == 0);
        if (trip.kind == TRIP_UNKNOWN) {
            unknown++; /* one round, or as many as there are numbers */
            assert_true(never || rounds <= 1);
        } else if (rounds > 0) {
            known++;
            assert_int_equal(trip.kind, constants && !uncertain ? TRIP_STATIC : TRIP_KNOWN);
            int64_t d = trip.minuend == 13 ? limit - start : start - limit;
            for (uint64_t n = 2; n < 100; n++)
                assert_int_equal(rounds >= n, d >= trip_threshold(&trip, n));
            if (constants && !uncertain)
                assert_int_equal(trip.count, rounds);
        }
        function_close(&f);
        cfg_free(&cfg);
    }
    assert_true(known > LOOPS / 3 && unknown > LOOPS / 20);
    rig_free(&rig);
}

/* How the loops of the next test step. */
enum step_kind { STEP_IMMEDIATE, STEP_CONSTANT, STEP_REGISTER, STEP_SUBTRACTED, STEP_KINDS };

/* Writes for (; a1 `branch` a3; a1 += step) a2++, tested at its end, or where it begins (`early`). Steps in a register are in a5. */
static void write_steps(struct rig *rig, enum insn_id branch, enum step_kind kind, int32_t step, bool early)
{
    rig->code.at = CODE_BASE;
    if (kind == STEP_CONSTANT) {
        row(rig, INSN_lui, OP(.rd = 15, .imm = 4096));
        row(rig, INSN_addiw, OP(.rd = 15, .rs1 = 15, .imm = -2040));
        row(rig, INSN_addi, OP(.rd = 15, .rs1 = 15, .imm = -2040));
        row(rig, INSN_addi, OP(.rd = 15, .rs1 = 15, .imm = step - 16));
    } else {
        row(rig, INSN_addi, OP(.rd = A0));
    }
    uint64_t loop = rig->code.at;
    if (early) {
        row(rig, branch, OP(.rs1 = 11, .rs2 = 13, .imm = 8));
        row(rig, INSN_jal, OP(.imm = 16));
    }
    row(rig, INSN_addi, OP(.rd = 12, .rs1 = 12, .imm = 1));
    if (kind == STEP_IMMEDIATE)
        row(rig, INSN_addi, OP(.rd = 11, .rs1 = 11, .imm = step));
    else
        row(rig, kind == STEP_SUBTRACTED ? INSN_sub : INSN_add, OP(.rd = 11, .rs1 = 11, .rs2 = 15));
    row(rig, early ? INSN_jal : branch,
        early ? OP(.imm = (int32_t)(loop - rig->code.at))
              : OP(.rs1 = 11, .rs2 = 13, .imm = (int32_t)(loop - rig->code.at)));
    row(rig, INSN_jalr, OP(.rs1 = RA));
}

/* Returns the condition of a block that needs n rounds of the loop. */
static struct candidate_entry condition_of(const struct trip *trip, uint64_t n)
{
    const struct candidate one = {.trip = *trip, .threshold = n};
    return candidate_table_entry(&one);
}

/* Loops whose steps are in registers, up and down, with every comparison, tested early and late: a condition for n rounds holds
 * exactly if the loop, executed, has n or more. trip_of() knows only steps that are constants. */
static void conditions_hold_for_steps_in_registers(void **state)
{
    (void)state;
    static const enum insn_id branches[] = {INSN_bne, INSN_blt, INSN_bge};
    struct rig rig;
    unsigned known = 0;
    rig_init(&rig);
    for (unsigned i = 0; i < LOOPS; i++) {
        const enum insn_id branch = branches[i % 3];
        const enum step_kind kind = random_below(&rig.random, STEP_KINDS);
        const bool early = random_chance(&rig.random, 50),
                   up = branch == INSN_bne ? i % 2 : branch == INSN_blt;
        const int32_t size = 1 + (int32_t)random_below(&rig.random, 17), step = up ? size : -size,
                      start = (int32_t)random_below(&rig.random, 400) - 200,
                      far = (int32_t)random_below(&rig.random, 300),
                      limit = start + (branch == INSN_bne ? step * (far / 8 + !early)
                                       : up               ? far
                                                          : -far);
        write_steps(&rig, branch, kind, step, early);
        uint64_t entry = CODE_BASE, by = (uint64_t)(int64_t)(kind == STEP_SUBTRACTED ? -step : step),
                 rounds = rounds_by(&rig, start, limit, by);
        struct cfg cfg = cfg_build(rig.code.decoder, &(struct reach_code){fetch, &rig}, &entry, 1, NULL);
        struct function f = function_open(&cfg, &cfg.functions[0]);
        assert_int_equal(f.loops.count, 1);
        const struct trip trip = trip_guess(&f, 0), sure = trip_of(&f, 0);
        assert_int_equal(trip.kind, TRIP_KNOWN);
        assert_int_equal(sure.kind == TRIP_KNOWN, kind <= STEP_CONSTANT);
        known += rounds >= 2;
        for (uint64_t n = 2; n < 100; n++) {
            const struct candidate_entry e = condition_of(&trip, n);
            const uint64_t values[] = {
                [11] = (uint64_t)(int64_t)start, [13] = (uint64_t)(int64_t)limit, [15] = by};
            assert_int_equal(rounds >= n,
                             candidate_holds(&e, values[e.minuend], values[e.subtrahend], values[e.step]));
        }
        function_close(&f);
        cfg_free(&cfg);
    }
    assert_true(known > LOOPS / 2);
    rig_free(&rig);
}

/* The limit is loaded before the loop and again in each round: only trip_guess() takes it for the same. */
static void limits_that_are_loaded_again(void **state)
{
    (void)state;
    struct rig rig;
    rig_init(&rig);
    for (unsigned other = 0; other < 2; other++) {
        rig.code.at = CODE_BASE;
        row(&rig, INSN_ld, OP(.rd = 13, .rs1 = A0, .imm = other ? 8 : 0));
        uint64_t loop = rig.code.at;
        row(&rig, INSN_sw, OP(.rs1 = 11, .rs2 = 12));
        row(&rig, INSN_addi, OP(.rd = 11, .rs1 = 11, .imm = 12));
        row(&rig, INSN_ld, OP(.rd = 13, .rs1 = A0));
        row(&rig, INSN_blt, OP(.rs1 = 11, .rs2 = 13, .imm = (int32_t)(loop - rig.code.at)));
        row(&rig, INSN_jalr, OP(.rs1 = RA));
        uint64_t entry = CODE_BASE;
        struct cfg cfg = cfg_build(rig.code.decoder, &(struct reach_code){fetch, &rig}, &entry, 1, NULL);
        struct function f = function_open(&cfg, &cfg.functions[0]);
        const struct trip trip = trip_guess(&f, 0), sure = trip_of(&f, 0);
        assert_int_equal(sure.kind, TRIP_UNKNOWN);
        assert_int_equal(trip.kind, other ? TRIP_UNKNOWN : TRIP_KNOWN);
        assert_true(other || (trip.step == 12 && trip.minuend == 13 && trip.subtrahend == 11));
        function_close(&f);
        cfg_free(&cfg);
    }
    rig_free(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trip_counts_hold),
        cmocka_unit_test(conditions_hold_for_steps_in_registers),
        cmocka_unit_test(limits_that_are_loaded_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
