#include "emu/hart/priv/snapshot.h"

#include "emu/hart/mmu.h"
#include "emu/hart/priv/csr.h"
#include "isa/csr.h"

/* The registers that csr_poke() restores, in this order: of pmpcfg, locks come last. The instruction pc is at has not been
 * executed, so counters need no correction. */
static const struct {
    const char *name;
    unsigned number;
} csrs[] = {
    {"menvcfg", CSR_menvcfg},
    {"mstatus", CSR_mstatus},
    {"mie", CSR_mie},
    {"medeleg", CSR_medeleg},
    {"mideleg", CSR_mideleg},
    {"mtvec", CSR_mtvec},
    {"mscratch", CSR_mscratch},
    {"mepc", CSR_mepc},
    {"mcause", CSR_mcause},
    {"mtval", CSR_mtval},
    {"stvec", CSR_stvec},
    {"sscratch", CSR_sscratch},
    {"sepc", CSR_sepc},
    {"scause", CSR_scause},
    {"stval", CSR_stval},
    {"senvcfg", CSR_senvcfg},
    {"satp", CSR_satp},
    {"stimecmp", CSR_stimecmp},
    {"mcounteren", CSR_mcounteren},
    {"scounteren", CSR_scounteren},
    {"mcycle", CSR_mcycle},
    {"minstret", CSR_minstret},
};

static void snapshot_csr(struct hart *hart, struct snapshot *s, const char *name, unsigned number)
{
    uint64_t own = 0, value, now = 0;
    (void)csr_peek(hart, number, &own);
    value = snapshot_number(s, name, own, UINT64_MAX);
    if (s->saves || s->failed)
        return;
    (void)csr_poke(hart, number, value);
    (void)csr_peek(hart, number, &now);
    if (now != value)
        snapshot_fail(s,
                      "%s cannot hold 0x%llx, the snapshot's value; restore into harts with the same "
                      "extensions (--isa)",
                      name, (unsigned long long)value);
}

static void snapshot_registers(struct hart *hart, struct snapshot *s)
{
    for (unsigned i = 1; i < 32; i++)
        hart->x[i] = snapshot_number(s, "x", hart->x[i], UINT64_MAX);
    for (unsigned i = 0; i < 32; i++)
        hart->f[i] = snapshot_number(s, "f", hart->f[i], UINT64_MAX);
    hart->pc = snapshot_number(s, "pc", hart->pc, UINT64_MAX) & ~UINT64_C(1);
    hart->fflags = (uint8_t)snapshot_number(s, "fflags", hart->fflags, 0x1f);
    hart->frm = (uint8_t)snapshot_number(s, "frm", hart->frm, 7);
    hart->reserved = snapshot_flag(s, "reserved", hart->reserved);
    hart->reservation = snapshot_number(s, "reservation", hart->reservation, UINT64_MAX);
}

static void snapshot_protection(struct hart *hart, struct snapshot *s)
{
    for (unsigned i = 0; i < PMP_ENTRIES; i++)
        snapshot_csr(hart, s, "pmpaddr", CSR_pmpaddr0 + i);
    snapshot_csr(hart, s, "pmpcfg", CSR_pmpcfg0);
    snapshot_csr(hart, s, "pmpcfg", CSR_pmpcfg2);
}

static void snapshot_triggers(struct hart *hart, struct snapshot *s)
{
    uint64_t selected = hart->triggers.selected;
    for (unsigned i = 0; i < TRIGGERS; i++) {
        (void)csr_poke(hart, CSR_tselect, i);
        snapshot_csr(hart, s, "tdata1", CSR_tdata1);
        snapshot_csr(hart, s, "tdata2", CSR_tdata2);
    }
    (void)csr_poke(hart, CSR_tselect, snapshot_number(s, "tselect", selected, TRIGGERS - 1));
}

static void snapshot_mode(struct hart *hart, struct snapshot *s)
{
    struct priv *p = &hart->priv;
    uint64_t mode = snapshot_number(s, "mode", hart->privilege, PRIV_M);
    p->mip = snapshot_number(s, "mip", p->mip, IRQ_ALL) & IRQ_S;
    p->wires = snapshot_number(s, "wires", p->wires, IRQ_ALL);
    if (mode != PRIV_U && mode != PRIV_S && mode != PRIV_M)
        snapshot_fail(s, "the snapshot is damaged: no hart has the mode %u", (unsigned)mode);
    else
        hart->privilege = (uint8_t)mode;
}

void hart_snapshot(struct hart *hart, struct snapshot *s)
{
    snapshot_registers(hart, s);
    for (unsigned i = 0; i < sizeof csrs / sizeof csrs[0]; i++)
        snapshot_csr(hart, s, csrs[i].name, csrs[i].number);
    snapshot_protection(hart, s);
    snapshot_triggers(hart, s);
    snapshot_mode(hart, s);
    trap_loop_forget(&hart->loop);
    mmu_flush(hart);
    hart_flush_code(hart);
    priv_changed(hart);
    hart->attention = true;
}
