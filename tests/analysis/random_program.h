/* Random programs for two threads of a warp with the same values: what one of them computes with other values in some
 * registers tells whether these matter. */
#ifndef TESTS_ANALYSIS_RANDOM_PROGRAM_H
#define TESTS_ANALYSIS_RANDOM_PROGRAM_H

#include "emu/analysis/liveness.h"
#include "tests/isa/random.h"
#include "tests/simt/code_fixture.h"

enum {
    LENGTH = 48, /* instructions of a program's random part */
    STEPS = 2000,
    S0 = 8,
    S1 = 9,
    A0 = 10,
    LOW = 11, /* the registers LOW to LOW + 7, a1 to s2, are operands, and s3 = COUNTER counts rounds */
    COUNTER = 19,
    SIZE = 0x10000,
    DATA = 0x4000, /* offset of the threads' data */
    CALLEE_END = 4 + 4 * 8,
};
#define DATA_SIZE UINT64_C(1024)

struct rig {
    struct code_fixture code;
    struct warp *warp;
    struct random random;
};

static inline bool fetch(void *context, uint64_t pc, uint32_t *bits)
{
    const struct rig *rig = context;
    if (pc < CODE_BASE || pc >= rig->code.at)
        return false;
    memcpy(bits, phys_at(&rig->code.phys, pc, 4), 4);
    return true;
}

static inline void row(struct rig *rig, enum insn_id id, struct operands operands)
{
    code_fixture_row(&rig->code, id, operands);
}

static inline uint8_t any_register(struct rig *rig)
{
    return (uint8_t)(LOW + random_below(&rig->random, 8));
}

/* Appends an instruction whose operands are random registers; addresses are the thread's data. */
static inline void plain(struct rig *rig)
{
    static const enum insn_id ids[] = {
        INSN_add,     INSN_sub,      INSN_addi,      INSN_addiw,    INSN_addw,    INSN_subw,
        INSN_and,     INSN_andi,     INSN_or,        INSN_xori,     INSN_sll,     INSN_slli,
        INSN_srl,     INSN_srai,     INSN_sraiw,     INSN_sllw,     INSN_slt,     INSN_sltu,
        INSN_mul,     INSN_mulw,     INSN_mulhu,     INSN_divu,     INSN_remw,    INSN_lui,
        INSN_sh2add,  INSN_add_uw,   INSN_slli_uw,   INSN_sext_h,   INSN_zext_h,  INSN_ror,
        INSN_rorw,    INSN_cpop,     INSN_clzw,      INSN_min,      INSN_andn,    INSN_bset,
        INSN_bexti,   INSN_ctz,      INSN_rev8,      INSN_orc_b,    INSN_ld,      INSN_lw,
        INSN_lwu,     INSN_lb,       INSN_lhu,       INSN_sd,       INSN_sw,      INSN_sh,
        INSN_sb,      INSN_sd,       INSN_fld,       INSN_flw,      INSN_fsd,     INSN_fsw,
        INSN_fadd_d,  INSN_fmadd_d,  INSN_fmul_s,    INSN_fmv_x_d,  INSN_fmv_d_x, INSN_fmv_x_w,
        INSN_fmv_w_x, INSN_fcvt_s_d, INSN_fcvt_d_w,  INSN_fcvt_w_s, INSN_feq_d,   INSN_fclass_s,
        INSN_fsgnj_d, INSN_fcvt_d_l, INSN_fcvt_s_wu, INSN_fmin_s,   INSN_fdiv_s,  INSN_fmsub_s,
    };
    enum insn_id id = ids[random_below(&rig->random, sizeof ids / sizeof *ids)];
    struct operands o = {.rd = any_register(rig),
                         .rs1 = any_register(rig),
                         .rs2 = any_register(rig),
                         .rs3 = any_register(rig),
                         .imm = (int32_t)random_below(&rig->random, 32)};
    if (insn_table[id].access != ACCESS_NONE) {
        o.rs1 = S0;
        o.imm = (int32_t)(8 * random_below(&rig->random, 100));
    }
    if (id == INSN_lui)
        o.imm <<= 12;
    row(rig, id, o);
}

/* Appends a conditional branch over the next 1 to 4 instructions. */
static inline void branch(struct rig *rig)
{
    static const enum insn_id ids[] = {INSN_beq, INSN_bne, INSN_blt, INSN_bgeu};
    uint32_t over = 1 + random_below(&rig->random, 4);
    row(rig, ids[random_below(&rig->random, 4)],
        OP(.rs1 = any_register(rig), .rs2 = any_register(rig), .imm = (int32_t)(4 + 4 * over)));
    for (uint32_t i = 0; i < over; i++)
        plain(rig);
}

/* Appends a function that reads two arguments, changes registers that it may change, keeps one on its stack, and returns
 * a result. */
static inline void callee(struct rig *rig)
{
    row(rig, INSN_addi, OP(.rd = SP, .rs1 = SP, .imm = -16));
    row(rig, INSN_sd, OP(.rs1 = SP, .rs2 = S1));
    row(rig, INSN_add, OP(.rd = S1, .rs1 = A0, .rs2 = LOW));
    row(rig, INSN_addi, OP(.rd = 28, .imm = 5));
    row(rig, INSN_xor, OP(.rd = 10, .rs1 = S1, .rs2 = 28));
    row(rig, INSN_ld, OP(.rd = S1, .rs1 = SP));
    row(rig, INSN_addi, OP(.rd = SP, .rs1 = SP, .imm = 16));
    row(rig, INSN_jalr, OP(.rs1 = RA));
}

/* A program: straight code with branches, within a loop of a few rounds, with a call in the middle. */
static inline void write_program(struct rig *rig)
{
    uint64_t function = CODE_BASE + 4;
    rig->code.at = CODE_BASE;
    row(rig, INSN_jal, OP(.imm = CALLEE_END));
    callee(rig);
    row(rig, INSN_addi, OP(.rd = S1, .rs1 = RA));
    for (unsigned i = 0; i < 8; i++)
        plain(rig);
    row(rig, INSN_addi, OP(.rd = COUNTER, .imm = (int32_t)(1 + random_below(&rig->random, 4))));
    uint64_t loop = rig->code.at;
    for (uint64_t end = loop + UINT64_C(4) * LENGTH; rig->code.at < end;)
        random_chance(&rig->random, 15) ? branch(rig) : plain(rig);
    row(rig, INSN_addi, OP(.rd = A0, .rs1 = any_register(rig)));
    row(rig, INSN_jal, OP(.rd = RA, .imm = (int32_t)(function - rig->code.at)));
    row(rig, INSN_addi, OP(.rd = any_register(rig), .rs1 = A0));
    row(rig, INSN_addi, OP(.rd = COUNTER, .rs1 = COUNTER, .imm = -1));
    row(rig, INSN_bne, OP(.rs1 = COUNTER, .imm = (int32_t)(loop - rig->code.at)));
    for (unsigned i = 0; i < 4; i++)
        plain(rig);
    row(rig, INSN_addi, OP(.rd = RA, .rs1 = S1));
    row(rig, INSN_jalr, OP(.rs1 = RA));
}

static inline uint64_t data_of(unsigned lane)
{
    return CODE_BASE + DATA + DATA_SIZE * lane;
}

static inline void start(struct rig *rig)
{
    const struct warp_place place = {.block_size = {2, 1, 1}, .grid_size = {1, 1, 1}};
    warp_memory_flush(&rig->code.memory);
    warp_start(rig->warp, &place, CODE_BASE, 0, 0);
    for (unsigned reg = LOW; reg < LOW + 8; reg++) {
        uint64_t value = random_next(&rig->random) >> random_below(&rig->random, 40), real;
        double number = (double)random_below(&rig->random, 1000) / 8;
        memcpy(&real, &number, 8);
        for (unsigned lane = 0; lane < 2; lane++) {
            warp_set_register(rig->warp, reg, lane, value);
            warp_set_register(rig->warp, 32 + reg, lane, real);
        }
    }
    for (unsigned lane = 0; lane < 2; lane++) {
        warp_set_register(rig->warp, S0, lane, data_of(lane));
        for (uint64_t at = 0; at < DATA_SIZE; at += 8)
            memcpy(phys_at(&rig->code.phys, data_of(lane) + at, 8), &at, 8);
    }
}

/* Runs both threads in step to their ends. */
static inline void run_out(struct rig *rig)
{
    struct warp_report report;
    for (unsigned i = 0; i < STEPS && warp_live(rig->warp); i++) {
        enum warp_event event = warp_step(rig->warp, &report);
        assert_true(event == WARP_DONE || event == WARP_EXIT);
        assert_int_equal(report.mask, 3);
    }
    assert_int_equal(warp_live(rig->warp), 0);
}

/* Compares results, what a function keeps for its caller, and memory. s1 keeps a return address here. */
static inline void compare(const struct rig *rig)
{
    const uint64_t set = RESULTS | POINTERS | CALLEE_SAVED_FLOAT | (CALLEE_SAVED & ~register_bit(RA));
    for (unsigned reg = 1; reg < REGISTERS; reg++) {
        uint64_t differ = warp_register(rig->warp, reg, 0) ^ warp_register(rig->warp, reg, 1);
        if (set >> reg & 1 && reg != S0 && reg != SP)
            assert_int_equal(differ, 0);
    }
    assert_memory_equal(phys_at(&rig->code.phys, data_of(0), DATA_SIZE),
                        phys_at(&rig->code.phys, data_of(1), DATA_SIZE), DATA_SIZE);
}

static inline void rig_init(struct rig *rig)
{
    struct error err;
    *rig = (struct rig){.random = {7}};
    code_fixture_init(&rig->code, SIZE,
                      (struct warp_memory_setup){.width = 2,
                                                 .write_first = CODE_BASE,
                                                 .stack_shift = 8,
                                                 .stack_physical = CODE_BASE + 0x8000,
                                                 .stack_warps = 1});
    rig->warp = warp_new(&rig->code.memory, &err);
    assert_non_null(rig->warp);
}

static inline void rig_free(struct rig *rig)
{
    warp_free(rig->warp);
    code_fixture_free(&rig->code);
}

#endif
