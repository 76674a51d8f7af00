/* The out-of-order core's widths, units, windows and front end on small programs whose cost is computed by hand. Loops
 * end in an addi and a bne, whose cost is mostly hidden. */
#include "tests/core/ooo/test_ooo.h"

static void repeat(struct rig *rig, enum insn_id id, unsigned count, bool chain)
{
    for (unsigned i = 0; i < count; i++)
        rig_emit(rig, id,
                 (struct operands){
                     .rd = (uint8_t)(chain ? 5 : 5 + i % 8), .rs1 = chain ? 5 : 20, .rs2 = chain ? 5 : 21});
}

static void chain_mulw(struct rig *rig)
{
    repeat(rig, INSN_mulw, 10, true);
}
static void free_mulw(struct rig *rig)
{
    repeat(rig, INSN_mulw, 10, false);
}
static void free_mul(struct rig *rig)
{
    repeat(rig, INSN_mul, 10, false);
}
static void free_divw(struct rig *rig)
{
    repeat(rig, INSN_divw, 3, false);
}
static void free_add(struct rig *rig)
{
    repeat(rig, INSN_add, 29, false);
}
static void free_fadd(struct rig *rig)
{
    repeat(rig, INSN_fadd_d, 20, false);
}
static void chain_fma(struct rig *rig)
{
    for (unsigned i = 0; i < 4; i++)
        RIG_EMIT(rig, fmadd_d, .rd = 5, .rs1 = 5, .rs2 = 6, .rs3 = 7);
}

static void units(void **state)
{
    (void)state;
    /* 10 * latency 3. */
    expect(NULL, chain_mulw, 3000, CPI_dependency, NULL, NULL, "dependent mulw");
    /* One port. */
    expect(NULL, free_mulw, 1000, CPI_dependency, NULL, NULL, "independent mulw");
    /* One port, whose unit takes one every 2 cycles. */
    expect(NULL, free_mul, 2000, CPI_dependency, NULL, NULL, "independent mul");
    /* Not pipelined: 3 * 19. */
    expect(NULL, free_divw, 5700, CPI_dependency, NULL, NULL, "independent divw");
    /* Two ports for 29 adds and the addi. */
    expect(NULL, free_add, 1500, CPI_dependency, NULL, NULL, "independent add");
    /* Two ports. */
    expect(NULL, free_fadd, 1000, CPI_dependency, NULL, NULL, "independent fadd");
    /* 4 * latency 9. */
    expect(NULL, chain_fma, 3600, CPI_dependency, NULL, NULL, "dependent fmadd");
}

/* 13 adds (with the addi: 7 cycles on two ports), 8 loads, 7 mulw, the bne: 30 instructions, limited only by the width
 * of 3: 10 cycles. Fetch: 30 * 4 / 16 is 8 blocks, plus a cycle for the taken branch. */
static void mixed(struct rig *rig)
{
    for (unsigned i = 0; i < 13; i++) {
        RIG_EMIT(rig, add, .rd = 5, .rs1 = 20, .rs2 = 21);
        if (i < 8)
            RIG_EMIT(rig, ld, .rd = 6, .rs1 = 22, .imm = 8);
        if (i < 7)
            RIG_EMIT(rig, mulw, .rd = 7, .rs1 = 20, .rs2 = 21);
    }
}
static void data_near(struct rig *rig)
{
    rig_set(rig, 22, RIG_BASE + 0x10000);
}

static void width(void **state)
{
    (void)state;
    uint64_t causes[CPI_CAUSES];
    struct rig_loop loop = {.setup = data_near, .body = mixed, .make = make, .iterations = N};
    rig_check(rig_loop(&loop, causes), N, 1000, 100, "mixed");
    rig_check(causes[CPI_base], N, 1000, 100, "cycles at full width");
    struct core_config config = defaults();
    config.decode_width = 2;
    loop.context = &config;
    rig_check(rig_loop(&loop, NULL), N, 1500, 100, "two wide");
}

/* 10 jumps, each to the next 16-byte block, cost a block and a bubble each; so does the branch. */
static void jumps(struct rig *rig)
{
    for (unsigned i = 0; i < 10; i++) {
        rig_jump(rig, 0, rig->at + 16);
        rig->at += 12;
    }
}

static void fetch(void **state)
{
    (void)state;
    expect(NULL, jumps, 2200, CPI_frontend, NULL, NULL, "taken jumps");
    /* The BTB has 4 entries for 11 cyclic jumps, so all miss: 10 jumps of 1 + 4 cycles, and the branch. */
    struct core_config config = defaults();
    config.predict.btb = 4;
    config.predict.btb_ways = 4;
    expect(NULL, jumps, 5500, CPI_frontend, &config, NULL, "BTB misses");
    /* One instruction a cycle. */
    config = defaults();
    config.fetch_bytes = 4;
    expect(NULL, free_add, 3200, CPI_frontend, &config, NULL, "narrow fetch");
}

/* A chain of calls four deep, and back, twice: all predicted by BTB and return stack. */
static void calls(struct rig *rig)
{
    uint64_t call = rig->at;
    for (unsigned i = 0; i < 2; i++)
        rig_jump(rig, 1, call + 32);
    rig_jump(rig, 0, call + 32 + 4 * 32);
    rig->at = call + 32;
    for (unsigned level = 0; level < 4; level++) {
        uint64_t at = rig->at;
        RIG_EMIT(rig, addi, .rd = (uint8_t)(10 + level), .rs1 = 1);
        if (level < 3)
            rig_jump(rig, 1, at + 32);
        RIG_EMIT(rig, addi, .rd = 1, .rs1 = (uint8_t)(10 + level));
        RIG_EMIT(rig, jalr, .rs1 = 1);
        rig->at = at + 32;
    }
}

static void returns(void **state)
{
    (void)state;
    uint64_t causes[CPI_CAUSES];
    struct rig_loop loop = {.body = calls, .make = make, .iterations = N};
    /* 4 calls and 4 returns twice, a jump and the branch: 18 * 2 cycles, plus blocks: a function's 16 bytes are one
     * block, and only the innermost begins at a block of its own. */
    rig_check(rig_loop(&loop, causes), N, 3600, 100, "calls");
    rig_check(causes[CPI_branch], N, 0, 1, "mispredicted returns");
    /* A return stack of 2 predicts the inner two of every four. */
    struct core_config config = defaults();
    config.predict.returns = 2;
    config.predict.btb = 16;
    config.predict.indirect = 16;
    loop.context = &config;
    uint64_t cycles = rig_loop(&loop, causes);
    if (causes[CPI_branch] < 20 * N)
        fail_msg("a short return stack: %llu", (unsigned long long)cycles);
}

/* A random bit decides. */
static void random_branch(struct rig *rig)
{
    rig_random_bit(rig, 7);
    rig_branch(rig, INSN_beq, 7, 0, rig->at + 8);
    RIG_EMIT(rig, addi, .rd = 8, .rs1 = 8, .imm = 1);
}

static void mispredicts(void **state)
{
    (void)state;
    struct rig *rig = rig_new(NULL);
    uint64_t cycles;
    rig_set(rig, 31, 2000);
    RIG_EMIT(rig, addi, .rd = 5, .imm = 1027);
    while (rig->at % 64)
        RIG_EMIT(rig, addi, 0);
    uint64_t top = rig->at;
    random_branch(rig);
    RIG_EMIT(rig, addi, .rd = 31, .rs1 = 31, .imm = -1);
    rig_branch(rig, INSN_bne, 31, 0, top);
    struct ooo *o = run_program(rig, NULL, &cycles);
    uint64_t wrong = o->predictor.count.branches_wrong;
    assert_in_range(wrong, 800, 1300);
    /* The chain through x5 ends at c; andi and branch execute until c + 2; redirect: c + 3; the block of the branch's
     * target, a bubble, the loop's first block at c + 5; 12 to dispatch, 1 to issue, 6 for the chain: c + 24. A correct
     * prediction costs 6. */
    uint64_t bound = wrong * 24 + (2000 - wrong) * 6;
    assert_in_range(cycles, bound - bound / 50, bound + bound / 50);
    assert_in_range(o->core.cpi[CPI_branch], 12 * wrong, 16 * wrong);
    rig_free(rig);
}

/* A new branch is predicted as not taken; it waits for a multiplication. Meanwhile the lines after it are fetched: the
 * next one misses, and no further one is requested. */
static uint64_t run_wrong_path(uint32_t mshrs)
{
    struct rig_options options = rig_options_default();
    options.cold = true;
    options.l1i.mshrs = mshrs;
    struct rig *rig = rig_new(&options);
    uint64_t cycles;
    RIG_EMIT(rig, mulw, .rd = 5, .rs1 = 5, .rs2 = 5);
    rig_branch(rig, INSN_beq, 5, 0, RIG_BASE + 0x400);
    rig->at = RIG_BASE + 0x400;
    struct ooo *o = run_program(rig, NULL, &cycles);
    assert_int_equal(o->predictor.count.branches_wrong, 1);
    assert_int_equal(o->count.fetch_wrong_lines, 2);
    assert_int_equal(cache_line_state(rig->l1i, RIG_BASE + 0x40), CACHE_EXCLUSIVE);
    assert_int_equal(cache_line_state(rig->l1i, RIG_BASE + 0x80), CACHE_INVALID);
    rig_free(rig);
    return cycles;
}

/* Both are fetched at f, when their line has arrived. Wrong path: the remaining 56 bytes of the line from f + 1 on, 16
 * a cycle; the next line is requested at f + 4 and arrives at f + 4 + 22 = f + 26. Right path: dispatch f + 12, the
 * multiplication f + 13 to f + 16, the branch until f + 17, redirect: requested at f + 18. With one MSHR it waits 8
 * cycles for the wrong line. */
static void wrong_path(void **state)
{
    (void)state;
    assert_int_equal(run_wrong_path(8), run_wrong_path(2));
    assert_int_equal(run_wrong_path(1), run_wrong_path(8) + 8);
}

/* A CSR access waits until everything before it has retired, executes in a cycle, and then the next instructions are
 * fetched: 1 + front end 12 + issue 1. */
static void csrs(struct rig *rig)
{
    for (unsigned i = 0; i < 5; i++)
        RIG_EMIT(rig, csrrs, .rd = 5, .rs1 = 0, .imm = 3);
}
/* Fences do not empty the front end: the next one is dispatched when one is done, and issues a cycle later. From an
 * iteration's last fence to the next one's first are 4 cycles: dispatch and issue of the addi, the branch that depends
 * on it, and the fence. */
static void fences(struct rig *rig)
{
    for (unsigned i = 0; i < 5; i++)
        RIG_EMIT(rig, fence, .imm = 0xff);
}

static void serial(void **state)
{
    (void)state;
    /* The next iteration's first instruction is fetched 2 cycles after the branch's block. */
    expect(NULL, csrs, 7200, CPI_serialise, NULL, NULL, "CSR accesses");
    expect(NULL, fences, 1200, CPI_serialise, NULL, NULL, "fences");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(units),   cmocka_unit_test(width),       cmocka_unit_test(fetch),
        cmocka_unit_test(returns), cmocka_unit_test(mispredicts), cmocka_unit_test(wrong_path),
        cmocka_unit_test(serial),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
