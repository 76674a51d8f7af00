/* Compiled code of a supervisor beneath a machine-mode handler, beside single steps: physical memory protection that changes while code is
 * compiled, interrupts before any instruction and by stores in the middle of a region, and waiting for them. */
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
    S0 = 8,
    A0 = 10,
    A1 = 11,
    A2 = 12,
    A3 = 13,
    A4 = 14,
    A5 = 15,
    S2 = 18,
    S10 = 26,
    T3 = 28,
    T4 = 29
};
enum { MEPC = 0x341, MCAUSE = 0x342, MTVAL = 0x343, PMPCFG0 = 0x3a0 };
enum {
    CODE,
    FUNCTION,
    DATA,
    OTHER,
    HANDLER,
    TABLE,
    SIZE = 0x10000,
    TURNS = 24,
    MANY_TURNS = 20000,
    CONFIGS = 8,
    ENTRIES = 512
};

static const uint64_t device_at = 0x10000000;

struct machine {
    struct fixture f;
    struct bus bus;
    uint64_t raised; /* interrupts that stores have raised */
};

/* Two equal machines: `run` compiles, `step` steps. */
struct pair {
    struct machine run, step;
    struct jit *jit;
    uint64_t waits; /* wfi at which runs have stopped */
};

static uint64_t page_at(unsigned page)
{
    return FIXTURE_BASE + (uint64_t)page * MMU_PAGE;
}

static uint64_t device_read(void *device, uint64_t offset, unsigned size)
{
    (void)offset, (void)size;
    return ((struct machine *)device)->raised;
}

/* Raises the software interrupt, or takes it back. */
static void device_write(void *device, uint64_t offset, unsigned size, uint64_t value)
{
    struct machine *m = device;
    (void)offset, (void)size;
    m->raised += value & 1;
    hart_set_interrupt(&m->f.hart, IRQ_MSI, value & 1);
}

static const struct device_ops device_ops = {.read = device_read, .write = device_write};

static void row(struct machine *m, enum insn_id id, struct operands operands)
{
    fixture_row(&m->f, id, operands);
}

/* Accesses data under PMP and other data, calls a function under PMP, and raises the interrupt in the middle now and then; then asks for
 * other permissions, and waits for an interrupt. */
static void write_program(struct machine *m)
{
    m->f.at = page_at(CODE);
    const uint64_t outer = m->f.at;
    row(m, INSN_addi, OP(.rd = S0, .rs1 = A5, .imm = 0));
    const uint64_t inner = m->f.at;
    row(m, INSN_ld, OP(.rd = T0, .rs1 = A0, .imm = 8));
    row(m, INSN_add, OP(.rd = A1, .rs1 = A1, .rs2 = T0));
    row(m, INSN_sd, OP(.rs1 = A0, .rs2 = A1, .imm = 16));
    fixture_jump(&m->f, RA, page_at(FUNCTION));
    row(m, INSN_ld, OP(.rd = T1, .rs1 = A3, .imm = 0));
    row(m, INSN_xor, OP(.rd = A1, .rs1 = A1, .rs2 = T1));
    row(m, INSN_sd, OP(.rs1 = A3, .rs2 = A1, .imm = 0));
    row(m, INSN_andi, OP(.rd = T1, .rs1 = S0, .imm = 7));
    row(m, INSN_bne, OP(.rs1 = T1, .imm = 16));
    row(m, INSN_addi, OP(.rd = T1, .rs1 = 0, .imm = 1));
    row(m, INSN_sw, OP(.rs1 = A4, .rs2 = T1, .imm = 0)); /* the device: an interrupt before the next one */
    row(m, INSN_addi, OP(.rd = A2, .rs1 = A2, .imm = 1));
    row(m, INSN_addi, OP(.rd = S0, .rs1 = S0, .imm = -1));
    row(m, INSN_bne, OP(.rs1 = S0, .imm = (int32_t)(inner - m->f.at)));
    row(m, INSN_ecall, OP(.imm = 0));
    row(m, INSN_wfi, OP(.imm = 0));
    row(m, INSN_addi, OP(.rd = A2, .rs1 = A2, .imm = 3));
    fixture_jump(&m->f, 0, outer);
    m->f.at = page_at(FUNCTION);
    row(m, INSN_addi, OP(.rd = A2, .rs1 = A2, .imm = 5));
    row(m, INSN_jalr, OP(.rd = 0, .rs1 = RA, .imm = 0));
}

/* Sums up cause and value. An interrupt is taken back; a fetch that faults returns; what else has trapped is left out, and an ecall gets the
 * permissions that are next in the table. */
static void write_handler(struct machine *m)
{
    m->f.at = page_at(HANDLER);
    row(m, INSN_csrrs, OP(.rd = T3, .imm = MCAUSE));
    row(m, INSN_csrrs, OP(.rd = T4, .imm = MTVAL));
    row(m, INSN_add, OP(.rd = S2, .rs1 = S2, .rs2 = T4));
    row(m, INSN_slli, OP(.rd = T4, .rs1 = S2, .imm = 5));
    row(m, INSN_xor, OP(.rd = S2, .rs1 = T3, .rs2 = T4));
    row(m, INSN_bge, OP(.rs1 = T3, .rs2 = 0, .imm = 12));
    row(m, INSN_sw, OP(.rs1 = A4, .rs2 = 0, .imm = 0));
    row(m, INSN_mret, OP(.imm = 0));
    row(m, INSN_addi, OP(.rd = T4, .rs1 = 0, .imm = TRAP_FETCH_ACCESS));
    row(m, INSN_bne, OP(.rs1 = T3, .rs2 = T4, .imm = 12));
    row(m, INSN_csrrw, OP(.rd = 0, .rs1 = RA, .imm = MEPC));
    row(m, INSN_mret, OP(.imm = 0));
    row(m, INSN_csrrs, OP(.rd = T4, .imm = MEPC));
    row(m, INSN_addi, OP(.rd = T4, .rs1 = T4, .imm = 4));
    row(m, INSN_csrrw, OP(.rd = 0, .rs1 = T4, .imm = MEPC));
    row(m, INSN_addi, OP(.rd = T4, .rs1 = 0, .imm = TRAP_ECALL_SUPERVISOR));
    row(m, INSN_beq, OP(.rs1 = T3, .rs2 = T4, .imm = 8));
    row(m, INSN_mret, OP(.imm = 0));
    row(m, INSN_addi, OP(.rd = S10, .rs1 = S10, .imm = 8));
    row(m, INSN_andi, OP(.rd = S10, .rs1 = S10, .imm = 8 * CONFIGS - 1));
    const uint64_t auipc = m->f.at;
    row(m, INSN_auipc, OP(.rd = T4, .imm = (TABLE - HANDLER) * MMU_PAGE));
    row(m, INSN_add, OP(.rd = T4, .rs1 = T4, .rs2 = S10));
    row(m, INSN_ld, OP(.rd = T4, .rs1 = T4, .imm = (int32_t)(page_at(HANDLER) - auipc) + ENTRIES));
    row(m, INSN_csrrw, OP(.rd = 0, .rs1 = T4, .imm = PMPCFG0));
    row(m, INSN_sfence_vma, OP(.rs1 = 0, .rs2 = 0));
    row(m, INSN_mret, OP(.imm = 0));
}

/* Permissions of the data, of the function, and of all else. */
static void write_table(struct machine *m)
{
    enum { RW = PMP_R | PMP_W, RX = PMP_R | PMP_X, RWX = RW | PMP_X };
    static const uint8_t configs[CONFIGS][2] = {{RWX, RWX}, {PMP_R, RWX}, {RWX, RW},  {0, RX},
                                                {RW, 0},    {RX, PMP_X},  {RWX, RWX}, {0, 0}};
    for (unsigned i = 0; i < CONFIGS; i++) {
        const uint64_t config = (uint64_t)(PMP_NAPOT | configs[i][0]) |
                                (uint64_t)(PMP_NAPOT | configs[i][1]) << 8 |
                                (uint64_t)(PMP_NAPOT | RWX) << 16;
        fixture_write(&m->f, page_at(TABLE) + ENTRIES + 8 * i, 8, config);
    }
}

static uint64_t napot(uint64_t page)
{
    return page >> 2 | (MMU_PAGE / 2 - 1) >> 2;
}

static void open_machine(struct machine *m)
{
    struct error err;
    struct hart *hart = &m->f.hart;
    const struct bus_region region = {device_at,          MMU_PAGE,    BUS_ANY,
                                      .ops = &device_ops, .device = m, .name = "bell"};
    fixture_init(&m->f, SIZE);
    m->raised = 0;
    bus_init(&m->bus, &m->f.memory);
    assert_true(bus_add(&m->bus, &region, &err));
    write_program(m);
    write_handler(m);
    write_table(m);
    assert_true(hart_init_privileged(hart, &m->bus, 0, 1, &err));
    for (unsigned i = 0; i < 3; i++)
        hart->priv.pmpcfg[i] = PMP_NAPOT | PMP_R | PMP_W | PMP_X;
    hart->priv.pmpaddr[0] = napot(page_at(DATA));
    hart->priv.pmpaddr[1] = napot(page_at(FUNCTION));
    hart->priv.pmpaddr[2] = (UINT64_C(1) << 54) - 1;
    hart->priv.mtvec = page_at(HANDLER);
    hart->priv.mie = IRQ_BIT(IRQ_MSI) | IRQ_BIT(IRQ_MTI);
    hart->privilege = PRIV_S;
    hart->x[A0] = page_at(DATA);
    hart->x[A3] = page_at(OTHER);
    hart->x[A4] = device_at;
    hart->pc = page_at(CODE);
    mmu_flush(hart);
    priv_changed(hart);
}

static void open_pair(struct pair *pair, enum jit_mode mode)
{
    open_machine(&pair->run);
    open_machine(&pair->step);
    pair->jit = jit_new(&pair->run.f.hart, mode, JIT_MEMORY_LEAST);
    pair->run.f.hart.x[A5] = pair->step.f.hart.x[A5] = mode == JIT_ON ? MANY_TURNS : TURNS;
    pair->waits = 0;
}

static void close_pair(struct pair *pair)
{
    jit_free(pair->jit);
    fixture_free(&pair->run.f);
    fixture_free(&pair->step.f);
    bus_free(&pair->run.bus);
    bus_free(&pair->step.bus);
}

static void assert_same(const struct pair *pair)
{
    const struct hart *a = &pair->run.f.hart, *b = &pair->step.f.hart;
    uint64_t counts[2][CLASS_COUNT];
    assert_int_equal(a->pc, b->pc);
    assert_int_equal(a->privilege, b->privilege);
    assert_int_equal(a->instret, b->instret);
    assert_int_equal(a->traps, b->traps);
    assert_memory_equal(a->x, b->x, 32 * sizeof a->x[0]);
    assert_memory_equal(&a->priv, &b->priv, sizeof a->priv);
    assert_int_equal(pair->run.raised, pair->step.raised);
    assert_memory_equal(pair->run.f.memory.bytes, pair->step.f.memory.bytes, SIZE);
    hart_count_classes(a, counts[0]);
    hart_count_classes(b, counts[1]);
    assert_memory_equal(counts[0], counts[1], sizeof counts[0]);
}

/* Runs and steps as many instructions, over all wfi, at which both stop. */
static void assert_runs(struct pair *pair, uint64_t limit)
{
    struct hart *a = &pair->run.f.hart, *b = &pair->step.f.hart;
    for (const uint64_t end = hart_progress(a) + limit; hart_progress(a) < end;) {
        enum hart_stop stop = hart_run(a, end - hart_progress(a)), stepped = HART_STOP_LIMIT;
        while (hart_progress(b) < hart_progress(a)) {
            struct step_report report;
            assert_int_equal(stepped, HART_STOP_LIMIT);
            stepped = hart_step(b, &report);
        }
        assert_int_equal(stop, stepped);
        assert_true(stop == HART_STOP_LIMIT || stop == HART_STOP_WFI);
        pair->waits += stop == HART_STOP_WFI;
    }
    assert_same(pair);
}

static void interrupt(struct pair *pair)
{
    hart_set_interrupt(&pair->run.f.hart, IRQ_MSI, true);
    hart_set_interrupt(&pair->step.f.hart, IRQ_MSI, true);
}

/* Permissions change under compiled code, which makes the hart forget its blocks, and stores in the middle of it raise interrupts. */
static void permissions(void **state)
{
    (void)state;
    static const enum jit_mode modes[] = {JIT_ALWAYS, JIT_ON};
    for (unsigned m = 0; m < 2; m++) {
        struct pair pair;
        open_pair(&pair, modes[m]);
        for (unsigned i = 0; i < 60; i++)
            assert_runs(&pair, 50000 + 7 * i);
        assert_true(jit_regions(pair.jit) > 0 && jit_entered(pair.jit) > 100);
        assert_true(pair.run.f.hart.traps > 1000 && pair.run.raised > 100 && pair.waits > 4);
        close_pair(&pair);
    }
}

/* An interrupt from outside before each instruction of the loop, and some of the handler. */
static void every_instruction(void **state)
{
    (void)state;
    enum { FIRST = 1, LAST = 14 }; /* rows of the loop */
    struct pair pair;
    uint32_t seen = 0;
    open_pair(&pair, JIT_ALWAYS);
    assert_runs(&pair, 40000);
    const uint64_t entered = jit_entered(pair.jit);
    for (uint64_t n = 1; n < 1200; n++) {
        assert_runs(&pair, 300 + n % 400);
        interrupt(&pair);
        const uint64_t at = (pair.run.f.hart.pc - page_at(CODE)) / 4;
        seen |= at <= LAST ? UINT32_C(1) << at : 0;
    }
    assert_int_equal(seen >> FIRST & ((1u << LAST) - 1), (1u << LAST) - 1);
    assert_true(jit_entered(pair.jit) > entered + 1000);
    close_pair(&pair);
}

static void note_difference(void *context, const char *text)
{
    (void)context;
    fail_msg("%s", text);
}

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
        cmocka_unit_test(permissions),
        cmocka_unit_test(every_instruction),
        cmocka_unit_test(checked),
    };
    if (jit_lacks()) {
        print_message("nothing is compiled here: the host has not %s\n", jit_lacks());
        return 0;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
