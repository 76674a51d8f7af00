#include "emu/hart/priv/csr.h"

#include "emu/hart/fp/flags.h"
#include "emu/hart/hart.h"
#include "emu/hart/mmu.h"
#include "emu/hart/priv.h"
#include "isa/csr.h"
#include "isa/decoder/set.h"

/* The field of fcsr above the five flags. */
enum { FRM_MASK = 7 };

#define MSTATUS_WRITABLE                                                                                     \
    (MSTATUS_SIE | MSTATUS_MIE | MSTATUS_SPIE | MSTATUS_MPIE | MSTATUS_SPP | MSTATUS_FS | MSTATUS_MPRV |     \
     MSTATUS_SUM | MSTATUS_MXR | MSTATUS_TVM | MSTATUS_TW | MSTATUS_TSR)
#define SSTATUS_WRITABLE (MSTATUS_SIE | MSTATUS_SPIE | MSTATUS_SPP | MSTATUS_FS | MSTATUS_SUM | MSTATUS_MXR)
/* Causes 10, 14 and above are reserved. ECALL from machine mode (11) cannot be delegated. */
#define MEDELEG_WRITABLE UINT64_C(0xb3ff)
#define MEDELEG_OFFLOAD  (UINT64_C(1) << TRAP_NUCD_FAULT | UINT64_C(1) << TRAP_NUCD_CALL)
enum { COUNTERS = 7, COUNTER_CY = 1, COUNTER_TM = 2, COUNTER_IR = 4 };
#define PMPADDR_BITS ((UINT64_C(1) << 54) - 1)

/* Returns whether bits 11:10 of the number make the CSR read-only. */
static bool read_only(unsigned number)
{
    return number >> 10 == 3;
}

static bool has(const struct hart *hart, enum insn_extension extension)
{
    return isa_has(decoder_extensions(hart->decoder), extension);
}

/* Unprivileged counters must be enabled by the modes above (sections 3.1.11 and 4.1.5). */
static bool counter_enabled(const struct hart *hart, unsigned number)
{
    const struct priv *p = &hart->priv;
    uint32_t bit = UINT32_C(1) << (number & 31);
    if (!has(hart, number <= CSR_instret ? EXTENSION_Zicntr : EXTENSION_Zihpm))
        return false;
    if (hart->privilege < PRIV_M && !(p->mcounteren & bit))
        return false;
    return hart->privilege > PRIV_U || (p->scounteren & bit);
}

/* In supervisor mode, stimecmp needs STCE and permission to read time (Sstc, chapter 2). */
static bool stimecmp_enabled(const struct hart *hart)
{
    if (!has(hart, EXTENSION_Sstc))
        return false;
    if (hart->privilege == PRIV_M)
        return true;
    return (hart->priv.menvcfg & ENVCFG_STCE) && (hart->priv.mcounteren & COUNTER_TM);
}

/* The fields of menvcfg and senvcfg whose extensions the hart has. */
static uint64_t senvcfg_writable(const struct hart *hart)
{
    return ENVCFG_FIOM | (has(hart, EXTENSION_Zicbom) ? ENVCFG_CBIE | ENVCFG_CBCFE : 0) |
           (has(hart, EXTENSION_Zicboz) ? ENVCFG_CBZE : 0);
}

static uint64_t menvcfg_writable(const struct hart *hart)
{
    return senvcfg_writable(hart) | (has(hart, EXTENSION_Sstc) ? ENVCFG_STCE : 0);
}

static bool accessible(const struct hart *hart, unsigned number)
{
    if ((number >> 8 & 3) > hart->privilege)
        return false;
    switch (number) {
    case CSR_fflags:
    case CSR_frm:
    case CSR_fcsr: return (hart->priv.mstatus & MSTATUS_FS) && has(hart, EXTENSION_F);
    case CSR_satp: return hart->privilege == PRIV_M || !(hart->priv.mstatus & MSTATUS_TVM);
    case CSR_stimecmp: return stimecmp_enabled(hart);
    case CSR_nucdcause:
    case CSR_nucdval:
    case CSR_nucdoff:
    case CSR_nucdctl: return hart->offload.present;
    case CSR_mrange:
    case CSR_mlocal: return hart->has_ranges;
    default: return number < CSR_cycle || number > CSR_hpmcounter31 || counter_enabled(hart, number);
    }
}

static uint64_t with_derived(const struct hart *hart, uint64_t status)
{
    status |= MSTATUS_UXL;
    return (hart->priv.mstatus & MSTATUS_FS) == MSTATUS_FS ? status | MSTATUS_SD : status;
}

static uint64_t read_pmpcfg(const struct priv *p, unsigned first)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < 8; i++)
        value |= (uint64_t)p->pmpcfg[first + i] << 8 * i;
    return value;
}

/* Returns the cycles since reset: the timing core's, or else instructions retired. */
static uint64_t cycles(const struct hart *hart)
{
    return hart->timed ? hart->timed_cycles : hart->instret;
}

static bool read_machine(const struct hart *hart, unsigned number, uint64_t *value)
{
    const struct priv *p = &hart->priv;
    if (number >= CSR_pmpaddr0 && number <= CSR_pmpaddr15) {
        *value = p->pmpaddr[number - CSR_pmpaddr0];
        return true;
    }
    if ((number >= CSR_mhpmevent3 && number <= CSR_mhpmevent31) ||
        (number >= CSR_mhpmcounter3 && number <= CSR_mhpmcounter31)) {
        *value = 0;
        return true;
    }
    switch (number) {
    case CSR_mstatus: *value = with_derived(hart, p->mstatus) | MSTATUS_SXL; return true;
    case CSR_misa: *value = isa_misa(decoder_extensions(hart->decoder)); return true;
    case CSR_medeleg: *value = p->medeleg; return true;
    case CSR_mideleg: *value = p->mideleg; return true;
    case CSR_mie: *value = p->mie; return true;
    case CSR_mtvec: *value = p->mtvec; return true;
    case CSR_mcounteren: *value = p->mcounteren; return true;
    case CSR_menvcfg: *value = p->menvcfg; return true;
    case CSR_mscratch: *value = p->mscratch; return true;
    case CSR_mepc: *value = p->mepc; return true;
    case CSR_mcause: *value = p->mcause; return true;
    case CSR_mtval: *value = p->mtval; return true;
    case CSR_mip: *value = priv_pending(hart); return true;
    case CSR_pmpcfg0: *value = read_pmpcfg(p, 0); return true;
    case CSR_pmpcfg2: *value = read_pmpcfg(p, 8); return true;
    case CSR_mcycle: *value = cycles(hart) + p->cycle_offset; return true;
    case CSR_minstret: *value = hart->instret + p->instret_offset; return true;
    case CSR_mhartid: *value = hart->hartid; return true;
    case CSR_mrange: *value = p->mrange; return true;
    case CSR_mlocal: *value = p->mlocal; return true;
    case CSR_tselect:
    case CSR_tdata1:
    case CSR_tdata2:
    case CSR_tdata3:
    case CSR_tinfo: *value = trigger_read(hart, number); return true;
    case CSR_mcountinhibit:
    case CSR_mvendorid:
    case CSR_marchid:
    case CSR_mimpid:
    case CSR_mconfigptr: *value = 0; return true;
    default: return false;
    }
}

static bool read_any(const struct hart *hart, unsigned number, uint64_t *value)
{
    const struct priv *p = &hart->priv;
    if (number >= CSR_hpmcounter3 && number <= CSR_hpmcounter31) {
        *value = 0;
        return true;
    }
    switch (number) {
    case CSR_fflags: *value = hart->fflags; return true;
    case CSR_frm: *value = hart->frm; return true;
    case CSR_fcsr: *value = (uint64_t)hart->frm << FCSR_FRM_SHIFT | hart->fflags; return true;
    case CSR_cycle: *value = cycles(hart) + p->cycle_offset; return true;
    case CSR_instret: *value = hart->instret + p->instret_offset; return true;
    case CSR_time: *value = priv_time(hart); return true;
    case CSR_sstatus: *value = with_derived(hart, p->mstatus & SSTATUS_WRITABLE); return true;
    case CSR_sie: *value = p->mie & p->mideleg; return true;
    case CSR_sip: *value = priv_pending(hart) & p->mideleg; return true;
    case CSR_stvec: *value = p->stvec; return true;
    case CSR_scounteren: *value = p->scounteren; return true;
    case CSR_senvcfg: *value = p->senvcfg; return true;
    case CSR_sscratch: *value = p->sscratch; return true;
    case CSR_sepc: *value = p->sepc; return true;
    case CSR_scause: *value = p->scause; return true;
    case CSR_stval: *value = p->stval; return true;
    case CSR_stimecmp: *value = p->stimecmp; return true;
    case CSR_satp: *value = p->satp; return true;
    case CSR_nucdcause: *value = hart->offload.cause; return true;
    case CSR_nucdval: *value = hart->offload.value; return true;
    case CSR_nucdoff: *value = hart->offload.offset; return true;
    case CSR_nucdctl: *value = hart->offload.frozen; return true;
    default: return read_machine(hart, number, value);
    }
}

static void write_masked(uint64_t *target, uint64_t value, uint64_t mask)
{
    *target = (*target & ~mask) | (value & mask);
}

/* MPP cannot hold the reserved mode 2; such a write does not change it. */
static void write_mstatus(struct hart *hart, uint64_t value, uint64_t mask)
{
    struct priv *p = &hart->priv;
    uint64_t old = p->mstatus;
    write_masked(&p->mstatus, value, mask & MSTATUS_WRITABLE);
    if ((mask & MSTATUS_MPP) && (value >> MSTATUS_MPP_SHIFT & 3) != 2)
        write_masked(&p->mstatus, value, MSTATUS_MPP);
    if ((old ^ p->mstatus) & MSTATUS_MXR)
        mmu_flush(hart);
    priv_changed(hart);
}

/* Modes 2 and 3 of a vector are reserved; such a write keeps the old mode. */
static void write_vector(uint64_t *vector, uint64_t value)
{
    *vector = value & 2 ? (value & ~UINT64_C(3)) | (*vector & 3) : value;
}

/* A write of satp with an unsupported mode is ignored as a whole (section 4.1.11). */
static void write_satp(struct hart *hart, uint64_t value)
{
    uint64_t mode = value >> SATP_MODE_SHIFT;
    if (mode != SATP_BARE && mode != SATP_SV39 && mode != SATP_SV48)
        return;
    hart->priv.satp = value;
    mmu_flush(hart);
    priv_changed(hart);
}

/* A write of mrange or mlocal makes the hart forget all translations that it has kept. */
static void write_range(struct hart *hart, uint64_t *csr, uint64_t value)
{
    *csr = hart->has_ranges ? value : 0;
    mmu_flush(hart);
    hart_flush_code(hart);
    priv_changed(hart);
}

/* A locked entry keeps its configuration and address; so does the address below a locked TOR entry. R = 0 with W = 1 is
 * reserved; such a write keeps the entry's old permissions. */
static void write_pmpcfg(struct hart *hart, unsigned first, uint64_t value)
{
    for (unsigned i = 0; i < 8; i++) {
        uint8_t *cfg = &hart->priv.pmpcfg[first + i];
        uint8_t wanted = (uint8_t)(value >> 8 * i) & (PMP_R | PMP_W | PMP_X | PMP_A | PMP_L);
        if (*cfg & PMP_L)
            continue;
        if ((wanted & (PMP_R | PMP_W)) == PMP_W)
            wanted = (uint8_t)((wanted & ~(PMP_R | PMP_W | PMP_X)) | (*cfg & (PMP_R | PMP_W | PMP_X)));
        *cfg = wanted;
    }
    mmu_flush(hart);
    hart_flush_code(hart);
}

static void write_pmpaddr(struct hart *hart, unsigned entry, uint64_t value)
{
    const uint8_t *cfg = hart->priv.pmpcfg;
    bool tor_above =
        entry + 1 < PMP_ENTRIES && (cfg[entry + 1] & PMP_L) && (cfg[entry + 1] & PMP_A) == PMP_TOR;
    if ((cfg[entry] & PMP_L) || tor_above)
        return;
    hart->priv.pmpaddr[entry] = value & PMPADDR_BITS;
    mmu_flush(hart);
    hart_flush_code(hart);
}

/* Translations and blocks were chosen by the kinds of trigger that were armed before. */
static void write_trigger(struct hart *hart, unsigned number, uint64_t value)
{
    if (!trigger_write(hart, number, value))
        return;
    mmu_flush(hart);
    hart_flush_code(hart);
}

/* CBIE cannot hold the reserved value 2; such a write does not change it. */
static void write_envcfg(uint64_t *envcfg, uint64_t value, uint64_t mask)
{
    if ((value & ENVCFG_CBIE) == UINT64_C(2) << 4)
        mask &= ~ENVCFG_CBIE;
    write_masked(envcfg, value, mask);
}

static bool write_machine(struct hart *hart, unsigned number, uint64_t value)
{
    struct priv *p = &hart->priv;
    if (number >= CSR_pmpaddr0 && number <= CSR_pmpaddr15) {
        write_pmpaddr(hart, number - CSR_pmpaddr0, value);
        return true;
    }
    switch (number) {
    case CSR_mstatus: write_mstatus(hart, value, MSTATUS_WRITABLE | MSTATUS_MPP); return true;
    case CSR_medeleg:
        p->medeleg = value & (MEDELEG_WRITABLE | (hart->offload.present ? MEDELEG_OFFLOAD : 0));
        return true;
    case CSR_mideleg: p->mideleg = value & IRQ_S; return true;
    case CSR_mie: p->mie = value & IRQ_ALL; return true;
    case CSR_mtvec: write_vector(&p->mtvec, value); return true;
    case CSR_mcounteren: p->mcounteren = value & COUNTERS; return true;
    case CSR_menvcfg: write_envcfg(&p->menvcfg, value, menvcfg_writable(hart)); return true;
    case CSR_mscratch: p->mscratch = value; return true;
    case CSR_mepc: p->mepc = value & ~UINT64_C(1); return true;
    case CSR_mcause: p->mcause = value; return true;
    case CSR_mtval: p->mtval = value; return true;
    case CSR_mip:
        write_masked(&p->mip, value, p->menvcfg & ENVCFG_STCE ? IRQ_S & ~IRQ_BIT(IRQ_STI) : IRQ_S);
        return true;
    case CSR_mrange: write_range(hart, &p->mrange, value & ~UINT64_C(63)); return true;
    case CSR_mlocal: write_range(hart, &p->mlocal, value & PMPADDR_BITS); return true;
    case CSR_tselect:
    case CSR_tdata1:
    case CSR_tdata2: write_trigger(hart, number, value); return true;
    case CSR_pmpcfg0: write_pmpcfg(hart, 0, value); return true;
    case CSR_pmpcfg2: write_pmpcfg(hart, 8, value); return true;
    case CSR_mcycle: p->cycle_offset = value - cycles(hart) - !hart->timed; return true;
    case CSR_minstret: p->instret_offset = value - hart->instret - 1; return true;
    default: break; /* the others have only one legal value */
    }
    uint64_t ignored;
    return read_machine(hart, number, &ignored);
}

static bool write_any(struct hart *hart, unsigned number, uint64_t value)
{
    struct priv *p = &hart->priv;
    switch (number) {
    case CSR_fflags: hart->fflags = value & FCSR_FLAGS; return true;
    case CSR_frm: hart->frm = value & FRM_MASK; return true;
    case CSR_fcsr:
        hart->fflags = value & FCSR_FLAGS;
        hart->frm = value >> FCSR_FRM_SHIFT & FRM_MASK;
        return true;
    case CSR_sstatus: write_mstatus(hart, value, SSTATUS_WRITABLE); return true;
    case CSR_sie: write_masked(&p->mie, value, p->mideleg); return true;
    case CSR_sip: write_masked(&p->mip, value, p->mideleg & IRQ_BIT(IRQ_SSI)); return true;
    case CSR_stvec: write_vector(&p->stvec, value); return true;
    case CSR_scounteren: p->scounteren = value & COUNTERS; return true;
    case CSR_senvcfg: write_envcfg(&p->senvcfg, value, senvcfg_writable(hart)); return true;
    case CSR_sscratch: p->sscratch = value; return true;
    case CSR_sepc: p->sepc = value & ~UINT64_C(1); return true;
    case CSR_scause: p->scause = value; return true;
    case CSR_stval: p->stval = value; return true;
    case CSR_stimecmp: p->stimecmp = value; return true;
    case CSR_satp: write_satp(hart, value); return true;
    case CSR_nucdctl:
        if (hart->offload.control)
            hart->offload.control(hart->offload.context, value);
        return true;
    default: return write_machine(hart, number, value);
    }
}

bool csr_read(const struct hart *hart, unsigned number, uint64_t *value)
{
    return accessible(hart, number) && read_any(hart, number, value);
}

bool csr_write(struct hart *hart, unsigned number, uint64_t value)
{
    if (read_only(number) || !accessible(hart, number) || !write_any(hart, number, value))
        return false;
    if (number <= CSR_fcsr) {
        hart->priv.mstatus |= MSTATUS_FS;
        priv_changed(hart);
    }
    hart->attention |= hart->privileged; /* an interrupt may now be enabled */
    if ((number == CSR_stimecmp || number == CSR_menvcfg) && hart->timer_moved)
        hart->timer_moved(hart->timer_context);
    return true;
}

unsigned csr_holders(unsigned number, unsigned holders[2])
{
    switch (number) {
    case CSR_fcsr:
        holders[0] = CSR_fflags;
        holders[1] = CSR_frm;
        return 2;
    case CSR_sstatus: holders[0] = CSR_mstatus; return 1;
    case CSR_sie: holders[0] = CSR_mie; return 1;
    case CSR_sip: holders[0] = CSR_mip; return 1;
    default: holders[0] = number; return 1;
    }
}

uint64_t csr_to_modify(const struct hart *hart, unsigned number, uint64_t read)
{
    return number == CSR_mip || number == CSR_sip ? hart->priv.mip : read;
}

bool csr_peek(const struct hart *hart, unsigned number, uint64_t *value)
{
    return read_any(hart, number, value);
}

bool csr_poke(struct hart *hart, unsigned number, uint64_t value)
{
    if (read_only(number) || !write_any(hart, number, value))
        return false;
    /* write_any() subtracts 1, because a counter does not count the instruction that writes it; here there is none. */
    hart->priv.cycle_offset += number == CSR_mcycle && !hart->timed;
    hart->priv.instret_offset += number == CSR_minstret;
    priv_changed(hart);
    hart->attention |= hart->privileged;
    return true;
}
