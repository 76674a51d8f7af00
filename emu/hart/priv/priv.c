#include "emu/hart/priv.h"

#include "emu/hart/hart.h"
#include "emu/hart/mmu.h"

void priv_reset(struct hart *hart)
{
    hart->priv = (struct priv){.stimecmp = UINT64_MAX};
    hart->triggers = trigger_reset();
    hart->privilege = PRIV_M;
    hart->reserved = false;
    trap_loop_forget(&hart->loop);
    mmu_flush(hart);
    priv_changed(hart);
}

uint64_t priv_time(const struct hart *hart)
{
    if (hart->timed)
        return hart->timed_ticks + hart->time_offset;
    return (hart->time_base + (hart_progress(hart) - hart->time_origin)) / hart->time_divisor +
           hart->time_offset;
}

uint64_t priv_pending(const struct hart *hart)
{
    const struct priv *p = &hart->priv;
    uint64_t pending = p->wires | p->mip;
    if (p->menvcfg & ENVCFG_STCE) {
        pending &= ~IRQ_BIT(IRQ_STI);
        if (priv_time(hart) >= p->stimecmp)
            pending |= IRQ_BIT(IRQ_STI);
    }
    return pending;
}

void priv_changed(struct hart *hart)
{
    if (hart->tlb) {
        struct tlb *tlb = &hart->tlb[mmu_tlb_mode(hart)];
        hart->load_tlb = tlb->load;
        hart->store_tlb = tlb->store;
    }
    hart->fetch_page = UINT64_MAX;
    hart->stale |= HART_STALE_MODE;
}

/* Returns the address of the trap handler: vectored mode (low bit of the vector) sends interrupts to base + 4 *
 * cause. */
static uint64_t handler(uint64_t vector, bool interrupt, uint64_t number)
{
    uint64_t base = vector & ~UINT64_C(3);
    return (vector & 1) && interrupt ? base + 4 * number : base;
}

static void enter_supervisor(struct hart *hart, bool interrupt, uint64_t number, uint64_t value)
{
    struct priv *p = &hart->priv;
    p->scause = (uint64_t)interrupt << 63 | number;
    p->sepc = hart->pc;
    p->stval = value;
    uint64_t status = p->mstatus & ~(MSTATUS_SPIE | MSTATUS_SPP | MSTATUS_SIE);
    status |= p->mstatus & MSTATUS_SIE ? MSTATUS_SPIE : 0;
    status |= hart->privilege == PRIV_S ? MSTATUS_SPP : 0;
    p->mstatus = status;
    hart->privilege = PRIV_S;
    hart->pc = handler(p->stvec, interrupt, number);
}

static void enter_machine(struct hart *hart, bool interrupt, uint64_t number, uint64_t value)
{
    struct priv *p = &hart->priv;
    p->mcause = (uint64_t)interrupt << 63 | number;
    p->mepc = hart->pc;
    p->mtval = value;
    uint64_t status = p->mstatus & ~(MSTATUS_MPIE | MSTATUS_MPP | MSTATUS_MIE);
    status |= p->mstatus & MSTATUS_MIE ? MSTATUS_MPIE : 0;
    status |= (uint64_t)hart->privilege << MSTATUS_MPP_SHIFT;
    p->mstatus = status;
    hart->privilege = PRIV_M;
    hart->pc = handler(p->mtvec, interrupt, number);
}

void priv_tell_taken(const struct hart *hart, bool interrupt, uint64_t number, uint64_t value)
{
    const struct hart_taken taken = {interrupt, number, value, hart->pc};
    if (hart->taken)
        hart->taken(hart->taken_context, hart, &taken);
}

static void enter(struct hart *hart, bool interrupt, uint64_t number, uint64_t value)
{
    uint64_t delegated = interrupt ? hart->priv.mideleg : hart->priv.medeleg;
    priv_tell_taken(hart, interrupt, number, value);
    hart->reserved = false;
    hart->traps++;
    if (hart->privilege <= PRIV_S && (delegated >> number & 1))
        enter_supervisor(hart, interrupt, number, value);
    else
        enter_machine(hart, interrupt, number, value);
    priv_changed(hart);
}

unsigned priv_due_interrupt(const struct hart *hart)
{
    /* Section 3.1.9: the order in which simultaneous interrupts are taken. */
    static const uint8_t order[] = {IRQ_MEI, IRQ_MSI, IRQ_MTI, IRQ_SEI, IRQ_SSI, IRQ_STI};
    const struct priv *p = &hart->priv;
    uint64_t ready = priv_pending(hart) & p->mie;
    if (!ready)
        return 0;
    bool machine = hart->privilege < PRIV_M || (p->mstatus & MSTATUS_MIE);
    bool supervisor = hart->privilege < PRIV_S || (hart->privilege == PRIV_S && (p->mstatus & MSTATUS_SIE));
    uint64_t enabled = machine ? ready & ~p->mideleg : 0;
    if (!enabled)
        enabled = supervisor ? ready & p->mideleg : 0;
    for (unsigned i = 0; enabled && i < sizeof order; i++)
        if (enabled & IRQ_BIT(order[i]))
            return order[i];
    return 0;
}

unsigned priv_take_interrupt(struct hart *hart)
{
    unsigned number = priv_due_interrupt(hart);
    if (number)
        enter(hart, true, number, 0);
    return number;
}

void priv_take_trap(struct hart *hart)
{
    enter(hart, false, hart->trap.cause, hart->trap.value);
}

bool priv_mret(struct hart *hart, uint64_t *next)
{
    struct priv *p = &hart->priv;
    if (hart->privilege != PRIV_M)
        return false;
    unsigned to = (unsigned)(p->mstatus >> MSTATUS_MPP_SHIFT & 3);
    uint64_t status = p->mstatus & ~(MSTATUS_MIE | MSTATUS_MPP);
    status |= p->mstatus & MSTATUS_MPIE ? MSTATUS_MIE : 0;
    status |= MSTATUS_MPIE;
    if (to != PRIV_M)
        status &= ~MSTATUS_MPRV;
    p->mstatus = status;
    hart->privilege = (uint8_t)to;
    hart->reserved = false;
    hart->attention = true; /* check for interrupts at once */
    *next = p->mepc;
    return true;
}

bool priv_sret(struct hart *hart, uint64_t *next)
{
    struct priv *p = &hart->priv;
    if (hart->privilege < PRIV_S || (hart->privilege == PRIV_S && (p->mstatus & MSTATUS_TSR)))
        return false;
    unsigned to = p->mstatus & MSTATUS_SPP ? PRIV_S : PRIV_U;
    uint64_t status = p->mstatus & ~(MSTATUS_SIE | MSTATUS_SPP | MSTATUS_MPRV);
    status |= p->mstatus & MSTATUS_SPIE ? MSTATUS_SIE : 0;
    status |= MSTATUS_SPIE;
    p->mstatus = status;
    hart->privilege = (uint8_t)to;
    hart->reserved = false;
    hart->attention = true; /* check for interrupts at once */
    *next = p->sepc;
    return true;
}
