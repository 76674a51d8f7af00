/* Compiled code with address translation beside single steps: pages, address spaces, devices, changed code and page tables. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "emu/hart/mmu.h"
#include "tests/jit/twins.h"

enum {
    RA = 1,
    T0 = 5,
    T1 = 6,
    T2 = 7,
    S0 = 8,
    S1 = 9,
    A0 = 10,
    A1 = 11,
    A2 = 12,
    A3 = 13,
    A4 = 14,
    S2 = 18,
    S3 = 19
};
enum { PTE_V = 1, PTE_ALL = 0xcf, SIZE = 0x40000, DEVICE_PAGE = 0x100, TURNS = 30 };

/* Physical pages, from FIXTURE_BASE on: code that both spaces map to itself, the function of each space at virtual page 1, data, and the
 * tables of each space: root, middle, last. */
enum {
    CODE,
    FUNCTION_A,
    FUNCTION_B,
    DATA,
    TABLES_A = DATA + 4,
    TABLES_B = TABLES_A + 3,
    PAGES = SIZE / MMU_PAGE
};

static uint64_t device_read(void *device, uint64_t offset, unsigned size)
{
    (void)offset, (void)size;
    return ++((struct twin *)device)->device & 0xff;
}

static void device_write(void *device, uint64_t offset, unsigned size, uint64_t value)
{
    (void)offset, (void)size;
    ((struct twin *)device)->device += value;
}

static const struct device_ops device_ops = {.read = device_read, .write = device_write};

static void entry(struct twin *m, unsigned table, uint64_t index, uint64_t target, unsigned bits)
{
    fixture_write(&m->f, twins_page(table) + 8 * index, 8, target >> 12 << 10 | bits);
}

/* Maps each page of memory to itself, but page 1 to the function, and behind them the device. */
static void write_tables(struct twin *m, unsigned tables, unsigned function)
{
    entry(m, tables, FIXTURE_BASE >> 30, twins_page(tables + 1), PTE_V);
    entry(m, tables + 1, 0, twins_page(tables + 2), PTE_V);
    for (unsigned page = 0; page < PAGES; page++)
        entry(m, tables + 2, page, twins_page(page == FUNCTION_A ? function : page), PTE_ALL);
    entry(m, tables + 2, DEVICE_PAGE, TWINS_DEVICE, PTE_ALL);
}

static uint64_t space_of(unsigned tables)
{
    return (uint64_t)SATP_SV39 << SATP_MODE_SHIFT | twins_page(tables) >> 12;
}

/* A function of one space: adds `by` to A1, and accesses data across pages. */
static void write_function(struct twin *m, unsigned page, int32_t by)
{
    m->f.at = twins_page(page);
    twins_row(m, INSN_addi, OP(.rd = A1, .rs1 = A1, .imm = by));
    twins_row(m, INSN_ld, OP(.rd = T0, .rs1 = A0, .imm = 8));
    twins_row(m, INSN_lw, OP(.rd = T1, .rs1 = A0, .imm = 16));
    twins_row(m, INSN_sd, OP(.rs1 = A0, .rs2 = A1, .imm = 24));
    twins_row(m, INSN_sb, OP(.rs1 = A0, .rs2 = T1, .imm = 32));
    twins_row(m, INSN_amoadd_d, OP(.rd = T1, .rs1 = A4, .rs2 = T0));
    twins_row(m, INSN_add, OP(.rd = A2, .rs1 = A2, .rs2 = T0));
    twins_row(m, INSN_add, OP(.rd = A2, .rs1 = A2, .rs2 = T1));
    twins_row(m, INSN_fence, OP(.imm = 0xff));
    twins_row(m, INSN_pause, OP(.imm = 0));
    twins_row(m, INSN_jalr, OP(.rd = 0, .rs1 = RA, .imm = 0));
}

/* Calls the function S0 times while A0 goes through the data, misaligned and across pages; then goes on in the other space, exchanges
 * two pages of data in it, changes the function of the first space, and reads the device. */
static void write_program(struct twin *m)
{
    m->f.at = twins_page(CODE);
    uint64_t outer = m->f.at;
    twins_row(m, INSN_addi, OP(.rd = S0, .rs1 = 0, .imm = TURNS));
    twins_row(m, INSN_lui, OP(.rd = T0, .imm = DATA * MMU_PAGE));
    twins_row(m, INSN_add, OP(.rd = A0, .rs1 = S3, .rs2 = T0));
    twins_row(m, INSN_addi, OP(.rd = A4, .rs1 = A0, .imm = 0));
    uint64_t inner = m->f.at;
    fixture_jump(&m->f, RA, twins_page(FUNCTION_A));
    twins_row(m, INSN_addi, OP(.rd = A0, .rs1 = A0, .imm = 255));
    twins_row(m, INSN_andi, OP(.rd = T2, .rs1 = S0, .imm = 7));
    twins_row(m, INSN_bne, OP(.rs1 = T2, .imm = 12));
    twins_row(m, INSN_lb, OP(.rd = T1, .rs1 = A3, .imm = 0)); /* the device */
    twins_row(m, INSN_add, OP(.rd = A2, .rs1 = A2, .rs2 = T1));
    twins_row(m, INSN_addi, OP(.rd = S0, .rs1 = S0, .imm = -1));
    twins_row(m, INSN_bne, OP(.rs1 = S0, .imm = (int32_t)(inner - m->f.at)));
    twins_row(m, INSN_csrrw, OP(.rd = S1, .rs1 = S1, .imm = 0x180)); /* satp */
    /* the entries of two pages of data, in both spaces */
    for (unsigned i = 0; i < 2; i++) {
        twins_row(m, INSN_lui, OP(.rd = T0, .imm = (int32_t)((i ? TABLES_B : TABLES_A) + 2) * MMU_PAGE));
        twins_row(m, INSN_add, OP(.rd = T0, .rs1 = T0, .rs2 = S3));
        twins_row(m, INSN_ld, OP(.rd = T1, .rs1 = T0, .imm = 8 * DATA));
        twins_row(m, INSN_ld, OP(.rd = T2, .rs1 = T0, .imm = 8 * DATA + 8));
        twins_row(m, INSN_sd, OP(.rs1 = T0, .rs2 = T2, .imm = 8 * DATA));
        twins_row(m, INSN_sd, OP(.rs1 = T0, .rs2 = T1, .imm = 8 * DATA + 8));
    }
    twins_row(m, INSN_sfence_vma, OP(.rs1 = 0, .rs2 = 0));
    /* the first instruction of space B's function, which page 2 shows in both spaces */
    twins_row(m, INSN_lui, OP(.rd = T0, .imm = FUNCTION_B * MMU_PAGE));
    twins_row(m, INSN_add, OP(.rd = T0, .rs1 = T0, .rs2 = S3));
    twins_row(m, INSN_lw, OP(.rd = T1, .rs1 = T0, .imm = 0));
    twins_row(m, INSN_lui, OP(.rd = T2, .imm = 0x100000)); /* one more */
    twins_row(m, INSN_xor, OP(.rd = T1, .rs1 = T1, .rs2 = T2));
    twins_row(m, INSN_sw, OP(.rs1 = T0, .rs2 = T1, .imm = 0));
    twins_row(m, INSN_fence_i, OP(.imm = 0));
    fixture_jump(&m->f, 0, outer);
}

static void write_machine(struct twin *m)
{
    struct hart *hart = &m->f.hart;
    write_tables(m, TABLES_A, FUNCTION_A);
    write_tables(m, TABLES_B, FUNCTION_B);
    write_function(m, FUNCTION_A, 1);
    write_function(m, FUNCTION_B, 2);
    write_program(m);
    hart->priv.satp = space_of(TABLES_A);
    hart->x[S1] = space_of(TABLES_B);
    hart->x[S3] = FIXTURE_BASE;
    hart->x[A3] = twins_page(DEVICE_PAGE);
}

static void open_twins(struct twins *twins, enum jit_mode mode)
{
    twins_open(twins, SIZE, &device_ops, write_machine, mode);
}

static void assert_runs(struct twins *twins, uint64_t limit)
{
    twins_runs(twins, limit);
    assert_int_equal(twins->run.f.hart.traps, 0);
    assert_int_equal(twins->waits, 0);
}

/* Runs end at any instruction as steps do. */
static void every_limit(void **state)
{
    (void)state;
    struct twins twins;
    open_twins(&twins, JIT_ALWAYS);
    assert_runs(&twins, 30000);
    const uint64_t entered = jit_entered(twins.jit);
    assert_true(jit_regions(twins.jit) > 0 && entered > 0);
    for (uint64_t limit = 1; limit < 700; limit += limit < 150 ? 1 : 11)
        assert_runs(&twins, limit);
    assert_true(jit_entered(twins.jit) > entered + 100);
    twins_close(&twins);
}

/* What is compiled when it has run for a while does the same. */
static void compiles_later(void **state)
{
    (void)state;
    struct twins twins;
    open_twins(&twins, JIT_ON);
    for (unsigned i = 0; i < 40; i++)
        assert_runs(&twins, 50000 + 7 * i);
    assert_true(jit_regions(twins.jit) > 0 && jit_entered(twins.jit) > 1000);
    twins_close(&twins);
}

/* Each run of a region is that of steps. */
static void checked(void **state)
{
    (void)state;
    struct twins twins;
    open_twins(&twins, JIT_CHECK);
    twins_listen(&twins);
    assert_runs(&twins, 60000);
    assert_true(jit_entered(twins.jit) > 0);
    twins_close(&twins);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_limit),
        cmocka_unit_test(compiles_later),
        cmocka_unit_test(checked),
    };
    if (jit_lacks()) {
        print_message("nothing is compiled here: the host has not %s\n", jit_lacks());
        return 0;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
