/* Divergence, progress, atomics, traps, calls and stacks of one warp, with programs of a few instructions. Tests run with both
 * policies of reconvergence, *state, unless they say otherwise. */
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

static void rig_init(struct rig *rig, unsigned width, void **state)
{
    struct error err;
    memset(rig, 0, sizeof *rig);
    code_fixture_init(&rig->code, SIZE,
                      (struct warp_memory_setup){.width = width,
                                                 .reconvergence = *(enum warp_reconvergence *)*state,
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
        event = warp_run(rig->warp, 2 * WARP_PATIENCE, &rig->report);
        assert_true(event == WARP_EXIT || event == WARP_IDLE);
    }
    assert_int_equal(warp_live(rig->warp), 0);
}

static bool stacked(void **state)
{
    return *(enum warp_reconvergence *)*state == WARP_STACKED;
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
    rig_init(&rig, 32, state);
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
    rig_init(&rig, 32, state);
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
    rig_init(&rig, 32, state);
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
static uint64_t spin(void **state, int32_t step)
{
    struct rig rig;
    rig_init(&rig, 32, state);
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
    assert_in_range(spin(state, 0), 8 * 3 * WARP_LOOK + 2003, 8 * (2 * 3 * WARP_LOOK + WARP_SHARE) + 100);
    /* With a stack, lane 31 gets its first turn after WARP_PATIENCE. */
    uint64_t first = stacked(state) ? WARP_PATIENCE : 0;
    assert_in_range(spin(state, 1), first + 7 * WARP_TURN, first + 8 * (WARP_TURN + WARP_SHARE) + 100);
}

/* A lock by LR and SC around a non-atomic counter; lanes hold it at different times. */
static void locks_work(void **state)
{
    struct rig rig;
    rig_init(&rig, 32, state);
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
    rig_init(&rig, 32, state);
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
    rig_init(&rig, 32, state);
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
    rig_init(&rig, 32, state);
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
    rig_init(&rig, 32, state);
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
        rig_init(&rig, width, state);
        for (uint64_t s = 0; s < rig.code.memory.stack_size; s++) {
            uint64_t at = warp_stack_swizzle(&rig.code.memory, s);
            assert_true(at < rig.code.memory.stack_size && !seen[at]);
            assert_int_equal(at % 8, s % 8);
            seen[at] = 1;
        }
        rig_free(&rig);
    }
}

/* if (lane & 1) goto far; t1 = 1; join: t2 = 7; return; far: t1 = 2; goto join. Compilers move unlikely code behind the end. By
 * the lowest pc, the even lanes execute the rest before the odd ones execute `far`. Numbers of instructions, by hand: 3, then
 * 3 of the even and 4 of the odd lanes; with a stack 3, 1 and 2, then 2 of all. */
static void far_code_joins(void **state)
{
    struct rig rig;
    rig_init(&rig, 32, state);
    lane_number(&rig);
    row(&rig, INSN_andi, OP(.rd = T1, .rs1 = T0, .imm = 1));
    row(&rig, INSN_bne, OP(.rs1 = T1, .imm = 16));
    row(&rig, INSN_addi, OP(.rd = T1, .imm = 1));
    row(&rig, INSN_addi, OP(.rd = T2, .imm = 7)); /* join */
    row(&rig, INSN_jalr, OP(.rs1 = RA));
    row(&rig, INSN_addi, OP(.rd = T1, .imm = 2)); /* far */
    row(&rig, INSN_jal, OP(.imm = -12));
    start(&rig, 32);
    run_out(&rig);
    assert_int_equal(warp_insns(rig.warp), stacked(state) ? 8 : 10);
    assert_int_equal(warp_thread_insns(rig.warp), 3 * 32 + 16 + 2 * 16 + 2 * 32);
    for (unsigned lane = 0; lane < 32; lane++)
        assert_int_equal(warp_register(rig.warp, T1, lane), 1 + lane % 2);
    rig_free(&rig);
}

/* The other branch of a tree of `if`: placed behind the code, as compilers place what they take for unlikely. */
struct far_code {
    uint64_t branch, join;
    int bit;
    int32_t value;
};

/* Appends if (lane & 1 << bit) far code; else ..., and so on for the lower bits. At the end, a1 = the lane's number. */
static void tree(struct rig *rig, struct far_code *far, unsigned *count, int bit, int32_t value)
{
    if (bit < 0) {
        row(rig, INSN_addi, OP(.rd = A1, .imm = value));
        return;
    }
    row(rig, INSN_andi, OP(.rd = T1, .rs1 = T0, .imm = 1 << bit));
    struct far_code later = {.branch = rig->code.at, .bit = bit - 1, .value = value | 1 << bit};
    row(rig, INSN_bne, OP(.rs1 = T1)); /* its target comes later */
    tree(rig, far, count, bit - 1, value);
    later.join = rig->code.at;
    far[(*count)++] = later;
}

static void tree_far(struct rig *rig, struct far_code *far, unsigned *count, unsigned number)
{
    const struct far_code code = far[number];
    uint64_t at = rig->code.at;
    rig->code.at = code.branch;
    row(rig, INSN_bne, OP(.rs1 = T1, .imm = (int32_t)(at - code.branch)));
    rig->code.at = at;
    tree(rig, far, count, code.bit, code.value);
    row(rig, INSN_jal, OP(.imm = (int32_t)(code.join - rig->code.at)));
}

/* A 32-way `if`, then 8 instructions. With a stack: the lane's number, 31 times 2 instructions of a choice, 32 leaves, 31 jumps
 * back, and the rest once. By the lowest pc each lane goes back alone: as many jumps as its number has ones, in all 80, and
 * the rest 32 times. */
static void a_tree_of_choices(void **state)
{
    struct rig rig;
    struct far_code far[32];
    unsigned count = 0;
    rig_init(&rig, 32, state);
    lane_number(&rig);
    tree(&rig, far, &count, 4, 0);
    for (unsigned i = 0; i < 8; i++)
        row(&rig, INSN_addi, OP(.rd = A2, .rs1 = A2, .imm = 1));
    row(&rig, INSN_jalr, OP(.rs1 = RA));
    for (unsigned i = 0; i < count; i++)
        tree_far(&rig, far, &count, i);
    start(&rig, 32);
    run_out(&rig);
    assert_int_equal(warp_insns(rig.warp),
                     stacked(state) ? 1 + 31 * 2 + 32 + 31 + 9 : 1 + 31 * 2 + 32 + 80 + 32 * 9);
    assert_int_equal(warp_thread_insns(rig.warp), 32 * (1 + 5 * 2 + 1 + 9) + 80);
    for (unsigned lane = 0; lane < 32; lane++)
        assert_int_equal(warp_register(rig.warp, A1, lane), lane);
    rig_free(&rig);
}

/* if ((lane & 1) || (lane & 2)) t2 += 1; else t2 += 2. Both branches go to the same code, but post-dominates them only the end.
 * Instructions: 3 of all; 2 of the even lanes; t2 += 2 and the jump for those divisible by 4; then t2 += 1: by the lowest pc
 * once for all, with a stack once for the lanes of each branch; 1 of all. */
static void short_circuits_join_late(void **state)
{
    struct rig rig;
    rig_init(&rig, 32, state);
    lane_number(&rig);
    row(&rig, INSN_andi, OP(.rd = T1, .rs1 = T0, .imm = 1));
    row(&rig, INSN_bne, OP(.rs1 = T1, .imm = 20));
    row(&rig, INSN_andi, OP(.rd = T1, .rs1 = T0, .imm = 2));
    row(&rig, INSN_bne, OP(.rs1 = T1, .imm = 12));
    row(&rig, INSN_addi, OP(.rd = T2, .rs1 = T2, .imm = 2));
    row(&rig, INSN_jal, OP(.imm = 8));
    row(&rig, INSN_addi, OP(.rd = T2, .rs1 = T2, .imm = 1));
    row(&rig, INSN_jalr, OP(.rs1 = RA));
    start(&rig, 32);
    run_out(&rig);
    assert_int_equal(warp_insns(rig.warp), stacked(state) ? 3 + 2 + 2 + 2 + 1 : 3 + 2 + 2 + 1 + 1);
    for (unsigned lane = 0; lane < 32; lane++)
        assert_int_equal(warp_register(rig.warp, T2, lane), lane % 4 ? 1 : 2);
    rig_free(&rig);
}

/* Lane l goes round a loop l % 8 + 1 times; lanes that are through wait behind it. In the loop, odd lanes skip an instruction.
 * Instructions: 2 before, 8 rounds of 4 of which the second is for the even lanes only, 2 behind: lanes divisible by 2 are left
 * until round 7, so the skipped instruction is executed 7 times. */
static void loops_end_at_different_times(void **state)
{
    struct rig rig;
    rig_init(&rig, 32, state);
    lane_number(&rig);
    row(&rig, INSN_andi, OP(.rd = T1, .rs1 = T0, .imm = 7));
    row(&rig, INSN_andi, OP(.rd = T2, .rs1 = T0, .imm = 1)); /* the loop */
    row(&rig, INSN_bne, OP(.rs1 = T2, .imm = 8));
    row(&rig, INSN_addi, OP(.rd = A1, .rs1 = A1, .imm = 1));
    row(&rig, INSN_addi, OP(.rd = T1, .rs1 = T1, .imm = -1));
    row(&rig, INSN_bge, OP(.rs1 = T1, .imm = -16));
    row(&rig, INSN_addi, OP(.rd = A2, .rs1 = A1));
    row(&rig, INSN_jalr, OP(.rs1 = RA));
    start(&rig, 32);
    run_out(&rig);
    assert_int_equal(warp_insns(rig.warp), 2 + 8 * 4 + 7 + 2);
    for (unsigned lane = 0; lane < 32; lane++)
        assert_int_equal(warp_register(rig.warp, A2, lane), lane % 2 ? 0 : lane % 8 + 1);
    rig_free(&rig);
}

/* f(n): if (n == 0) return; f(n - 1); a1 += 1. Lane l calls it with l % 4. The lanes that return at once wait in their call, at
 * an address that the others pass in deeper calls. Instructions of each call depth: 2 of those that come there (branch and
 * return are 2 for those that leave), so the rows below the branch are executed once for each depth by all lanes above it. */
static void recursion_keeps_its_depths(void **state)
{
    struct rig rig;
    rig_init(&rig, 32, state);
    lane_number(&rig);
    row(&rig, INSN_andi, OP(.rd = T1, .rs1 = T0, .imm = 3));
    uint64_t f = rig.code.at; /* the kernel is the outermost call */
    row(&rig, INSN_beq, OP(.rs1 = T1, .imm = 32));
    row(&rig, INSN_addi, OP(.rd = SP, .rs1 = SP, .imm = -16));
    row(&rig, INSN_sd, OP(.rs1 = SP, .rs2 = RA));
    row(&rig, INSN_addi, OP(.rd = T1, .rs1 = T1, .imm = -1));
    row(&rig, INSN_jal, OP(.rd = RA, .imm = (int32_t)(f - rig.code.at)));
    row(&rig, INSN_ld, OP(.rd = RA, .rs1 = SP));
    row(&rig, INSN_addi, OP(.rd = SP, .rs1 = SP, .imm = 16));
    row(&rig, INSN_addi, OP(.rd = A1, .rs1 = A1, .imm = 1));
    row(&rig, INSN_jalr, OP(.rs1 = RA));
    start(&rig, 32);
    run_out(&rig);
    /* 2; four branches, three times 4 rows downwards and 3 upwards, and four returns, each by all lanes of its depth. */
    assert_int_equal(warp_insns(rig.warp), 2 + 4 + 3 * 4 + 3 * 3 + 4);
    for (unsigned lane = 0; lane < 32; lane++)
        assert_int_equal(warp_register(rig.warp, A1, lane), lane % 4);
    rig_free(&rig);
}

/* Odd and even lanes wait at different barriers, in code that has parted, then all at a third one. */
static void barriers_in_parted_code(void **state)
{
    struct rig rig;
    rig_init(&rig, 32, state);
    lane_number(&rig);
    row(&rig, INSN_andi, OP(.rd = T1, .rs1 = T0, .imm = 1));
    row(&rig, INSN_beq, OP(.rs1 = T1, .imm = 16));
    row(&rig, INSN_csrrw, OP(.imm = BARRIER));
    row(&rig, INSN_addi, OP(.rd = A1, .imm = 1));
    row(&rig, INSN_jal, OP(.imm = 8));
    row(&rig, INSN_addi, OP(.rd = A1, .imm = 2));
    row(&rig, INSN_csrrw, OP(.imm = BARRIER)); /* of the even lanes the first, of the odd ones the second */
    row(&rig, INSN_beq, OP(.rs1 = T1, .imm = 8));
    row(&rig, INSN_jalr, OP(.rs1 = RA));
    row(&rig, INSN_csrrw, OP(.imm = BARRIER));
    row(&rig, INSN_jalr, OP(.rs1 = RA));
    start(&rig, 32);
    unsigned meetings = 0;
    for (unsigned i = 0; i < 100 && warp_live(rig.warp); i++) {
        enum warp_event event = warp_run(rig.warp, 1000, &rig.report);
        assert_true(event == WARP_BARRIER || event == WARP_EXIT || event == WARP_IDLE);
        if (warp_waiting(rig.warp) && warp_waiting(rig.warp) == warp_live(rig.warp)) {
            warp_release(rig.warp);
            meetings++;
        }
    }
    assert_int_equal(warp_live(rig.warp), 0);
    assert_int_equal(meetings, 2);
    for (unsigned lane = 0; lane < 32; lane++)
        assert_int_equal(warp_register(rig.warp, A1, lane), 2 - lane % 2);
    rig_free(&rig);
}

/* A switch by a jump table: each of four cases has one instruction and a jump to the end, which all lanes execute together.
 * Instructions: 6, 4 * 2, and 1. */
static void switches_join(void **state)
{
    struct rig rig;
    rig_init(&rig, 32, state);
    lane_number(&rig);
    row(&rig, INSN_andi, OP(.rd = T1, .rs1 = T0, .imm = 3));
    row(&rig, INSN_slli, OP(.rd = T1, .rs1 = T1, .imm = 3));
    row(&rig, INSN_auipc, OP(.rd = T2));
    row(&rig, INSN_add, OP(.rd = T2, .rs1 = T2, .rs2 = T1));
    row(&rig, INSN_jalr, OP(.rs1 = T2, .imm = 12));
    for (int i = 0; i < 4; i++) {
        row(&rig, INSN_addi, OP(.rd = A1, .imm = 10 + i));
        row(&rig, INSN_jal, OP(.imm = 4 + 8 * (3 - i)));
    }
    row(&rig, INSN_jalr, OP(.rs1 = RA));
    start(&rig, 32);
    run_out(&rig);
    assert_int_equal(warp_insns(rig.warp), 6 + 4 * 2 + 1);
    for (unsigned lane = 0; lane < 32; lane++)
        assert_int_equal(warp_register(rig.warp, A1, lane), 10 + lane % 4);
    rig_free(&rig);
}

/* Calls by pointers to four functions; the lanes meet behind the call. Instructions: 7, 4 * 2, and 2. */
static void calls_by_pointers_join(void **state)
{
    struct rig rig;
    rig_init(&rig, 32, state);
    lane_number(&rig);
    row(&rig, INSN_andi, OP(.rd = T1, .rs1 = T0, .imm = 3));
    row(&rig, INSN_slli, OP(.rd = T1, .rs1 = T1, .imm = 3));
    row(&rig, INSN_auipc, OP(.rd = T2));
    row(&rig, INSN_add, OP(.rd = T2, .rs1 = T2, .rs2 = T1));
    row(&rig, INSN_addi, OP(.rd = A2, .rs1 = RA));
    row(&rig, INSN_jalr, OP(.rd = RA, .rs1 = T2, .imm = 24));
    row(&rig, INSN_addi, OP(.rd = RA, .rs1 = A2));
    for (int i = 0; i < 4; i++) {
        if (i == 0)
            row(&rig, INSN_jalr, OP(.rs1 = RA)); /* of the kernel */
        row(&rig, INSN_addi, OP(.rd = A1, .imm = 10 + i));
        row(&rig, INSN_jalr, OP(.rs1 = RA));
    }
    start(&rig, 32);
    run_out(&rig);
    assert_int_equal(warp_insns(rig.warp), 7 + 4 * 2 + 2);
    for (unsigned lane = 0; lane < 32; lane++)
        assert_int_equal(warp_register(rig.warp, A1, lane), 10 + lane % 4);
    rig_free(&rig);
}

/* A thread that ends in parted code, and one that traps there, leave the others right. */
static void ends_and_traps_in_parted_code(void **state)
{
    struct rig rig;
    rig_init(&rig, 32, state);
    lane_number(&rig);
    row(&rig, INSN_andi, OP(.rd = T1, .rs1 = T0, .imm = 1));
    row(&rig, INSN_beq, OP(.rs1 = T1, .imm = 16));
    row(&rig, INSN_addi, OP(.rd = T2, .imm = 5));
    row(&rig, INSN_bne, OP(.rs1 = T0, .rs2 = T2, .imm = 8));
    row(&rig, INSN_ld, OP(.rd = A1, .rs1 = 0, .imm = 8)); /* lane 5 */
    row(&rig, INSN_addi, OP(.rd = A2, .imm = 3));
    row(&rig, INSN_jalr, OP(.rs1 = RA));
    start(&rig, 32);
    while (warp_step(rig.warp, &rig.report) == WARP_DONE) {
    }
    assert_int_equal(rig.report.event, WARP_TRAP);
    assert_int_equal(rig.report.lane, 5);
    assert_int_equal(rig.report.mask, UINT32_C(1) << 5);
    warp_end(rig.warp, 5);
    run_out(&rig);
    for (unsigned lane = 0; lane < 32; lane++)
        assert_true(lane == 5 || warp_register(rig.warp, A2, lane) == 3);
    rig_free(&rig);
}

#define BOTH(test)                                                                                           \
    {#test " by minpc", test, NULL, NULL, &policies[WARP_MINPC]},                                            \
    {                                                                                                        \
#test " by stack", test, NULL, NULL, &policies[WARP_STACKED]                                         \
    }

static void put(struct rig *rig, uint64_t address, enum insn_id id, struct operands operands)
{
    uint64_t at = rig->code.at;
    rig->code.at = address;
    row(rig, id, operands);
    rig->code.at = at;
}

/* Lanes store to a function that they have called and to one that a hart has run: both execute the new code. */
static void stores_change_code(void **state)
{
    enum { LANES = 0x400, HART = 0x200, NEW = 0x300, SUM = 0x600 };
    for (unsigned atomic = 0; atomic < 2; atomic++) {
        struct rig rig;
        struct hart hart;
        struct error err;
        rig_init(&rig, 32, state);
        assert_true(hart_init(&hart, &rig.code.phys, rig.code.decoder, &err));
        put(&rig, DATA + LANES, INSN_addi, OP(.rd = A2, .imm = 1));
        put(&rig, DATA + LANES + 4, INSN_jalr, OP(.rs1 = T1));
        put(&rig, DATA + HART, INSN_addi, OP(.rd = A2, .imm = 1));
        put(&rig, DATA + HART + 4, INSN_ebreak, OP(.rd = 0));
        put(&rig, DATA + NEW, INSN_addi, OP(.rd = A2, .imm = 2));
        row(&rig, INSN_lw, OP(.rd = T0, .rs1 = A0, .imm = NEW));
        row(&rig, INSN_addi, OP(.rd = T2, .rs1 = A0, .imm = LANES));
        row(&rig, INSN_jalr, OP(.rd = T1, .rs1 = T2));
        row(&rig, INSN_add, OP(.rd = A1, .rs1 = A2));
        if (atomic)
            row(&rig, INSN_amoswap_w, OP(.rs1 = T2, .rs2 = T0));
        else
            row(&rig, INSN_sw, OP(.rs1 = A0, .rs2 = T0, .imm = LANES));
        row(&rig, INSN_sw, OP(.rs1 = A0, .rs2 = T0, .imm = HART));
        row(&rig, INSN_jalr, OP(.rd = T1, .rs1 = T2));
        row(&rig, INSN_slli, OP(.rd = A1, .rs1 = A1, .imm = 4));
        row(&rig, INSN_add, OP(.rd = A1, .rs1 = A1, .rs2 = A2));
        row(&rig, INSN_sd, OP(.rs1 = A0, .rs2 = A1, .imm = SUM));
        row(&rig, INSN_jalr, OP(.rs1 = RA));
        hart.pc = DATA + HART;
        assert_int_equal(hart_run(&hart, 1000), HART_STOP_TRAP);
        assert_int_equal(hart.x[A2], 1);
        start(&rig, 32);
        run_out(&rig);
        assert_int_equal(word(&rig, DATA + SUM), 0x12);
        hart.pc = DATA + HART;
        assert_int_equal(hart_run(&hart, 1000), HART_STOP_TRAP);
        assert_int_equal(hart.x[A2], 2);
        hart_free(&hart);
        rig_free(&rig);
    }
}

int main(void)
{
    static enum warp_reconvergence policies[] = {[WARP_MINPC] = WARP_MINPC, [WARP_STACKED] = WARP_STACKED};
    const struct CMUnitTest tests[] = {
        BOTH(branches_join),
        BOTH(far_code_joins),
        BOTH(a_tree_of_choices),
        BOTH(short_circuits_join_late),
        BOTH(loops_end_at_different_times),
        BOTH(recursion_keeps_its_depths),
        BOTH(barriers_in_parted_code),
        BOTH(switches_join),
        BOTH(calls_by_pointers_join),
        BOTH(ends_and_traps_in_parted_code),
        BOTH(calls_come_first),
        BOTH(indirect_jumps_scatter),
        BOTH(spinning_ends),
        BOTH(locks_work),
        BOTH(atomics_go_by_lane),
        BOTH(traps_name_the_lane),
        BOTH(calls_go_by_lane),
        BOTH(stacks_interleave),
        BOTH(stacks_spread),
        cmocka_unit_test(stacks_take_turns_by_group),
        BOTH(swizzle_is_bijective),
        BOTH(stores_change_code),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
