/* Divergence, progress, atomics, traps, calls and stacks of one warp, with programs of a few instructions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "emu/hart/hart.h"
#include "emu/simt/warp.h"
#include "tests/simt/code_fixture.h"

#define BASE CODE_BASE
#define DATA (BASE + 0x1000) /* memory below is read-only */

enum {
    RA = 1,
    SP = 2,
    T0 = 5,
    T1 = 6,
    T2 = 7,
    A0 = 10,
    A1 = 11,
    A2 = 12,
    LANE = 0xccc,
    BARRIER = 0x8c0,
    SHIFT = 8,
    SIZE = 0x10000
};

struct rig {
    struct code_fixture code;
    struct warp *warp;
    struct warp_report report;
};

static void rig_init(struct rig *rig, unsigned width)
{
    struct error err;
    memset(rig, 0, sizeof *rig);
    code_fixture_init(&rig->code, SIZE,
                      (struct warp_memory_setup){.width = width,
                                                 .write_first = DATA,
                                                 .stack_shift = SHIFT,
                                                 .stack_physical = BASE + 0x8000,
                                                 .stack_warps = 2});
    rig->warp = warp_new(&rig->code.memory, &err);
    assert_non_null(rig->warp);
}

static void rig_free(struct rig *rig)
{
    warp_free(rig->warp);
    code_fixture_free(&rig->code);
}

static void row(struct rig *rig, enum insn_id id, struct operands operands)
{
    code_fixture_row(&rig->code, id, operands);
}

static void start(struct rig *rig, unsigned threads)
{
    const struct warp_place place = {.block_size = {threads, 1, 1}, .grid_size = {1, 1, 1}};
    warp_start(rig->warp, &place, BASE, DATA, 0);
}

static uint64_t word(const struct rig *rig, uint64_t address)
{
    return code_fixture_word(&rig->code, address);
}

/* Steps until the next instruction of the warp is at pc, or no lane can run. */
static void step_to(struct rig *rig, uint64_t pc)
{
    uint32_t mask;
    for (unsigned i = 0; i < 1000; i++) {
        const struct stream_op *op = warp_next(rig->warp, &mask);
        if (!op || op->pc == pc)
            return;
        assert_int_equal(warp_step(rig->warp, &rig->report), WARP_DONE);
    }
    fail();
}

static void run_out(struct rig *rig)
{
    enum warp_event event = WARP_DONE;
    while (event != WARP_IDLE) {
        event = warp_run(rig->warp, 100000, &rig->report);
        assert_true(event == WARP_EXIT || event == WARP_IDLE);
    }
    assert_int_equal(warp_live(rig->warp), 0);
}

static void lane_number(struct rig *rig)
{
    row(rig, INSN_csrrs, OP(.rd = T0, .imm = LANE));
}

/* if (lane & 1) t1 = 1; else t1 = 2; */
static void branches_join(void **state)
{
    struct rig rig;
    uint32_t mask;
    (void)state;
    rig_init(&rig, 32);
    lane_number(&rig);
    row(&rig, INSN_andi, OP(.rd = T1, .rs1 = T0, .imm = 1));
    row(&rig, INSN_beq, OP(.rs1 = T1, .imm = 12));
    row(&rig, INSN_addi, OP(.rd = T1, .imm = 1)); /* BASE + 12: the odd lanes */
    row(&rig, INSN_jal, OP(.imm = 8));
    row(&rig, INSN_addi, OP(.rd = T1, .imm = 2)); /* BASE + 20: the even lanes */
    uint64_t join = rig.code.at;
    row(&rig, INSN_jalr, OP(.rs1 = RA));
    start(&rig, 32);
    step_to(&rig, BASE + 8);
    assert_int_equal(warp_step(rig.warp, &rig.report), WARP_DONE);
    assert_true(rig.report.taken_apart && rig.report.taken);
    assert_non_null(warp_next(rig.warp, &mask));
    assert_int_equal(mask, 0xaaaaaaaa);
    step_to(&rig, BASE + 20);
    assert_non_null(warp_next(rig.warp, &mask));
    assert_int_equal(mask, 0x55555555);
    step_to(&rig, join);
    assert_non_null(warp_next(rig.warp, &mask));
    assert_int_equal(mask, 0xffffffff);
    assert_int_equal(warp_register(rig.warp, T1, 3), 1);
    assert_int_equal(warp_register(rig.warp, T1, 4), 2);
    /* 3 + 2 + 1 instructions so far; lanes: 3 of 32, 2 of 16, 1 of 16. */
    assert_int_equal(warp_insns(rig.warp), 6);
    assert_int_equal(warp_thread_insns(rig.warp), 3 * 32 + 3 * 16);
    run_out(&rig);
    rig_free(&rig);
}

/* Lanes below 16 call a function at a higher pc than the point where all lanes meet. The deeper call depth
 * executes first. */
static void calls_come_first(void **state)
{
    struct rig rig;
    uint32_t mask;
    (void)state;
    rig_init(&rig, 32);
    lane_number(&rig);
    row(&rig, INSN_addi, OP(.rd = A1, .rs1 = RA));
    row(&rig, INSN_sltiu, OP(.rd = T1, .rs1 = T0, .imm = 16));
    row(&rig, INSN_beq, OP(.rs1 = T1, .imm = 8));
    row(&rig, INSN_jal, OP(.rd = RA, .imm = 8));
    row(&rig, INSN_jalr, OP(.rs1 = A1)); /* BASE + 20: where they meet */
    row(&rig, INSN_addi, OP(.rd = T2, .imm = 7));
    row(&rig, INSN_jalr, OP(.rs1 = RA));
    start(&rig, 32);
    step_to(&rig, BASE + 24);
    assert_non_null(warp_next(rig.warp, &mask));
    assert_int_equal(mask, 0xffff);
    step_to(&rig, BASE + 20);
    assert_non_null(warp_next(rig.warp, &mask));
    assert_int_equal(mask, 0xffffffff);
    run_out(&rig);
    rig_free(&rig);
}

/* Each lane jumps by a register to its own address: base + 8 * (lane % 4). */
static void indirect_jumps_scatter(void **state)
{
    struct rig rig;
    (void)state;
    rig_init(&rig, 32);
    lane_number(&rig);
    row(&rig, INSN_andi, OP(.rd = T1, .rs1 = T0, .imm = 3));
    row(&rig, INSN_slli, OP(.rd = T1, .rs1 = T1, .imm = 3));
    row(&rig, INSN_auipc, OP(.rd = T2));
    row(&rig, INSN_add, OP(.rd = T2, .rs1 = T2, .rs2 = T1));
    row(&rig, INSN_jalr, OP(.rs1 = T2, .imm = 12));
    for (int i = 0; i < 4; i++) {
        row(&rig, INSN_addi, OP(.rd = A1, .imm = 10 + i));
        row(&rig, INSN_jalr, OP(.rs1 = RA));
    }
    start(&rig, 32);
    run_out(&rig);
    for (unsigned lane = 0; lane < 32; lane++)
        assert_int_equal(warp_register(rig.warp, A1, lane), 10 + lane % 4);
    rig_free(&rig);
}

/* All lanes except 31 spin, at a lower pc, until lane 31 has counted to 1000 and stored. In each turn, lane
 * 31 executes WARP_SHARE instructions. 1000 rounds of 2 instructions take ceil(2003 / 256) = 8 turns. step:
 * value that the spinning lanes add to a register in each of their rounds of 3 instructions. Returns the
 * number of instructions. */
static uint64_t spin(int32_t step)
{
    struct rig rig;
    rig_init(&rig, 32);
    lane_number(&rig);
    row(&rig, INSN_addi, OP(.rd = T1, .imm = 31));
    row(&rig, INSN_addi, OP(.rd = T2, .imm = 1000));
    row(&rig, INSN_beq, OP(.rs1 = T0, .rs2 = T1, .imm = 20));
    row(&rig, INSN_addi, OP(.rd = A2, .rs1 = A2, .imm = step));
    row(&rig, INSN_ld, OP(.rd = A1, .rs1 = A0));
    row(&rig, INSN_beq, OP(.rs1 = A1, .imm = -8));
    row(&rig, INSN_jalr, OP(.rs1 = RA));
    row(&rig, INSN_addi, OP(.rd = T2, .rs1 = T2, .imm = -1));
    row(&rig, INSN_bne, OP(.rs1 = T2, .imm = -4));
    row(&rig, INSN_sd, OP(.rs1 = A0, .rs2 = T1));
    row(&rig, INSN_jalr, OP(.rs1 = RA));
    start(&rig, 32);
    run_out(&rig);
    assert_int_equal(word(&rig, DATA), 31);
    uint64_t insns = warp_insns(rig.warp);
    rig_free(&rig);
    return insns;
}

/* Lanes that only spin are found at the second look after lane 31's turn, after WARP_LOOK to 2 * WARP_LOOK
 * rounds. Lanes that count are not found, and lane 31 gets its turn after WARP_TURN instructions. */
static void spinning_ends(void **state)
{
    (void)state;
    assert_in_range(spin(0), 8 * 3 * WARP_LOOK + 2003, 8 * (2 * 3 * WARP_LOOK + WARP_SHARE) + 100);
    assert_in_range(spin(1), 8 * WARP_TURN, 8 * (WARP_TURN + WARP_SHARE) + 100);
}

/* A lock by LR and SC around a non-atomic counter; lanes hold it at different times. */
static void locks_work(void **state)
{
    struct rig rig;
    (void)state;
    rig_init(&rig, 32);
    row(&rig, INSN_addi, OP(.rd = T2, .imm = 1));
    row(&rig, INSN_lr_w, OP(.rd = T0, .rs1 = A0)); /* BASE + 4 */
    row(&rig, INSN_bne, OP(.rs1 = T0, .imm = -4));
    row(&rig, INSN_sc_w, OP(.rd = T0, .rs1 = A0, .rs2 = T2));
    row(&rig, INSN_bne, OP(.rs1 = T0, .imm = -12));
    row(&rig, INSN_ld, OP(.rd = T1, .rs1 = A0, .imm = 64));
    row(&rig, INSN_addi, OP(.rd = T1, .rs1 = T1, .imm = 1));
    row(&rig, INSN_sd, OP(.rs1 = A0, .rs2 = T1, .imm = 64));
    row(&rig, INSN_amoswap_w, OP(.rs1 = A0));
    row(&rig, INSN_jalr, OP(.rs1 = RA));
    start(&rig, 32);
    run_out(&rig);
    assert_int_equal(word(&rig, DATA + 64), 32);
    assert_int_equal(word(&rig, DATA), 0);
    rig_free(&rig);
}

static void atomics_go_by_lane(void **state)
{
    struct rig rig;
    (void)state;
    rig_init(&rig, 32);
    lane_number(&rig);
    row(&rig, INSN_amoadd_d, OP(.rd = T1, .rs1 = A0, .rs2 = T0));
    row(&rig, INSN_sd, OP(.rs1 = A0, .rs2 = T0, .imm = 8));
    row(&rig, INSN_jalr, OP(.rs1 = RA));
    start(&rig, 32);
    run_out(&rig);
    for (unsigned lane = 0; lane < 32; lane++)
        assert_int_equal(warp_register(rig.warp, T1, lane),
                         lane * (lane - 1) / 2); /* the sum of lower lanes */
    assert_int_equal(word(&rig, DATA), 31 * 32 / 2);
    assert_int_equal(word(&rig, DATA + 8), 31);
    rig_free(&rig);
}

static void set_lanes(struct rig *rig, unsigned reg, uint64_t first, uint64_t step)
{
    for (unsigned lane = 0; lane < 32; lane++)
        warp_set_register(rig->warp, reg, lane, first + lane * step);
}

static void expect_trap(struct rig *rig, unsigned lane, enum trap_cause cause, uint64_t value)
{
    assert_int_equal(warp_step(rig->warp, &rig->report), WARP_TRAP);
    assert_int_equal(rig->report.lane, lane);
    assert_int_equal(rig->report.trap.cause, cause);
    assert_int_equal(rig->report.trap.value, value);
}

/* Lanes 0 to 4 have access, lane 5 has not: nothing is executed, and the instruction can be repeated. */
static void traps_name_the_lane(void **state)
{
    struct rig rig;
    (void)state;
    rig_init(&rig, 32);
    row(&rig, INSN_sd, OP(.rs1 = A0, .rs2 = A0));
    row(&rig, INSN_ld, OP(.rd = A0, .rs1 = A0));
    row(&rig, INSN_amoadd_w, OP(.rd = A1, .rs1 = A0, .rs2 = A0));
    row(&rig, INSN_mret, OP(.rd = 0));
    start(&rig, 32);
    set_lanes(&rig, A0, DATA, 8);
    warp_set_register(rig.warp, A0, 5, BASE);
    expect_trap(&rig, 5, TRAP_STORE_ACCESS, BASE);
    assert_int_equal(word(&rig, DATA), 0);
    warp_set_register(rig.warp, A0, 5, DATA + 40);
    assert_int_equal(warp_step(rig.warp, &rig.report), WARP_DONE);
    assert_int_equal(word(&rig, DATA + 40), DATA + 40);
    warp_set_register(rig.warp, A0, 31, 16);
    expect_trap(&rig, 31, TRAP_LOAD_ACCESS, 16);
    assert_int_equal(warp_register(rig.warp, A0, 4), DATA + 32);
    warp_set_register(rig.warp, A0, 31, DATA);
    assert_int_equal(warp_step(rig.warp, &rig.report), WARP_DONE);
    set_lanes(&rig, A0, DATA, 4);
    warp_set_register(rig.warp, A0, 9, DATA + 2);
    expect_trap(&rig, 9, TRAP_STORE_MISALIGNED, DATA + 2);
    set_lanes(&rig, A0, DATA, 4);
    assert_int_equal(warp_step(rig.warp, &rig.report), WARP_DONE);
    expect_trap(&rig, 0, TRAP_ILLEGAL_INSTRUCTION, 0x30200073);
    rig_free(&rig);
}

/* Each of two threads is served alone; then both continue together. */
static void calls_go_by_lane(void **state)
{
    struct rig rig;
    uint32_t mask;
    (void)state;
    rig_init(&rig, 32);
    row(&rig, INSN_ecall, OP(.rd = 0));
    row(&rig, INSN_csrrw, OP(.imm = BARRIER));
    row(&rig, INSN_jalr, OP(.rs1 = RA));
    start(&rig, 2);
    for (unsigned lane = 0; lane < 2; lane++) {
        assert_int_equal(warp_step(rig.warp, &rig.report), WARP_CALL);
        assert_int_equal(rig.report.lane, lane);
        warp_called(rig.warp, lane, 100 + lane);
    }
    assert_int_equal(warp_register(rig.warp, A0, 1), 101);
    assert_non_null(warp_next(rig.warp, &mask));
    assert_int_equal(mask, 3);
    assert_int_equal(warp_step(rig.warp, &rig.report), WARP_BARRIER);
    assert_int_equal(rig.report.mask, 3);
    assert_int_equal(warp_step(rig.warp, &rig.report), WARP_IDLE);
    warp_release(rig.warp);
    run_out(&rig);
    assert_int_equal(warp_thread_insns(rig.warp), 3 * 2);
    rig_free(&rig);
}

/* A register spilled by 32 lanes takes 256 contiguous bytes. A pointer to another lane's stack reads that
 * lane's word. */
static void stacks_interleave(void **state)
{
    struct rig rig;
    (void)state;
    rig_init(&rig, 32);
    lane_number(&rig);
    row(&rig, INSN_sd, OP(.rs1 = SP, .rs2 = T0, .imm = -24));
    row(&rig, INSN_ld, OP(.rd = T1, .rs1 = A0));
    row(&rig, INSN_lwu, OP(.rd = T2, .rs1 = A0, .imm = 6)); /* two bytes of this word, two of the next */
    row(&rig, INSN_jalr, OP(.rs1 = RA));
    start(&rig, 32);
    for (unsigned lane = 0; lane < 32; lane++)
        warp_set_register(rig.warp, A0, lane, warp_register(rig.warp, SP, (lane + 1) % 32) - 24);
    assert_int_equal(warp_step(rig.warp, &rig.report), WARP_DONE);
    assert_int_equal(warp_step(rig.warp, &rig.report), WARP_DONE);
    assert_int_equal(rig.report.space, WARP_STACK);
    /* Word (256 - 24) / 8 = 29 of each stack: 29 rows of two warps, 256 bytes each, come before its row. There the
     * two warps have changed places, because 29 is odd. */
    for (unsigned lane = 0; lane < 32; lane++)
        assert_int_equal(rig.report.physical[lane], BASE + 0x8000 + (29 * 2 + 1) * 256 + lane * 8);
    run_out(&rig);
    for (unsigned lane = 0; lane < 32; lane++) {
        assert_int_equal(warp_register(rig.warp, T1, lane), (lane + 1) % 32);
        assert_int_equal(warp_register(rig.warp, T2, lane), 0);
    }
    rig_free(&rig);
}

/* For any number of warps, a word of all warps is one range; and 16 words of one warp fall into different sets of a
 * cache of 32 KiB and 4 ways, whose sets repeat after 8 KiB; two may share one for odd numbers of warps. */
static void stacks_spread(void **state)
{
    (void)state;
    static const struct {
        uint32_t warps, turns;
    } cases[] = {{1, 1}, {5, 4}, {48, 32}, {64, 64}, {720, 512}, {3072, 2048}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct warp_memory memory = {
            .stack_turns = cases[i].turns,
            .setup = {.width = 32, .stack_shift = 14, .stack_warps = cases[i].warps}};
        uint64_t row = UINT64_C(256) * cases[i].warps;
        uint8_t sets[32] = {0};
        for (uint64_t word = 2048 - 16; word < 2048; word++) {
            for (uint32_t warp = 0; warp < cases[i].warps; warp++) {
                uint64_t at = warp_stack_row(&memory, word, warp);
                assert_in_range(at, word * row, (word + 1) * row - 256);
                assert_int_equal(at % 256, 0);
                assert_int_equal(warp_stack_swizzle(&memory, ((warp * UINT64_C(32) + 3) << 14) + 8 * word),
                                 at + 24);
            }
            uint64_t set = warp_stack_row(&memory, word, 0) % 8192 / 256;
            assert_true(++sets[set] <= (cases[i].warps % 16 ? 2 : 1));
        }
    }
}

/* Each row of storage belongs to the group of its number, and no two warps and words share one. */
static void stacks_take_turns_by_group(void **state)
{
    (void)state;
    enum { WARPS = 3072, GROUPS = 16, FIRST = 5, WORDS = 4 };
    struct warp_memory memory = {.setup = {.width = 32, .stack_shift = 14, .stack_warps = WARPS}};
    static bool used[WORDS * WARPS];
    warp_memory_set_groups(&memory, GROUPS, FIRST);
    for (uint64_t word = 0; word < WORDS; word++)
        for (uint32_t warp = 0; warp < WARPS; warp++) {
            uint64_t row = warp_stack_row(&memory, word, warp) / 256;
            assert_in_range(row, word * WARPS, (word + 1) * WARPS - 1);
            assert_false(used[row]);
            used[row] = true;
            assert_int_equal((row + FIRST) % GROUPS, warp / (WARPS / GROUPS));
        }
}

/* The swizzle is a permutation for every width. */
static void swizzle_is_bijective(void **state)
{
    (void)state;
    for (unsigned width = 1; width <= 32; width *= 2) {
        struct rig rig;
        uint8_t seen[2 * 32 << SHIFT] = {0};
        rig_init(&rig, width);
        for (uint64_t s = 0; s < rig.code.memory.stack_size; s++) {
            uint64_t at = warp_stack_swizzle(&rig.code.memory, s);
            assert_true(at < rig.code.memory.stack_size && !seen[at]);
            assert_int_equal(at % 8, s % 8);
            seen[at] = 1;
        }
        rig_free(&rig);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(branches_join),
        cmocka_unit_test(calls_come_first),
        cmocka_unit_test(indirect_jumps_scatter),
        cmocka_unit_test(spinning_ends),
        cmocka_unit_test(locks_work),
        cmocka_unit_test(atomics_go_by_lane),
        cmocka_unit_test(traps_name_the_lane),
        cmocka_unit_test(calls_go_by_lane),
        cmocka_unit_test(stacks_interleave),
        cmocka_unit_test(stacks_spread),
        cmocka_unit_test(stacks_take_turns_by_group),
        cmocka_unit_test(swizzle_is_bijective),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
