/* Random control flow: 32 threads in a warp, with each policy of reconvergence, end with the same registers as each thread
 * alone. Programs have branches, loops with several entries and ends, calls, jumps by registers, and barriers. */
#include "tests/isa/random.h"
#include "tests/simt/code_fixture.h"

#define DATA (CODE_BASE + 0x8000)

enum {
    RA = 1,
    FIRST = 11, /* the registers FIRST to FIRST + 6 have data */
    DATA_REGISTERS = 7,
    BASE = 26,
    KEPT = 27, /* the kernel's return address */
    FUEL = 28, /* jumps back that are left */
    INDEX = 29,
    UNITS = 40, /* of a program: what jumps go to */
    UNIT_ROWS = 8,
    FUNCTIONS = 3,
    PROGRAMS = 400,
    BARRIER = 0x8c0,
    STEPS = 1 << 20,
};

struct rig {
    struct code_fixture code;
    struct warp *warp;
    struct random random;
    uint64_t start[32][DATA_REGISTERS];
};

static void rig_init(struct rig *rig, unsigned width, enum warp_reconvergence reconvergence)
{
    struct error err;
    code_fixture_init(&rig->code, 0x10000,
                      (struct warp_memory_setup){.width = width,
                                                 .reconvergence = reconvergence,
                                                 .write_first = DATA,
                                                 .stack_shift = 4,
                                                 .stack_physical = DATA,
                                                 .stack_warps = 1});
    rig->warp = warp_new(&rig->code.memory, &err);
    assert_non_null(rig->warp);
}

static void rig_free(struct rig *rig)
{
    warp_free(rig->warp);
    code_fixture_free(&rig->code);
}

static uint8_t any(struct rig *rig)
{
    return (uint8_t)(FIRST + random_below(&rig->random, DATA_REGISTERS));
}

static void compute(struct rig *rig)
{
    static const enum insn_id ids[] = {INSN_add,  INSN_xor,  INSN_sub, INSN_addi,
                                       INSN_xori, INSN_srli, INSN_mul};
    code_fixture_row(
        &rig->code, ids[random_below(&rig->random, 7)],
        OP(.rd = any(rig), .rs1 = any(rig), .rs2 = any(rig), .imm = (int32_t)random_below(&rig->random, 60)));
}

static void branch(struct rig *rig, int32_t offset)
{
    static const enum insn_id ids[] = {INSN_beq, INSN_bne, INSN_blt, INSN_bgeu};
    struct operands o = {.rs1 = any(rig), .rs2 = any(rig), .imm = offset};
    code_fixture_row(&rig->code, ids[random_below(&rig->random, 4)], o);
}

static int32_t distance(const struct rig *rig, unsigned unit)
{
    return (int32_t)(CODE_BASE + UINT64_C(4) * UNIT_ROWS * unit - rig->code.at);
}

/* One of the four units that follow, by a register. */
static void jump_by_register(struct rig *rig)
{
    uint64_t end = rig->code.at + UINT64_C(4) * UNIT_ROWS;
    uint64_t at = rig->code.at;
    code_fixture_row(&rig->code, INSN_auipc, OP(.rd = BASE));
    code_fixture_row(&rig->code, INSN_andi, OP(.rd = INDEX, .rs1 = any(rig), .imm = 3));
    code_fixture_row(&rig->code, INSN_slli, OP(.rd = INDEX, .rs1 = INDEX, .imm = 5));
    code_fixture_row(&rig->code, INSN_add, OP(.rd = INDEX, .rs1 = INDEX, .rs2 = BASE));
    code_fixture_row(&rig->code, INSN_jalr, OP(.rs1 = INDEX, .imm = (int32_t)(end - at)));
}

/* A jump back, as long as there is fuel, and on a condition. */
static void jump_back(struct rig *rig, unsigned unit)
{
    code_fixture_row(&rig->code, INSN_addi, OP(.rd = FUEL, .rs1 = FUEL, .imm = -1));
    branch(rig, 8);
    code_fixture_row(&rig->code, INSN_bge, OP(.rs1 = FUEL, .imm = distance(rig, unit)));
}

static void write_unit(struct rig *rig, unsigned unit)
{
    uint32_t kind = random_below(&rig->random, 100);
    compute(rig);
    if (kind < 40)
        branch(rig, distance(rig, unit + 1 + random_below(&rig->random, 8)));
    else if (kind < 60)
        jump_back(rig, 1 + random_below(&rig->random, unit));
    else if (kind < 70)
        code_fixture_row(
            &rig->code, INSN_jal,
            OP(.rd = RA, .imm = distance(rig, UNITS + 10 + random_below(&rig->random, FUNCTIONS))));
    else if (kind < 78)
        code_fixture_row(&rig->code, INSN_csrrw, OP(.imm = BARRIER));
}

/* Fills the unit up with what does nothing. */
static void fill(struct rig *rig)
{
    while ((rig->code.at - CODE_BASE) / 4 % UNIT_ROWS)
        code_fixture_row(&rig->code, INSN_addi, OP(.rd = 0));
}

static void write_program(struct rig *rig)
{
    rig->code.at = CODE_BASE;
    code_fixture_row(&rig->code, INSN_addi, OP(.rd = KEPT, .rs1 = RA));
    code_fixture_row(&rig->code, INSN_addi, OP(.rd = FUEL, .imm = 30));
    fill(rig);
    for (unsigned unit = 1; unit < UNITS; unit++) {
        if (random_chance(&rig->random, 10))
            jump_by_register(rig);
        else
            write_unit(rig, unit);
        fill(rig);
    }
    for (unsigned unit = UNITS; unit < UNITS + 9; unit++) {
        code_fixture_row(&rig->code, INSN_addi, OP(.rd = 0));
        fill(rig);
    }
    code_fixture_row(&rig->code, INSN_addi, OP(.rd = RA, .rs1 = KEPT));
    code_fixture_row(&rig->code, INSN_jalr, OP(.rs1 = RA));
    fill(rig);
    for (unsigned i = 0; i < FUNCTIONS; i++) { /* some threads return in the middle */
        compute(rig);
        branch(rig, 8);
        code_fixture_row(&rig->code, INSN_jalr, OP(.rs1 = RA));
        compute(rig);
        branch(rig, 8);
        compute(rig);
        code_fixture_row(&rig->code, INSN_jalr, OP(.rs1 = RA));
        fill(rig);
    }
}

/* Runs the threads from `first` on to their ends. */
static void run(struct rig *rig, unsigned first, unsigned threads, uint64_t results[][DATA_REGISTERS])
{
    const struct warp_place place = {.block_size = {threads, 1, 1}, .grid_size = {1, 1, 1}};
    struct warp_report report;
    warp_memory_flush(&rig->code.memory);
    warp_start(rig->warp, &place, CODE_BASE, 0, 0);
    for (unsigned lane = 0; lane < threads; lane++)
        for (unsigned i = 0; i < DATA_REGISTERS; i++)
            warp_set_register(rig->warp, FIRST + i, lane, rig->start[first + lane][i]);
    for (unsigned steps = 0; warp_live(rig->warp); steps++) {
        enum warp_event event = warp_run(rig->warp, STEPS, &report);
        assert_true(steps < STEPS && (event == WARP_EXIT || event == WARP_BARRIER || event == WARP_IDLE));
        if (event == WARP_EXIT)
            for (unsigned lane = 0; lane < threads; lane++)
                for (unsigned i = 0; report.mask >> lane & 1 && i < DATA_REGISTERS; i++)
                    results[first + lane][i] = warp_register(rig->warp, FIRST + i, lane);
        if (warp_waiting(rig->warp) == warp_live(rig->warp))
            warp_release(rig->warp);
    }
}

static void warps_equal_threads(void **state)
{
    (void)state;
    struct rig together[2] = {{.random = {3}}, {.random = {3}}}, alone = {.random = {3}};
    uint64_t insns[2] = {0};
    rig_init(&together[0], 32, WARP_MINPC);
    rig_init(&together[1], 32, WARP_STACKED);
    rig_init(&alone, 1, WARP_MINPC);
    for (unsigned program = 0; program < PROGRAMS; program++) {
        uint64_t wanted[32][DATA_REGISTERS], found[32][DATA_REGISTERS], start[32][DATA_REGISTERS];
        write_program(&alone);
        for (unsigned i = 0; i < 32 * DATA_REGISTERS; i++)
            start[i / DATA_REGISTERS][i % DATA_REGISTERS] =
                random_next(&alone.random) >> random_below(&alone.random, 64);
        memcpy(alone.start, start, sizeof start);
        for (unsigned lane = 0; lane < 32; lane++)
            run(&alone, lane, 1, wanted);
        for (unsigned policy = 0; policy < 2; policy++) {
            together[policy].random = alone.random;
            memcpy(phys_at(&together[policy].code.phys, CODE_BASE, 0x8000),
                   phys_at(&alone.code.phys, CODE_BASE, 0x8000), 0x8000);
            memcpy(together[policy].start, start, sizeof start);
            uint64_t before = warp_thread_insns(together[policy].warp);
            run(&together[policy], 0, 32, found);
            assert_memory_equal(found, wanted, sizeof wanted);
            insns[policy] += warp_thread_insns(together[policy].warp) - before;
        }
        assert_int_equal(insns[0], insns[1]);
    }
    assert_int_equal(insns[0], warp_thread_insns(alone.warp));
    for (unsigned i = 0; i < 2; i++)
        rig_free(&together[i]);
    rig_free(&alone);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(warps_equal_threads)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
