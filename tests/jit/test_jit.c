/* Compiled code beside single steps: limits, faults, changed code, modes of rounding, and a full memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "emu/hart/fp.h"
#include "emu/jit/jit.h"
#include "tests/hart/fixture.h"

enum { SIZE = 0x10000, T0 = 5, T1 = 6, T2 = 7, S0 = 8, A0 = 10, A1 = 11, A2 = 12, RA = 1, CODE_END = 0x1000 };

/* Two equal machines: `run` compiles, `step` steps. */
struct pair {
    struct fixture run, step;
    struct jit *jit;
};

static void open_pair(struct pair *pair, void (*write)(struct fixture *f))
{
    struct fixture *fixtures[] = {&pair->run, &pair->step};
    for (unsigned i = 0; i < 2; i++) {
        fixture_init(fixtures[i], SIZE);
        hart_protect(&fixtures[i]->hart, FIXTURE_BASE + CODE_END);
        write(fixtures[i]);
    }
    pair->jit = jit_new(&pair->run.hart, JIT_ALWAYS, JIT_MEMORY_LEAST);
}

static void close_pair(struct pair *pair)
{
    jit_free(pair->jit);
    fixture_free(&pair->run);
    fixture_free(&pair->step);
}

/* Begins the program again: registers, counts and data as at the start, but code stays compiled. */
static void restart(struct fixture *f)
{
    memset(f->hart.x, 0, sizeof f->hart.x);
    memset(f->hart.f, 0, sizeof f->hart.f);
    memset(phys_at(&f->memory, FIXTURE_DATA, SIZE / 2), 0, SIZE / 2);
    f->hart.fflags = f->hart.frm = 0;
    f->hart.reserved = false;
    f->hart.pc = FIXTURE_BASE;
    f->hart.instret = 0;
}

static void assert_same(const struct pair *pair)
{
    const struct hart *a = &pair->run.hart, *b = &pair->step.hart;
    assert_int_equal(a->pc, b->pc);
    assert_int_equal(a->instret, b->instret);
    assert_memory_equal(a->x, b->x, 32 * sizeof a->x[0]);
    assert_memory_equal(a->f, b->f, sizeof a->f);
    assert_int_equal(a->fflags, b->fflags);
    assert_int_equal(a->frm, b->frm);
    assert_memory_equal(phys_at(&pair->run.memory, FIXTURE_BASE, SIZE),
                        phys_at(&pair->step.memory, FIXTURE_BASE, SIZE), SIZE);
}

static void assert_same_classes(const struct pair *pair)
{
    uint64_t a[CLASS_COUNT], b[CLASS_COUNT];
    hart_count_classes(&pair->run.hart, a);
    hart_count_classes(&pair->step.hart, b);
    assert_memory_equal(a, b, sizeof a);
}

static void assert_runs(struct pair *pair, uint64_t limit)
{
    enum hart_stop stop = fixture_run(&pair->run, FIXTURE_RUN_V3, limit);
    assert_int_equal(stop, fixture_run(&pair->step, FIXTURE_STEP, limit));
    if (stop == HART_STOP_TRAP) {
        assert_int_equal(pair->run.hart.trap.cause, pair->step.hart.trap.cause);
        assert_int_equal(pair->run.hart.trap.value, pair->step.hart.trap.value);
    }
    assert_same(pair);
}

static void branch(struct fixture *f, enum insn_id id, uint8_t rs1, uint64_t target)
{
    fixture_row(f, id, OP(.rs1 = rs1, .imm = (int32_t)(target - f->at)));
}

/* Nested loops with a call, both sides of a branch, a computed jump, loads, stores, floating point that raises flags, an AMO, and
 * instructions that the interpreter leaves to its general step; never ends. A0: data. */
static void write_loops(struct fixture *f)
{
    const uint64_t function = fixture_function(f), begin = f->at;
    fixture_row(f, INSN_auipc, OP(.rd = A0, .imm = 0x8000));
    fixture_row(f, INSN_addi, OP(.rd = S0, .rs1 = 0, .imm = 60));
    uint64_t outer = f->at;
    fixture_row(f, INSN_addi, OP(.rd = T0, .rs1 = 0, .imm = 5));
    uint64_t inner = f->at;
    fixture_jump(f, RA, function);
    fixture_row(f, INSN_sd, OP(.rs1 = A0, .rs2 = A1, .imm = 1));
    fixture_row(f, INSN_fld, OP(.rd = 1, .rs1 = A0, .imm = 1));
    fixture_row(f, INSN_fcvt_d_l, OP(.rd = 2, .rs1 = A1, .rm = RM_DYN));
    fixture_row(f, INSN_fdiv_d, OP(.rd = 3, .rs1 = 2, .rs2 = 1, .rm = RM_DYN)); /* dead */
    fixture_row(f, INSN_fadd_d, OP(.rd = 3, .rs1 = 2, .rs2 = 1, .rm = RM_DYN));
    fixture_row(f, INSN_andi, OP(.rd = T1, .rs1 = T0, .imm = 1));
    branch(f, INSN_beq, T1, f->at + 8);
    fixture_row(f, INSN_amoadd_d, OP(.rd = T1, .rs1 = A0, .rs2 = T0));
    fixture_row(f, INSN_auipc, OP(.rd = T1));
    fixture_row(f, INSN_jalr, OP(.rd = T2, .rs1 = T1, .imm = 12));
    fixture_row(f, INSN_ebreak, OP(.imm = 0)); /* jumped over */
    fixture_row(f, INSN_addi, OP(.rd = T0, .rs1 = T0, .imm = -1));
    branch(f, INSN_bne, T0, inner);
    fixture_row(f, INSN_addi, OP(.rd = S0, .rs1 = S0, .imm = -1));
    branch(f, INSN_bne, S0, outer);
    fixture_row(f, INSN_csrrs, OP(.rd = T2, .imm = 0x001)); /* fflags */
    fixture_row(f, INSN_add, OP(.rd = A2, .rs1 = A2, .rs2 = T2));
    fixture_row(f, INSN_fdiv_d, OP(.rd = 4, .rs1 = 3, .rs2 = 2, .rm = RM_RUP));
    fixture_row(f, INSN_csrrwi, OP(.rd = 0, .rs1 = 0, .imm = 0x001));
    fixture_jump(f, 0, begin);
}

/* The hart stops at every instruction of compiled loops as steps do. */
static void every_limit(void **state)
{
    (void)state;
    struct pair pair;
    open_pair(&pair, write_loops);
    assert_runs(&pair, 200000);
    assert_same_classes(&pair);
    uint64_t regions = jit_regions(pair.jit), entered = jit_entered(pair.jit);
    assert_true(regions > 0 && entered > 0);
    for (uint64_t n = 1; n < 1000; n += n < 700 ? 1 : 13) {
        restart(&pair.run);
        restart(&pair.step);
        assert_runs(&pair, n);
        assert_runs(&pair, 120); /* and goes on */
    }
    assert_true(jit_entered(pair.jit) > entered + 1000);
    close_pair(&pair);
}

/* In every rounding mode; reserved ones included, in which floating-point instructions trap. */
static void rounding_modes(void **state)
{
    (void)state;
    struct pair pair;
    open_pair(&pair, write_loops);
    for (unsigned round = 0; round < 2; round++)
        for (unsigned frm = 0; frm < 8; frm++) {
            restart(&pair.run);
            restart(&pair.step);
            pair.run.hart.frm = pair.step.hart.frm = (uint8_t)frm;
            assert_runs(&pair, 20000);
        }
    close_pair(&pair);
}

/* A loop with floating-point instructions whose results nobody uses: a comparison of NaNs, which raises NV, and a conversion
 * that raises NX. What follows is long, so that no turn of the loop is among the last instructions, which are stepped. */
static void write_dead(struct fixture *f)
{
    fixture_row(f, INSN_addi, OP(.rd = T0, .rs1 = 0, .imm = -1));
    fixture_row(f, INSN_fmv_d_x, OP(.rd = 1, .rs1 = T0));
    uint64_t loop = f->at;
    fixture_row(f, INSN_flt_d, OP(.rd = T1, .rs1 = 1, .rs2 = 1));
    fixture_row(f, INSN_fcvt_s_l, OP(.rd = 3, .rs1 = A2, .rm = RM_DYN));
    fixture_row(f, INSN_addi, OP(.rd = T1, .rs1 = 0, .imm = 1));
    fixture_row(f, INSN_fmv_w_x, OP(.rd = 3, .rs1 = 0));
    fixture_row(f, INSN_addi, OP(.rd = S0, .rs1 = S0, .imm = -1));
    branch(f, INSN_bne, S0, loop);
    for (unsigned i = 0; i < 200; i++)
        fixture_row(f, INSN_addi, OP(.rd = A1, .rs1 = A1, .imm = 1));
    fixture_row(f, INSN_ebreak, OP(.imm = 0));
}

static void dead_results(void **state)
{
    (void)state;
    enum { LOOP = 8, TURNS = 400 };
    struct pair pair;
    open_pair(&pair, write_dead);
    for (unsigned round = 0; round < 4; round++) {
        struct hart *harts[] = {&pair.run.hart, &pair.step.hart};
        uint64_t entered = jit_entered(pair.jit);
        for (unsigned i = 0; i < 2; i++) {
            harts[i]->pc = FIXTURE_BASE + (round ? LOOP : 0);
            harts[i]->x[S0] = TURNS;
            harts[i]->x[A2] = 0x1000001; /* inexact in single precision */
            harts[i]->fflags = 0;
        }
        assert_runs(&pair, 5000);
        assert_int_equal(pair.run.hart.trap.cause, TRAP_BREAKPOINT);
        assert_int_equal(pair.run.hart.fflags, FP_NV | FP_NX);
        assert_true(jit_entered(pair.jit) > entered);
    }
    close_pair(&pair);
}

/* Sums words from A0 on, a loop that leaves memory: the load faults in the middle of the block. */
static void write_fault(struct fixture *f)
{
    fixture_row(f, INSN_auipc, OP(.rd = A0, .imm = 0x8000));
    uint64_t loop = f->at;
    fixture_row(f, INSN_addi, OP(.rd = T0, .rs1 = T0, .imm = 1));
    fixture_row(f, INSN_lw, OP(.rd = A1, .rs1 = A0, .imm = 0));
    fixture_row(f, INSN_sw, OP(.rs1 = A0, .rs2 = T0, .imm = 0));
    fixture_row(f, INSN_addi, OP(.rd = A0, .rs1 = A0, .imm = 4));
    fixture_row(f, INSN_add, OP(.rd = A2, .rs1 = A2, .rs2 = A1));
    fixture_jump(f, 0, loop);
}

static void faults(void **state)
{
    (void)state;
    struct pair pair;
    open_pair(&pair, write_fault);
    for (unsigned round = 0; round < 3; round++) {
        restart(&pair.run);
        restart(&pair.step);
        assert_runs(&pair, 1000000);
        assert_int_equal(pair.run.hart.trap.cause, TRAP_LOAD_ACCESS);
        assert_int_equal(pair.run.hart.trap.value, FIXTURE_BASE + SIZE);
        assert_int_equal(pair.run.hart.pc, FIXTURE_BASE + 8);
        /* The instruction that faults is the first one, again and again. */
        for (unsigned i = 0; i < 3; i++)
            assert_runs(&pair, 1000);
    }
    assert_same_classes(&pair);
    assert_true(jit_entered(pair.jit) > 0);
    close_pair(&pair);
}

/* A loop of two blocks, of which the second one changes. */
static void write_two(struct fixture *f)
{
    uint64_t loop = f->at;
    fixture_row(f, INSN_addi, OP(.rd = T0, .rs1 = T0, .imm = 1));
    branch(f, INSN_bne, T0, FIXTURE_BASE + 12);
    fixture_row(f, INSN_ebreak, OP(.imm = 0));
    fixture_row(f, INSN_addi, OP(.rd = A1, .rs1 = A1, .imm = 1));
    fixture_jump(f, 0, loop);
}

/* Code that changes from outside, as a system call may change it, is compiled again. */
static void changed_from_outside(void **state)
{
    (void)state;
    enum { CHANGED = 12 };
    struct pair pair;
    open_pair(&pair, write_two);
    assert_runs(&pair, 30000);
    for (int32_t by = 2; by < 5; by++) {
        struct fixture *fixtures[] = {&pair.run, &pair.step};
        for (unsigned i = 0; i < 2; i++) {
            fixtures[i]->at = FIXTURE_BASE + CHANGED;
            fixture_row(fixtures[i], INSN_addi, OP(.rd = A1, .rs1 = A1, .imm = by));
            phys_note_store(&fixtures[i]->memory, FIXTURE_BASE + CHANGED, 4);
        }
        uint64_t regions = jit_regions(pair.jit);
        assert_runs(&pair, 30000);
        assert_true(jit_regions(pair.jit) > regions);
    }
    assert_same_classes(&pair);
    close_pair(&pair);
}

/* A loop that stores to its own code, with FENCE.I: in memory that the hart can store to. A0: data. */
static void write_changing(struct fixture *f)
{
    hart_protect(&f->hart, FIXTURE_BASE);
    fixture_row(f, INSN_auipc, OP(.rd = A0, .imm = 0));
    fixture_row(f, INSN_lw, OP(.rd = T1, .rs1 = A0, .imm = 12));
    uint64_t loop = f->at;
    fixture_row(f, INSN_addi, OP(.rd = A1, .rs1 = A1, .imm = 0));
    fixture_row(f, INSN_addi, OP(.rd = A2, .rs1 = A2, .imm = 1)); /* changes */
    fixture_row(f, INSN_slli, OP(.rd = T0, .rs1 = A2, .imm = 21));
    fixture_row(f, INSN_srli, OP(.rd = T0, .rs1 = T0, .imm = 43));
    fixture_row(f, INSN_slli, OP(.rd = T0, .rs1 = T0, .imm = 20));
    fixture_row(f, INSN_xor, OP(.rd = T0, .rs1 = T0, .rs2 = T1));
    fixture_row(f, INSN_sw, OP(.rs1 = A0, .rs2 = T0, .imm = 12));
    fixture_row(f, INSN_fence_i, OP(.imm = 0));
    fixture_jump(f, 0, loop);
}

static void changes_itself(void **state)
{
    (void)state;
    struct pair pair;
    open_pair(&pair, write_changing);
    for (unsigned i = 0; i < 20; i++)
        assert_runs(&pair, 1000 + 37 * i);
    assert_same_classes(&pair);
    close_pair(&pair);
}

/* No page of this process is writable and executable. */
static void assert_pages_are_safe(void)
{
    char line[512], permissions[8];
    FILE *maps = fopen("/proc/self/maps", "r");
    assert_non_null(maps);
    while (fgets(line, sizeof line, maps)) {
        assert_int_equal(sscanf(line, "%*s %7s", permissions), 1);
        assert_false(strchr(permissions, 'w') && strchr(permissions, 'x'));
    }
    (void)fclose(maps);
}

/* Compiles anew, in another way. */
static void reopen(struct pair *pair, enum jit_mode mode, uint64_t memory)
{
    jit_free(pair->jit);
    pair->jit = jit_new(&pair->run.hart, mode, memory);
}

/* When the memory for code is full, all is forgotten, and compiled again as it runs. */
static void full_memory(void **state)
{
    (void)state;
    struct pair pair;
    open_pair(&pair, write_loops);
    reopen(&pair, JIT_ALWAYS, 1);
    for (unsigned i = 0; i < 6; i++) {
        assert_runs(&pair, 5000);
        assert_pages_are_safe();
    }
    assert_true(jit_regions(pair.jit) > 2);
    assert_same_classes(&pair);
    close_pair(&pair);
}

/* A long loop without an end, and a longer one around it. */
static void write_long(struct fixture *f)
{
    fixture_row(f, INSN_addi, OP(.rd = S0, .rs1 = 0, .imm = 2000));
    uint64_t loop = f->at;
    fixture_row(f, INSN_addi, OP(.rd = A1, .rs1 = A1, .imm = 3));
    fixture_row(f, INSN_xor, OP(.rd = A2, .rs1 = A2, .rs2 = A1));
    fixture_row(f, INSN_addi, OP(.rd = S0, .rs1 = S0, .imm = -1));
    branch(f, INSN_bne, S0, loop);
    fixture_jump(f, 0, FIXTURE_BASE);
}

/* Nothing is compiled before the interpreter has executed enough to pay for it: loading LLVM costs as much as 5.5 million
 * instructions, a region as 3 million, and compiling takes an eighth of the time at most. Then it is compiled. */
static void pays_first(void **state)
{
    (void)state;
    enum { STEP = 1000000, FREE = 65, PAID = 140 };
    struct pair pair;
    open_pair(&pair, write_long);
    reopen(&pair, JIT_ON, JIT_MEMORY_LEAST);
    jit_use_llvm(pair.jit);
    for (unsigned i = 0; i < FREE; i++)
        assert_int_equal(fixture_run(&pair.run, FIXTURE_RUN_V3, STEP), HART_STOP_LIMIT);
    assert_int_equal(jit_regions(pair.jit), 0);
    for (unsigned i = FREE; i < PAID; i++)
        assert_int_equal(fixture_run(&pair.run, FIXTURE_RUN_V3, STEP), HART_STOP_LIMIT);
    assert_int_equal(jit_regions(pair.jit), 1);
    jit_wait(pair.jit);
    assert_int_equal(fixture_run(&pair.run, FIXTURE_RUN_V3, STEP), HART_STOP_LIMIT);
    assert_true(jit_entered(pair.jit) > 0);
    close_pair(&pair);
}

/* While a region's code is being made, its blocks change; or the compiler is freed. */
static void changes_meanwhile(void **state)
{
    (void)state;
    enum { STEP = 1000000, STEPS = 200, CHANGED = 8 };
    struct pair pair;
    open_pair(&pair, write_long);
    for (unsigned round = 0; round < 4; round++) {
        reopen(&pair, JIT_ON, JIT_MEMORY_LEAST);
        jit_use_llvm(pair.jit);
        for (unsigned i = 0; i < STEPS && jit_regions(pair.jit) == 0; i++)
            assert_int_equal(fixture_run(&pair.run, FIXTURE_RUN_V3, STEP), HART_STOP_LIMIT);
        assert_int_equal(jit_regions(pair.jit), 1);
        if (round % 2)
            continue;
        pair.run.at = FIXTURE_BASE + CHANGED;
        fixture_row(&pair.run, INSN_addi, OP(.rd = A2, .rs1 = 0, .imm = (int32_t)round + 5));
        phys_note_store(&pair.run.memory, FIXTURE_BASE + CHANGED, 4);
        assert_int_equal(fixture_run(&pair.run, FIXTURE_RUN_V3, STEP), HART_STOP_LIMIT);
        jit_wait(pair.jit);
        assert_int_equal(fixture_run(&pair.run, FIXTURE_RUN_V3, STEP), HART_STOP_LIMIT);
        assert_int_equal(pair.run.hart.x[A2], round + 5);
    }
    close_pair(&pair);
}

/* A loop of three blocks that goes another way once in 4096 rounds, and comes back by a computed jump to the third one. */
static void write_rare(struct fixture *f)
{
    enum { SECOND = 4 * 80, THIRD = SECOND + 4 * 4 };
    fixture_row(f, INSN_auipc, OP(.rd = T1, .imm = 0));
    uint64_t loop = f->at;
    fixture_row(f, INSN_addi, OP(.rd = S0, .rs1 = S0, .imm = 1));
    for (unsigned i = 0; i < 40; i++)
        fixture_row(f, INSN_addi, OP(.rd = A1, .rs1 = A1, .imm = 3));
    fixture_row(f, INSN_slli, OP(.rd = T0, .rs1 = S0, .imm = 52));
    branch(f, INSN_bne, T0, FIXTURE_BASE + SECOND);
    while (f->at < FIXTURE_BASE + SECOND - 4)
        fixture_row(f, INSN_addi, OP(.rd = A1, .rs1 = A1, .imm = 3));
    fixture_row(f, INSN_jalr, OP(.rd = 0, .rs1 = T1, .imm = THIRD));
    fixture_row(f, INSN_xor, OP(.rd = A2, .rs1 = A2, .rs2 = A1));
    branch(f, INSN_bne, S0, FIXTURE_BASE + THIRD);
    while (f->at < FIXTURE_BASE + THIRD)
        fixture_row(f, INSN_addi, OP(.rd = A2, .rs1 = A2, .imm = 1));
    fixture_row(f, INSN_addi, OP(.rd = A2, .rs1 = A2, .imm = 7));
    fixture_jump(f, 0, loop);
}

/* A block of a region that is no entry, and that the interpreter executes now and then, is not compiled again. */
static void compiles_once(void **state)
{
    (void)state;
    enum { STEP = 1000000, STEPS = 400 };
    struct pair pair;
    open_pair(&pair, write_rare);
    reopen(&pair, JIT_ON, JIT_MEMORY_LEAST);
    jit_use_llvm(pair.jit);
    for (unsigned i = 0; i < STEPS; i++) {
        assert_int_equal(fixture_run(&pair.run, FIXTURE_RUN_V3, STEP), HART_STOP_LIMIT);
        jit_wait(pair.jit);
    }
    assert_int_equal(jit_regions(pair.jit), 1);
    close_pair(&pair);
}

/* A loop of blocks that are larger together than a region of --jit=always. */
static void write_large(struct fixture *f)
{
    enum { BLOCKS = 11, INSNS = 28 };
    for (unsigned i = 0; i < BLOCKS; i++) {
        fixture_row(f, INSN_auipc, OP(.rd = T1, .imm = 0));
        for (unsigned k = 0; k < INSNS; k++)
            fixture_row(f, INSN_addi, OP(.rd = A1, .rs1 = A1, .imm = 3));
        fixture_row(f, INSN_csrrwi, OP(.rd = T2, .imm = 0x002)); /* a write of frm: the interpreter's */
        fixture_row(f, INSN_jalr, OP(.rd = 0, .rs1 = T1, .imm = 4 * (INSNS + 3)));
    }
    fixture_jump(f, 0, FIXTURE_BASE);
}

/* The two compilers do not take a loop's blocks from each other again and again. */
static void settles(void **state)
{
    (void)state;
    enum { STEP = 3000, STEPS = 100, MOST = 40 };
    struct pair pair;
    open_pair(&pair, write_large);
    for (unsigned i = 0; i < STEPS; i++)
        assert_runs(&pair, STEP);
    assert_true(jit_entered(pair.jit) > 0);
    assert_true(jit_regions(pair.jit) <= MOST);
    close_pair(&pair);
}

/* The quick compiler takes what has run a few thousand times, and few regions are made again as parts of larger ones. */
static void compiles_quickly(void **state)
{
    (void)state;
    enum { STEP = 20000, STEPS = 300, MOST = 8 };
    struct pair pair;
    open_pair(&pair, write_rare);
    reopen(&pair, JIT_ON, JIT_MEMORY_LEAST);
    assert_int_equal(fixture_run(&pair.run, FIXTURE_RUN_V3, STEP), HART_STOP_LIMIT);
    assert_int_equal(jit_regions(pair.jit), 0);
    for (unsigned i = 1; i < STEPS; i++)
        assert_int_equal(fixture_run(&pair.run, FIXTURE_RUN_V3, STEP), HART_STOP_LIMIT);
    assert_true(jit_regions(pair.jit) > 0 && jit_regions(pair.jit) <= MOST);
    assert_true(jit_entered(pair.jit) > 0);
    assert_int_equal(fixture_run(&pair.step, FIXTURE_STEP, (uint64_t)STEP * STEPS), HART_STOP_LIMIT);
    assert_same(&pair);
    assert_same_classes(&pair);
    close_pair(&pair);
}

/* A loop with a jump to one of four addresses in turn, 512 bytes apart. */
static void write_computed(struct fixture *f)
{
    enum { TARGETS = 4, APART = 512 };
    const uint64_t loop = f->at;
    fixture_row(f, INSN_addi, OP(.rd = T2, .rs1 = T2, .imm = APART));
    fixture_row(f, INSN_andi, OP(.rd = T2, .rs1 = T2, .imm = (TARGETS - 1) * APART));
    fixture_row(f, INSN_auipc, OP(.rd = T1));
    fixture_row(f, INSN_add, OP(.rd = T1, .rs1 = T1, .rs2 = T2));
    fixture_row(f, INSN_jalr, OP(.rs1 = T1, .imm = APART));
    const uint64_t first = loop + 8 + APART;
    for (unsigned i = 0; i < TARGETS; i++) {
        f->at = first + APART * i;
        fixture_row(f, INSN_addi, OP(.rd = A0, .rs1 = A0, .imm = (int32_t)i));
        fixture_jump(f, 0, loop);
    }
}

/* A loop with instructions that do nothing here. */
static void write_nothing(struct fixture *f)
{
    const uint64_t loop = f->at;
    fixture_row(f, INSN_addi, OP(.rd = A0, .rs1 = A0, .imm = 1));
    fixture_row(f, INSN_nucd_order, OP(.rd = 0));
    fixture_row(f, INSN_addi, OP(.rd = A1, .rs1 = A0, .imm = 1));
    fixture_row(f, INSN_fence, OP(.rd = 0));
    fixture_jump(f, 0, loop);
}

/* A loop that reads fcsr, frm and fflags, writes fflags in each way (with NX raised before, so that it is raised again), and has pairs of LR
 * and SC, FENCE, and signs and moves of single and double precision. */
static void write_state(struct fixture *f)
{
    enum { FFLAGS = 1, FRM, FCSR };
    fixture_row(f, INSN_auipc, OP(.rd = A0, .imm = 0x8000));
    fixture_row(f, INSN_addi, OP(.rd = T0, .rs1 = 0, .imm = 3));
    fixture_row(f, INSN_fcvt_s_l, OP(.rd = 1, .rs1 = T0, .rm = RM_DYN));
    fixture_row(f, INSN_fcvt_d_l, OP(.rd = 2, .rs1 = T0, .rm = RM_DYN));
    const uint64_t loop = f->at;
    fixture_row(f, INSN_fdiv_s, OP(.rd = 3, .rs1 = 1, .rs2 = 1, .rm = RM_DYN));
    fixture_row(f, INSN_csrrs, OP(.rd = T1, .imm = FFLAGS));
    fixture_row(f, INSN_add, OP(.rd = A1, .rs1 = A1, .rs2 = T1));
    fixture_row(f, INSN_csrrw, OP(.rd = T1, .rs1 = S0, .imm = FFLAGS));
    fixture_row(f, INSN_csrrs, OP(.rd = T2, .rs1 = T0, .imm = FFLAGS));
    fixture_row(f, INSN_csrrc, OP(.rd = T0, .rs1 = T0, .imm = FFLAGS));
    fixture_row(f, INSN_add, OP(.rd = A1, .rs1 = A1, .rs2 = T0));
    fixture_row(f, INSN_addi, OP(.rd = T0, .rs1 = 0, .imm = 3));
    fixture_row(f, INSN_fdiv_d, OP(.rd = 4, .rs1 = 4, .rs2 = 2, .rm = RM_DYN));
    fixture_row(f, INSN_fadd_d, OP(.rd = 4, .rs1 = 4, .rs2 = 2, .rm = RM_DYN));
    fixture_row(f, INSN_csrrsi, OP(.rd = T2, .rs1 = 4, .imm = FFLAGS));
    fixture_row(f, INSN_csrrci, OP(.rd = T1, .rs1 = 1, .imm = FFLAGS));
    fixture_row(f, INSN_csrrs, OP(.rd = T1, .imm = FCSR));
    fixture_row(f, INSN_csrrc, OP(.rd = T2, .imm = FRM));
    fixture_row(f, INSN_fmul_s, OP(.rd = 5, .rs1 = 3, .rs2 = 1, .rm = RM_DYN));
    fixture_row(f, INSN_csrrwi, OP(.rd = 0, .rs1 = 8, .imm = FFLAGS));
    fixture_row(f, INSN_fsgnj_s, OP(.rd = 6, .rs1 = 5, .rs2 = 5));
    fixture_row(f, INSN_fsgnj_d, OP(.rd = 7, .rs1 = 4, .rs2 = 4));
    fixture_row(f, INSN_fsgnjn_s, OP(.rd = 8, .rs1 = 5, .rs2 = 6));
    fixture_row(f, INSN_fsgnjx_s, OP(.rd = 9, .rs1 = 8, .rs2 = 8));
    fixture_row(f, INSN_fsgnj_s, OP(.rd = 10, .rs1 = 9, .rs2 = 8));
    fixture_row(f, INSN_fsgnj_s, OP(.rd = 11, .rs1 = 4, .rs2 = 4)); /* a NaN: no number of single precision */
    fixture_row(f, INSN_fsgnj_s, OP(.rd = 12, .rs1 = 5, .rs2 = 4));
    fixture_row(f, INSN_lr_d, OP(.rd = T1, .rs1 = A0));
    fixture_row(f, INSN_addi, OP(.rd = T1, .rs1 = T1, .imm = 1));
    fixture_row(f, INSN_sc_d, OP(.rd = T2, .rs1 = A0, .rs2 = T1));
    fixture_row(f, INSN_add, OP(.rd = A1, .rs1 = A1, .rs2 = T2));
    fixture_row(f, INSN_fence, OP(.rd = 0));
    fixture_row(f, INSN_lr_w, OP(.rd = T1, .rs1 = A0));
    fixture_row(f, INSN_sc_w, OP(.rd = T2, .rs1 = A0, .rs2 = S0));
    fixture_row(f, INSN_addi, OP(.rd = S0, .rs1 = S0, .imm = 1));
    fixture_jump(f, 0, loop);
}

/* SCs that fail: without a reservation, and with one of another address. */
static void write_failing(struct fixture *f)
{
    fixture_row(f, INSN_auipc, OP(.rd = A0, .imm = 0x8000));
    fixture_row(f, INSN_addi, OP(.rd = A2, .rs1 = A0, .imm = 8));
    const uint64_t loop = f->at;
    fixture_row(f, INSN_addi, OP(.rd = S0, .rs1 = S0, .imm = 1));
    fixture_row(f, INSN_sc_d, OP(.rd = T1, .rs1 = A0, .rs2 = S0));
    fixture_row(f, INSN_lr_d, OP(.rd = T2, .rs1 = A2));
    fixture_row(f, INSN_sc_d, OP(.rd = T0, .rs1 = A0, .rs2 = S0));
    fixture_row(f, INSN_sc_d, OP(.rd = A1, .rs1 = A2, .rs2 = S0)); /* the failure has ended the reservation */
    fixture_row(f, INSN_add, OP(.rd = T0, .rs1 = T0, .rs2 = A1));
    fixture_row(f, INSN_lr_w, OP(.rd = T2, .rs1 = A2));
    fixture_jump(f, 0, loop);
}

/* The hart stops at every instruction of these, too. */
static void state_at_limits(void **state)
{
    (void)state;
    void (*const writers[])(struct fixture *) = {write_state, write_failing};
    for (unsigned i = 0; i < sizeof writers / sizeof *writers; i++) {
        struct pair pair;
        open_pair(&pair, writers[i]);
        assert_runs(&pair, 20000);
        for (uint64_t n = 1; n < 200; n++) {
            restart(&pair.run);
            restart(&pair.step);
            assert_runs(&pair, n);
            assert_runs(&pair, 120);
        }
        assert_true(jit_entered(pair.jit) > 0);
        assert_same_classes(&pair);
        close_pair(&pair);
    }
}

/* Compiled code is hardly left: it finds all targets of its computed jumps, whose low bits are equal, and goes on behind what does nothing. */
static void stays_compiled(void **state)
{
    (void)state;
    enum { STEP = 20000, STEPS = 60 };
    void (*const writers[])(struct fixture *) = {write_computed, write_nothing, write_state};
    for (unsigned i = 0; i < sizeof writers / sizeof *writers; i++) {
        struct pair pair;
        open_pair(&pair, writers[i]);
        reopen(&pair, JIT_ON, JIT_MEMORY_LEAST);
        for (unsigned k = 0; k < STEPS; k++)
            assert_int_equal(fixture_run(&pair.run, FIXTURE_RUN_V3, STEP), HART_STOP_LIMIT);
        assert_true(jit_entered(pair.jit) > STEPS / 2 && jit_entered(pair.jit) < 10 * STEPS);
        assert_int_equal(fixture_run(&pair.step, FIXTURE_STEP, (uint64_t)STEP * STEPS), HART_STOP_LIMIT);
        assert_same(&pair);
        assert_same_classes(&pair);
        close_pair(&pair);
    }
}

static void note_ran(void *context, const struct jit_ran *ran)
{
    uint64_t *sum = context;
    assert_true(ran->blocks > 0 && ran->insns > 0 && ran->pc >= FIXTURE_BASE &&
                ran->pc < FIXTURE_BASE + CODE_END);
    *sum += ran->entered;
}

/* Each entry is one of a region that the counter is told about, whether a larger region replaces it or the compiler ends. */
static void counts_entries(void **state)
{
    (void)state;
    struct pair pair;
    uint64_t sum = 0;
    open_pair(&pair, write_loops);
    jit_set_counter(pair.jit, &(struct jit_counter){note_ran, &sum});
    assert_runs(&pair, 20000);
    uint64_t entered = jit_entered(pair.jit);
    assert_true(entered > 0);
    close_pair(&pair);
    assert_int_equal(sum, entered);
}

struct seen {
    unsigned count;
    char first[400];
};

static void note_difference(void *context, const char *text)
{
    struct seen *seen = context;
    if (seen->count++ == 0)
        (void)snprintf(seen->first, sizeof seen->first, "%s", text);
}

/* Runs the program with each region beside steps; b's function in place of a's. */
static struct seen run_checked(void (*write)(struct fixture *f), enum insn_id a, enum insn_id b, unsigned frm)
{
    struct pair pair;
    struct seen seen = {0};
    open_pair(&pair, write);
    reopen(&pair, JIT_CHECK, JIT_MEMORY_LEAST);
    const struct check_listener listener = {note_difference, &seen};
    jit_set_listener(pair.jit, &listener);
    assert_true(jit_replace_row(pair.jit, a, b));
    pair.run.hart.frm = pair.step.hart.frm = (uint8_t)frm;
    if (a == b) {
        assert_runs(&pair, 20000);
        assert_same_classes(&pair);
    } else {
        (void)fixture_run(&pair.run, FIXTURE_RUN_V3, 20000);
    }
    assert_true(jit_entered(pair.jit) > 0 || frm > RM_RMM);
    close_pair(&pair);
    return seen;
}

/* Sound code has no differences, in all rounding modes; one row with another's function has, and is named by what it breaks. */
static void checked(void **state)
{
    (void)state;
    static const struct {
        void (*write)(struct fixture *f);
        enum insn_id a, b;
        const char *text; /* of the first difference */
    } broken[] = {
        {write_loops, INSN_mul, INSN_mulh, "x11 is 0x"},
        {write_loops, INSN_fadd_d, INSN_fsub_d, "f3 is 0x"},
        {write_fault, INSN_sw, INSN_sb, "the store at pc 0x"},
        {write_loops, INSN_bne, INSN_beq, "it leaves for pc 0x"},
        {write_dead, INSN_flt_d, INSN_feq_d, "it raises fflags 0x0 for 0x10"},
        {write_fault, INSN_lw, INSN_lwu, NULL}, /* of positive values: equal */
    };
    for (unsigned frm = 0; frm < 8; frm++)
        assert_string_equal(run_checked(write_loops, INSN_add, INSN_add, frm).first, "");
    void (*const sound[])(struct fixture *) = {write_fault, write_state, write_failing};
    for (unsigned i = 0; i < sizeof sound / sizeof *sound; i++)
        assert_string_equal(run_checked(sound[i], INSN_add, INSN_add, 0).first, "");
    for (unsigned i = 0; i < sizeof broken / sizeof *broken; i++) {
        struct seen seen = run_checked(broken[i].write, broken[i].a, broken[i].b, 0);
        if (broken[i].text ? !strstr(seen.first, broken[i].text) : seen.count > 0)
            fail_msg("case %u: %u differences, the first: %s", i, seen.count, seen.first);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_limit),    cmocka_unit_test(rounding_modes),
        cmocka_unit_test(dead_results),   cmocka_unit_test(faults),
        cmocka_unit_test(full_memory),    cmocka_unit_test(changed_from_outside),
        cmocka_unit_test(changes_itself), cmocka_unit_test(pays_first),
        cmocka_unit_test(compiles_once),  cmocka_unit_test(compiles_quickly),
        cmocka_unit_test(counts_entries), cmocka_unit_test(changes_meanwhile),
        cmocka_unit_test(stays_compiled), cmocka_unit_test(checked),
        cmocka_unit_test(settles),        cmocka_unit_test(state_at_limits),
    };
    if (jit_lacks()) {
        print_message("nothing is compiled here: the host has not %s\n", jit_lacks());
        return 0;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
