/* Compiled code with address translation beside single steps: pages, address spaces, devices, changed code and page tables. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "emu/hart/mmu.h"
#include "emu/jit/jit.h"
#include "emu/mem/phys/bus.h"
#include "tests/hart/fixture.h"

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

struct machine {
    struct fixture f;
    struct bus bus;
    uint64_t reads; /* of the device */
};

/* Two equal machines: `run` compiles, `step` steps. */
struct pair {
    struct machine run, step;
    struct jit *jit;
};

static uint64_t page_at(unsigned page)
{
    return FIXTURE_BASE + (uint64_t)page * MMU_PAGE;
}

static uint64_t device_read(void *device, uint64_t offset, unsigned size)
{
    (void)offset, (void)size;
    return ++((struct machine *)device)->reads & 0xff;
}

static void device_write(void *device, uint64_t offset, unsigned size, uint64_t value)
{
    (void)offset, (void)size;
    ((struct machine *)device)->reads += value;
}

static const struct device_ops device_ops = {.read = device_read, .write = device_write};

static void entry(struct machine *m, unsigned table, uint64_t index, uint64_t target, unsigned bits)
{
    fixture_write(&m->f, page_at(table) + 8 * index, 8, target >> 12 << 10 | bits);
}

/* Maps each page of memory to itself, but page 1 to the function, and behind them the device. */
static void write_tables(struct machine *m, unsigned tables, unsigned function)
{
    entry(m, tables, FIXTURE_BASE >> 30, page_at(tables + 1), PTE_V);
    entry(m, tables + 1, 0, page_at(tables + 2), PTE_V);
    for (unsigned page = 0; page < PAGES; page++)
        entry(m, tables + 2, page, page_at(page == FUNCTION_A ? function : page), PTE_ALL);
    entry(m, tables + 2, DEVICE_PAGE, 0x10000000, PTE_ALL);
}

static uint64_t space_of(unsigned tables)
{
    return (uint64_t)SATP_SV39 << SATP_MODE_SHIFT | page_at(tables) >> 12;
}

static void row(struct machine *m, enum insn_id id, struct operands operands)
{
    fixture_row(&m->f, id, operands);
}

/* A function of one space: adds `by` to A1, and accesses data across pages. */
static void write_function(struct machine *m, unsigned page, int32_t by)
{
    m->f.at = page_at(page);
    row(m, INSN_addi, OP(.rd = A1, .rs1 = A1, .imm = by));
    row(m, INSN_ld, OP(.rd = T0, .rs1 = A0, .imm = 8));
    row(m, INSN_lw, OP(.rd = T1, .rs1 = A0, .imm = 16));
    row(m, INSN_sd, OP(.rs1 = A0, .rs2 = A1, .imm = 24));
    row(m, INSN_sb, OP(.rs1 = A0, .rs2 = T1, .imm = 32));
    row(m, INSN_amoadd_d, OP(.rd = T1, .rs1 = A4, .rs2 = T0));
    row(m, INSN_add, OP(.rd = A2, .rs1 = A2, .rs2 = T0));
    row(m, INSN_add, OP(.rd = A2, .rs1 = A2, .rs2 = T1));
    row(m, INSN_fence, OP(.imm = 0xff));
    row(m, INSN_pause, OP(.imm = 0));
    row(m, INSN_jalr, OP(.rd = 0, .rs1 = RA, .imm = 0));
}

/* Calls the function S0 times while A0 goes through the data, misaligned and across pages; then goes on in the other space, exchanges
 * two pages of data in it, changes the function of the first space, and reads the device. */
static void write_program(struct machine *m)
{
    m->f.at = page_at(CODE);
    uint64_t outer = m->f.at;
    row(m, INSN_addi, OP(.rd = S0, .rs1 = 0, .imm = TURNS));
    row(m, INSN_lui, OP(.rd = T0, .imm = DATA * MMU_PAGE));
    row(m, INSN_add, OP(.rd = A0, .rs1 = S3, .rs2 = T0));
    row(m, INSN_addi, OP(.rd = A4, .rs1 = A0, .imm = 0));
    uint64_t inner = m->f.at;
    fixture_jump(&m->f, RA, page_at(FUNCTION_A));
    row(m, INSN_addi, OP(.rd = A0, .rs1 = A0, .imm = 255));
    row(m, INSN_andi, OP(.rd = T2, .rs1 = S0, .imm = 7));
    row(m, INSN_bne, OP(.rs1 = T2, .imm = 12));
    row(m, INSN_lb, OP(.rd = T1, .rs1 = A3, .imm = 0)); /* the device */
    row(m, INSN_add, OP(.rd = A2, .rs1 = A2, .rs2 = T1));
    row(m, INSN_addi, OP(.rd = S0, .rs1 = S0, .imm = -1));
    row(m, INSN_bne, OP(.rs1 = S0, .imm = (int32_t)(inner - m->f.at)));
    row(m, INSN_csrrw, OP(.rd = S1, .rs1 = S1, .imm = 0x180)); /* satp */
    /* the entries of two pages of data, in both spaces */
    for (unsigned i = 0; i < 2; i++) {
        row(m, INSN_lui, OP(.rd = T0, .imm = (int32_t)((i ? TABLES_B : TABLES_A) + 2) * MMU_PAGE));
        row(m, INSN_add, OP(.rd = T0, .rs1 = T0, .rs2 = S3));
        row(m, INSN_ld, OP(.rd = T1, .rs1 = T0, .imm = 8 * DATA));
        row(m, INSN_ld, OP(.rd = T2, .rs1 = T0, .imm = 8 * DATA + 8));
        row(m, INSN_sd, OP(.rs1 = T0, .rs2 = T2, .imm = 8 * DATA));
        row(m, INSN_sd, OP(.rs1 = T0, .rs2 = T1, .imm = 8 * DATA + 8));
    }
    row(m, INSN_sfence_vma, OP(.rs1 = 0, .rs2 = 0));
    /* the first instruction of space B's function, which page 2 shows in both spaces */
    row(m, INSN_lui, OP(.rd = T0, .imm = FUNCTION_B * MMU_PAGE));
    row(m, INSN_add, OP(.rd = T0, .rs1 = T0, .rs2 = S3));
    row(m, INSN_lw, OP(.rd = T1, .rs1 = T0, .imm = 0));
    row(m, INSN_lui, OP(.rd = T2, .imm = 0x100000)); /* one more */
    row(m, INSN_xor, OP(.rd = T1, .rs1 = T1, .rs2 = T2));
    row(m, INSN_sw, OP(.rs1 = T0, .rs2 = T1, .imm = 0));
    row(m, INSN_fence_i, OP(.imm = 0));
    fixture_jump(&m->f, 0, outer);
}

static void open_machine(struct machine *m)
{
    struct error err;
    struct hart *hart = &m->f.hart;
    const struct bus_region region = {0x10000000,         MMU_PAGE,    BUS_ANY,
                                      .ops = &device_ops, .device = m, .name = "counter"};
    fixture_init(&m->f, SIZE);
    m->reads = 0;
    bus_init(&m->bus, &m->f.memory);
    assert_true(bus_add(&m->bus, &region, &err));
    write_tables(m, TABLES_A, FUNCTION_A);
    write_tables(m, TABLES_B, FUNCTION_B);
    write_function(m, FUNCTION_A, 1);
    write_function(m, FUNCTION_B, 2);
    write_program(m);
    assert_true(hart_init_privileged(hart, &m->bus, 0, 1, &err));
    hart->priv.pmpcfg[0] = PMP_NAPOT | PMP_R | PMP_W | PMP_X;
    hart->priv.pmpaddr[0] = (UINT64_C(1) << 54) - 1;
    hart->privilege = PRIV_S;
    hart->priv.satp = space_of(TABLES_A);
    hart->x[S1] = space_of(TABLES_B);
    hart->x[S3] = FIXTURE_BASE;
    hart->x[A3] = page_at(DEVICE_PAGE);
    hart->pc = FIXTURE_BASE;
    mmu_flush(hart);
    priv_changed(hart);
}

static void open_pair(struct pair *pair, enum jit_mode mode)
{
    open_machine(&pair->run);
    open_machine(&pair->step);
    pair->jit = jit_new(&pair->run.f.hart, mode, JIT_MEMORY_LEAST);
}

static void close_pair(struct pair *pair)
{
    jit_free(pair->jit);
    fixture_free(&pair->run.f);
    fixture_free(&pair->step.f);
    bus_free(&pair->run.bus);
    bus_free(&pair->step.bus);
}

static void assert_runs(struct pair *pair, uint64_t limit)
{
    struct hart *a = &pair->run.f.hart, *b = &pair->step.f.hart;
    uint64_t counts[2][CLASS_COUNT];
    assert_int_equal(hart_run(a, limit), HART_STOP_LIMIT);
    for (const uint64_t end = hart_progress(b) + limit; hart_progress(b) < end;) {
        struct step_report report;
        assert_int_equal(hart_step(b, &report), HART_STOP_LIMIT);
    }
    assert_int_equal(a->pc, b->pc);
    assert_int_equal(a->instret, b->instret);
    assert_int_equal(a->traps, 0);
    assert_memory_equal(a->x, b->x, 32 * sizeof a->x[0]);
    assert_memory_equal(&a->priv, &b->priv, sizeof a->priv);
    assert_int_equal(pair->run.reads, pair->step.reads);
    assert_memory_equal(pair->run.f.memory.bytes, pair->step.f.memory.bytes, SIZE);
    hart_count_classes(a, counts[0]);
    hart_count_classes(b, counts[1]);
    assert_memory_equal(counts[0], counts[1], sizeof counts[0]);
}

/* Runs end at any instruction as steps do. */
static void every_limit(void **state)
{
    (void)state;
    struct pair pair;
    open_pair(&pair, JIT_ALWAYS);
    assert_runs(&pair, 30000);
    const uint64_t entered = jit_entered(pair.jit);
    assert_true(jit_regions(pair.jit) > 0 && entered > 0);
    for (uint64_t limit = 1; limit < 700; limit += limit < 150 ? 1 : 11)
        assert_runs(&pair, limit);
    assert_true(jit_entered(pair.jit) > entered + 100);
    close_pair(&pair);
}

/* What is compiled when it has run for a while does the same. */
static void compiles_later(void **state)
{
    (void)state;
    struct pair pair;
    open_pair(&pair, JIT_ON);
    for (unsigned i = 0; i < 40; i++)
        assert_runs(&pair, 50000 + 7 * i);
    assert_true(jit_regions(pair.jit) > 0 && jit_entered(pair.jit) > 1000);
    close_pair(&pair);
}

static void note_difference(void *context, const char *text)
{
    (void)context;
    fail_msg("%s", text);
}

/* Each run of a region is that of steps. */
static void checked(void **state)
{
    (void)state;
    struct pair pair;
    const struct check_listener listener = {note_difference, NULL};
    open_pair(&pair, JIT_CHECK);
    jit_set_listener(pair.jit, &listener);
    assert_runs(&pair, 60000);
    assert_true(jit_entered(pair.jit) > 0);
    close_pair(&pair);
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
