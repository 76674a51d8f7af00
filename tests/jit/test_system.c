/* Compiled code of a supervisor beneath a machine-mode handler, beside single steps: physical memory protection that changes while code is
 * compiled, interrupts before any instruction and by stores in the middle of a region, and waiting for them. */
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

static uint64_t device_read(void *device, uint64_t offset, unsigned size)
{
    (void)offset, (void)size;
    return ((struct twin *)device)->device;
}

/* Raises the software interrupt, or takes it back. */
static void device_write(void *device, uint64_t offset, unsigned size, uint64_t value)
{
    struct twin *m = device;
    (void)offset, (void)size;
    m->device += value & 1;
    hart_set_interrupt(&m->f.hart, IRQ_MSI, value & 1);
}

static const struct device_ops device_ops = {.read = device_read, .write = device_write};

/* Accesses data under PMP and other data, calls a function under PMP, and raises the interrupt in the middle now and then; then asks for
 * other permissions, and waits for an interrupt. */
static void write_program(struct twin *m)
{
    m->f.at = twins_page(CODE);
    const uint64_t outer = m->f.at;
    twins_row(m, INSN_addi, OP(.rd = S0, .rs1 = A5, .imm = 0));
    const uint64_t inner = m->f.at;
    twins_row(m, INSN_ld, OP(.rd = T0, .rs1 = A0, .imm = 8));
    twins_row(m, INSN_add, OP(.rd = A1, .rs1 = A1, .rs2 = T0));
    twins_row(m, INSN_sd, OP(.rs1 = A0, .rs2 = A1, .imm = 16));
    fixture_jump(&m->f, RA, twins_page(FUNCTION));
    twins_row(m, INSN_ld, OP(.rd = T1, .rs1 = A3, .imm = 0));
    twins_row(m, INSN_xor, OP(.rd = A1, .rs1 = A1, .rs2 = T1));
    twins_row(m, INSN_sd, OP(.rs1 = A3, .rs2 = A1, .imm = 0));
    twins_row(m, INSN_andi, OP(.rd = T1, .rs1 = S0, .imm = 7));
    twins_row(m, INSN_bne, OP(.rs1 = T1, .imm = 16));
    twins_row(m, INSN_addi, OP(.rd = T1, .rs1 = 0, .imm = 1));
    twins_row(m, INSN_sw,
              OP(.rs1 = A4, .rs2 = T1, .imm = 0)); /* the device: an interrupt before the next one */
    twins_row(m, INSN_addi, OP(.rd = A2, .rs1 = A2, .imm = 1));
    twins_row(m, INSN_addi, OP(.rd = S0, .rs1 = S0, .imm = -1));
    twins_row(m, INSN_bne, OP(.rs1 = S0, .imm = (int32_t)(inner - m->f.at)));
    twins_row(m, INSN_ecall, OP(.imm = 0));
    twins_row(m, INSN_wfi, OP(.imm = 0));
    twins_row(m, INSN_addi, OP(.rd = A2, .rs1 = A2, .imm = 3));
    fixture_jump(&m->f, 0, outer);
    m->f.at = twins_page(FUNCTION);
    twins_row(m, INSN_addi, OP(.rd = A2, .rs1 = A2, .imm = 5));
    twins_row(m, INSN_jalr, OP(.rd = 0, .rs1 = RA, .imm = 0));
}

/* Sums up cause and value. An interrupt is taken back; a fetch that faults returns; what else has trapped is left out, and an ecall gets the
 * permissions that are next in the table. */
static void write_handler(struct twin *m)
{
    m->f.at = twins_page(HANDLER);
    twins_row(m, INSN_csrrs, OP(.rd = T3, .imm = MCAUSE));
    twins_row(m, INSN_csrrs, OP(.rd = T4, .imm = MTVAL));
    twins_row(m, INSN_add, OP(.rd = S2, .rs1 = S2, .rs2 = T4));
    twins_row(m, INSN_slli, OP(.rd = T4, .rs1 = S2, .imm = 5));
    twins_row(m, INSN_xor, OP(.rd = S2, .rs1 = T3, .rs2 = T4));
    twins_row(m, INSN_bge, OP(.rs1 = T3, .rs2 = 0, .imm = 12));
    twins_row(m, INSN_sw, OP(.rs1 = A4, .rs2 = 0, .imm = 0));
    twins_row(m, INSN_mret, OP(.imm = 0));
    twins_row(m, INSN_addi, OP(.rd = T4, .rs1 = 0, .imm = TRAP_FETCH_ACCESS));
    twins_row(m, INSN_bne, OP(.rs1 = T3, .rs2 = T4, .imm = 12));
    twins_row(m, INSN_csrrw, OP(.rd = 0, .rs1 = RA, .imm = MEPC));
    twins_row(m, INSN_mret, OP(.imm = 0));
    twins_row(m, INSN_csrrs, OP(.rd = T4, .imm = MEPC));
    twins_row(m, INSN_addi, OP(.rd = T4, .rs1 = T4, .imm = 4));
    twins_row(m, INSN_csrrw, OP(.rd = 0, .rs1 = T4, .imm = MEPC));
    twins_row(m, INSN_addi, OP(.rd = T4, .rs1 = 0, .imm = TRAP_ECALL_SUPERVISOR));
    twins_row(m, INSN_beq, OP(.rs1 = T3, .rs2 = T4, .imm = 8));
    twins_row(m, INSN_mret, OP(.imm = 0));
    twins_row(m, INSN_addi, OP(.rd = S10, .rs1 = S10, .imm = 8));
    twins_row(m, INSN_andi, OP(.rd = S10, .rs1 = S10, .imm = 8 * CONFIGS - 1));
    const uint64_t auipc = m->f.at;
    twins_row(m, INSN_auipc, OP(.rd = T4, .imm = (TABLE - HANDLER) * MMU_PAGE));
    twins_row(m, INSN_add, OP(.rd = T4, .rs1 = T4, .rs2 = S10));
    twins_row(m, INSN_ld, OP(.rd = T4, .rs1 = T4, .imm = (int32_t)(twins_page(HANDLER) - auipc) + ENTRIES));
    twins_row(m, INSN_csrrw, OP(.rd = 0, .rs1 = T4, .imm = PMPCFG0));
    twins_row(m, INSN_sfence_vma, OP(.rs1 = 0, .rs2 = 0));
    twins_row(m, INSN_mret, OP(.imm = 0));
}

/* Permissions of the data, of the function, and of all else. */
static void write_table(struct twin *m)
{
    enum { RW = PMP_R | PMP_W, RX = PMP_R | PMP_X, RWX = RW | PMP_X };
    static const uint8_t configs[CONFIGS][2] = {{RWX, RWX}, {PMP_R, RWX}, {RWX, RW},  {0, RX},
                                                {RW, 0},    {RX, PMP_X},  {RWX, RWX}, {0, 0}};
    for (unsigned i = 0; i < CONFIGS; i++) {
        const uint64_t config = (uint64_t)(PMP_NAPOT | configs[i][0]) |
                                (uint64_t)(PMP_NAPOT | configs[i][1]) << 8 |
                                (uint64_t)(PMP_NAPOT | RWX) << 16;
        fixture_write(&m->f, twins_page(TABLE) + ENTRIES + 8 * i, 8, config);
    }
}

static uint64_t napot(uint64_t page)
{
    return page >> 2 | (MMU_PAGE / 2 - 1) >> 2;
}

static void write_machine(struct twin *m)
{
    struct hart *hart = &m->f.hart;
    write_program(m);
    write_handler(m);
    write_table(m);
    hart->priv.pmpcfg[1] = hart->priv.pmpcfg[2] = hart->priv.pmpcfg[0];
    hart->priv.pmpaddr[2] = hart->priv.pmpaddr[0];
    hart->priv.pmpaddr[0] = napot(twins_page(DATA));
    hart->priv.pmpaddr[1] = napot(twins_page(FUNCTION));
    hart->priv.mtvec = twins_page(HANDLER);
    hart->priv.mie = IRQ_BIT(IRQ_MSI) | IRQ_BIT(IRQ_MTI);
    hart->x[A0] = twins_page(DATA);
    hart->x[A3] = twins_page(OTHER);
    hart->x[A4] = TWINS_DEVICE;
}

static void open_twins(struct twins *twins, enum jit_mode mode)
{
    twins_open(twins, SIZE, &device_ops, write_machine, mode);
    twins->run.f.hart.x[A5] = twins->step.f.hart.x[A5] = mode == JIT_ON ? MANY_TURNS : TURNS;
}

static void interrupt(struct twins *twins)
{
    hart_set_interrupt(&twins->run.f.hart, IRQ_MSI, true);
    hart_set_interrupt(&twins->step.f.hart, IRQ_MSI, true);
}

/* Permissions change under compiled code, which makes the hart forget its blocks, and stores in the middle of it raise interrupts. */
static void permissions(void **state)
{
    (void)state;
    static const enum jit_mode modes[] = {JIT_ALWAYS, JIT_ON};
    for (unsigned m = 0; m < 2; m++) {
        struct twins twins;
        open_twins(&twins, modes[m]);
        for (unsigned i = 0; i < 60; i++)
            twins_runs(&twins, 50000 + 7 * i);
        assert_true(jit_regions(twins.jit) > 0 && jit_entered(twins.jit) > 100);
        assert_true(twins.run.f.hart.traps > 1000 && twins.run.device > 100 && twins.waits > 4);
        twins_close(&twins);
    }
}

/* An interrupt from outside before each instruction of the loop, and some of the handler. */
static void every_instruction(void **state)
{
    (void)state;
    enum { FIRST = 1, LAST = 14 }; /* rows of the loop */
    struct twins twins;
    uint32_t seen = 0;
    open_twins(&twins, JIT_ALWAYS);
    twins_runs(&twins, 40000);
    const uint64_t entered = jit_entered(twins.jit);
    for (uint64_t n = 1; n < 1200; n++) {
        twins_runs(&twins, 300 + n % 400);
        interrupt(&twins);
        const uint64_t at = (twins.run.f.hart.pc - twins_page(CODE)) / 4;
        seen |= at <= LAST ? UINT32_C(1) << at : 0;
    }
    assert_int_equal(seen >> FIRST & ((1u << LAST) - 1), (1u << LAST) - 1);
    assert_true(jit_entered(twins.jit) > entered + 1000);
    twins_close(&twins);
}

static void checked(void **state)
{
    (void)state;
    struct twins twins;
    open_twins(&twins, JIT_CHECK);
    twins_listen(&twins);
    twins_runs(&twins, 60000);
    assert_true(jit_entered(twins.jit) > 0);
    twins_close(&twins);
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
